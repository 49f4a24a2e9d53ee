//! Hooks: shell commands of the configuration that run when a torrent is added, complete, failed or removed.
//!
//! Commands come from the configuration alone. Names of torrents come from other people: the shell gets them as variables,
//! never as code. Only the end of the session waits for commands, for a second.
//!
//! A file in the state folder records each command that is to run, with its variables, until it succeeded. The next start of
//! the session runs those that are left.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, TrySendError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hashlane_api::Place;
use hashlane_files::{AtomicFile, Overwrite};
use hashlane_store::Entry;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::config::HookCommands;
use crate::error::Problem;
use crate::shell::shell;
use crate::threads::spawn;

/// The folder of records in the state folder.
const FOLDER: &str = "hooks";

/// Maximum length of a record in bytes: four paths, a name and labels.
const MAX_RECORD_LEN: u64 = 1 << 20;

/// Maximum number of commands that are named when the session ends.
const MAX_NAMED: usize = 10;

/// Number of commands that run at once.
const THREADS: usize = 2;

/// Maximum number of commands that wait. Further ones run after the next start.
const MAX_WAITING: usize = 10_000;

/// Time after which a command is killed, if the configuration has no other.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// Time that running commands have when the session ends. What has not ended then runs again after the next start.
const GRACE: Duration = Duration::from_secs(1);

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
    const ALL: [Self; 4] = [Self::Added, Self::Complete, Self::Failed, Self::Removed];

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
    /// The number of its record.
    number: u64,
    moment: Moment,
    command: String,
    timeout: Duration,
    /// The info-hash of the torrent.
    name: String,
    variables: Variables,
}

/// Variables that describe a torrent.
type Variables = Vec<(OsString, OsString)>;

/// The commands that have not succeeded, and their records.
#[derive(Clone)]
struct Unfinished {
    /// The folder of the records; `None` if nothing is kept.
    folder: Option<PathBuf>,
    commands: Arc<(Mutex<Commands>, Condvar)>,
}

/// The commands that have not succeeded.
#[derive(Default)]
struct Commands {
    /// What they are for, by the numbers of their records.
    described: BTreeMap<u64, String>,
    n_running: usize,
    /// Whether the session ends, so that no command starts.
    is_ending: bool,
}

impl Unfinished {
    fn commands(&self) -> MutexGuard<'_, Commands> {
        // No code that holds the lock leaves the value inconsistent.
        let (commands, _) = &*self.commands;
        commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a command that starts. Returns `false` if the session ends.
    fn starts(&self) -> bool {
        let mut commands = self.commands();
        commands.n_running += usize::from(!commands.is_ending);
        !commands.is_ending
    }

    /// Counts a command that has ended.
    fn ends(&self) {
        self.commands().n_running -= 1;
        self.commands.1.notify_all();
    }

    /// Lets no further command start, and waits for a moment for those that run.
    fn end(&self) -> MutexGuard<'_, Commands> {
        let mut commands = self.commands();
        commands.is_ending = true;
        let (_, ended) = &*self.commands;
        let is_running = |commands: &mut Commands| commands.n_running > 0;
        let waited = ended.wait_timeout_while(commands, GRACE, is_running);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Returns the path of a record, unless nothing is kept.
    fn path(&self, number: u64) -> Option<PathBuf> {
        // In this form, names have the order of numbers.
        Some(self.folder.as_ref()?.join(format!("{number:020}")))
    }

