//! `sha1sum`, `sha256sum` and the other names of coreutils, as drop-in programs: called by a link, or as the first
//! argument of `hashlane`. Output, messages and exit status match coreutils 9.1 in the locale C. Only the texts of
//! `--help` and `--version` differ.
//!
//! | module | |
//! |---|---|
//! | `arguments` | the command line |
//! | `check` | `--check` |
//! | `quote` | names in messages |
//! | `streams` | the standard streams, with the behaviour of a C program |

mod arguments;
mod check;
mod quote;
mod streams;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use hashlane_sums::{Algorithm, Blake2bLen, Event, Item, LineStyle, Options, bytes_of, write_line};

use super::call::{Call, Flag, Page};
use crate::{Env, Exit};
use arguments::{Action, Arguments};
use streams::{Streams, source_of};

/// The names of the programs.
const PROGRAMS: [(&str, Algorithm); 8] = [
    ("md5sum", Algorithm::Md5),
    ("sha1sum", Algorithm::Sha1),
    ("sha224sum", Algorithm::Sha224),
    ("sha256sum", Algorithm::Sha256),
    ("sha384sum", Algorithm::Sha384),
    ("sha512sum", Algorithm::Sha512),
    ("b2sum", Algorithm::Blake2b(Blake2bLen::MAX)),
    ("b3sum", Algorithm::Blake3),
];

/// A program of coreutils, with the name by which it was called.
#[derive(Debug)]
pub(crate) struct Program {
    name: &'static str,
    algorithm: Algorithm,
    /// The name in messages.
    called: Vec<u8>,
    args: Vec<Vec<u8>>,
}

impl Program {
    /// Returns the program that the process's arguments call.
    pub(crate) fn called_by(args: &[OsString]) -> Option<Self> {
        let Call {
            program: (name, algorithm),
            called,
            args,
        } = Call::find(args, |name| {
            let mut programs = PROGRAMS.into_iter();
            programs.find(|(known, _)| name == *known)
        })?;
        let bytes = |arg: &OsStr| bytes_of(Path::new(arg)).into_owned();
        Some(Self {
            name,
            algorithm,
            called: bytes(called),
            args: args.iter().map(|arg| bytes(arg)).collect(),
        })
    }

    /// Runs the program.
    pub(crate) fn run(mut self, env: &mut Env) -> Exit {
        let is_posix = std::env::var_os("POSIXLY_CORRECT").is_some();
        let args = std::mem::take(&mut self.args);
        let mut streams = Streams::new(env, self.called.clone());
        let is_good = match Arguments::parse(self.algorithm, args, is_posix) {
            Ok(arguments) => self.act(&mut streams, &arguments),
            Err(wrong) => {
                for message in wrong.messages {
                    streams.output.error(&message);
                }
                if wrong.mentions_help {
                    streams.output.mention_help();
                }
                false
            }
        };
        if streams.close() && is_good {
            Exit::Good
        } else {
            Exit::Bad
        }
    }

    /// Returns `true` on success.
    fn act(&self, streams: &mut Streams<'_>, arguments: &Arguments) -> bool {
        let options = Options::default();
        match arguments.action {
            Action::Help => {
                let help = Self::help_of(self.name, self.algorithm);
                streams.output.write(help.as_bytes());
            }
            Action::Version => {
                let version = format!("{} (Hashlane) {}\n", self.name, env!("CARGO_PKG_VERSION"));
                streams.output.write(version.as_bytes());
            }
            Action::Digest(style) => return digest(streams, &options, arguments, style),
            Action::Check(check) => return check::check_all(streams, &options, arguments, check),
        }
        true
    }

    /// Returns the man pages of all programs.
    pub(super) fn pages() -> impl Iterator<Item = Page> {
        PROGRAMS.into_iter().map(|(name, algorithm)| Page {
            name,
            about: format!("prints or checks {algorithm} digests of files"),
            help: Self::help_of(name, algorithm),
            options: arguments::options(algorithm)
                .iter()
                .map(Flag::from)
                .collect(),
        })
    }

    fn help_of(name: &str, algorithm: Algorithm) -> String {
        let length = match algorithm {
            Algorithm::Blake2b(_) => {
                "  -l, --length=BITS     digest length in bits: a multiple of 8, up to 512\n"
            }
            _ => "",
        };
        format!(
            "\
Usage: {name} [OPTION]... [FILE]...
Prints or checks {algorithm} digests of files, many files at once.

Standard input is read if no FILE is given, or if FILE is -.

  -b, --binary          print an asterisk before the name
  -c, --check           read digests and names from FILEs, and check the files
{length}      --tag             print lines of BSD: {algorithm} (FILE) = DIGEST
  -t, --text            print a space before the name (default)
  -z, --zero            end lines with a zero byte, and do not escape names

Options of --check:
      --ignore-missing  skip files that do not exist
      --quiet           do not print OK for files that are right
      --status          print nothing; the exit status is the result
      --strict          fail on lines that are not well formed
  -w, --warn            name each line that is not well formed

      --help            print this help
      --version         print the version

Options, output and exit status are those of {name} in GNU coreutils 9.1.
This program is part of Hashlane: `hashlane sum --help` has more options.
"
        )
    }
}

/// Prints a line for each file. Returns `true` if all files could be read.
fn digest(
    streams: &mut Streams<'_>,
    options: &Options,
    arguments: &Arguments,
    style: LineStyle,
) -> bool {
    let Streams { input, output, cwd } = streams;
    let algorithms: Arc<[Algorithm]> = [arguments.algorithm].into();
    let items = arguments
        .files
        .iter()
        .map(|name| Item::new(source_of(cwd, name), Arc::clone(&algorithms), name));
    let mut is_good = true;
    let mut line = Vec::new();
    let has_run = output.hash(items, input, options, |output, event| match event {
        Event::Outcome(item, Ok((digests, _))) => {
            line.clear();
            for digest in &digests {
                write_line(&mut line, style, arguments.algorithm, digest, item.tag);
            }
            output.write(&line);
        }
        Event::Outcome(item, Err(failure)) => {
            is_good = false;
            output.file_error(item.tag, &failure.into());
        }
        Event::Pause { .. } => output.flush(),
    });
    has_run && is_good
}
