//! `hashlane ctl` in the process of the test. A process for each request takes longer than most tests.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hashlane_cli::Env;
use hashlane_net::Libtorrent;

use super::peers::Ended;

/// Runs `hashlane ctl --json` with arguments. It reads no configuration.
pub(crate) fn ctl<A: AsRef<OsStr>>(state: &Path, args: impl IntoIterator<Item = A>) -> Ended {
    let mut all: Vec<OsString> = ["hashlane", "ctl", "--json", "--state-dir"]
        .map(OsString::from)
        .into();
    all.push(state.into());
    all.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
    let (stdout, stderr) = (Stream::default(), Stream::default());
    let mut env = Env::without_terminal(all, PathBuf::new());
    env.stdout = Box::new(stdout.clone());
    env.stderr = Box::new(stderr.clone());
    let exit = hashlane_cli::run(&mut env, &Libtorrent);
    Ended::in_process(exit.code(), &stdout.0.borrow(), &stderr.0.borrow())
}

/// A stream whose bytes are kept.
#[derive(Clone, Default)]
struct Stream(Rc<RefCell<Vec<u8>>>);

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
