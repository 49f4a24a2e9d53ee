//! Printing on threads of its own, so that a reader that does not read stops no work: a terminal after Ctrl-S, a pager, or a
//! stuck collector of logs.
//!
//! Until [`Printer::start`], streams are written directly, and a write waits for the reader. After it, whole lines wait in a
//! bounded queue for the thread of their stream. A queue that is full loses new lines, and a line says how many.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hashlane_verify::CancelToken;

/// Number of waiting bytes from which on [`Printer::has_room`] is false.
const ROOM: usize = 256 << 10;

/// Number of waiting bytes of a stream from which on lines are lost.
const MAX_WAITING: usize = 1 << 20;

/// Time for which a line waits for earlier lines of the other stream if that stream is not read. Both streams can go to one file, where
/// lines have their order.
const PATIENCE: Duration = Duration::from_millis(200);

/// Time for which the end of a cancelled program waits for a reader that does not read.
const PARTING: Duration = Duration::from_secs(1);

/// Interval at which a wait looks for a cancellation.
const TICK: Duration = Duration::from_millis(50);

/// Interval at which a thread without lines wakes up.
const IDLE: Duration = Duration::from_secs(3600);

/// Lines at the bottom of a terminal that change.
pub trait View: Send + Sync {
    /// Shows these lines in place of those before.
    fn show(&self, lines: String);

    /// Removes the lines.
    fn clear(&self);

    /// Removes the lines while `write` writes others.
    fn suspend(&self, write: &mut dyn FnMut());
}

/// The two output streams of a process, and the threads that write to them.
#[derive(Clone, Default)]
pub struct Printer(Arc<Shared>);

impl fmt::Debug for Printer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Printer").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct State {
    is_started: bool,
    stdout: Queue,
    stderr: Queue,
    /// Whether a full queue of results takes more lines.
    keeps_all: bool,
    /// Whether the threads begin no more writes.
    is_paused: bool,
    /// Whether the end of the program has waited for a reader in vain.
    has_given_up: bool,
    /// Describes lost lines.
    lost: Option<fn(u64) -> String>,
    /// Whether one terminal shows results and the view.
    shares_terminal: bool,
    view: Option<Arc<dyn View>>,
    /// The next change of the view.
    next: Option<Next>,
    is_changing_view: bool,
}

/// A change of the view.
enum Next {
    Show(String),
    Clear,
}

/// The lines that wait for a stream.
#[derive(Default)]
struct Queue {
    /// The stream, unless its thread has it.
    stream: Option<Box<dyn Write + Send>>,
    lines: VecDeque<Lines>,
    n_bytes: usize,
    n_lost: u64,
    /// Number of entries that were queued, and of those that are written.
    n_queued: u64,
    n_written: u64,
    /// The time of the last entry that was written, or that came when none waited.
    progressed: Option<Instant>,
    is_writing: bool,
    failure: Option<Failure>,
}

/// Whole lines.
struct Lines {
    bytes: Vec<u8>,
    /// Number of entries of the other stream that come before.
    after: u64,
}

/// An error of a stream, which each later write returns again.
#[derive(Clone, Copy)]
struct Failure {
    kind: io::ErrorKind,
    code: Option<i32>,
}

impl From<&io::Error> for Failure {
    fn from(error: &io::Error) -> Self {
        Self {
            kind: error.kind(),
            code: error.raw_os_error(),
        }
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        match failure.code {
            Some(code) => Self::from_raw_os_error(code),
            None => failure.kind.into(),
        }
    }
}

impl Queue {
    fn is_full(&self) -> bool {
        // After a loss, half of the queue must be empty: otherwise every other line would report lost ones.
        let max = if self.n_lost > 0 {
            MAX_WAITING / 2
        } else {
            MAX_WAITING
        };
        self.n_bytes >= max
    }

    fn is_idle(&self) -> bool {
        self.lines.is_empty() && self.n_lost == 0 && !self.is_writing
    }

    fn has_progressed_since(&self, time: Duration) -> bool {
        self.progressed.is_some_and(|last| last.elapsed() < time)
    }

    fn push(&mut self, bytes: Vec<u8>, after: u64) {
        if self.is_idle() {
            self.progressed = Some(Instant::now());
        }
        self.n_bytes += bytes.len();
        self.n_queued += 1;
        self.lines.push_back(Lines { bytes, after });
    }

