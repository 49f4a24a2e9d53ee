//! The arguments, streams and terminal of a process, and its exit status.

use std::ffi::OsString;
use std::io::{self, BufRead, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use hashlane_config::Sources;
use hashlane_files::read_limited;
use hashlane_metainfo::masked_text;
use hashlane_sha::Backend;
use hashlane_verify::CancelToken;

use crate::input;
use crate::output::printer::Printer;
use crate::output::text::Escaped;
use crate::startup::Startup;
use hashlane_api::Size;

/// Maximum length of a text file, in bytes. People write these files by hand.
const MAX_TEXT_LEN: u64 = 1 << 20;

/// The arguments, streams and terminal of a process. Tests use [`Self::without_terminal`].
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the terminal"
)]
pub struct Env {
    /// The arguments. The first one is the program's name.
    pub args: Vec<OsString>,
    /// The folder that relative paths start from. Empty for the process's working directory.
    pub cwd: PathBuf,
    /// The files and variables of the configuration.
    pub config: Sources,
    /// Folder for state that outlives the process, if the process has one. It need not exist.
    pub state: Option<PathBuf>,
    /// Input and answers to questions.
    pub stdin: Box<dyn BufRead>,
    /// Whether a user can be asked.
    pub can_ask: bool,
    /// Waits at most this long for an answer, and returns whether there is one.
    pub has_answer: fn(Duration) -> bool,
    /// Makes the terminal hide typed characters, and returns `true` on success. Called again while the user types,
    /// because a shell resets the terminal when it continues the program.
    pub hide_input: fn() -> bool,
    /// Makes the terminal show typed characters again.
    pub show_input: fn(),
    /// Results.
    pub stdout: Box<dyn Write>,
    /// Errors and warnings.
    pub stderr: Box<dyn Write>,
    /// Prints both streams on threads of their own, for commands that work meanwhile.
    pub printer: Printer,
    /// Columns of the terminal that shows the results, if one does.
    pub width: Option<usize>,
    /// Whether a terminal shows the results.
    pub stdout_is_terminal: bool,
    /// Whether results may be coloured.
    pub color: bool,
    /// Whether a terminal that can move its cursor shows the standard error stream.
    pub progress: bool,
    /// The one hash backend to use, if the environment names one.
    pub backend: Option<Backend>,
    /// Ends a verification early, with a partial report.
    pub cancel: CancelToken,
    /// Makes Ctrl-C set [`Self::cancel`]. Called when long work starts: before that, Ctrl-C ends the process at once.
    pub interrupts: Option<InstallInterrupts>,
    /// Prints a message and ends the process with exit status 2, even while its threads run.
    pub end_at_once: EndAtOnce,
    /// Streams and signals as the parent process left them.
    pub startup: Startup,
}

/// The arguments and the places of a process, by which another thread reads its options again.
#[derive(Clone, Debug)]
pub struct Invocation {
    args: Vec<OsString>,
    cwd: PathBuf,
    config: Sources,
    state: Option<PathBuf>,
}

impl Invocation {
    /// Returns an environment with these arguments and places, without streams.
    pub fn env(&self) -> Env {
        Env {
            config: self.config.clone(),
            state: self.state.clone(),
            ..Env::without_terminal(&self.args, self.cwd.clone())
        }
    }
}

/// Ends the process with exit status 2, even while [`run`](crate::run) is working.
fn end_at_once(message: &str) {
    restore_terminal();
    let line = format!("hashlane: {}\n", Escaped(message));
    let (sender, is_printed) = mpsc::channel();
    let of_thread = line.clone();
    let print = move || sender.send(io::stderr().write_all(of_thread.as_bytes()));
    // The end does not wait for a reader that does not read.
    match std::thread::Builder::new().spawn(print) {
        Ok(_) => drop(is_printed.recv_timeout(PARTING)),
        Err(_) => drop(io::stderr().write_all(line.as_bytes())),
    }
    exit(Exit::NotChecked.code().into());
}

/// Ends the process without the destructors of libraries: threads may use what these destroy.
#[cfg(unix)]
fn exit(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}

