//! The damage to search for: options, and their names for users.

use std::fmt;

use clap::{Args, ValueEnum};
use hashlane_base58::{Damage, Gap};

/// The options that describe the damage.
#[derive(Debug, Args)]
#[command(next_help_heading = "Damage")]
pub(super) struct DamageOptions {
    /// State of the letter case
    #[arg(long, value_name = "STATE", default_value = "auto")]
    case: Case,

    /// Allow characters that look alike, for example 0 for o, 1 for i, 5 for S, 8 for B
    #[arg(short, long)]
    glyphs: bool,

    /// Number of wrong, missing, extra or transposed characters to allow: at most two at unknown positions, and characters
    /// that no such string has, for example 0, O, I and l
    #[arg(short, long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=80))]
    errors: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Case {
    /// Lost if all letters have the same case, or if the string has no other damage
    Auto,
    /// Each letter can be upper or lower case
    Lost,
    /// All letters have their original case
    Kept,
}

impl DamageOptions {
    /// Returns `true` if the options describe no damage.
    pub(super) fn are_absent(&self) -> bool {
        self.case == Case::Auto && !self.glyphs && self.errors == 0
    }

    /// Returns the number of errors, if an option names it.
    pub(super) fn errors(&self) -> Option<u8> {
        (self.errors > 0).then_some(self.errors)
    }

    /// Returns the damage to search for. By default the letter case is lost if all letters have the same case, or if
    /// the options and the string name no other damage.
    pub(super) fn of(&self, text: &str) -> Damage {
        let damage = Damage::with_unknown_case(text, self.glyphs, self.errors);
        match self.case {
            Case::Auto => damage,
            Case::Lost => Damage {
                case: true,
                ..damage
            },
            Case::Kept => Damage {
                case: false,
                ..damage
            },
        }
    }
}

/// A damage as options: `--case lost --errors 1`. A gap is a change of the string.
pub(super) struct AsOptions(pub(super) Damage);

impl fmt::Display for AsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let case = if self.0.case { "lost" } else { "kept" };
        write!(f, "--case {case}")?;
        if self.0.glyphs {
            write!(f, " --glyphs")?;
        }
        match self.0.errors {
            0 => {}
            n => write!(f, " --errors {n}")?,
        }
        match place_of(self.0.gap) {
            "" => Ok(()),
            place => write!(f, ", and `?` for each missing character {place}"),
        }
    }
}

fn place_of(gap: Gap) -> &'static str {
    match gap {
        Gap::None => "",
        Gap::End => "at the end",
        Gap::Start => "at the start",
        Gap::Inside => "inside",
    }
}

/// A damage in words: `letter case lost, 1 error`.
pub(super) struct InWords(pub(super) Damage);

impl fmt::Display for InWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let case = if self.0.case { "lost" } else { "kept" };
        write!(f, "letter case {case}")?;
        if self.0.glyphs {
            write!(f, ", look-alikes")?;
        }
        match self.0.errors {
            0 => {}
            1 => write!(f, ", 1 error")?,
            n => write!(f, ", {n} errors")?,
        }
        match place_of(self.0.gap) {
            "" => Ok(()),
            place => write!(f, ", characters missing {place}"),
        }
    }
}
