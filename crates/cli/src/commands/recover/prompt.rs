//! Reads strings from the standard input. A terminal shows a prompt, but not the strings.

use std::io::{BufRead as _, Read as _, Write as _};

use anyhow::{Context as _, bail};
use zeroize::Zeroizing;

use crate::{Env, Interrupted};

/// Maximum length of a line in bytes, with its end. A terminal delivers as many bytes at once. The buffer of a longer line
/// would be reallocated, and the old buffer not wiped.
const LINE_LEN: usize = 4096;

const EXPLANATION: &str = "\
Type or paste a string, then press Enter. It is not shown.
Ctrl-D ends the input.";

/// The standard input as lines.
pub(super) struct Lines {
    /// Makes the terminal show typed characters again, if it hides them.
    show_input: Option<fn()>,
}

impl Lines {
    /// Starts to read. A terminal hides typed characters until the value is dropped. It hides them during a search too,
    /// because several lines can be pasted at once.
    pub(super) fn start(env: &mut Env) -> anyhow::Result<Self> {
        if !env.can_ask {
            return Ok(Self { show_input: None });
        }
        // Must come before the terminal is changed: otherwise Ctrl-C would leave the terminal changed.
        env.catch_interrupts();
        let is_hidden = (env.hide_input)();
        writeln!(env.stderr, "{EXPLANATION}")?;
        if !is_hidden {
            env.error("warning: this terminal shows what you type");
        }
        Ok(Self {
            show_input: Some(env.show_input),
        })
    }

    /// Returns the next line that is not empty, trimmed; `None` at the end.
    pub(super) fn next(&self, env: &mut Env) -> anyhow::Result<Option<Zeroizing<String>>> {
        loop {
            if self.show_input.is_some() {
                ask(env)?;
            }
            let mut line = Zeroizing::new(String::with_capacity(LINE_LEN));
            let mut limited = (&mut env.stdin).take(LINE_LEN as u64);
            let n_read = limited.read_line(&mut line).context("standard input")?;
            if self.show_input.is_some() {
                // The terminal did not show the Enter key either.
                writeln!(env.stderr)?;
            }
            if n_read == 0 {
                return Ok(None);
            }
            if n_read == LINE_LEN && !line.ends_with('\n') {
                bail!("standard input: a line exceeds the maximum of {LINE_LEN} bytes");
            }
            let text = line.trim();
            if !text.is_empty() {
                return Ok(Some(Zeroizing::new(text.to_owned())));
            }
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if let Some(show_input) = self.show_input {
            show_input();
        }
    }
}

/// Asks for a line, and waits for it.
fn ask(env: &mut Env) -> anyhow::Result<()> {
    env.stdout.flush()?;
    write!(env.stderr, "String: ")?;
    env.stderr.flush()?;
    let hide_again = || {
        (env.hide_input)();
    };
    if !env.waits_for_answer(hide_again) {
        writeln!(env.stderr)?;
        return Err(Interrupted.into());
    }
    Ok(())
}