    /// Queues the report of lost lines, if there are any.
    fn report_lost(&mut self, describe: Option<fn(u64) -> String>, after: u64) {
        let n_lost = std::mem::take(&mut self.n_lost);
        if n_lost > 0
            && let Some(describe) = describe
        {
            self.push((describe(n_lost) + "\n").into_bytes(), after);
        }
    }
}

impl State {
    fn queue(&mut self, target: Target) -> &mut Queue {
        match target {
            Target::Stdout => &mut self.stdout,
            Target::Stderr => &mut self.stderr,
        }
    }

    fn other(&self, target: Target) -> &Queue {
        match target {
            Target::Stdout => &self.stderr,
            Target::Stderr => &self.stdout,
        }
    }

    fn is_idle(&self) -> bool {
        self.stdout.is_idle()
            && self.stderr.is_idle()
            && self.next.is_none()
            && !self.is_changing_view
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Stdout,
    Stderr,
}

impl Printer {
    /// Returns the stream of results. `shares_terminal` says whether a terminal shows it.
    pub fn stdout(
        &self,
        stream: impl Write + Send + 'static,
        shares_terminal: bool,
    ) -> PrintStream {
        self.0.lock().shares_terminal = shares_terminal;
        self.stream(Target::Stdout, Box::new(stream))
    }

    /// Returns the stream of errors and warnings.
    pub fn stderr(&self, stream: impl Write + Send + 'static) -> PrintStream {
        self.stream(Target::Stderr, Box::new(stream))
    }

    fn stream(&self, target: Target, stream: Box<dyn Write + Send>) -> PrintStream {
        self.0.lock().queue(target).stream = Some(stream);
        PrintStream {
            printer: self.clone(),
            target,
            line: Vec::new(),
        }
    }

    /// Starts the threads of the streams. `lost` describes lines that were not printed. Does nothing without streams.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(&self, lost: fn(u64) -> String) -> io::Result<()> {
        for (target, name) in [(Target::Stdout, "stdout"), (Target::Stderr, "stderr")] {
            if self.0.lock().queue(target).stream.is_none() {
                continue;
            }
            let shared = Arc::clone(&self.0);
            // The thread takes the stream, so that an error can be printed if there is no thread.
            let print = move || shared.print(target);
            thread::Builder::new().name(name.into()).spawn(print)?;
            let mut state = self.0.lock();
            state.is_started = true;
            state.lost = Some(lost);
        }
        let state = self
            .0
            .wait_while(|state| state.stdout.stream.is_some() || state.stderr.stream.is_some());
        drop(state);
        Ok(())
    }

    /// Returns `true` if few results wait for their reader.
    pub fn has_room(&self) -> bool {
        self.0.lock().stdout.n_bytes < ROOM
    }

    /// Keeps all results that `print` writes, so that a single event can print any number of lines. Call it if there
    /// [is room](Self::has_room).
    pub fn keeping_all<R>(&self, print: impl FnOnce() -> R) -> R {
        self.0.lock().keeps_all = true;
        let result = print();
        self.0.lock().keeps_all = false;
        result
    }

    /// Shows lines at the bottom of the terminal, in place of those before.
    pub fn show(&self, view: &Arc<dyn View>, lines: String) {
        self.0.change(|state| {
            state.view = Some(Arc::clone(view));
            state.next = Some(Next::Show(lines));
        });
    }

    /// Removes the lines at the bottom of the terminal, until others are shown.
    pub fn clear(&self) {
        self.0.change(|state| {
            if state.is_started && state.view.is_some() {
                state.next = Some(Next::Clear);
            }
        });
        let started = Instant::now();
        let state = self.0.wait_while(|state| {
            (state.next.is_some() || state.is_changing_view) && started.elapsed() < PARTING
        });
        drop(state);
    }

    /// Waits until there [is room](Self::has_room). Returns `false` if the program is cancelled and the reader does not
    /// read.
    pub fn wait_for_room(&self, cancel: &CancelToken) -> bool {
        self.wait_until(cancel, |state| state.stdout.n_bytes < ROOM)
    }

    /// Waits until all lines are printed, for any time. Gives up if the program is cancelled and the reader does not read.
    pub fn finish(&self, cancel: &CancelToken) {
        self.wait_until(cancel, State::is_idle);
    }

    /// Prints what waits, and begins no more writes. Gives up if the readers do not read.
    pub fn pause(&self) {
        let cancelled = CancelToken::default();
        cancelled.cancel();
        self.finish(&cancelled);
        self.0.change(|state| state.is_paused = true);
    }

