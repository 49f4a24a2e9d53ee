//! The file in which another program writes the port for incoming connections: that which a VPN forwards.

use std::io::{self, ErrorKind};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Weak};

use hashlane_files::read_regular;

use super::torrents::{Torrents, lock};

/// Length limit of the file in bytes.
const MAX_LEN: u64 = 256;

/// The file as it was last read.
#[derive(Default)]
pub(super) struct PortFile {
    /// `None` if the configuration names none.
    path: Option<PathBuf>,
    /// The port that was last used.
    used: Option<NonZeroU16>,
    /// The problem that was last reported.
    reported: Option<String>,
}

impl PortFile {
    /// Reads the file, and uses its port if that is another one. Returns a problem that was not reported before.
    pub(super) fn look(&mut self, torrents: &Weak<Mutex<Torrents>>) -> Option<String> {
        let torrents = torrents.upgrade()?;
        let path = lock(&torrents).config.port_file.clone();
        if path != self.path {
            *self = Self {
                path,
                ..Self::default()
            };
        }
        let path = self.path.as_deref()?;
        // The torrents are free while the file is read.
        let read = port_of(path);
        let use_port = |port| {
            let used = lock(&torrents).use_port_of_file(port);
            used.map_err(|error| error.to_string())
        };
        let used = match read {
            // A port that returns counts as a new one.
            Ok(port) if port.is_none() || port == self.used => Ok(port),
            Ok(Some(port)) => use_port(port).map(|()| Some(port)),
            Ok(None) => Ok(None),
            Err(reason) => Err(reason),
        };
        match used {
            Ok(port) => {
                (self.used, self.reported) = (port, None);
                None
            }
            Err(reason) => {
                let problem = format!("--port-file {}: {reason}", path.display());
                let is_new = self.reported.as_ref() != Some(&problem);
                self.reported = Some(problem.clone());
                is_new.then_some(problem)
            }
        }
    }
}

/// Returns the port in a file; `None` while the file is absent or empty, as before and after a connection of the VPN. Only the
/// first line counts: gluetun writes one for each port.
///
/// The error does not repeat the text, which can be a secret if a person named the wrong file.
pub(super) fn port_of(path: &Path) -> Result<Option<NonZeroU16>, String> {
    let mut bytes = Vec::new();
    match read_regular(path, MAX_LEN, &mut bytes) {
        Ok(true) => parse(&bytes),
        Ok(false) => Err(format!("longer than {MAX_LEN} bytes")),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound)
}

fn parse(bytes: &[u8]) -> Result<Option<NonZeroU16>, String> {
    let text = bytes.trim_ascii();
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.trim_ascii_end();
    if line.is_empty() {
        return Ok(None);
    }
    let digits = line.iter().all(u8::is_ascii_digit).then_some(line);
    let port = digits.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
    let port = port.map(Some);
    port.ok_or_else(|| "its first line is no port, a number from 1 to 65535".to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_port_is_the_first_line() {
        for (text, port) in [
            ("", None),
            (" \n", None),
            ("1", Some(1)),
            ("51820\n", Some(51820)),
            (" 65535\r\n", Some(65535)),
            ("7\n8\n", Some(7)),
            ("007", Some(7)),
        ] {
            let port = port.and_then(NonZeroU16::new);
            assert_eq!(parse(text.as_bytes()), Ok(port), "{text:?}");
        }
        for text in [
            "0", "65536", "-1", "+1", "1 2", "0x50", "port=5", "5\u{661}", "1\0", "5e3",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?}");
        }
        assert!(parse(b"\xff").is_err());
    }

    #[test]
    fn an_absent_file_has_no_port_and_a_long_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("port");
        assert_eq!(port_of(&file), Ok(None));
        fs::write(&file, "1".repeat(300)).unwrap();
        assert_eq!(port_of(&file), Err("longer than 256 bytes".into()));
        assert!(port_of(folder.path()).is_err());
    }
}
