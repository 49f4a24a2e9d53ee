//! The arguments of `digest` and `mac`: single letters as in getopt(3C), and the long options of `mac`.

use std::ffi::OsString;

use super::key::KeySource;
use super::kind::Kind;
use crate::values;

/// The arguments of a program.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) algorithm: Option<OsString>,
    pub(super) is_list: bool,
    pub(super) is_verbose: bool,
    pub(super) is_help: bool,
    pub(super) key: Option<KeySource>,
    /// The MAC that the message must have.
    pub(super) expected: Option<Vec<u8>>,
    /// The length of truncated MACs in bits.
    pub(super) bits: Option<usize>,
    pub(super) files: Vec<OsString>,
}

impl Arguments {
    /// Reads the arguments after the name of the program. Options end at the first file, or at `--`.
    ///
    /// # Errors
    /// Returns the reason, without the name of the program.
    pub(super) fn read(kind: Kind, args: &[OsString]) -> Result<Self, String> {
        let mut read = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_encoded_bytes() {
                b"--" => break,
                [b'-', b'-', long @ ..] => read.long(kind, long, &mut args)?,
                [b'-', letters @ ..] if !letters.is_empty() => {
                    read.letters(kind, letters, &mut args)?;
                }
                _ => {
                    read.files.push(arg.clone());
                    break;
                }
            }
        }
        read.files.extend(args.cloned());
        Ok(read)
    }

    /// Reads one-letter options. One argument can hold several of them.
    fn letters<'a>(
        &mut self,
        kind: Kind,
        mut letters: &[u8],
        args: &mut impl Iterator<Item = &'a OsString>,
    ) -> Result<(), String> {
        while let [letter, rest @ ..] = letters {
            let mut value = || {
                let value = match rest {
                    [] => args.next().cloned(),
                    rest => Some(os_string(rest)),
                };
                let letter = letter.escape_ascii();
                value.ok_or_else(|| format!("option requires an argument -- {letter}"))
            };
            match (letter, kind) {
                (b'l', _) => self.is_list = true,
                (b'v', _) => self.is_verbose = true,
                (b'a', _) => {
                    self.algorithm = Some(value()?);
                    return Ok(());
                }
                (b'k', Kind::Mac) => {
                    let file = value()?;
                    return self.set_key(KeySource::File(file));
                }
                (b'K' | b'T', Kind::Mac) => {
                    let letter = char::from(*letter);
                    return Err(format!(
                        "-{letter}: keys of PKCS #11 tokens are not supported; use -k with a file"
                    ));
                }
                _ => return Err(format!("illegal option -- {}", letter.escape_ascii())),
            }
            letters = rest;
        }
        Ok(())
    }

    /// Reads a long option: `NAME` or `NAME=VALUE`.
    fn long<'a>(
        &mut self,
        kind: Kind,
        option: &[u8],
        args: &mut impl Iterator<Item = &'a OsString>,
    ) -> Result<(), String> {
        let mut parts = option.splitn(2, |byte| *byte == b'=');
        let name = parts.next().unwrap_or_default();
        let given = parts.next().map(os_string);
        let shown = name.escape_ascii();
        let mut value = || {
            let value = given.clone().or_else(|| args.next().cloned());
            value.ok_or_else(|| format!("option requires an argument -- {shown}"))
        };
        match (name, kind) {
            (b"help", _) => self.is_help = true,
            (b"key-file", Kind::Mac) => self.set_key(KeySource::File(value()?))?,
            (b"key-env", Kind::Mac) => self.set_key(KeySource::Environment(value()?))?,
            (b"key-hex", Kind::Mac) => {
                let key = hex(&value()?).map_err(|reason| format!("--key-hex: {reason}"))?;
                self.set_key(KeySource::Bytes(key.into()))?;
            }
            (b"verify", Kind::Mac) => {
                let mac = hex(&value()?).map_err(|reason| format!("--verify: {reason}"))?;
                self.expected = Some(mac);
            }
            (b"bits", Kind::Mac) => {
                let bits = value()?;
                let number = bits.to_str().and_then(|bits| bits.parse().ok());
                let reason = || format!("--bits {}: not a number", bits.to_string_lossy());
                self.bits = Some(number.ok_or_else(reason)?);
            }
            _ => return Err(format!("illegal option -- {shown}")),
        }
        Ok(())
    }

    fn set_key(&mut self, key: KeySource) -> Result<(), String> {
        match self.key.replace(key) {
            Some(_) => Err("more than one key".into()),
            None => Ok(()),
        }
    }
}

fn hex(text: &OsString) -> Result<Vec<u8>, String> {
    let text = text.to_str().ok_or("not hexadecimal")?;
    values::hex_bytes(text).map(|bytes| bytes.to_vec())
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).to_owned()
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
