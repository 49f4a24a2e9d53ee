//! Options as `getopt_long` of the GNU C library reads them: operands may stand between options, and long
//! options may be abbreviated.

use std::collections::VecDeque;

/// An option of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec<O> {
    pub(super) option: O,
    pub(super) short: Option<u8>,
    pub(super) long: &'static str,
    pub(super) takes_value: bool,
}

/// An option with its value, or a message about an invalid option.
pub(super) type Found<O> = Result<(O, Vec<u8>), Vec<u8>>;

/// Reads the arguments one by one.
pub(super) struct Getopt<'s, O> {
    specs: &'s [Spec<O>],
    args: VecDeque<Vec<u8>>,
    /// The letters of the current argument that have not been read yet.
    letters: Vec<u8>,
    operands: Vec<Vec<u8>>,
    /// Whether the first operand ends the options, as POSIX requires.
    is_posix: bool,
}

impl<'s, O: Copy> Getopt<'s, O> {
    pub(super) fn new(
        specs: &'s [Spec<O>],
        args: impl IntoIterator<Item = Vec<u8>>,
        is_posix: bool,
    ) -> Self {
        Self {
            specs,
            args: args.into_iter().collect(),
            letters: Vec::new(),
            operands: Vec::new(),
            is_posix,
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
            return Err([b"invalid option -- '", &[letter][..], b"'"].concat());
        };
        if !spec.takes_value {
            return Ok((spec.option, Vec::new()));
        }
        let mut value = std::mem::take(&mut self.letters);
        value.reverse();
        if value.is_empty() {
            let next = self.args.pop_front();
            let missing = || [b"option requires an argument -- '", &[letter][..], b"'"].concat();
            value = next.ok_or_else(missing)?;
        }
        Ok((spec.option, value))
    }

    fn long(&mut self, arg: &[u8]) -> Found<O> {
        let end = arg.iter().position(|byte| *byte == b'=');
        let (name, value) = match end {
            Some(end) => (&arg[..end], Some(&arg[end + 1..])),
            None => (arg, None),
        };
        let specs = self.specs.iter();
        let found: Vec<&Spec<O>> = specs
            .filter(|spec| spec.long.as_bytes().starts_with(name))
            .collect();
        let exact = found.iter().find(|spec| spec.long.as_bytes() == name);
        let spec = match (exact, &found[..]) {
            (Some(spec), _) | (None, [spec]) => *spec,
            (None, []) => return Err([b"unrecognized option '--", arg, b"'"].concat()),
            (None, several) => {
                let mut message = [b"option '--", arg, b"' is ambiguous; possibilities:"].concat();
                for spec in several {
                    message.extend(format!(" '--{}'", spec.long).bytes());
                }
                return Err(message);
            }
        };
        match (spec.takes_value, value) {
            (false, None) => Ok((spec.option, Vec::new())),
            (false, Some(_)) => {
                let message = format!("option '--{}' doesn't allow an argument", spec.long);
                Err(message.into_bytes())
            }
            (true, Some(value)) => Ok((spec.option, value.to_vec())),
            (true, None) => self.args.pop_front().map_or_else(
                || Err(format!("option '--{}' requires an argument", spec.long).into_bytes()),
                |value| Ok((spec.option, value)),
            ),
        }
    }
}