    /// Records a command, which is then on the disk. A record has the form of `/proc/PID/environ`: `NAME=VALUE` and a zero byte.
    fn record(&self, number: u64, variables: &Variables) -> io::Result<()> {
        let (Some(folder), Some(path)) = (&self.folder, self.path(number)) else {
            return Ok(());
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let file = AtomicFile::beside(&path, 0o600)?;
        for (name, value) in variables {
            let parts: [&[u8]; 4] = [name.as_bytes(), b"=", value.as_bytes(), b"\0"];
            file.as_file().write_all(&parts.concat())?;
        }
        file.put(&path, Overwrite::No)
    }

    /// Returns the records in their order. A file that is none is ignored.
    fn read(&self) -> io::Result<Vec<(u64, Variables)>> {
        let Some(folder) = &self.folder else {
            return Ok(Vec::new());
        };
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let number = |name: OsString| name.to_str()?.parse::<u64>().ok();
        let numbers = entries.filter_map(|entry| number(entry.ok()?.file_name()));
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        let records = numbers.into_iter().filter_map(|number| {
            let path = self.path(number)?;
            let is_short = path.symlink_metadata().ok()?.len() <= MAX_RECORD_LEN;
            Some((
                number,
                variables_of(&is_short.then(|| fs::read(&path).ok())??),
            ))
        });
        Ok(records.collect())
    }

    /// Forgets a command.
    fn forget(&self, number: u64) {
        self.commands().described.remove(&number);
        // Without a record, there is nothing to remove.
        let _ = self.path(number).map(fs::remove_file);
    }
}

/// Runs the hooks. Commands that wait, and those that run, are abandoned when the value is dropped, and run after the next start.
pub(super) struct Hooks {
    commands: HookCommands,
    unfinished: Unfinished,
    /// The number of the next record.
    next: AtomicU64,
    /// The queue of the threads; `None` before there are commands, because it allocates all of its places at once.
    jobs: Option<mpsc::SyncSender<Job>>,
    problems: mpsc::Sender<Problem>,
}

impl Hooks {
    /// Returns the hooks, and starts the threads if there are commands. Runs the commands that an earlier session recorded in the
    /// state folder, if there is one.
    pub(super) fn start(
        commands: HookCommands,
        state: Option<&Path>,
        problems: mpsc::Sender<Problem>,
    ) -> io::Result<Self> {
        let mut hooks = Self {
            commands: HookCommands::default(),
            unfinished: Unfinished {
                folder: state.map(|state| state.join(FOLDER)),
                commands: Arc::default(),
            },
            next: AtomicU64::default(),
            jobs: None,
            problems,
        };
        hooks.set(commands)?;
        let records = hooks.unfinished.read()?;
        let next = records.last().map_or(0, |(number, _)| number + 1);
        hooks.next = AtomicU64::new(next);
        for (number, variables) in records {
            if !hooks.queue(number, variables) {
                hooks.unfinished.forget(number);
            }
        }
        Ok(hooks)
    }

    /// Replaces the commands. Those that wait or run stay.
    pub(super) fn set(&mut self, commands: HookCommands) -> io::Result<()> {
        let all = [
            &commands.added,
            &commands.complete,
            &commands.failed,
            &commands.removed,
        ];
        if self.jobs.is_none() && all.iter().any(|command| command.is_some()) {
            self.jobs = Some(start_threads(&self.problems, &self.unfinished)?);
        }
        self.commands = commands;
        Ok(())
    }

    /// Returns `true` if the command of [`Moment::Complete`] also runs for content that was complete from the start.
    pub(super) fn runs_for_present(&self) -> bool {
        self.commands.complete_present
    }

    /// Returns `true` if a moment has a command.
    pub(super) fn has(&self, moment: Moment) -> bool {
        self.command(moment).is_some()
    }

    /// Runs the command of a moment, if there is one. Returns at once. `content` is the path of the content, if it is known.
    pub(super) fn run(
        &self,
        moment: Moment,
        entry: &Entry,
        content: Option<PathBuf>,
        error: Option<&str>,
    ) {
        if !self.has(moment) {
            return;
        }
        let variables = variables(moment, entry, content, error);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = self.unfinished.record(number, &variables) {
            let path = self.unfinished.path(number).unwrap_or_default();
            self.report(format!("{}: {error}", path.display()));
        }
        self.queue(number, variables);
    }

