//! Options as `getopt_long` of the GNU C library reads them, for the programs that clap does not parse: operands may
//! stand between options, and long options may be abbreviated. Both can be turned off. Each program has its own
//! messages.

use std::collections::VecDeque;

/// An option of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec<O> {
    pub(super) option: O,
    pub(super) short: Option<u8>,
    pub(super) long: Option<&'static str>,
    pub(super) takes_value: bool,
}

/// An option with its value.
pub(super) type Found<O> = Result<(O, Vec<u8>), Invalid<O>>;

/// An option as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Short(u8),
    Long(Vec<u8>),
}

/// An error in an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Invalid<O> {
    /// With the whole argument after its hyphens if it is long.
    Unknown(Name),
    /// The argument, and the options that it can stand for.
    Ambiguous(Vec<u8>, Vec<&'static str>),
    MissingValue(Name),
    /// The option has a value, but takes none.
    UnwantedValue(O, &'static str),
}

/// Reads the arguments one by one.
pub(super) struct Getopt<'s, O> {
    specs: &'s [Spec<O>],
    args: VecDeque<Vec<u8>>,
    /// The letters of the current argument that have not been read yet.
    letters: Vec<u8>,
    operands: Vec<Vec<u8>>,
    /// Whether the first operand ends the options, as POSIX requires.
    is_posix: bool,
    /// Whether long options may be abbreviated.
    has_abbreviations: bool,
}

impl<'s, O: Copy> Getopt<'s, O> {
    pub(super) fn new(
        specs: &'s [Spec<O>],
        args: impl IntoIterator<Item = Vec<u8>>,
        is_posix: bool,
        has_abbreviations: bool,
    ) -> Self {
        Self {
            specs,
            args: args.into_iter().collect(),
            letters: Vec::new(),
            operands: Vec::new(),
            is_posix,
            has_abbreviations,
        }
    }

    /// Returns the operands, after all options were read.
    pub(super) fn into_operands(self) -> Vec<Vec<u8>> {
        self.operands
    }

    /// Returns the next option; `None` after the last one.
    pub(super) fn next(&mut self) -> Option<Found<O>> {
        while self.letters.is_empty() {
            let arg = self.args.pop_front()?;
            match &arg[..] {
                b"--" => self.operands.extend(self.args.drain(..)),
                [b'-', b'-', long @ ..] => return Some(self.long(long)),
                [b'-', letters @ ..] if !letters.is_empty() => {
                    self.letters = letters.iter().rev().copied().collect();
                }
                _ => {
                    self.operands.push(arg);
                    if self.is_posix {
                        self.operands.extend(self.args.drain(..));
                    }
                }
            }
        }
        let letter = self.letters.pop()?;
        Some(self.short(letter))
    }

    fn short(&mut self, letter: u8) -> Found<O> {
        let mut specs = self.specs.iter();
        let Some(spec) = specs.find(|spec| spec.short == Some(letter)) else {
            return Err(Invalid::Unknown(Name::Short(letter)));
        };
        if !spec.takes_value {
            return Ok((spec.option, Vec::new()));
        }
        let mut value = std::mem::take(&mut self.letters);
        value.reverse();
        if value.is_empty() {
            let next = self.args.pop_front();
            value = next.ok_or(Invalid::MissingValue(Name::Short(letter)))?;
        }
        Ok((spec.option, value))
    }

    fn long(&mut self, arg: &[u8]) -> Found<O> {
        let end = arg.iter().position(|byte| *byte == b'=');
        let (name, value) = match end {
            Some(end) => (&arg[..end], Some(&arg[end + 1..])),
            None => (arg, None),
        };
        let mut found = Vec::new();
        for spec in self.specs {
            match spec.long {
                Some(long) if long.as_bytes() == name => {
                    found = vec![(spec, long)];
                    break;
                }
                Some(long) if self.has_abbreviations && long.as_bytes().starts_with(name) => {
                    found.push((spec, long));
                }
                _ => {}
            }
        }
        let (spec, long) = match found[..] {
            [found] => found,
            [] => return Err(Invalid::Unknown(Name::Long(arg.to_vec()))),
            _ => {
                let possible = found.into_iter().map(|(_, long)| long).collect();
                return Err(Invalid::Ambiguous(arg.to_vec(), possible));
            }
        };
        match (spec.takes_value, value) {
            (false, None) => Ok((spec.option, Vec::new())),
            (false, Some(_)) => Err(Invalid::UnwantedValue(spec.option, long)),
            (true, Some(value)) => Ok((spec.option, value.to_vec())),
            (true, None) => {
                let next = self.args.pop_front();
                let missing = || Invalid::MissingValue(Name::Long(long.into()));
                Ok((spec.option, next.ok_or_else(missing)?))
            }
        }
    }
}
