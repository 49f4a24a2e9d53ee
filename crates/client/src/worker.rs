//! Threads that read .torrent files and verify content, one torrent after the other.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::error::Error;
use crate::inbox::{Done, Inbox, Message};

/// Maximum wait for the running job. Reading a .torrent file never ends if it is a pipe without a writer.
const END_TIMEOUT: Duration = Duration::from_millis(300);

type Job = Box<dyn FnOnce() -> Message + Send>;

/// A thread that runs jobs in their order. Dropping it waits for the running job and skips the remaining jobs.
pub(crate) struct Worker {
    jobs: Option<mpsc::Sender<Job>>,
    /// Disconnected when the thread has ended.
    ended: mpsc::Receiver<()>,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

impl Worker {
    pub(crate) fn start(name: &str, inbox: Inbox) -> Result<Self, Error> {
        let (jobs, receiver) = mpsc::channel::<Job>();
        let log = tracing::dispatcher::get_default(Clone::clone);
        let (alive, ended) = mpsc::channel();
        let work = move || {
            let _alive: mpsc::Sender<()> = alive;
            for job in receiver {
                if !inbox.send(job()) {
                    break;
                }
            }
        };
        thread::Builder::new()
            .name(name.into())
            .spawn(move || tracing::dispatcher::with_default(&log, work))
            .map_err(Error::Thread)?;
        Ok(Self {
            jobs: Some(jobs),
            ended,
        })
    }

    /// Runs a job for a torrent after all earlier jobs, and sends its result to the loop.
    pub(crate) fn run(&self, torrent: usize, job: impl FnOnce() -> Done + Send + 'static) {
        if let Some(jobs) = &self.jobs {
            // The thread lives as long as this sender.
            let _ = jobs.send(Box::new(move || Message::Done(torrent, job())));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs.take();
        let _ = self.ended.recv_timeout(END_TIMEOUT);
    }
}