    fn wait_until(&self, cancel: &CancelToken, is_so: impl Fn(&State) -> bool) -> bool {
        let started = Instant::now();
        let mut has_given_up = false;
        let state = self.0.wait_while(|state| {
            if is_so(state) || !state.is_started {
                return false;
            }
            let is_read = started.elapsed() < PARTING
                || state.stdout.has_progressed_since(PARTING)
                || state.stderr.has_progressed_since(PARTING);
            has_given_up = cancel.is_cancelled() && (state.has_given_up || !is_read);
            !has_given_up
        });
        drop(state);
        if has_given_up {
            self.0.lock().has_given_up = true;
        }
        !has_given_up
    }
}

impl Shared {
    /// Locks the state, which is valid whenever its lock is released.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits while this is so. Looks again at least once per [`TICK`].
    fn wait_while(&self, mut is_so: impl FnMut(&State) -> bool) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while is_so(&state) {
            let woken = self.changed.wait_timeout(state, TICK);
            (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Writes the lines of a stream as they come. The thread ends with the process.
    fn print(&self, target: Target) {
        let mut state = self.lock();
        let Some(mut stream) = state.queue(target).stream.take() else {
            return;
        };
        self.changed.notify_all();
        drop(state);
        // Lines that were written before stay in front. A later write reports the failure.
        let _ = stream.flush();
        state = self.lock();
        loop {
            if target == Target::Stderr
                && let Some(next) = state.next.take()
                && let Some(view) = state.view.clone()
            {
                state.is_changing_view = true;
                drop(state);
                match next {
                    Next::Show(lines) => view.show(lines),
                    Next::Clear => view.clear(),
                }
                state = self.lock();
                state.is_changing_view = false;
                self.changed.notify_all();
                continue;
            }
            let other = state.other(target);
            let (n_others, is_other_read) = (other.n_written, other.has_progressed_since(PATIENCE));
            let describe = state.lost;
            let is_paused = state.is_paused;
            let queue = state.queue(target);
            if queue.lines.is_empty() {
                queue.report_lost(describe, 0);
            }
            let is_next = |lines: &Lines| lines.after <= n_others || !is_other_read;
            let is_due = queue.lines.front().is_some_and(is_next);
            let Some(lines) = is_due.then(|| queue.lines.pop_front()).flatten() else {
                // A line that waits for the other stream has a time limit.
                let limit = if queue.lines.is_empty() { IDLE } else { TICK };
                let woken = self.changed.wait_timeout(state, limit);
                (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if is_paused {
                // The process is about to be replaced.
                return;
            }
            queue.is_writing = true;
            let has_view = target == Target::Stderr || state.shares_terminal;
            let view = state.view.clone().filter(|_| has_view);
            drop(state);
            let mut result = Ok(());
            let mut write = || {
                result = stream.write_all(&lines.bytes).and_then(|()| stream.flush());
            };
            match view {
                Some(view) => view.suspend(&mut write),
                None => write(),
            }
            state = self.lock();
            let queue = state.queue(target);
            queue.is_writing = false;
            queue.n_bytes -= lines.bytes.len();
            queue.n_written += 1;
            queue.progressed = Some(Instant::now());
            if let Err(error) = result {
                queue.failure = Some((&error).into());
                queue.n_written = queue.n_queued;
                (queue.n_bytes, queue.n_lost) = (0, 0);
                queue.lines.clear();
            }
            self.changed.notify_all();
        }
    }
}

/// A stream of a [`Printer`]. Its failure is that of an earlier write.
pub struct PrintStream {
    printer: Printer,
    target: Target,
    /// The start of a line.
    line: Vec<u8>,
}

impl fmt::Debug for PrintStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrintStream").finish_non_exhaustive()
    }
}

impl PrintStream {
    /// Queues the collected bytes.
    fn send(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.line);
        let mut state = self.printer.0.lock();
        let keeps_all = state.keeps_all && self.target == Target::Stdout;
        let (after, describe) = (state.other(self.target).n_queued, state.lost);
        let queue = state.queue(self.target);
        if let Some(failure) = queue.failure {
            return Err(failure.into());
        }
        if queue.is_full() && !keeps_all {
            queue.n_lost += bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
        } else if !bytes.is_empty() {
            queue.report_lost(describe, after);
            queue.push(bytes, after);
            drop(state);
            self.printer.0.changed.notify_all();
        }
        Ok(())
    }
}

impl Write for PrintStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.printer.0.lock();
        if let Some(stream) = &mut state.queue(self.target).stream {
            return stream.write(bytes);
        }
        drop(state);
        self.line.extend_from_slice(bytes);
        // Results are flushed when they are complete, and messages are lines.
        if self.target == Target::Stderr && bytes.ends_with(b"\n") {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut state = self.printer.0.lock();
        if let Some(stream) = &mut state.queue(self.target).stream {
            return stream.flush();
        }
        drop(state);
        self.send()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A stream that writes when it is allowed to.
    struct Gate {
        open: mpsc::Receiver<()>,
        written: mpsc::Sender<Vec<u8>>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.open.recv();
            let written = self.written.send(bytes.to_owned());
            written.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn gate() -> (Gate, mpsc::Sender<()>, mpsc::Receiver<Vec<u8>>) {
        let ((opener, open), (written, writes)) = (mpsc::channel(), mpsc::channel());
        (Gate { open, written }, opener, writes)
    }

    fn lost(n_lines: u64) -> String {
        format!("{n_lines} lost")
    }

    /// A reader that does not read stops no writer. It gets the first lines later, and the number of those that were lost.
    #[test]
    fn a_full_queue_loses_lines_and_says_how_many() {
        let printer = Printer::default();
        let (gate, open, writes) = gate();
        let mut stdout = printer.stdout(gate, false);
        let (direct, opener, errors) = self::gate();
        drop(opener);
        let mut stderr = printer.stderr(direct);
        printer.start(lost).unwrap();
        let line = [vec![b'x'; 1023], vec![b'\n']].concat();
        let n_lines = 3 * MAX_WAITING / line.len();
        for n in 0..n_lines {
            assert_eq!(printer.has_room(), n < ROOM / line.len(), "{n}");
            stdout.write_all(&line).unwrap();
            stdout.flush().unwrap();
        }
        // An error does not wait longer for results that are not read.
        writeln!(stderr, "an error").unwrap();
        assert_eq!(errors.recv().unwrap(), b"an error\n");
        // A cancelled program does not wait for them either.
        let cancel = CancelToken::default();
        cancel.cancel();
        printer.finish(&cancel);
        assert!(!printer.wait_for_room(&cancel));
        drop(open);
        let n_kept = MAX_WAITING / line.len();
        for _ in 0..n_kept {
            assert!(writes.recv().unwrap() == line);
        }
        let expected = format!("{} lost\n", n_lines - n_kept);
        assert_eq!(writes.recv().unwrap(), expected.as_bytes());
        printer.finish(&CancelToken::default());
        // A reader that has gone is the failure of a later write.
        drop(writes);
        writeln!(stdout, "last").unwrap();
        stdout.flush().unwrap();
        printer.finish(&CancelToken::default());
        let failed = stdout.flush().unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::BrokenPipe);
    }

    /// One event can have more lines than the queue has room.
    #[test]
    fn the_lines_of_one_event_are_kept() {
        let printer = Printer::default();
        let (gate, open, writes) = gate();
        let mut stdout = printer.stdout(gate, false);
        printer.start(lost).unwrap();
        let n_lines = 2 * MAX_WAITING / 4;
        printer.keeping_all(|| {
            for _ in 0..n_lines {
                stdout.write_all(b"abc\n").unwrap();
                stdout.flush().unwrap();
            }
        });
        drop(open);
        printer.finish(&CancelToken::default());
        assert_eq!(writes.try_iter().count(), n_lines);
    }

    /// Lines of both streams keep their order, if they are read.
    #[test]
    fn results_and_errors_keep_their_order() {
        let printer = Printer::default();
        let (written, writes) = mpsc::channel();
        let stream = || {
            let (opener, open) = mpsc::channel();
            drop(opener);
            let written = written.clone();
            Gate { open, written }
        };
        let mut stdout = printer.stdout(stream(), false);
        let mut stderr = printer.stderr(stream());
        printer.start(lost).unwrap();
        for n in 0..1000 {
            writeln!(stdout, "{n}").unwrap();
            stdout.flush().unwrap();
            writeln!(stderr, "after {n}").unwrap();
        }
        printer.finish(&CancelToken::default());
        let lines: Vec<_> = writes.try_iter().flatten().collect();
        let texts: Vec<_> = (0..1000).map(|n| format!("{n}\nafter {n}\n")).collect();
        let expected = texts.concat();
        assert!(lines == expected.as_bytes());
    }
}
