//! Runs the command of `--exec` for complete downloads, one at a time.
//!
//! A record says that the command has succeeded for a torrent's content, so that it does not run again when the program
//! finds the content complete. Without the record, a kill between the download and the end of the command would lose the
//! command. docs/reference/formats.md describes the record.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use anyhow::Context as _;
use hashlane_cli::new_file::{self, Overwrite};
use hashlane_client::{CompleteContent, Identity, InfoHash};
use hashlane_session::shell;

/// Runs a shell command on its own thread.
pub(crate) struct Executor {
    jobs: mpsc::Sender<Job>,
    records: Option<Records>,
    results: mpsc::Receiver<Executed>,
    left: Unfinished,
}

/// The number of commands that have not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unfinished(Arc<AtomicUsize>);

impl Unfinished {
    /// Returns `true` if all commands have ended.
    pub(crate) fn is_none(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }
}

/// A download that is complete.
struct Job {
    /// The torrent as the user named it.
    label: String,
    content: CompleteContent,
}

/// The folder of records.
#[derive(Clone)]
struct Records(PathBuf);

/// A command that has ended.
pub(crate) struct Executed {
    /// The torrent as the user named it.
    pub(crate) label: String,
    /// The torrent whose download the command followed.
    pub(crate) torrent: Identity,
    /// The reason why the command failed, if it did.
    pub(crate) problem: Option<String>,
    /// The reason why the success cannot be recorded.
    pub(crate) warning: Option<String>,
}

impl Executor {
    /// Starts the thread, which waits for downloads. `state` is the folder for the records; without it, the command runs
    /// for complete content at each start. Sets `has_failed` when a command fails.
    pub(crate) fn start(
        command: String,
        state: Option<&Path>,
        has_failed: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let left = Unfinished::default();
        let left_of_thread = left.clone();
        let records = state.map(|state| Records(state.join("exec")));
        let records_of_thread = records.clone();
        let (jobs, waiting) = mpsc::channel::<Job>();
        let (sender, results) = mpsc::channel();
        let run = move || {
            for job in waiting {
                let problem = execute(&command, &job).err();
                if problem.is_some() {
                    has_failed.store(true, Ordering::SeqCst);
                }
                let written = match &records_of_thread {
                    Some(records) if problem.is_none() => records.write(&job.content),
                    _ => Ok(()),
                };
                let _ = sender.send(Executed {
                    label: job.label,
                    torrent: job.content.torrent,
                    problem,
                    warning: written.err().map(|error| format!("{error:#}")),
                });
                left_of_thread.0.fetch_sub(1, Ordering::SeqCst);
            }
        };
        thread::Builder::new().name("exec".into()).spawn(run)?;
        Ok(Self {
            jobs,
            records,
            results,
            left,
        })
    }

    /// Runs the command for complete content, after the commands of earlier downloads. Does nothing if it has succeeded
    /// for this content, unless a part of the content was downloaded since.
    pub(crate) fn run(&self, label: String, content: CompleteContent) {
        if content.is_new {
            self.forget(content.torrent);
        }
        let mut records = self.records.iter();
        if !records.any(|records| records.has(&content)) {
            self.left.0.fetch_add(1, Ordering::SeqCst);
            // The thread ends after its last job.
            let _ = self.jobs.send(Job { label, content });
        }
    }

    /// Removes the record of content that is no longer complete, so that the command runs after its next download.
    pub(crate) fn forget(&self, torrent: Identity) {
        let records = self.records.as_ref();
        if let Some(path) = records.and_then(|records| records.path(torrent)) {
            let _ = fs::remove_file(path);
        }
    }

    /// Returns the number of commands that have not ended, which changes.
    pub(crate) fn unfinished(&self) -> Unfinished {
        self.left.clone()
    }

    /// Returns the commands that have ended since the last call.
    pub(crate) fn ended(&self) -> impl Iterator<Item = Executed> {
        self.results.try_iter()
    }

    /// Waits for all commands, and returns those that have ended since the last call.
    pub(crate) fn end(self) -> Vec<Executed> {
        drop(self.jobs);
        self.results.into_iter().collect()
    }
}

impl Records {
    /// Returns the path of a record: its name is the info-hash of version 2, or of version 1 if there is no other.
    fn path(&self, torrent: Identity) -> Option<PathBuf> {
        let v2 = torrent.info_hashes?.v2().map(InfoHash::V2);
        let name = v2.or(torrent.info_hash())?;
        Some(self.0.join(name.to_string()))
    }

    /// Returns `true` if the command has succeeded for this content.
    fn has(&self, content: &CompleteContent) -> bool {
        let Some(Ok(recorded)) = self.path(content.torrent).map(fs::read) else {
            return false;
        };
        let place = std::path::absolute(&content.content);
        place.is_ok_and(|place| recorded == place.as_os_str().as_bytes())
    }

    /// Records that the command has succeeded for this content.
    fn write(&self, content: &CompleteContent) -> anyhow::Result<()> {
        let Some(path) = self.path(content.torrent) else {
            return Ok(());
        };
        let write = || {
            let mut folder = DirBuilder::new();
            folder.recursive(true).mode(0o700).create(&self.0)?;
            let place = std::path::absolute(&content.content)?;
            new_file::write(&path, place.as_os_str().as_bytes(), Overwrite::Yes)
        };
        write().with_context(|| format!("{}: not recorded", path.display()))
    }
}

/// Runs the command. Names of torrents come from other people: the shell gets them as variables, never as code.
fn execute(command: &str, job: &Job) -> Result<(), String> {
    let status = shell(command)
        .map_err(|error| error.to_string())?
        .env("HASHLANE_TORRENT", &job.label)
        .env("HASHLANE_NAME", &job.content.name)
        .env("HASHLANE_CONTENT", &job.content.content)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(format!("sh: {error}")),
    }
}
