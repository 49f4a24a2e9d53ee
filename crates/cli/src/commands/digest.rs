//! `digest` and `mac` as Solaris and illumos have them: called by a link of that name, or as the first argument of
//! `hashlane`. Messages and exit status are those of the Solaris programs.
//!
//! | module | |
//! |---|---|
//! | `algorithm` | the algorithms |
//! | `arguments` | the command line |
//! | `key`, `passphrase` | the key of a MAC |

mod algorithm;
mod arguments;
mod key;
mod passphrase;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

use hashlane_sha::Engine;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::output::text::{Escaped, hex};
use crate::{Env, Exit};
use algorithm::{Algorithm, Kind};
use arguments::Arguments;

/// Bytes that are read at a time.
const BUFFER_LEN: usize = 128 << 10;

const DIGEST_USAGE: &str = "usage: digest -l | [-v] -a <algorithm> [file...]\n";

const MAC_USAGE: &str = "\
usage: mac -l | [-v] -a <algorithm> [-k <keyfile>] [file...]
       other keys: --key-file <file>, --key-env <variable>, --key-hex <digits>
       --verify <digits>: checks that the one message has this MAC
";

const HELP: &str = "
  -l            list the algorithms
  -a ALGORITHM  algorithm of the list
  -v            print the algorithm and the file name before each result

A result is printed for each file, or for the standard input if there is none.
";

const MAC_HELP: &str = "
Keys: all bytes of the file after -k or --key-file, the value of the environment
variable after --key-env, or the bytes after --key-hex, which other users can see
in the list of processes. Without one of these options, mac asks for a passphrase
and derives the key from it.
";

const EXIT_STATUS: &str = "
Exit status:
  0  done; with --verify, the MAC is right
  1  unknown algorithm, invalid key, a read error, or another MAC
  2  wrong usage, or a file that cannot be opened
";

/// One of the two programs, and its arguments.
#[derive(Debug)]
pub(crate) struct Program {
    kind: Kind,
    args: Vec<OsString>,
}

/// An error that ends the program: its message, and the exit status.
struct Failure(String, Exit);

impl Program {
    /// Returns the program that the arguments of a process call: by the name of the process, or by the first
    /// argument.
    pub(crate) fn called_by(args: &[OsString]) -> Option<Self> {
        let of_name = |name: &OsStr| match name.to_str() {
            Some("digest") => Some(Kind::Digest),
            Some("mac") => Some(Kind::Mac),
            _ => None,
        };
        let (called, rest) = args.split_first()?;
        let by_link = Path::new(called).file_name().and_then(of_name);
        let (kind, args) = if let Some(kind) = by_link {
            (kind, rest)
        } else {
            let (first, rest) = rest.split_first()?;
            (of_name(first)?, rest)
        };
        let args = args.to_vec();
        Some(Self { kind, args })
    }

    /// Runs the program.
    pub(crate) fn run(&self, env: &mut Env) -> Exit {
        let exit = self.act(env).unwrap_or_else(|Failure(message, exit)| {
            self.error(env, &message);
            exit
        });
        match env.stdout.flush() {
            Ok(()) => exit,
            Err(error) => {
                self.error(env, &format!("standard output: {error}"));
                Exit::NotAllThere
            }
        }
    }

    fn act(&self, env: &mut Env) -> Result<Exit, Failure> {
        let usage = |reason: Option<String>| {
            let text = match self.kind {
                Kind::Digest => DIGEST_USAGE,
                Kind::Mac => MAC_USAGE,
            };
            (reason, text)
        };
        let (reason, text) = match Arguments::read(self.kind, &self.args) {
            Err(reason) => usage(Some(reason)),
            Ok(arguments) if arguments.is_help => return self.help(env, usage(None).1),
            Ok(arguments) => match (&arguments.algorithm, arguments.is_list) {
                (Some(name), false) => {
                    if arguments.expected.is_none() || arguments.files.len() < 2 {
                        return self.hash(env, name, &arguments);
                    }
                    usage(Some("--verify takes one message".into()))
                }
                (None, true) if arguments.files.is_empty() => return self.list(env),
                _ => usage(None),
            },
        };
        if let Some(reason) = reason {
            self.error(env, &reason);
        }
        // The exit status is the same if this cannot be printed.
        let _ = write!(env.stderr, "{text}");
        Ok(Exit::NotChecked)
    }

    fn help(&self, env: &mut Env, usage: &str) -> Result<Exit, Failure> {
        let keys = match self.kind {
            Kind::Digest => "",
            Kind::Mac => MAC_HELP,
        };
        print(env, format_args!("{usage}{HELP}{keys}{EXIT_STATUS}"))?;
        Ok(Exit::Good)
    }

