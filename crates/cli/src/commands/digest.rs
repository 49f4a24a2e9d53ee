//! `digest` and `mac` of Solaris and illumos: called by a link of that name, or as the first argument of `hashlane`.
//! Messages and exit status match the Solaris programs.
//!
//! | module | |
//! |---|---|
//! | `arguments` | the command line |
//! | `kind` | the two programs, and their help |
//! | `key`, `passphrase` | the key of a MAC |

mod arguments;
mod key;
mod kind;
mod passphrase;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::sync::Arc;

use hashlane_hashes::{Hmac, HmacKey};
use hashlane_sha::{Engine, hazmat};
use hashlane_sums::{Algorithm, Event, Failure as SumFailure, Item, Options, Source, hash_items};
use subtle::ConstantTimeEq as _;

use super::call::{Call, Flag, Page};
use crate::output::text::Escaped;
use crate::{Env, Exit};
use arguments::Arguments;
use data_encoding::HEXLOWER;
use kind::Kind;

/// Number of bytes of a message to read at a time for a MAC.
const BUFFER_LEN: usize = 128 << 10;

/// The hash functions, in the order of `-l`.
const FUNCTIONS: [Algorithm; 6] = [
    Algorithm::Sha1,
    Algorithm::Md5,
    Algorithm::Sha224,
    Algorithm::Sha256,
    Algorithm::Sha384,
    Algorithm::Sha512,
];

/// A program and its arguments.
#[derive(Debug)]
pub(crate) struct Program {
    kind: Kind,
    args: Vec<OsString>,
}

/// An error that ends the program.
enum Failure {
    /// A message, and the exit status.
    Reason(String, Exit),
    /// The results cannot be written.
    Output(io::Error),
}

impl Program {
    /// Returns the program that the process's arguments call.
    pub(crate) fn called_by(args: &[OsString]) -> Option<Self> {
        let call = Call::find(args, |name| match name.to_str() {
            Some("digest") => Some(Kind::Digest),
            Some("mac") => Some(Kind::Mac),
            _ => None,
        })?;
        Some(Self {
            kind: call.program,
            args: call.args.to_vec(),
        })
    }

    /// Runs the program.
    pub(crate) fn run(&self, env: &mut Env) -> Exit {
        let exit = self.act(env).and_then(|exit| {
            env.stdout.flush().map_err(Failure::Output)?;
            Ok(exit)
        });
        exit.unwrap_or_else(|failure| match failure {
            Failure::Reason(message, exit) => {
                self.error(env, &message);
                exit
            }
            Failure::Output(error) => {
                if error.kind() != io::ErrorKind::BrokenPipe {
                    self.error(env, &format!("standard output: {error}"));
                }
                Exit::NotChecked
            }
        })
    }

    fn act(&self, env: &mut Env) -> Result<Exit, Failure> {
        let reason = match Arguments::read(self.kind, &self.args) {
            Err(reason) => Some(reason),
            Ok(arguments) if arguments.is_help => {
                print(env, format_args!("{}", self.kind.help()))?;
                return Ok(Exit::Good);
            }
            Ok(arguments) => match (&arguments.algorithm, arguments.is_list) {
                (Some(name), false) => {
                    if arguments.expected.is_none() || arguments.files.len() < 2 {
                        return match self.kind {
                            Kind::Digest => self.digests(env, name, &arguments),
                            Kind::Mac => self.macs(env, name, &arguments),
                        };
                    }
                    Some("--verify takes one message".into())
                }
                (None, true) if arguments.files.is_empty() => return self.list(env),
                _ => None,
            },
        };
        if let Some(reason) = reason {
            self.error(env, &reason);
        }
        // The exit status does not depend on whether the usage can be printed.
        let _ = write!(env.stderr, "{}", self.kind.usage());
        Ok(Exit::NotChecked)
    }

    /// Returns the man pages of both programs.
    pub(super) fn pages() -> [Page; 2] {
        [
            (Kind::Digest, "prints digests of files"),
            (Kind::Mac, "prints or checks HMACs of files"),
        ]
        .map(|(kind, about)| Page {
            name: kind.name(),
            about: about.into(),
            help: kind.help(),
            options: Self::options(kind),
        })
    }

    /// Returns the options of a program for completions.
    fn options(kind: Kind) -> Vec<Flag> {
        let mut flags: Vec<Flag> = arguments::options(kind).iter().map(Flag::from).collect();
        if let Some(flag) = flags.iter_mut().find(|flag| flag.short == Some('a')) {
            flag.values = FUNCTIONS.map(|function| kind.algorithm(function)).into();
        }
        flags
    }

