//! Threads that read .torrent files and verify content, a limited number of torrents at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU16;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::error::Error;
use crate::inbox::{Done, Inbox, Message, Start};

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

/// Threads that run jobs by their turns. Dropping them waits for the running jobs and skips the remaining jobs.
pub(crate) struct Worker {
    jobs: Option<mpsc::Sender<(Turn, Run)>>,
    /// Disconnected when all threads have ended.
    ended: mpsc::Receiver<()>,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

impl Worker {
    /// Starts a worker with `n_threads` threads. After an idle time, the worker waits until no further job arrives for
    /// `patience`. So a large job does not start just before smaller ones arrive.
    pub(crate) fn start(
        name: &str,
        inbox: &Inbox,
        patience: Duration,
        n_threads: NonZeroU16,
    ) -> Result<Self, Error> {
        let (jobs, receiver) = mpsc::channel();
        let queue = Arc::new(Mutex::new(Queue::new(receiver, patience)));
        let log = tracing::dispatcher::get_default(Clone::clone);
        let (alive, ended) = mpsc::channel();
        for _ in 0..n_threads.get() {
            let (inbox, queue, log) = (inbox.clone(), Arc::clone(&queue), log.clone());
            let alive: mpsc::Sender<()> = alive.clone();
            let work = move || {
                let _alive = alive;
                // The lock ends before the job runs.
                while let Some(run) = next(&queue) {
                    if !inbox.send(run()) {
                        break;
                    }
                }
            };
            thread::Builder::new()
                .name(name.into())
                .spawn(move || tracing::dispatcher::with_default(&log, work))
                .map_err(Error::Thread)?;
        }
        Ok(Self {
            jobs: Some(jobs),
            ended,
        })
    }

    /// Queues a job for a torrent, and sends its result to the loop.
    pub(crate) fn run(
        &self,
        torrent: Start,
        turn: Turn,
        job: impl FnOnce() -> Done + Send + 'static,
    ) {
        self.run_for_all(turn, move || Message::Done(torrent, job()));
    }

    /// Queues a job for several torrents, and sends its result to the loop.
    pub(crate) fn run_for_all(&self, turn: Turn, job: impl FnOnce() -> Message + Send + 'static) {
        if let Some(jobs) = &self.jobs {
            // The threads live as long as this sender.
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

/// Waits for a job. Other threads wait for the lock meanwhile.
fn next(queue: &Mutex<Queue>) -> Option<Run> {
    // No code that holds the lock leaves the queue inconsistent.
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    queue.next()
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
    use std::sync::Weak;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::config::Additions;
    use crate::ledger::Ledger;

    const START: Start = Start {
        torrent: 0,
        n_restarts: 0,
    };

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
                    START,
                    Done::DownloadChecked(Err(crate::error::TorrentError::Interrupted)),
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

    /// Of two threads, each runs a job that waits for the other one. Further jobs wait for a thread.
    #[test]
    fn as_many_jobs_run_as_there_are_threads() {
        let (sender, messages) = mpsc::channel();
        let ledger = Arc::new(Ledger::new(&Additions::default()));
        let inbox = Inbox::new(sender, Weak::new(), ledger);
        let two = NonZeroU16::new(2).expect("two is not zero");
        let worker = Worker::start("test", &inbox, Duration::ZERO, two);
        let worker = worker.expect("threads can be started");
        let running = Arc::new(AtomicUsize::new(0));
        let (ends, ended) = mpsc::channel();
        let submit = |job: Box<dyn FnOnce() -> bool + Send>| {
            let (running, ends) = (Arc::clone(&running), ends.clone());
            worker.run(START, Turn::First, move || {
                let n_others = running.fetch_add(1, Ordering::SeqCst);
                ends.send(n_others < 2 && job()).expect("the test waits");
                running.fetch_sub(1, Ordering::SeqCst);
                Done::DownloadChecked(Err(crate::error::TorrentError::Interrupted))
            });
        };
        for _ in 0..3 {
            let (one, from_one) = mpsc::channel();
            let (other, from_other) = mpsc::channel();
            let meets = |own: mpsc::Sender<()>, others: mpsc::Receiver<()>| {
                Box::new(move || {
                    own.send(()).is_ok() && others.recv_timeout(Duration::from_secs(20)).is_ok()
                })
            };
            submit(meets(one, from_other));
            submit(meets(other, from_one));
        }
        for _ in 0..6 {
            assert!(ended.recv().expect("each job reports its end"));
        }
        // The worker ends without a receiver.
        drop(messages);
    }
}