    /// Prints the names of the algorithms, and of a MAC the lengths of its keys.
    fn list(&self, env: &mut Env) -> Result<Exit, Failure> {
        if self.kind == Kind::Mac {
            let line = "-".repeat(42);
            let header = "Algorithm       Keysize:  Min   Max (bits)";
            print(env, format_args!("{header}\n{line}\n"))?;
        }
        for algorithm in Algorithm::all(self.kind) {
            let name = algorithm.name;
            let (min, max) = algorithm.key_bits();
            match self.kind {
                Kind::Digest => print(env, format_args!("{name}\n"))?,
                Kind::Mac => print(env, format_args!("{name:<15}{min:>14}{max:>6}\n"))?,
            }
        }
        Ok(Exit::Good)
    }

    /// Prints or checks the result of each message.
    fn hash(&self, env: &mut Env, name: &OsStr, arguments: &Arguments) -> Result<Exit, Failure> {
        let algorithm = Algorithm::all(self.kind).find(|algorithm| name == algorithm.name);
        let algorithm = algorithm.ok_or_else(|| {
            let name = name.to_string_lossy();
            Failure(format!("unknown algorithm -- {name}"), Exit::NotAllThere)
        })?;
        let engine = Engine::from_env();
        let engine = engine.map_err(|error| Failure(error.to_string(), Exit::NotChecked))?;
        let key = match self.kind {
            Kind::Digest => Zeroizing::default(),
            Kind::Mac => key::read(arguments.key.as_ref(), env)
                .map_err(|reason| Failure(reason, Exit::NotAllThere))?,
        };
        let verbose = Some(algorithm.name).filter(|_| arguments.is_verbose);
        if arguments.files.is_empty() {
            let result = read_all(&mut env.stdin, algorithm.start(engine, &key));
            let result = result.map_err(|error| {
                Failure(
                    format!("error reading standard input: {error}"),
                    Exit::NotAllThere,
                )
            })?;
            if let Some(expected) = &arguments.expected {
                return Ok(self.check(env, &result, expected));
            }
            let name = verbose.map(|name| format!("{name} ")).unwrap_or_default();
            print(env, format_args!("{name}{}\n", hex(&result)))?;
            return Ok(Exit::Good);
        }
        // The last error decides.
        let mut exit = Exit::Good;
        for path in &arguments.files {
            let path = Path::new(path);
            let opened = File::open(env.resolve(path));
            let result = match opened {
                Err(error) => Err((
                    format!("can not open input file {}: {error}", path.display()),
                    Exit::NotChecked,
                )),
                Ok(mut file) => {
                    read_all(&mut file, algorithm.start(engine, &key)).map_err(|error| {
                        (
                            format!("error reading file {}: {error}", path.display()),
                            Exit::NotAllThere,
                        )
                    })
                }
            };
            match (result, &arguments.expected) {
                (Err((message, failed)), _) => {
                    self.error(env, &message);
                    exit = failed;
                }
                (Ok(result), Some(expected)) => exit = self.check(env, &result, expected),
                (Ok(result), None) => {
                    let is_alone = arguments.files.len() == 1 && !arguments.is_verbose;
                    print_file(env, (!is_alone).then_some(path), verbose, &result)?;
                }
            }
        }
        Ok(exit)
    }

    /// Compares a MAC with the expected one, in a time that does not depend on where they differ.
    fn check(&self, env: &mut Env, mac: &[u8], expected: &[u8]) -> Exit {
        if mac.ct_eq(expected).into() {
            Exit::Good
        } else {
            self.error(env, "the message has another MAC");
            Exit::NotAllThere
        }
    }

    /// Prints an error message with the name of the program. A message that cannot be printed changes nothing.
    fn error(&self, env: &mut Env, message: &str) {
        let name = match self.kind {
            Kind::Digest => "digest",
            Kind::Mac => "mac",
        };
        let _ = env.stdout.flush();
        let _ = writeln!(env.stderr, "{name}: {}", Escaped(message));
    }
}

/// Prints the result of a file: `sha1 (file) = hex` or parts of it.
fn print_file(
    env: &mut Env,
    path: Option<&Path>,
    algorithm: Option<&str>,
    result: &[u8],
) -> Result<(), Failure> {
    if let Some(algorithm) = algorithm {
        print(env, format_args!("{algorithm} "))?;
    }
    if let Some(path) = path {
        print(env, format_args!("("))?;
        // A name need not be text.
        let written = env.stdout.write_all(path.as_os_str().as_encoded_bytes());
        written.map_err(|error| output_failure(&error))?;
        print(env, format_args!(") = "))?;
    }
    print(env, format_args!("{}\n", hex(result)))
}

fn print(env: &mut Env, text: std::fmt::Arguments<'_>) -> Result<(), Failure> {
    env.stdout
        .write_fmt(text)
        .map_err(|error| output_failure(&error))
}

fn output_failure(error: &io::Error) -> Failure {
    Failure(format!("standard output: {error}"), Exit::NotAllThere)
}

/// Hashes a message up to its end.
fn read_all(input: &mut dyn Read, mut hashing: Box<dyn algorithm::Hashing>) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; BUFFER_LEN];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(hashing.finish()),
            Ok(n) => hashing.update(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
