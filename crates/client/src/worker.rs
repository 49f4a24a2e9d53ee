//! Threads that read .torrent files and verify content, one torrent after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::error::Error;
use crate::inbox::{Done, Inbox, Message};

/// Maximum time to wait for the running job. Reading a pipe without a writer never ends.
const END_TIMEOUT: Duration = Duration::from_millis(300);

type Run = Box<dyn FnOnce() -> Message + Send>;

/// The turn of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Turn {
    /// Before all jobs with another turn.
    First,
    /// Before jobs with more work, in any unit.
    ByWork(u64),
}

/// A job and its order: by its turn, and jobs of the same turn in the order of their submission.
struct Job {
    order: Reverse<(Turn, u64)>,
    run: Run,
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Job {}

impl PartialOrd for Job {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Job {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

/// A thread that runs jobs by their turns. Dropping it waits for the running job and skips the remaining jobs.
pub(crate) struct Worker {
    jobs: Option<mpsc::Sender<(Turn, Run)>>,
    /// Disconnected when the thread has ended.
    ended: mpsc::Receiver<()>,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

impl Worker {
    /// Starts a worker. After an idle time, the worker waits until no further job arrives for `patience`. So a large
    /// job does not start just before smaller ones arrive.
    pub(crate) fn start(name: &str, inbox: Inbox, patience: Duration) -> Result<Self, Error> {
        let (jobs, receiver) = mpsc::channel();
        let log = tracing::dispatcher::get_default(Clone::clone);
        let (alive, ended) = mpsc::channel();
        let work = move || {
            let _alive: mpsc::Sender<()> = alive;
            let mut queue = Queue::new(receiver, patience);
            while let Some(run) = queue.next() {
                if !inbox.send(run()) {
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

    /// Queues a job for a torrent, and sends its result to the loop.
    pub(crate) fn run(
        &self,
        torrent: usize,
        turn: Turn,
        job: impl FnOnce() -> Done + Send + 'static,
    ) {
        self.run_for_all(turn, move || Message::Done(torrent, job()));
    }

    /// Queues a job for several torrents, and sends its result to the loop.
    pub(crate) fn run_for_all(&self, turn: Turn, job: impl FnOnce() -> Message + Send + 'static) {
        if let Some(jobs) = &self.jobs {
            // The thread lives as long as this sender.
            let _ = jobs.send((turn, Box::new(job)));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs.take();
        let _ = self.ended.recv_timeout(END_TIMEOUT);
    }
}

/// The jobs that wait.
struct Queue {
    receiver: mpsc::Receiver<(Turn, Run)>,
    patience: Duration,
    waiting: BinaryHeap<Job>,
    n_received: u64,
}

impl Queue {
    fn new(receiver: mpsc::Receiver<(Turn, Run)>, patience: Duration) -> Self {
        Self {
            receiver,
            patience,
            waiting: BinaryHeap::new(),
            n_received: 0,
        }
    }

    /// Waits for a job, and returns the job whose turn it is. Returns `None` if no further jobs can be submitted.
    fn next(&mut self) -> Option<Run> {
        let mut patience = Duration::ZERO;
        if self.waiting.is_empty() {
            let job = self.receiver.recv().ok()?;
            self.add(job);
            patience = self.patience;
        }
        loop {
            match self.receiver.recv_timeout(patience) {
                Ok(job) => self.add(job),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        self.waiting.pop().map(|job| job.run)
    }

    fn add(&mut self, (turn, run): (Turn, Run)) {
        let order = Reverse((turn, self.n_received));
        self.n_received += 1;
        self.waiting.push(Job { order, run });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_least_work_come_first() {
        let (sender, receiver) = mpsc::channel();
        let mut queue = Queue::new(receiver, Duration::from_millis(1));
        let (ran, order) = mpsc::channel();
        let submit = |name: &'static str, turn: Turn| {
            let ran = ran.clone();
            let run: Run = Box::new(move || {
                ran.send(name).expect("the receiver exists");
                Message::Done(
                    0,
                    Done::Claimed(Err(crate::error::TorrentError::Interrupted)),
                )
            });
            sender.send((turn, run)).expect("the queue exists");
        };
        for (name, work) in [
            ("large", 9),
            ("small", 1),
            ("medium", 5),
            ("small, later", 1),
        ] {
            submit(name, Turn::ByWork(work));
        }
        drop(queue.next().map(|run| run()));
        submit("smallest", Turn::ByWork(0));
        submit("asked for", Turn::First);
        for _ in 0..5 {
            drop(queue.next().map(|run| run()));
        }
        let order: Vec<&str> = order.try_iter().collect();
        assert_eq!(
            order,
            [
                "small",
                "asked for",
                "smallest",
                "small, later",
                "medium",
                "large"
            ]
        );
        drop(sender);
        assert!(queue.next().is_none());
    }
}