    /// Prints the names of the algorithms; for `mac`, also the lengths of their keys.
    fn list(&self, env: &mut Env) -> Result<Exit, Failure> {
        match self.kind {
            Kind::Digest => {
                for function in FUNCTIONS {
                    print(env, format_args!("{}\n", self.kind.algorithm(function)))?;
                }
            }
            Kind::Mac => {
                let line = "-".repeat(42);
                let header = "Algorithm       Keysize:  Min   Max (bits)";
                print(env, format_args!("{header}\n{line}\n"))?;
                for function in FUNCTIONS {
                    // HMAC hashes a key that is longer than a block first (FIPS 198-1).
                    let (name, min, max) = (self.kind.algorithm(function), 8, "any");
                    print(env, format_args!("{name:<15}{min:>14}{max:>6}\n"))?;
                }
            }
        }
        Ok(Exit::Good)
    }

    /// Returns the hash function that `-a` selects, and the name of the algorithm.
    fn function(&self, name: &OsStr) -> Result<(Algorithm, String), Failure> {
        let mut known = FUNCTIONS
            .map(|function| (function, self.kind.algorithm(function)))
            .into_iter();
        known
            .find(|(_, known)| name == known.as_str())
            .ok_or_else(|| {
                let message = format!("unknown algorithm -- {}", name.to_string_lossy());
                Failure::Reason(message, Exit::Bad)
            })
    }

    /// Prints the digest of each message. Several files are hashed at once.
    fn digests(&self, env: &mut Env, name: &OsStr, arguments: &Arguments) -> Result<Exit, Failure> {
        let (function, name) = self.function(name)?;
        let options = Options::default();
        let mut results = Results::new(self, name, arguments);
        let algorithms: Arc<[_]> = [function].into();
        let items = results.inputs().into_iter().map(|path| {
            let source = path.map_or(Source::Stdin, |path| Source::File(env.resolve(path)));
            Item::new(source, Arc::clone(&algorithms), path)
        });
        let items: Vec<_> = items.collect();
        let mut stdin = std::mem::replace(&mut env.stdin, Box::new(io::empty()));
        let cancel = env.cancel.clone();
        let run = hash_items(items, &mut stdin, &options, &cancel, |event| match event {
            Event::Outcome(item, outcome) => {
                let result = match outcome {
                    Ok((digests, _)) => {
                        let digest = digests.first().map(|digest| digest.as_bytes().to_vec());
                        Ok(digest.unwrap_or_default())
                    }
                    Err(SumFailure::NotOpened(error)) => Err(Unread::NotOpened(error)),
                    Err(failure) => Err(Unread::NotRead(failure.into())),
                };
                results.take(env, item.tag, result)
            }
            Event::Pause { .. } => env.stdout.flush().map_err(Failure::Output),
        });
        env.stdin = stdin;
        run.map(|()| results.exit)
    }

    /// Prints or checks the MAC of each message.
    fn macs(&self, env: &mut Env, name: &OsStr, arguments: &Arguments) -> Result<Exit, Failure> {
        let (function, name) = self.function(name)?;
        let mac_len = mac_len(function, &name, arguments.bits)
            .map_err(|reason| Failure::Reason(reason, Exit::NotChecked))?;
        let key = key::read(arguments.key.as_ref(), env)
            .map_err(|reason| Failure::Reason(reason, Exit::Bad))?;
        let key = HmacKey::with_engine(Engine::detect(), function, &key);
        let key = key.expect("each of FUNCTIONS has HMACs");
        let mut results = Results::new(self, name, arguments);
        for path in results.inputs() {
            let result = match path {
                None => read_all(&mut env.stdin, key.start()),
                Some(path) => File::open(env.resolve(path))
                    .map_err(Unread::NotOpened)
                    .and_then(|mut file| read_all(&mut file, key.start())),
            };
            let truncated = result.map(|mut mac| {
                mac.truncate(mac_len);
                mac
            });
            results.take(env, path, truncated)?;
        }
        Ok(results.exit)
    }

    /// Compares a MAC with the expected one in constant time.
    fn check(&self, env: &mut Env, mac: &[u8], expected: &[u8]) -> Exit {
        let (len, expected_len) = (mac.len(), expected.len());
        if mac.ct_eq(expected).into() {
            return Exit::Good;
        }
        if len == expected_len {
            self.error(env, "the MAC does not match the message");
        } else {
            let message = format!(
                "--verify: the MAC has {} bits instead of {}; --bits is for truncated MACs",
                8 * expected_len,
                8 * len
            );
            self.error(env, &message);
        }
        Exit::Bad
    }