#[cfg(not(unix))]
fn exit(code: i32) -> ! {
    std::process::exit(code)
}

fn restore_terminal() {
    #[cfg(unix)]
    crate::output::terminal_modes::restore_before_exit();
}

#[cfg(unix)]
use crate::output::terminal_modes::{hide_input, restore as show_input};

/// Returns `false`: the system cannot hide typed characters.
#[cfg(not(unix))]
fn hide_input() -> bool {
    false
}

#[cfg(not(unix))]
fn show_input() {}

/// Time for the message of a program that ends at once.
const PARTING: Duration = Duration::from_secs(1);

/// Interval at which Ctrl-C is checked while waiting for an answer.
const PATIENCE: Duration = Duration::from_millis(100);

/// Returns `true` if the standard input stream has data or has ended.
#[cfg(unix)]
fn stdin_is_ready(patience: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut streams = [PollFd::new(&stdin, PollFlags::IN)];
    let patience = Timespec::try_from(patience).ok();
    poll(&mut streams, patience.as_ref()).is_ok_and(|n| n > 0)
}

/// Returns `true`: the system cannot check for data, so that the read itself waits.
#[cfg(not(unix))]
fn stdin_is_ready(_: Duration) -> bool {
    true
}

/// Returns `hashlane` in `$XDG_STATE_HOME`, or else in `~/.local/state`. Relative paths are ignored, as the XDG Base
/// Directory Specification says.
fn state_folder() -> Option<PathBuf> {
    let folder = |variable: &str| {
        let path = std::env::var_os(variable).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let states = folder("XDG_STATE_HOME");
    let states = states.or_else(|| Some(folder("HOME")?.join(".local/state")));
    states.map(|states| states.join("hashlane"))
}

/// Returns whether results are coloured, by the variables of <https://no-color.org> and <https://bixense.com/clicolors>.
fn color_by_variables(terminal_has_color: bool) -> bool {
    if anstyle_query::no_color() {
        return false;
    }
    anstyle_query::clicolor_force()
        || terminal_has_color && anstyle_query::clicolor().unwrap_or(true)
}

/// See [`Env::interrupts`].
pub type InstallInterrupts = fn(CancelToken, EndAtOnce) -> io::Result<()>;

/// See [`Env::end_at_once`].
pub type EndAtOnce = fn(&str);

impl Env {
    /// Returns the environment of this process.
    pub fn of_process() -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_terminal = io::stdout().is_terminal();
        let printer = Printer::default();
        let stdout = printer.stdout(BufWriter::new(io::stdout()), is_terminal);
        let stderr = printer.stderr(io::stderr());
        let terminal_width = terminal_size::terminal_size().map(|(width, _)| width.0.into());
        Self {
            args: std::env::args_os().collect(),
            cwd: PathBuf::new(),
            config: Sources::of_process(),
            state: state_folder(),
            stdin: Box::new(io::stdin().lock()),
            can_ask: io::stdin().is_terminal(),
            has_answer: stdin_is_ready,
            hide_input,
            show_input,
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
            printer,
            width: terminal_width.filter(|_| is_terminal),
            stdout_is_terminal: is_terminal,
            color: color_by_variables(is_terminal && !is_dumb),
            progress: io::stderr().is_terminal() && !is_dumb,
            backend: None,
            cancel: CancelToken::default(),
            interrupts: None,
            end_at_once,
            startup: Startup::of_process(),
        }
    }

    /// Returns the arguments and the places.
    pub fn invocation(&self) -> Invocation {
        Invocation {
            args: self.args.clone(),
            cwd: self.cwd.clone(),
            config: self.config.clone(),
            state: self.state.clone(),
        }
    }

    /// Returns an environment without terminal and input that discards all output.
    ///
    /// # Panics
    /// [`Self::end_at_once`] panics, because one test must not end the process of all tests.
    pub fn without_terminal(args: impl IntoIterator<Item: Into<OsString>>, cwd: PathBuf) -> Self {
        Self {
            args: args.into_iter().map(Into::into).collect(),
            cwd,
            config: Sources::default(),
            state: None,
            stdin: Box::new(io::empty()),
            can_ask: false,
            has_answer: |_| true,
            hide_input: || true,
            show_input: || (),
            stdout: Box::new(io::sink()),
            stderr: Box::new(io::sink()),
            printer: Printer::default(),
            width: None,
            stdout_is_terminal: false,
            color: false,
            progress: false,
            backend: None,
            cancel: CancelToken::default(),
            interrupts: None,
            end_at_once: |message| panic!("{message}"),
            startup: Startup::default(),
        }
    }

    /// Reads a text file that a person wrote, or the standard input stream if the path is `-`. Errors name the file.
    pub(crate) fn read_text_file(&mut self, path: &Path) -> anyhow::Result<String> {
        let place = self.resolve(path);
        let mut read = || {
            let mut bytes = Vec::new();
            let is_whole = if path == Path::new("-") {
                read_limited(&mut self.stdin, MAX_TEXT_LEN, &mut bytes)?
            } else {
                read_limited(input::open(&place)?, MAX_TEXT_LEN, &mut bytes)?
            };
            if !is_whole {
                bail!("is longer than {}", Size(MAX_TEXT_LEN));
            }
            String::from_utf8(bytes).context("is not UTF-8 text")
        };
        read().with_context(|| path.display().to_string())
    }

    /// Returns the path to open for a path that the user gave.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        self.cwd.join(path)
    }

    /// Asks whether to continue. Control characters are escaped, except line ends.
    ///
    /// # Errors
    /// [`Interrupted`] after Ctrl-C; the question cannot be printed, or the answer cannot be read.
    pub fn agrees(&mut self, question: &str) -> anyhow::Result<bool> {
        self.catch_interrupts();
        self.stdout.flush()?;
        for line in question.split('\n') {
            writeln!(self.stderr, "{}", Escaped(line))?;
        }
        write!(self.stderr, "Continue? [y/N] ")?;
        self.stderr.flush()?;
        if !self.waits_for_answer(|| ()) {
            writeln!(self.stderr)?;
            return Err(Interrupted.into());
        }
        let mut answer = String::new();
        self.stdin.read_line(&mut answer)?;
        Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
    }

    /// Waits until the standard input stream has data or has ended, and returns `false` after Ctrl-C. Calls `meanwhile`
    /// about ten times per second.
    pub(crate) fn waits_for_answer(&self, meanwhile: impl Fn()) -> bool {
        while !(self.has_answer)(PATIENCE) {
            if self.cancel.is_cancelled() {
                return false;
            }
            meanwhile();
        }
        true
    }

    /// Makes Ctrl-C end the work early with a partial report, instead of ending the process.
    pub fn catch_interrupts(&mut self) {
        if let Some(install) = self.interrupts.take()
            && let Err(error) = install(self.cancel.clone(), self.end_at_once)
        {
            self.error(&format!(
                "warning: Ctrl-C will end the program without a report: {error}"
            ));
        }
    }

    /// Prints an error message on one line. This is the only place that escapes error messages: names of files and
    /// texts of peers and servers must not control a terminal. Passwords and keys in URLs are not printed.
    pub fn error(&mut self, message: &str) {
        // Earlier results come first if both streams go to the same file or terminal. A failure to print the message is
        // ignored.
        let _ = self.stdout.flush();
        let _ = writeln!(self.stderr, "hashlane: {}", Escaped(masked_text(message)));
    }
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env")
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// Ctrl-C in answer to a question. The program ends with [`Exit::Interrupted`], and changes nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// The result of the program, as its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: all work is done, and all content is correct.
    Good,
    /// 1: the check is complete, and some content is missing or wrong.
    Bad,
    /// 2: an error, or an incomplete check.
    NotChecked,
    /// 3: several results are possible.
    Several,
    /// 130: Ctrl-C in answer to a question, the status of a program that SIGINT ends in a shell.
    Interrupted,
    /// The status of a program that Hashlane replaces, in the numbers of that program.
    Other(u8),
}

impl Exit {
    /// The exit status.
    pub fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Bad => 1,
            Self::NotChecked => 2,
            Self::Several => 3,
            Self::Interrupted => 130,
            Self::Other(code) => code,
        }
    }
}
