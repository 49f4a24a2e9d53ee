//! Threads of a session.

use std::io;
use std::thread::{self, JoinHandle};

/// Starts a thread that logs as this one.
pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let log = tracing::dispatcher::get_default(Clone::clone);
    let run = move || tracing::dispatcher::with_default(&log, run);
    thread::Builder::new().name(name.to_owned()).spawn(run)
}

#[cfg(test)]
mod tests {
    use tracing::Dispatch;
    use tracing::dispatcher::{get_default, with_default};
    use tracing::subscriber::NoSubscriber;

    use super::spawn;

    #[test]
    fn a_thread_has_the_log_of_the_one_that_starts_it() {
        let log = Dispatch::new(Box::<NoSubscriber>::default());
        let is_log = || get_default(Dispatch::is::<Box<NoSubscriber>>);
        let started = with_default(&log, || spawn("test", is_log));
        assert!(started.unwrap().join().unwrap());
    }
}
