//! The table of steps, and the execution of one.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::inputs::{self, Files};
use crate::project::Project;

/// No step takes this long, also on a slow machine. One that hangs must not use up the time of the whole run.
const LIMIT: Duration = Duration::from_secs(45 * 60);
/// Those that run beside others only get the time that the others leave.
const LIMIT_BESIDE: Duration = Duration::from_secs(75 * 60);

/// `.ci/steps.toml`.
#[derive(Deserialize)]
pub(crate) struct Table {
    step: Vec<Step>,
}

/// One step of CI.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) name: String,
    /// The command, whose words are separated by white space.
    pub(crate) run: String,
    /// Files, folders, and crates with all that they are built from (`crate NAME`).
    pub(crate) inputs: Vec<String>,
    /// Programs whose versions are inputs, too.
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    /// Uses a target folder of its own, so that it can run beside other steps.
    #[serde(default)]
    pub(crate) beside: bool,
    /// Runs each time: its pass is not recorded.
    #[serde(default)]
    pub(crate) always: bool,
    /// Takes so long that only FULL=1 runs it.
    #[serde(default)]
    pub(crate) full: bool,
}

/// What steps are run with.
pub(crate) struct Surroundings {
    pub(crate) root: PathBuf,
    /// PATH with the installed tools, and what tests must not report as not run.
    pub(crate) variables: Vec<(String, String)>,
}

/// What became of a step.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) passed: bool,
    pub(crate) time: Duration,
    /// Standard output and standard error, as they were printed.
    pub(crate) output: String,
}

impl Table {
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let text = project.shell.read_file(project.path(".ci/steps.toml"))?;
        toml::from_str(&text).context(".ci/steps.toml")
    }

    /// Returns the named steps, or all.
    pub(crate) fn choose(&self, names: &[String]) -> Result<Vec<&Step>> {
        for name in names {
            if !self.step.iter().any(|step| step.name == *name) {
                bail!("{name}: .ci/steps.toml has no such step");
            }
        }
        let is_chosen = |step: &&Step| names.is_empty() || names.contains(&step.name);
        Ok(self.step.iter().filter(is_chosen).collect())
    }

    /// Returns the hash of all that a step depends on.
    pub(crate) fn key(&self, project: &Project, files: &Files, step: &Step) -> Result<String> {
        let versions = step.tools.iter().map(|tool| {
            let version = project
                .command(&format!("{tool} --version"))
                .quiet()
                .ignore_stderr()
                .read();
            format!("{tool}: {}", version.unwrap_or_default())
        });
        let text = format!("{}\n{}", step.run, versions.collect::<Vec<_>>().join("\n"));
        let all: Vec<_> = self.step.iter().map(|step| &*step.inputs).collect();
        inputs::key(project, &text, &files.of_step(&step.inputs, &all)?)
    }
}

/// Runs a step. Its output is printed when it comes if `is_printed`, and returned.
pub(crate) fn execute(surroundings: &Surroundings, step: &Step, is_printed: bool) -> Outcome {
    let began = Instant::now();
    let mut outcome = Outcome::default();
    let title = format!("== {}: {}\n", step.name, step.run);
    if is_printed {
        print!("{title}");
    }
    outcome.output.push_str(&title);
    let result = start(surroundings, step).and_then(|(child, reader)| {
        let limit = if step.beside { LIMIT_BESIDE } else { LIMIT };
        std::thread::scope(|scope| {
            let end = scope.spawn(move || end_of(child, limit));
            copy(reader, is_printed, &mut outcome.output)?;
            end.join()
                .unwrap_or_else(|_| bail!("the thread that waits panicked"))
        })
    });
    outcome.time = began.elapsed();
    outcome.passed = matches!(result, Ok(true));
    let verdict = match result {
        Ok(true) => "passed".to_owned(),
        Ok(false) => "FAILED".to_owned(),
        Err(error) => format!("FAILED: {error:#}"),
    };
    let line = format!(
        "== {}: {verdict} in {} s\n",
        step.name,
        outcome.time.as_secs()
    );
    // At once, also if the output of the step comes later.
    print!("{line}");
    outcome.output.push_str(&line);
    outcome
}

/// Starts the command of a step in a process group of its own, with the end of a pipe that has all of its output.
fn start(surroundings: &Surroundings, step: &Step) -> Result<(Child, std::io::PipeReader)> {
    let (reader, writer) = std::io::pipe()?;
    let mut words = step.run.split_whitespace();
    let mut command = if step.beside {
        let mut command = Command::new("chrt");
        command.args(["--idle", "0"]).args(words);
        command
    } else {
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    };
    command
        .current_dir(&surroundings.root)
        .envs(
            surroundings
                .variables
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .stdin(Stdio::null())
        .stderr(writer.try_clone()?)
        .stdout(writer)
        .process_group(0);
    let child = command.spawn().with_context(|| step.run.clone())?;
    Ok((child, reader))
}

/// Copies lines until all processes of the step have closed the pipe.
fn copy(reader: std::io::PipeReader, is_printed: bool, output: &mut String) -> Result<()> {
    use std::io::{BufRead as _, BufReader};
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        output.push_str(&line);
        output.push('\n');
        if is_printed {
            println!("{line}");
            std::io::stdout().flush()?;
        }
    }
    Ok(())
}

/// Waits for the end of a step. One that takes too long is ended with everything that it started, after a list of its processes.
fn end_of(mut child: Child, limit: Duration) -> Result<bool> {
    let began = Instant::now();
    while began.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            // Nothing that it started may hold the pipe, or the processors.
            kill(&child, "KILL");
            return Ok(status.success());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = Command::new("ps")
        .args([
            "-A",
            "--forest",
            "--cols",
            "160",
            "-o",
            "pid,etimes,times,stat,wchan:20,args",
        ])
        .status();
    kill(&child, "TERM");
    std::thread::sleep(Duration::from_secs(5));
    kill(&child, "KILL");
    child.wait()?;
    bail!("still running after {} s", limit.as_secs());
}

/// Sends a signal to the process group of a child.
fn kill(child: &Child, signal: &str) {
    let _ = Command::new("kill")
        .args([&format!("-{signal}"), "--", &format!("-{}", child.id())])
        .stderr(Stdio::null())
        .status();
}