    /// Prints an error message with the name of the program. A failure to print the message is ignored.
    fn error(&self, env: &mut Env, message: &str) {
        let name = self.kind.name();
        let _ = env.stdout.flush();
        let _ = writeln!(env.stderr, "{name}: {}", Escaped(message));
    }
}

/// The reason why a message has no result.
enum Unread {
    NotOpened(io::Error),
    NotRead(io::Error),
}

/// Prints or checks the results of messages.
struct Results<'a> {
    program: &'a Program,
    arguments: &'a Arguments,
    /// With `-v`: the algorithm's name, before each result.
    algorithm: Option<String>,
    /// The exit status so far. The last error determines the status.
    exit: Exit,
}

impl<'a> Results<'a> {
    fn new(program: &'a Program, algorithm: String, arguments: &'a Arguments) -> Self {
        Self {
            program,
            arguments,
            algorithm: Some(algorithm).filter(|_| arguments.is_verbose),
            exit: Exit::Good,
        }
    }

    /// Returns the files, or `None` for the standard input stream if there are no files.
    fn inputs(&self) -> Vec<Option<&'a Path>> {
        let files = self.arguments.files.iter();
        let files: Vec<_> = files.map(|file| Some(Path::new(file))).collect();
        if files.is_empty() { vec![None] } else { files }
    }

    /// Prints or checks the result of a message.
    fn take(
        &mut self,
        env: &mut Env,
        path: Option<&Path>,
        result: Result<Vec<u8>, Unread>,
    ) -> Result<(), Failure> {
        let file = |path: &Path| format!("file {}", path.display());
        let name = path.map_or("standard input".into(), file);
        match (result, &self.arguments.expected) {
            (Ok(result), None) => return self.print(env, path, &result),
            (Ok(result), Some(expected)) => self.exit = self.program.check(env, &result, expected),
            (Err(Unread::NotOpened(error)), _) => {
                let message = format!("can not open input {name}: {error}");
                self.program.error(env, &message);
                self.exit = Exit::NotChecked;
            }
            (Err(Unread::NotRead(error)), _) => {
                let message = format!("error reading {name}: {error}");
                self.program.error(env, &message);
                self.exit = Exit::Bad;
            }
        }
        Ok(())
    }

    /// Prints a result: `sha1 (file) = hex`, or only some of these parts.
    fn print(&self, env: &mut Env, path: Option<&Path>, result: &[u8]) -> Result<(), Failure> {
        if let Some(algorithm) = &self.algorithm {
            print(env, format_args!("{algorithm} "))?;
        }
        let is_named = self.algorithm.is_some() || self.arguments.files.len() > 1;
        if let Some(path) = path.filter(|_| is_named) {
            print(env, format_args!("("))?;
            // The name may not be valid Unicode.
            let written = env.stdout.write_all(path.as_os_str().as_encoded_bytes());
            written.map_err(Failure::Output)?;
            print(env, format_args!(") = "))?;
        }
        print(env, format_args!("{}\n", HEXLOWER.encode(result)))
    }
}

impl From<hashlane_sums::Error> for Failure {
    fn from(error: hashlane_sums::Error) -> Self {
        Self::Reason(error.to_string(), Exit::NotChecked)
    }
}

/// Returns the length of a MAC in bytes. `bits` is the length of truncated MACs.
///
/// # Errors
/// Returns the reason why MACs of the algorithm `name` cannot have this length.
fn mac_len(function: Algorithm, name: &str, bits: Option<usize>) -> Result<usize, String> {
    let len = function.digest_len();
    let (min, max) = (8 * hazmat::min_tag_len(len), 8 * len);
    match bits.unwrap_or(max) {
        bits if (min..=max).contains(&bits) && bits.is_multiple_of(8) => Ok(bits / 8),
        bits => Err(format!(
            "--bits {bits}: a MAC of {name} has {min} to {max} bits, in whole bytes"
        )),
    }
}

fn print(env: &mut Env, text: std::fmt::Arguments<'_>) -> Result<(), Failure> {
    env.stdout.write_fmt(text).map_err(Failure::Output)
}

/// Reads a message to its end, and returns its MAC.
fn read_all(input: &mut dyn Read, mut message: Hmac) -> Result<Vec<u8>, Unread> {
    let mut buffer = vec![0; BUFFER_LEN];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(message.finalize().as_bytes().to_vec()),
            Ok(n) => message.update(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Unread::NotRead(error)),
        }
    }
}
