//! The state that the process inherited from its parent, before Rust's runtime changed it. The runtime opens
//! `/dev/null` in place of closed standard streams, and ignores SIGPIPE. Programs that must behave like C programs need
//! the original state.

#[cfg(target_os = "linux")]
mod linux;

/// The inherited state of the process. It is known on Linux only; other systems use the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inherited {
    /// Whether the standard input stream was closed.
    pub has_no_stdin: bool,
    /// Whether the standard output stream was closed.
    pub has_no_stdout: bool,
    /// Ends the process by SIGPIPE, if a write to a closed pipe would have ended it.
    pub end_by_broken_pipe: Option<fn()>,
}

impl Inherited {
    /// Returns the inherited state of this process.
    pub fn of_process() -> Self {
        #[cfg(target_os = "linux")]
        return Self {
            has_no_stdin: linux::has_no_stdin(),
            has_no_stdout: linux::has_no_stdout(),
            end_by_broken_pipe: linux::pipes_end_process().then_some(linux::end_by_broken_pipe),
        };
        #[cfg(not(target_os = "linux"))]
        Self::default()
    }
}
