//! The command line of `sha1sum` and its relatives.

use hashlane_sums::{Algorithm, Blake2bLen, LineStyle};

use super::quote::quoted;
use crate::commands::getopt::{Getopt, Invalid, Name, Spec};

/// The action of the program.
#[derive(Debug)]
pub(super) enum Action {
    Help,
    Version,
    Digest(LineStyle),
    Check(CheckOptions),
}

/// Switches that only `--check` has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CheckOptions {
    pub(super) ignores_missing: bool,
    pub(super) is_strict: bool,
    pub(super) amount: Amount,
}

/// The amount of output of `--check`. The last of the three options wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Amount {
    #[default]
    Usual,
    /// `--quiet`
    Failures,
    /// `--status`
    Nothing,
    /// `--warn`
    Warnings,
}

/// The command line.
#[derive(Debug)]
pub(super) struct Arguments {
    pub(super) action: Action,
    pub(super) algorithm: Algorithm,
    /// The operands: `-` if none is given.
    pub(super) files: Vec<Vec<u8>>,
}

/// An error in the command line.
#[derive(Debug)]
pub(super) struct WrongUsage {
    pub(super) messages: Vec<Vec<u8>>,
    /// Whether the message ends with a hint at `--help`.
    pub(super) mentions_help: bool,
}

impl WrongUsage {
    fn new(message: impl Into<Vec<u8>>) -> Self {
        Self {
            messages: vec![message.into()],
            mentions_help: true,
        }
    }

    /// Returns the message of `getopt_long`.
    fn of_option(invalid: Invalid<Opt>) -> Self {
        Self::new(match invalid {
            Invalid::Unknown(Name::Short(letter)) => {
                [b"invalid option -- '", &[letter][..], b"'"].concat()
            }
            Invalid::Unknown(Name::Long(name)) => {
                [b"unrecognized option '--", &name[..], b"'"].concat()
            }
            Invalid::Ambiguous(name, possible) => {
                let start = [b"option '--", &name[..], b"' is ambiguous; possibilities:"];
                let mut message = start.concat();
                message.extend(
                    possible
                        .iter()
                        .flat_map(|long| format!(" '--{long}'").into_bytes()),
                );
                message
            }
            Invalid::MissingValue(Name::Short(letter)) => {
                [b"option requires an argument -- '", &[letter][..], b"'"].concat()
            }
            Invalid::MissingValue(Name::Long(name)) => {
                [b"option '--", &name[..], b"' requires an argument"].concat()
            }
            Invalid::UnwantedValue(_, long) => {
                format!("option '--{long}' doesn't allow an argument").into_bytes()
            }
        })
    }

    fn of_length(value: &[u8], after: &str, reason: Option<String>) -> Self {
        let mut message = b"invalid length: ".to_vec();
        message.extend(quoted(value));
        message.extend(after.bytes());
        Self {
            messages: [message]
                .into_iter()
                .chain(reason.map(String::into_bytes))
                .collect(),
            mentions_help: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opt {
    Binary,
    Check,
    IgnoreMissing,
    Length,
    Quiet,
    Status,
    Strict,
    Tag,
    Text,
    Warn,
    Zero,
    Help,
    Version,
}

const fn spec(option: Opt, short: Option<u8>, long: &'static str) -> Spec<Opt> {
    Spec {
        option,
        short,
        long: Some(long),
        takes_value: matches!(option, Opt::Length),
    }
}

/// The options, in the order in which messages list them. Only `b2sum` has the first one.
static OPTIONS: [Spec<Opt>; 13] = [
    spec(Opt::Length, Some(b'l'), "length"),
    spec(Opt::Check, Some(b'c'), "check"),
    spec(Opt::IgnoreMissing, None, "ignore-missing"),
    spec(Opt::Quiet, None, "quiet"),
    spec(Opt::Status, None, "status"),
    spec(Opt::Warn, Some(b'w'), "warn"),
    spec(Opt::Strict, None, "strict"),
    spec(Opt::Tag, None, "tag"),
    spec(Opt::Zero, Some(b'z'), "zero"),
    spec(Opt::Binary, Some(b'b'), "binary"),
    spec(Opt::Text, Some(b't'), "text"),
    spec(Opt::Help, None, "help"),
    spec(Opt::Version, None, "version"),
];

/// Returns the options of the program with this algorithm.
pub(super) fn options(algorithm: Algorithm) -> &'static [Spec<Opt>] {
    let has_length = matches!(algorithm, Algorithm::Blake2b(_));
    &OPTIONS[usize::from(!has_length)..]
}

/// The options that were given.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "options are independent of each other"
)]
struct Given {
    check: bool,
    ignore_missing: bool,
    strict: bool,
    amount: Amount,
    /// `Some(true)` for `--binary`, `Some(false)` for `--text`; the last one wins.
    binary: Option<bool>,
    tag: bool,
    zero: bool,
    length: Option<(u64, Vec<u8>)>,
}

