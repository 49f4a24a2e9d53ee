//! The standard streams of a program, with the behaviour of a C program.

use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use hashlane_sums::{
    CancelToken, Digest, Error, Event, Item, Options, Source, hash_items, path_of,
};

use super::quote::shell_quoted;
use crate::Env;
use crate::startup::Startup;

/// Maximum number of bytes per write. POSIX guarantees that writes of up to this size to a shared pipe do not mix.
const PIPE_BUF: usize = 4096;

/// The standard streams of a program.
pub(super) struct Streams<'e> {
    pub(super) input: Input<'e>,
    pub(super) output: Output<'e>,
    /// The folder that relative paths start from.
    pub(super) cwd: PathBuf,
}

/// The standard input stream.
pub(super) struct Input<'e> {
    stream: &'e mut dyn BufRead,
    is_closed: bool,
    was_read: bool,
}

/// The standard output and error streams.
pub(super) struct Output<'e> {
    /// The name in messages.
    program: Vec<u8>,
    stdout: &'e mut dyn Write,
    stderr: &'e mut dyn Write,
    startup: Startup,
    /// Whole lines that were not written.
    lines: Vec<u8>,
    has_written: bool,
    has_failed: bool,
}

impl<'e> Streams<'e> {
    pub(super) fn new(env: &'e mut Env, program: Vec<u8>) -> Self {
        Self {
            cwd: env.cwd.clone(),
            input: Input {
                stream: &mut *env.stdin,
                is_closed: env.startup.has_no_stdin,
                was_read: false,
            },
            output: Output {
                program,
                stdout: &mut *env.stdout,
                stderr: &mut *env.stderr,
                startup: env.startup,
                lines: Vec::new(),
                has_written: false,
                has_failed: false,
            },
        }
    }

    /// Reports failures of the streams. Returns `false` if there were any.
    pub(super) fn close(mut self) -> bool {
        let is_input_good = !(self.input.is_closed && self.input.was_read);
        if !is_input_good {
            let error = self.input.closed();
            self.output.error_of(b"standard input", &error);
        }
        let is_output_good = self.output.close();
        is_input_good && is_output_good
    }
}

impl Input<'_> {
    /// Returns the error of a closed stream.
    fn closed(&self) -> io::Error {
        // EBADF is 9 on every Unix.
        io::Error::from_raw_os_error(9)
    }

    fn check(&mut self) -> io::Result<()> {
        self.was_read = true;
        if self.is_closed {
            return Err(self.closed());
        }
        Ok(())
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        self.stream.read(buffer)
    }
}

impl Output<'_> {
    /// Hashes items. Prints a message and returns `false` if hashing cannot start.
    pub(super) fn hash<T: Sync>(
        &mut self,
        items: impl IntoIterator<Item = Item<T>>,
        stdin: &mut dyn Read,
        options: &Options,
        mut receive: impl FnMut(&mut Self, Event<'_, Item<T>, Vec<Digest>>),
    ) -> bool {
        let cancel = CancelToken::default();
        let result = hash_items(items, stdin, options, &cancel, |event| {
            receive(self, event);
            Ok::<_, Error>(())
        });
        if let Err(error) = &result {
            self.error(error.to_string().as_bytes());
        }
        result.is_ok()
    }

    /// Writes whole lines to the standard output stream.
    pub(super) fn write(&mut self, lines: &[u8]) {
        self.has_written = true;
        if self.lines.len() + lines.len() > PIPE_BUF {
            self.flush();
        }
        self.lines.extend(lines);
    }

    /// Writes the buffered lines.
    pub(super) fn flush(&mut self) {
        if !self.has_failed && !self.lines.is_empty() {
            let written = self.stdout.write_all(&self.lines);
            let flushed = written.and_then(|()| self.stdout.flush());
            if let Err(error) = flushed {
                self.note_failure(&error);
            }
        }
        self.lines.clear();
    }

    fn note_failure(&mut self, error: &io::Error) {
        if error.kind() == io::ErrorKind::BrokenPipe
            && let Some(end_process) = self.startup.end_by_broken_pipe
        {
            end_process();
        }
        self.has_failed = true;
    }

    /// Prints a message.
    pub(super) fn error(&mut self, message: &[u8]) {
        let message = [&self.program[..], b": ", message, b"\n"].concat();
        self.write_error(&message);
    }

    /// Prints an error of the system about a file.
    pub(super) fn file_error(&mut self, name: &[u8], error: &io::Error) {
        self.error_of(&shell_quoted(name), error);
    }

    /// Prints how to get help.
    pub(super) fn mention_help(&mut self) {
        let message = [
            b"Try '",
            &self.program[..],
            b" --help' for more information.\n",
        ]
        .concat();
        self.write_error(&message);
    }

    fn error_of(&mut self, subject: &[u8], error: &io::Error) {
        // The system's text, without the number that Rust appends.
        let text = error.to_string();
        let text = text.split(" (os error").next().unwrap_or_default();
        self.error(&[subject, b": ", text.as_bytes()].concat());
    }

    fn write_error(&mut self, text: &[u8]) {
        // Results come first if both streams go to the same file or terminal. The exit status also reports an error
        // that cannot be printed.
        self.flush();
        let _ = self.stderr.write_all(text);
    }

    /// Prints a message and returns `false` if results were lost.
    fn close(&mut self) -> bool {
        self.flush();
        if self.has_written && self.startup.has_no_stdout {
            self.error(b"write error: Bad file descriptor");
            return false;
        }
        if self.has_failed {
            self.error(b"write error");
        }
        !self.has_failed
    }
}

/// Returns the source that a name stands for.
pub(super) fn source_of(cwd: &Path, name: &[u8]) -> Source {
    match name {
        b"-" => Source::Stdin,
        // Joining an empty name would return the folder itself.
        b"" => Source::File(Path::new("").into()),
        name => Source::File(cwd.join(path_of(name))),
    }
}
