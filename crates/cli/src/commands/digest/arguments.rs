//! The arguments of `digest` and `mac`: single letters as in getopt(3C), and the long options of `mac`.

use std::ffi::OsString;

use super::key::KeySource;
use super::kind::Kind;
use crate::commands::getopt::{Getopt, Invalid, Name, Spec};
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opt {
    Algorithm,
    List,
    Verbose,
    Help,
    KeyFile,
    /// A key in a token, by one of these letters.
    Token(char),
    KeyEnv,
    KeyHex,
    Verify,
    Bits,
}

/// The options of `mac`. `digest` has the first [`N_OF_DIGEST`].
static OPTIONS: [Spec<Opt>; 11] = [
    spec(Opt::Algorithm, Some(b'a'), None),
    spec(Opt::List, Some(b'l'), None),
    spec(Opt::Verbose, Some(b'v'), None),
    spec(Opt::Help, None, Some("help")),
    spec(Opt::KeyFile, Some(b'k'), Some("key-file")),
    spec(Opt::Token('K'), Some(b'K'), None),
    spec(Opt::Token('T'), Some(b'T'), None),
    spec(Opt::KeyEnv, None, Some("key-env")),
    spec(Opt::KeyHex, None, Some("key-hex")),
    spec(Opt::Verify, None, Some("verify")),
    spec(Opt::Bits, None, Some("bits")),
];
const N_OF_DIGEST: usize = 4;

const fn spec(option: Opt, short: Option<u8>, long: Option<&'static str>) -> Spec<Opt> {
    Spec {
        option,
        short,
        long,
        takes_value: !matches!(option, Opt::List | Opt::Verbose | Opt::Help | Opt::Token(_)),
    }
}

/// Returns the options of a program.
pub(super) fn options(kind: Kind) -> &'static [Spec<Opt>] {
    match kind {
        Kind::Digest => &OPTIONS[..N_OF_DIGEST],
        Kind::Mac => &OPTIONS,
    }
}

impl Arguments {
    /// Reads the arguments after the name of the program. Options end at the first file, or at `--`.
    ///
    /// # Errors
    /// Returns the reason, without the name of the program.
    pub(super) fn read(kind: Kind, args: &[OsString]) -> Result<Self, String> {
        let args = args.iter().cloned().map(OsString::into_encoded_bytes);
        let mut getopt = Getopt::new(options(kind), args, true, false);
        let mut read = Self::default();
        while let Some(option) = getopt.next() {
            match option {
                Ok((option, value)) => read.note(option, os_string(&value))?,
                // A value that an option does not take is ignored.
                Err(Invalid::UnwantedValue(option, _)) => read.note(option, OsString::new())?,
                Err(invalid) => return Err(message(invalid)),
            }
        }
        let files = getopt.into_operands();
        read.files = files.iter().map(|file| os_string(file)).collect();
        Ok(read)
    }

    fn note(&mut self, option: Opt, value: OsString) -> Result<(), String> {
        match option {
            Opt::Algorithm => self.algorithm = Some(value),
            Opt::List => self.is_list = true,
            Opt::Verbose => self.is_verbose = true,
            Opt::Help => self.is_help = true,
            Opt::KeyFile => self.set_key(KeySource::File(value))?,
            Opt::KeyEnv => self.set_key(KeySource::Environment(value))?,
            Opt::KeyHex => {
                let key = hex(&value).map_err(|reason| format!("--key-hex: {reason}"))?;
                self.set_key(KeySource::Bytes(key.into()))?;
            }
            Opt::Token(letter) => {
                return Err(format!(
                    "-{letter}: keys of PKCS #11 tokens are not supported; use -k with a file"
                ));
            }
            Opt::Verify => {
                let mac = hex(&value).map_err(|reason| format!("--verify: {reason}"))?;
                self.expected = Some(mac);
            }
            Opt::Bits => {
                let number = value.to_str().and_then(|bits| bits.parse().ok());
                let reason = || format!("--bits {}: not a number", value.to_string_lossy());
                self.bits = Some(number.ok_or_else(reason)?);
            }
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

/// Returns the message of getopt(3C) of Solaris.
fn message(invalid: Invalid<Opt>) -> String {
    let (what, name) = match invalid {
        Invalid::MissingValue(name) => ("option requires an argument", name),
        Invalid::Unknown(name) => ("illegal option", name),
        Invalid::Ambiguous(name, _) => ("illegal option", Name::Long(name)),
        Invalid::UnwantedValue(_, name) => ("illegal option", Name::Long(name.into())),
    };
    let name = match &name {
        Name::Short(letter) => letter.escape_ascii().to_string(),
        Name::Long(arg) => {
            let end = arg.iter().position(|byte| *byte == b'=');
            arg[..end.unwrap_or(arg.len())].escape_ascii().to_string()
        }
    };
    format!("{what} -- {name}")
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
