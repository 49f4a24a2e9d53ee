//! What the process inherited from its parent, before Rust's runtime changed it: the runtime opens `/dev/null` in
//! place of closed standard streams, and ignores SIGPIPE. Programs that must behave as C programs do need both.

#[cfg(target_os = "linux")]
mod linux;

/// What the process inherited. On other systems than Linux nothing is known, as in the default.
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
    /// Returns what this process inherited.
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