impl Arguments {
    pub(super) fn parse(
        algorithm: Algorithm,
        args: Vec<Vec<u8>>,
        is_posix: bool,
    ) -> Result<Self, WrongUsage> {
        let mut getopt = Getopt::new(options(algorithm), args, is_posix, true);
        let mut given = Given::default();
        while let Some(option) = getopt.next() {
            let (option, value) = option.map_err(WrongUsage::of_option)?;
            match option {
                Opt::Help | Opt::Version => {
                    let action = match option {
                        Opt::Help => Action::Help,
                        _ => Action::Version,
                    };
                    return Ok(Self {
                        action,
                        algorithm,
                        files: Vec::new(),
                    });
                }
                Opt::Length => given.length = Some((length(&value)?, value)),
                other => given.note(other),
            }
        }
        let algorithm = given.algorithm(algorithm)?;
        let action = given.action()?;
        let mut files = getopt.into_operands();
        if files.is_empty() {
            files.push(b"-".to_vec());
        }
        Ok(Self {
            action,
            algorithm,
            files,
        })
    }
}

impl Given {
    fn note(&mut self, option: Opt) {
        match option {
            Opt::Check => self.check = true,
            Opt::IgnoreMissing => self.ignore_missing = true,
            Opt::Strict => self.strict = true,
            Opt::Quiet => self.amount = Amount::Failures,
            Opt::Status => self.amount = Amount::Nothing,
            Opt::Warn => self.amount = Amount::Warnings,
            Opt::Binary => self.binary = Some(true),
            Opt::Text => self.binary = Some(false),
            // BSD lines have no mode, so a later `--text` is an error.
            Opt::Tag => (self.tag, self.binary) = (true, Some(true)),
            Opt::Zero => self.zero = true,
            Opt::Length | Opt::Help | Opt::Version => {}
        }
    }

    fn algorithm(&self, algorithm: Algorithm) -> Result<Algorithm, WrongUsage> {
        let Some((bits, text)) = self.length.as_ref().filter(|(bits, _)| *bits > 0) else {
            return Ok(algorithm);
        };
        let len = Blake2bLen::from_bits(*bits).ok_or_else(|| {
            let reason = "maximum digest length for 'BLAKE2b' is 512 bits";
            WrongUsage::of_length(text, "", Some(reason.into()))
        })?;
        Ok(Algorithm::Blake2b(len))
    }

    /// Returns what to do, unless options contradict each other. The first contradiction is reported.
    fn action(&self) -> Result<Action, WrongUsage> {
        let only_check = |is_given: bool, option: &str| {
            (is_given && !self.check).then(|| {
                format!("the --{option} option is meaningful only when verifying checksums")
            })
        };
        let never_check =
            |is_given: bool, message: &str| (is_given && self.check).then(|| message.to_owned());
        let text_and_tag = self.tag && self.binary == Some(false);
        let contradictions = [
            text_and_tag.then(|| "--tag does not support --text mode".into()),
            never_check(
                self.zero,
                "the --zero option is not supported when verifying checksums",
            ),
            never_check(
                self.tag,
                "the --tag option is meaningless when verifying checksums",
            ),
            never_check(
                self.binary.is_some(),
                "the --binary and --text options are meaningless when verifying checksums",
            ),
            only_check(self.ignore_missing, "ignore-missing"),
            only_check(self.amount == Amount::Nothing, "status"),
            only_check(self.amount == Amount::Warnings, "warn"),
            only_check(self.amount == Amount::Failures, "quiet"),
            only_check(self.strict, "strict"),
        ];
        if let Some(message) = contradictions.into_iter().flatten().next() {
            return Err(WrongUsage::new(message));
        }
        Ok(if self.check {
            Action::Check(CheckOptions {
                ignores_missing: self.ignore_missing,
                is_strict: self.strict,
                amount: self.amount,
            })
        } else {
            Action::Digest(LineStyle {
                is_tagged: self.tag,
                is_binary: self.binary == Some(true),
                ends_with_zero: self.zero,
            })
        })
    }
}

/// Reads the length of digests in bits, as `strtoul` reads a number. Zero means the full length.
fn length(value: &[u8]) -> Result<u64, WrongUsage> {
    let is_blank = |c: &u8| c.is_ascii_whitespace() || *c == 11;
    let start = value.iter().position(|c| !is_blank(c));
    let text = &value[start.unwrap_or(value.len())..];
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(WrongUsage::of_length(value, "", None));
    }
    let bits = str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse::<u64>().ok());
    let Some(bits) = bits else {
        let reason = ": Value too large for defined data type";
        return Err(WrongUsage::of_length(value, reason, None));
    };
    if !bits.is_multiple_of(8) {
        let reason = "length is not a multiple of 8";
        return Err(WrongUsage::of_length(value, "", Some(reason.into())));
    }
    Ok(bits)
}
