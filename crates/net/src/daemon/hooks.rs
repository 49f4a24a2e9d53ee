//! Hooks: shell commands of the configuration that run when a torrent is added, complete, failed or removed.
//!
//! Commands come from the configuration alone. Names of torrents come from other people: the shell gets them as variables,
//! never as code. The daemon never waits for a command.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc::{self, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hashlane_cli::tables;
use hashlane_store::{Entry, Place};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::executor::shell;

/// Number of commands that run at once.
const THREADS: usize = 2;

/// Maximum number of commands that wait. Further ones are not run.
const MAX_WAITING: usize = 10_000;

/// Time after which a command is killed, if the configuration has no other.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// Interval at which a running command is looked at.
const TICK: Duration = Duration::from_millis(50);

/// Something that happened to a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Added,
    Complete,
    Failed,
    Removed,
}

impl Moment {
    fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Removed => "removed",
        }
    }
}

/// A command that is to run.
struct Job {
    moment: Moment,
    command: String,
    timeout: Duration,
    name: String,
    variables: Vec<(&'static str, OsString)>,
}

/// Runs the hooks. Commands that wait, and those that run, are abandoned when the value is dropped.
pub(super) struct Hooks {
    commands: tables::Hooks,
    /// The queue of the threads; `None` before there are commands, because it allocates all of its places at once.
    jobs: Option<mpsc::SyncSender<Job>>,
    problems: mpsc::Receiver<String>,
    sender: mpsc::Sender<String>,
}

impl Hooks {
    /// Returns the hooks, and starts the threads if there are commands.
    pub(super) fn start(commands: tables::Hooks) -> io::Result<Self> {
        let (sender, problems) = mpsc::channel();
        let mut hooks = Self {
            commands: tables::Hooks::default(),
            jobs: None,
            problems,
            sender,
        };
        hooks.set(commands)?;
        Ok(hooks)
    }

    /// Replaces the commands. Those that wait or run stay.
    pub(super) fn set(&mut self, commands: tables::Hooks) -> io::Result<()> {
        let all = [
            &commands.added,
            &commands.complete,
            &commands.failed,
            &commands.removed,
        ];
        if self.jobs.is_none() && all.iter().any(|command| command.is_some()) {
            self.jobs = Some(start_threads(&self.sender)?);
        }
        self.commands = commands;
        Ok(())
    }

    /// Returns `true` if the command of [`Moment::Complete`] also runs for content that was complete from the start.
    pub(super) fn runs_for_present(&self) -> bool {
        self.commands.complete_present
    }

    /// Runs the command of a moment, if there is one. Returns at once. `content` is the path of the content, if it is known.
    pub(super) fn run(
        &self,
        moment: Moment,
        entry: &Entry,
        content: Option<PathBuf>,
        error: Option<&str>,
    ) {
        let command = match moment {
            Moment::Added => &self.commands.added,
            Moment::Complete => &self.commands.complete,
            Moment::Failed => &self.commands.failed,
            Moment::Removed => &self.commands.removed,
        };
        let (Some(command), Some(jobs)) = (command, &self.jobs) else {
            return;
        };
        let job = Job {
            moment,
            command: command.as_str().to_owned(),
            timeout: self.commands.timeout.unwrap_or(TIMEOUT),
            name: entry.name().to_string(),
            variables: variables(moment, entry, content, error),
        };
        if let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) = jobs.try_send(job) {
            let problem = format!("not run: {MAX_WAITING} other commands wait");
            let _ = self.sender.send(described(&job, &problem));
        }
    }

    /// Returns the problems since the last call.
    pub(super) fn problems(&self) -> impl Iterator<Item = String> {
        self.problems.try_iter()
    }
}

/// Starts the threads that run commands, and returns their queue.
fn start_threads(sender: &mpsc::Sender<String>) -> io::Result<mpsc::SyncSender<Job>> {
    let (jobs, waiting) = mpsc::sync_channel::<Job>(MAX_WAITING);
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..THREADS {
        let (waiting, sender) = (Arc::clone(&waiting), sender.clone());
        let run = move || {
            loop {
                let job = waiting
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .recv();
                let Ok(job) = job else {
                    return;
                };
                let ended = execute(&job);
                tracing::info!(hook = job.moment.name(), torrent = job.name, result = ?ended);
                if let Err(problem) = ended {
                    let _ = sender.send(described(&job, &problem));
                }
            }
        };
        thread::Builder::new().name("hook".into()).spawn(run)?;
    }
    Ok(jobs)
}

fn described(job: &Job, problem: &str) -> String {
    format!("hook `{}` for {}: {problem}", job.moment.name(), job.name)
}

/// Returns the variables that describe a torrent.
fn variables(
    moment: Moment,
    entry: &Entry,
    content: Option<PathBuf>,
    error: Option<&str>,
) -> Vec<(&'static str, OsString)> {
    let choices = &entry.choices;
    let folder = match &choices.place {
        Place::Folder(folder) => folder.clone(),
        Place::Content(content) => content.parent().map(PathBuf::from).unwrap_or_default(),
    };
    let text = |text: Option<String>| OsString::from(text.unwrap_or_default());
    let labels: Vec<&str> = choices.labels.iter().map(String::as_str).collect();
    vec![
        ("HASHLANE_EVENT", moment.name().into()),
        ("HASHLANE_INFO_HASH", entry.name().to_string().into()),
        (
            "HASHLANE_INFO_HASH_V1",
            text(entry.info_hashes.v1().map(|v1| v1.to_string())),
        ),
        (
            "HASHLANE_INFO_HASH_V2",
            text(entry.info_hashes.v2().map(|v2| v2.to_string())),
        ),
        ("HASHLANE_NAME", entry.title.clone().into()),
        ("HASHLANE_FOLDER", folder.into()),
        ("HASHLANE_CONTENT", content.unwrap_or_default().into()),
        ("HASHLANE_CATEGORY", text(choices.category.clone())),
        ("HASHLANE_LABELS", labels.join("\n").into()),
        ("HASHLANE_ERROR", text(error.map(str::to_owned))),
    ]
}

/// Runs a command until it ends, or kills it and the processes that it started.
fn execute(job: &Job) -> Result<(), String> {
    let timeout = job.timeout;
    let mut command = shell(&job.command)?;
    command.envs(job.variables.iter().map(|(name, value)| (name, value)));
    let child = command.process_group(0).spawn();
    let mut child = child.map_err(|error| format!("sh: {error}"))?;
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(status.to_string()),
            Ok(None) => {}
            Err(error) => return Err(error.to_string()),
        }
        if started.elapsed() >= timeout {
            kill(&mut child);
            return Err(format!("killed after {} s", timeout.as_secs_f64()));
        }
        thread::sleep(TICK);
    }
}

fn kill(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // The group may have ended.
    let _ = group.map(|group| kill_process_group(group, Signal::KILL));
    let _ = child.wait();
}
