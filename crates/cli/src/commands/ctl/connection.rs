//! A connection to a daemon.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};

use crate::control::{Reply, Request, SOCKET};

/// Length limit in bytes of a line of an answer.
const MAX_REPLY_LEN: u64 = 1 << 20;

/// A connection to a daemon.
pub(super) struct Connection {
    reader: BufReader<UnixStream>,
}

impl Connection {
    /// Connects to the daemon of a state folder.
    pub(super) fn open(state: &Path) -> anyhow::Result<Self> {
        let path = state.join(SOCKET);
        let stream = UnixStream::connect(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => anyhow!(
                "{}: no daemon runs with this state folder: start `hashlane daemon`, or name another folder by --state-dir",
                state.display()
            ),
            _ => anyhow!(error).context(path.display().to_string()),
        })?;
        let reader = BufReader::new(stream);
        Ok(Self { reader })
    }

    /// Lets a wait for the daemon fail after this time. Without a limit, it lasts as long as the daemon works.
    pub(super) fn limit_waits(&self, time: Duration) -> io::Result<()> {
        let stream = self.reader.get_ref();
        stream.set_read_timeout(Some(time))?;
        stream.set_write_timeout(Some(time))
    }

    /// Sends a request, and calls the function for each result.
    pub(super) fn ask(
        &mut self,
        request: &Request,
        mut result: impl FnMut(Reply) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let sent = self.reader.get_mut().write_all(&line);
        // A daemon that refuses a connection sends the reason first, and closes it.
        loop {
            let mut line = Vec::new();
            let limited = &mut self.reader.by_ref().take(MAX_REPLY_LEN);
            limited.read_until(b'\n', &mut line).context("the daemon")?;
            if line.last() != Some(&b'\n') {
                sent.context("the daemon")?;
                bail!("the daemon ended before it answered; what was asked may have been done");
            }
            match serde_json::from_slice(&line).context("the daemon answered something else")? {
                Reply::Done {} => return Ok(()),
                Reply::Error { message } => bail!("{message}"),
                reply => result(reply)?,
            }
        }
    }
}
