//! Runs the command of `--exec` after each download, one at a time.

use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

/// Runs a shell command on its own thread.
pub(super) struct Executor {
    jobs: mpsc::Sender<Job>,
    results: mpsc::Receiver<Executed>,
}

/// A download that is complete.
struct Job {
    torrent: String,
    name: String,
    content: PathBuf,
}

/// A command that has ended.
pub(super) struct Executed {
    /// The torrent as the user named it.
    pub(super) torrent: String,
    /// The reason why the command failed, if it did.
    pub(super) problem: Option<String>,
}

impl Executor {
    /// Starts the thread, which waits for downloads.
    pub(super) fn start(command: String) -> io::Result<Self> {
        let (jobs, waiting) = mpsc::channel::<Job>();
        let (sender, results) = mpsc::channel();
        let run = move || {
            for job in waiting {
                let problem = execute(&command, &job).err();
                let torrent = job.torrent;
                let _ = sender.send(Executed { torrent, problem });
            }
        };
        thread::Builder::new().name("exec".into()).spawn(run)?;
        Ok(Self { jobs, results })
    }

    /// Runs the command for a download, after the commands of earlier downloads.
    pub(super) fn run(&self, torrent: String, name: &str, content: &Path) {
        // The thread ends after its last job.
        let _ = self.jobs.send(Job {
            torrent,
            name: name.to_owned(),
            content: content.to_owned(),
        });
    }

    /// Returns the commands that have ended since the last call.
    pub(super) fn ended(&self) -> impl Iterator<Item = Executed> {
        self.results.try_iter()
    }

    /// Waits for all commands, and returns those that have ended since the last call.
    pub(super) fn end(self) -> Vec<Executed> {
        drop(self.jobs);
        self.results.into_iter().collect()
    }
}

/// Runs the command. Names of torrents come from other people: the shell gets them as variables, never as code.
fn execute(command: &str, job: &Job) -> Result<(), String> {
    // Standard output is reserved for the reports of this program.
    let output = io::stderr().as_fd().try_clone_to_owned();
    let output = output.map_err(|error| error.to_string())?;
    let status = Command::new("sh")
        .args(["-c", command])
        .env("HASHLANE_TORRENT", &job.torrent)
        .env("HASHLANE_NAME", &job.name)
        .env("HASHLANE_CONTENT", &job.content)
        .stdin(Stdio::null())
        .stdout(Stdio::from(output))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(format!("sh: {error}")),
    }
}
