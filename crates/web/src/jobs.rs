//! Torrents that are added from URLs. Their info-hashes are known only after the fetch, so the answer is a job.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use hashlane_api::{Added, Job, JobState, Progress, Refusal};

/// Maximum number of fetches at once. Each has a thread, and memory for a .torrent file.
const MAX_RUNNING: usize = 8;

/// Number of jobs that are remembered. Ended ones are forgotten first.
const MAX_JOBS: usize = 256;

/// The jobs, by their numbers.
#[derive(Default)]
pub(super) struct Jobs(Mutex<Numbered>);

#[derive(Default)]
struct Numbered {
    last: u64,
    jobs: BTreeMap<u64, JobState>,
}

/// The state of a job before its end.
const FETCHING: JobState = JobState {
    state: Progress::Fetching,
    torrent: None,
    error: None,
};

/// Returns the state of a job after its end.
fn ended(result: Result<Added, Refusal>) -> JobState {
    let (state, torrent, error) = match result {
        Ok(added) if added.is_present => (Progress::Present, Some(added.torrent), None),
        Ok(added) => (Progress::Added, Some(added.torrent), None),
        Err(refusal) => (Progress::Failed, None, Some(refusal.to_string())),
    };
    JobState {
        state,
        torrent,
        error,
    }
}

fn is_running(job: &JobState) -> bool {
    job.state == Progress::Fetching
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, Numbered> {
        // No code that holds the lock leaves the jobs inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, id: u64) -> Option<Job> {
        let state = self.lock().jobs.get(&id)?.clone();
        Some(Job { id, state })
    }

    /// Starts a job, unless too many are running.
    fn start(&self) -> Result<u64, Refusal> {
        let mut numbered = self.lock();
        let running = numbered.jobs.values().filter(|job| is_running(job));
        if running.count() >= MAX_RUNNING {
            let reason = "too many .torrent files are being fetched: try again later";
            return Err(Refusal::Unavailable(reason.into()));
        }
        if numbered.jobs.len() >= MAX_JOBS {
            let mut ended = numbered.jobs.iter().filter(|(_, job)| !is_running(job));
            if let Some(oldest) = ended.next().map(|(id, _)| *id) {
                numbered.jobs.remove(&oldest);
            }
        }
        numbered.last += 1;
        let id = numbered.last;
        numbered.jobs.insert(id, FETCHING);
        Ok(id)
    }

    fn end(&self, id: u64, state: JobState) {
        self.lock().jobs.insert(id, state);
    }

    /// Adds a torrent on a thread, which can wait for its file.
    pub(super) fn run(
        self: &Arc<Self>,
        add: impl FnOnce() -> Result<Added, Refusal> + Send + 'static,
    ) -> Result<Job, Refusal> {
        let id = self.start()?;
        let jobs = Arc::clone(self);
        let log = tracing::dispatcher::get_default(Clone::clone);
        let run = move || jobs.end(id, ended(add()));
        let thread = thread::Builder::new()
            .name("fetch".into())
            .spawn(move || tracing::dispatcher::with_default(&log, run));
        if let Err(error) = thread {
            let refusal = Refusal::Unavailable(error.to_string());
            self.end(id, ended(Err(refusal)));
        }
        self.get(id).ok_or(Refusal::Absent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_limited() {
        let jobs = Jobs::default();
        let running: Vec<u64> = (0..MAX_RUNNING).map(|_| jobs.start().unwrap()).collect();
        assert!(matches!(jobs.start(), Err(Refusal::Unavailable(_))));
        let failed = || ended(Err(Refusal::Absent));
        jobs.end(running[0], failed());
        for _ in 0..2 * MAX_JOBS {
            let id = jobs.start().unwrap();
            jobs.end(id, failed());
        }
        assert_eq!(jobs.lock().jobs.len(), MAX_JOBS);
        // Running jobs are remembered, ended ones are not.
        assert!(jobs.get(running[0]).is_none());
        assert!(running[1..].iter().all(|id| jobs.get(*id).is_some()));
    }
}