    /// Queues a command with these variables. Returns `false` if the configuration has none for their moment.
    fn queue(&self, number: u64, variables: Variables) -> bool {
        let value = |wanted: &str| {
            let mut variables = variables.iter();
            let found = variables.find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.to_string_lossy().into_owned())
        };
        let event = value("HASHLANE_EVENT");
        let mut moments = Moment::ALL.into_iter();
        let moment = moments.find(|moment| event.as_deref() == Some(moment.name()));
        let command = moment.and_then(|moment| self.command(moment));
        let (Some(moment), Some(command), Some(jobs)) = (moment, command, &self.jobs) else {
            return false;
        };
        let job = Job {
            number,
            moment,
            command: command.to_owned(),
            timeout: self.commands.timeout.unwrap_or(TIMEOUT),
            name: value("HASHLANE_INFO_HASH").unwrap_or_default(),
            variables,
        };
        let what_for = described(&job);
        (self.unfinished.commands().described).insert(number, what_for);
        if let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) = jobs.try_send(job) {
            let job = described(&job);
            let problem =
                format!("{job}: {MAX_WAITING} other commands wait; runs after the next start");
            self.report(problem);
        }
        true
    }

    fn command(&self, moment: Moment) -> Option<&str> {
        let command = match moment {
            Moment::Added => &self.commands.added,
            Moment::Complete => &self.commands.complete,
            Moment::Failed => &self.commands.failed,
            Moment::Removed => &self.commands.removed,
        };
        command.as_deref()
    }

    /// Lets no further command start, and reports those that have not succeeded.
    pub(super) fn end(&self) {
        let commands = self.unfinished.end();
        let waiting = &commands.described;
        if waiting.is_empty() {
            return;
        }
        let named: Vec<&str> = waiting
            .values()
            .take(MAX_NAMED)
            .map(String::as_str)
            .collect();
        let more = match waiting.len() - named.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let named = named.join(", ");
        self.report(format!(
            "not finished, and run after the next start: {named}{more}"
        ));
    }

    fn report(&self, problem: String) {
        // After the end of the session, the receiver is gone.
        let _ = self.problems.send(Problem::Warning(problem));
    }
}

/// Starts the threads that run commands, and returns their queue.
fn start_threads(
    problems: &mpsc::Sender<Problem>,
    unfinished: &Unfinished,
) -> io::Result<mpsc::SyncSender<Job>> {
    let (jobs, waiting) = mpsc::sync_channel::<Job>(MAX_WAITING);
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..THREADS {
        let (waiting, problems) = (Arc::clone(&waiting), problems.clone());
        let unfinished = unfinished.clone();
        let run = move || {
            loop {
                let job = waiting
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .recv();
                let Ok(job) = job else {
                    return;
                };
                if !unfinished.starts() {
                    return;
                }
                let ended = execute(&job);
                tracing::info!(hook = job.moment.name(), torrent = job.name, result = ?ended);
                match ended {
                    Ok(()) => unfinished.forget(job.number),
                    Err(problem) => {
                        let problem = format!("{}: {problem}", described(&job));
                        let _ = problems.send(Problem::Warning(problem));
                    }
                }
                unfinished.ends();
            }
        };
        spawn("hook", run)?;
    }
    Ok(jobs)
}

fn described(job: &Job) -> String {
    format!("hook `{}` for {}", job.moment.name(), job.name)
}

/// Reads the variables of a record.
fn variables_of(record: &[u8]) -> Variables {
    let pairs = record.split(|byte| *byte == 0);
    let pair = |pair: &[u8]| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (pair[..at].to_vec(), pair[at + 1..].to_vec());
        Some((OsString::from_vec(name), OsString::from_vec(value)))
    };
    pairs.filter_map(pair).collect()
}

/// Returns the variables that describe a torrent.
fn variables(
    moment: Moment,
    entry: &Entry,
    content: Option<PathBuf>,
    error: Option<&str>,
) -> Variables {
    let choices = &entry.choices;
    let folder = match &choices.place {
        Place::Folder(folder) => folder.clone(),
        Place::Content(content) => content.parent().map(PathBuf::from).unwrap_or_default(),
    };
    let text = |text: Option<String>| OsString::from(text.unwrap_or_default());
    let labels: Vec<&str> = choices.labels.iter().map(String::as_str).collect();
    let variables: [(&str, OsString); 10] = [
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
    ];
    let variables = variables.into_iter();
    variables
        .map(|(name, value)| (OsStr::new(name).to_owned(), value))
        .collect()
}

/// Runs a command until it ends, or kills it and the processes that it started.
fn execute(job: &Job) -> Result<(), String> {
    let timeout = job.timeout;
    let mut command = shell(&job.command).map_err(|error| error.to_string())?;
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
