//! The state that the process inherited from its parent, before Rust's runtime changed it. The runtime opens
//! `/dev/null` in place of closed standard streams, and ignores SIGPIPE. Programs that must behave like C programs need
//! the original state.

#[cfg(target_os = "linux")]
mod linux;

/// The state at the start of the process. It is known on Linux only; other systems use the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Startup {
    /// Whether the standard input stream was closed.
    pub has_no_stdin: bool,
    /// Whether the standard output stream was closed.
    pub has_no_stdout: bool,
    /// Ignores SIGHUP again, if the process was started with SIGHUP ignored, as by `nohup`.
    pub ignore_hangup: Option<fn()>,
    /// Ends the process by SIGPIPE, if a write to a closed pipe would have ended it.
    pub end_by_broken_pipe: Option<fn()>,
}

impl Startup {
    /// Returns the state at the start of this process.
    pub fn of_process() -> Self {
        #[cfg(target_os = "linux")]
        return Self {
            has_no_stdin: linux::has_no_stdin(),
            has_no_stdout: linux::has_no_stdout(),
            ignore_hangup: linux::ignores_hangup().then_some(linux::ignore_hangup),
            end_by_broken_pipe: linux::pipes_end_process().then_some(linux::end_by_broken_pipe),
        };
        #[cfg(not(target_os = "linux"))]
        Self::default()
    }

    /// Lets Ctrl-C, SIGTERM and SIGHUP end the process again, after their handlers were installed in vain.
    pub(crate) fn restore_end_by_signals() {
        #[cfg(target_os = "linux")]
        linux::restore_end_by_signals();
    }
}
