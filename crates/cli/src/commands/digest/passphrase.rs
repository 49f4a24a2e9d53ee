//! A passphrase that the user types.

use std::io::{self, BufRead, Write as _};

use zeroize::Zeroizing;

use crate::Env;

/// Asks for a passphrase on the terminal of the process, without showing it. A process without a terminal reads a line
/// of its standard input.
pub(super) fn ask(env: &mut Env, prompt: &str) -> io::Result<Zeroizing<Vec<u8>>> {
    #[cfg(unix)]
    if let Ok(terminal) = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/tty")
    {
        return hidden(&terminal, prompt);
    }
    write!(env.stderr, "{prompt}")?;
    env.stderr.flush()?;
    line(&mut env.stdin)
}

/// Reads a line without its end.
fn line(input: &mut dyn BufRead) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut line = Zeroizing::new(Vec::new());
    input.read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(line)
}

/// Asks on a terminal that shows nothing meanwhile. The terminal sends Ctrl-C as a byte, so that no signal can end
/// the process before the terminal is as it was.
#[cfg(unix)]
fn hidden(mut terminal: &std::fs::File, prompt: &str) -> io::Result<Zeroizing<Vec<u8>>> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    terminal.write_all(prompt.as_bytes())?;
    let before = tcgetattr(terminal)?;
    let mut modes = before.clone();
    modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    tcsetattr(terminal, OptionalActions::Flush, &modes)?;
    let typed = keys(terminal);
    tcsetattr(terminal, OptionalActions::Flush, &before)?;
    terminal.write_all(b"\n")?;
    typed
}

/// Reads keys up to the end of a line.
#[cfg(any(unix, test))]
fn keys(mut terminal: impl io::Read) -> io::Result<Zeroizing<Vec<u8>>> {
    const CTRL_C: u8 = 3;
    const CTRL_D: u8 = 4;
    const CTRL_U: u8 = 0x15;
    let mut line = Zeroizing::new(Vec::new());
    let mut key = Zeroizing::new([0]);
    loop {
        if terminal.read(&mut key[..])? == 0 {
            return Ok(line);
        }
        match key[0] {
            b'\n' | b'\r' | CTRL_D => return Ok(line),
            CTRL_C => return Err(io::Error::other("interrupted")),
            CTRL_U => line.clear(),
            8 | 0x7f => drop(line.pop()),
            byte => line.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_edit_the_line() {
        for (typed, expected) in [
            (&b"abc\ndef"[..], &b"abc"[..]),
            (b"ab\x7fc\r", b"ac"),
            (b"\x08ab\x15c\x04", b"c"),
            (b"abc", b"abc"),
        ] {
            assert_eq!(*keys(typed).expect("no Ctrl-C"), expected);
        }
        assert!(keys(&b"a\x03\n"[..]).is_err());
    }
}
