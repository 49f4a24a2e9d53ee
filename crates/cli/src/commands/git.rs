//! `hashlane git`: packs of Git.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use data_encoding::HEXLOWER;
use hashlane_git::{Error, Object, Options, Problem, Report, verify_pack};
use serde::Serialize;

use crate::options::{Output, Threads};
use crate::output::json_lines;
use crate::output::text::{Shown, count};
use crate::values;
use crate::{Env, Exit};

const EXIT_STATUS: &str = "\
Exit status:
  0  all objects of all packs have their identifiers
  1  the check is complete, and an object or a pack is damaged
  2  a pack could not be read or has no index, an object needs more memory than
     is allowed, wrong usage, or Ctrl-C";

/// Verify packs of Git
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Git {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    VerifyPack(VerifyPack),
}

/// Verify every object of packs by their indexes, as `git verify-pack`, with the detection of SHA-1 collision attacks. All
/// damaged objects are reported. Nothing is changed
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
struct VerifyPack {
    /// Packs (.pack) or their indexes (.idx)
    #[arg(value_name = "PACK", required = true)]
    packs: Vec<PathBuf>,

    /// Print all objects, with the columns of `git verify-pack -v`: identifier, type, length, length in the pack, offset,
    /// and for a delta its depth and base
    #[arg(long, help_heading = "Output")]
    list: bool,

    /// Largest size of objects in memory in bytes, for example 512MiB. Objects that need more are reported
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = values::size, help_heading = "Hashing")]
    max_memory: u64,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    output: Output,
}

/// A pack as it was given, as text, and also as bytes if it is not valid Unicode.
#[derive(Serialize)]
struct PackText {
    pack: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pack_hex: Option<String>,
}

impl PackText {
    fn of(pack: &Path) -> Self {
        let bytes = pack.as_os_str().as_encoded_bytes();
        let is_utf8 = str::from_utf8(bytes).is_ok();
        Self {
            pack: pack.to_string_lossy().into_owned(),
            pack_hex: (!is_utf8).then(|| HEXLOWER.encode(bytes)),
        }
    }
}

/// A line of `--json`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Object {
        #[serde(flatten)]
        pack: &'a PackText,
        id: String,
        kind: Option<&'static str>,
        bytes: u64,
        packed_bytes: u64,
        offset: u64,
        depth: u32,
        base: Option<String>,
    },
    Problem {
        #[serde(flatten)]
        pack: &'a PackText,
        id: Option<String>,
        offset: Option<u64>,
        message: String,
    },
    Pack {
        #[serde(flatten)]
        pack: &'a PackText,
        verdict: &'static str,
        format: &'static str,
        objects: usize,
        problems: usize,
    },
    Error {
        #[serde(flatten)]
        pack: &'a PackText,
        message: String,
    },
}

impl Git {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        match self.action {
            Action::VerifyPack(verify_pack) => verify_pack.run(env),
        }
    }
}

impl VerifyPack {
    fn run(&self, env: &mut Env) -> anyhow::Result<Exit> {
        env.catch_interrupts();
        let options = Options {
            threads: self.threads.count(),
            max_memory: self.max_memory,
            list: self.list,
            ..Options::default()
        };
        let mut exit = Exit::Good;
        for given in &self.packs {
            let result = verify_pack(&env.resolve(given), &options, &env.cancel);
            match result {
                Ok(report) => {
                    self.print(env, given, &report)?;
                    if report.is_bad() {
                        exit = exit.max(Exit::Bad);
                    }
                    if report.n_unchecked() > 0 {
                        exit = Exit::NotChecked;
                    }
                }
                Err(Error::Cancelled) => return Ok(Exit::NotChecked),
                Err(error) => {
                    self.print_error(env, given, &error)?;
                    exit = Exit::NotChecked;
                }
            }
        }
        Ok(exit)
    }

    fn print(&self, env: &mut Env, path: &Path, report: &Report) -> anyhow::Result<()> {
        let pack = &PackText::of(path);
        for object in &report.objects {
            if self.output.is_json() {
                json_lines::print(env, &object_line(pack, object))?;
            } else {
                print_object(env, object).context("standard output")?;
            }
        }
        for problem in &report.problems {
            if self.output.is_json() {
                json_lines::print(env, &problem_line(pack, problem))?;
            } else {
                writeln!(env.stdout, "{}: {problem}", Shown(path))?;
            }
        }
        if self.output.is_json() {
            let line = Line::Pack {
                pack,
                verdict: if report.is_good() {
                    "good"
                } else if report.is_bad() {
                    "bad"
                } else {
                    "not_checked"
                },
                format: report.algorithm.name(),
                objects: report.n_objects,
                problems: report.problems.len(),
            };
            return json_lines::print(env, &line);
        }
        if !self.output.quiet {
            let objects = count(report.n_objects as u64, "object");
            if report.is_good() {
                writeln!(env.stdout, "{}: ok, {objects}", Shown(path))?;
            } else if report.is_bad() {
                let problems = count(report.problems.len() as u64, "problem");
                writeln!(env.stdout, "{}: bad, {problems}, {objects}", Shown(path))?;
            } else {
                let unchecked = report.n_unchecked();
                let path = Shown(path);
                writeln!(env.stdout, "{path}: {unchecked} of {objects} not checked")?;
            }
        }
        Ok(())
    }

    fn print_error(&self, env: &mut Env, pack: &Path, error: &Error) -> anyhow::Result<()> {
        if self.output.is_json() {
            let line = Line::Error {
                pack: &PackText::of(pack),
                message: error.to_string(),
            };
            return json_lines::print(env, &line);
        }
        env.error(&error.to_string());
        Ok(())
    }
}

/// Prints an object as `git verify-pack -v` does. A type that is not known is `?`.
fn print_object(env: &mut Env, object: &Object) -> std::io::Result<()> {
    let kind = object.kind.map_or("?", |kind| kind.name());
    let Object {
        id,
        len,
        packed_len,
        offset,
        ..
    } = object;
    write!(env.stdout, "{id} {kind:<6} {len} {packed_len} {offset}")?;
    if let Some((depth, base)) = &object.delta {
        write!(env.stdout, " {depth} {base}")?;
    }
    writeln!(env.stdout)
}

fn object_line<'a>(pack: &'a PackText, object: &Object) -> Line<'a> {
    Line::Object {
        pack,
        id: object.id.to_string(),
        kind: object.kind.map(hashlane_git::Kind::name),
        bytes: object.len,
        packed_bytes: object.packed_len,
        offset: object.offset,
        depth: object.delta.map_or(0, |(depth, _)| depth),
        base: object.delta.map(|(_, base)| base.to_string()),
    }
}

fn problem_line<'a>(pack: &'a PackText, problem: &Problem) -> Line<'a> {
    let (id, offset, message) = match problem {
        Problem::Object { id, offset, wrong } => {
            (Some(id.to_string()), Some(*offset), wrong.to_string())
        }
        _ => (None, None, problem.to_string()),
    };
    Line::Problem {
        pack,
        id,
        offset,
        message,
    }
}
