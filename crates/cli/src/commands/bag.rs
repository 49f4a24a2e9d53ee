//! `hashlane bag`: bags of BagIt (RFC 8493).

mod output;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use hashlane_bagit::{Depth, NewBag, Run, Verdict, create_copy, create_in_place, update, validate};
use hashlane_files::NotContent;
use hashlane_sums::{Algorithm, UnknownAlgorithm};
use time::OffsetDateTime;

use crate::options::{Hashing, Output};
use crate::output::text::{Shown, count};
use crate::{Env, Exit};
use output::Line;

const EXIT_STATUS: &str = "\
Exit status:
  0  the bag was created or updated, or all bags are valid
  1  the check is complete, and a bag is invalid or incomplete
  2  a bag could not be made or read, a file could not be read or compared,
     wrong usage, or Ctrl-C";

/// Maximum number of problems of a bag that are kept and listed. A hostile manifest can have any number of wrong lines.
const MAX_PROBLEMS: usize = 100_000;

/// Create, validate and update bags: folders with manifests of their files (BagIt, RFC 8493)
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS, mut_args(|arg| arg.global(true)))]
pub(crate) struct Bag {
    #[command(subcommand)]
    action: Action,

    #[command(flatten)]
    hashing: Hashing,

    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Subcommand)]
enum Action {
    Create(Create),
    Validate(Validate),
    Update(Update),
}

/// Make a bag of a folder: its files move into `data` below it, or are copied to a new folder with --to
#[derive(Debug, Args)]
struct Create {
    /// Folder with the files
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// New folder for the bag. The files are copied, and DIR stays as it is
    #[arg(long, value_name = "NEW")]
    to: Option<PathBuf>,

    #[command(flatten)]
    algorithms: Algorithms,

    /// Label and value for bag-info.txt, for example `Source-Organization: Example`; repeatable
    #[arg(long, value_name = "LABEL: VALUE", value_parser = label)]
    info: Vec<(String, String)>,
}

/// Compare bags with their manifests. Nothing is changed, and no file of fetch.txt is downloaded
#[derive(Debug, Args)]
struct Validate {
    /// Bags
    #[arg(value_name = "BAG", required = true)]
    bags: Vec<PathBuf>,

    /// Compare only the number and the total length of the files with Payload-Oxum. Nothing is hashed
    #[arg(long)]
    fast: bool,

    /// Compare only the names of the files. Nothing is hashed
    #[arg(long, conflicts_with = "fast")]
    completeness_only: bool,
}

/// Renew the manifests of a bag after its files were changed on purpose. Damage is not noticed: validate the bag before
/// you change files
#[derive(Debug, Args)]
struct Update {
    /// Bag
    #[arg(value_name = "BAG")]
    bag: PathBuf,

    #[command(flatten)]
    algorithms: Algorithms,
}

#[derive(Debug, Args)]
struct Algorithms {
    /// Algorithms of the manifests, separated by commas: md5, sha1, sha224, sha256, sha384, sha512, crc32, blake2b, blake3
    /// [default: sha512; with update, those of the bag]
    #[arg(short, long, value_name = "NAME", value_delimiter = ',', value_parser = algorithm)]
    algorithm: Vec<Algorithm>,
}

impl Algorithms {
    /// Returns each algorithm once.
    fn each(&self) -> Vec<Algorithm> {
        let mut each = self.algorithm.clone();
        each.sort_unstable();
        each.dedup();
        each
    }
}

/// Names of manifests have no lengths, so BLAKE2b has its full length.
fn algorithm(name: &str) -> Result<Algorithm, UnknownAlgorithm> {
    let found: Algorithm = name.parse()?;
    Algorithm::ALL
        .contains(&found)
        .then_some(found)
        .ok_or(UnknownAlgorithm)
}

fn label(text: &str) -> Result<(String, String), String> {
    let is_plain = !text.contains(char::is_control);
    let pair = text
        .split_once(':')
        .filter(|(label, _)| is_plain && !label.trim().is_empty());
    let Some((label, value)) = pair else {
        return Err("must be `Label: value` on one line".into());
    };
    let label = label.trim();
    if label.eq_ignore_ascii_case("Payload-Oxum") {
        return Err("is computed from the files".into());
    }
    Ok((label.to_owned(), value.trim().to_owned()))
}

/// Returns the date in UTC, as ISO 8601 writes it.
fn today() -> anyhow::Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let now = OffsetDateTime::from_unix_timestamp(now.as_secs().cast_signed())?;
    let (year, month, day) = now.to_calendar_date();
    Ok(format!("{year:04}-{:02}-{day:02}", u8::from(month)))
}

impl Bag {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        match &self.action {
            Action::Create(create) => self.create(env, create),
            Action::Validate(validate) => self.validate(env, validate),
            Action::Update(update) => self.update(env, update),
        }
    }

    /// Hashes files, with a progress line.
    fn with_run<R>(&self, env: &mut Env, name: &Path, work: impl FnOnce(&mut Run<'_>) -> R) -> R {
        env.catch_interrupts();
        let mut line = self.output.progress(env, name.display().to_string());
        let options = self.hashing.options();
        let mut progress = |progress: hashlane_bagit::Progress| {
            if let Some(line) = &mut line {
                line.update(progress.hashed_bytes, progress.total_bytes);
            }
        };
        let result = work(&mut Run {
            options: &options,
            cancel: &env.cancel,
            progress: &mut progress,
        });
        if let Some(line) = line {
            line.clear();
        }
        result
    }

    fn create(&self, env: &mut Env, create: &Create) -> anyhow::Result<Exit> {
        let mut algorithms = create.algorithms.each();
        if algorithms.is_empty() {
            // Section 2.4 of the RFC: the default should be SHA-512.
            algorithms.push(Algorithm::Sha512);
        }
        let mut new = NewBag::new(algorithms);
        new.info.clone_from(&create.info);
        let has = |label: &str| {
            let mut labels = create.info.iter();
            labels.any(|(known, _)| known.eq_ignore_ascii_case(label))
        };
        if !has("Bagging-Date") {
            new.info.push(("Bagging-Date".into(), today()?));
        }
        if !has("Bag-Software-Agent") {
            let agent = concat!("hashlane ", env!("CARGO_PKG_VERSION"));
            new.info.push(("Bag-Software-Agent".into(), agent.into()));
        }
        let folder = env.resolve(&create.folder);
        let to = create.to.as_ref().map(|to| env.resolve(to));
        let created = self.with_run(env, &create.folder, |run| match &to {
            Some(to) => create_copy(&folder, to, &new, run),
            None => create_in_place(&folder, &new, run),
        })?;
        let bag = create.to.as_ref().unwrap_or(&create.folder);
        for name in &created.left_out {
            let folder = Shown(&create.folder);
            env.error(&format!(
                "{folder}: left out: {name} is {}",
                NotContent::Own
            ));
        }
        self.print(env, &Line::created(bag, &created, &new.algorithms))?;
        Ok(Exit::Good)
    }

    fn validate(&self, env: &mut Env, options: &Validate) -> anyhow::Result<Exit> {
        let depth = match (options.fast, options.completeness_only) {
            (true, _) => Depth::Oxum,
            (_, true) => Depth::Completeness,
            _ => Depth::Digests,
        };
        let mut exit = Exit::Good;
        for given in &options.bags {
            let bag = env.resolve(given);
            let mut problems = Vec::new();
            let mut n_left_out = 0;
            let result = self.with_run(env, given, |run| {
                validate(&bag, depth, run, &mut |problem| {
                    if problems.len() < MAX_PROBLEMS {
                        problems.push(problem);
                    } else {
                        n_left_out += 1;
                    }
                })
            });
            for problem in &problems {
                self.print(env, &Line::problem(given, problem))?;
            }
            if n_left_out > 0 {
                let (bag, left_out) = (given.display(), count(n_left_out, "further problem"));
                env.error(&format!("{bag}: {left_out} not listed"));
            }
            match result {
                Ok(found) => {
                    self.print(env, &Line::validated(given, depth, &found))?;
                    exit = exit.max(match found.verdict() {
                        Verdict::Valid => Exit::Good,
                        Verdict::Incomplete | Verdict::Invalid => Exit::Bad,
                        Verdict::NotChecked => Exit::NotChecked,
                    });
                }
                Err(error) => {
                    self.print(env, &Line::error(given, &error))?;
                    exit = Exit::NotChecked;
                }
            }
            if env.cancel.is_cancelled() {
                return Ok(Exit::NotChecked);
            }
        }
        Ok(exit)
    }

    fn update(&self, env: &mut Env, options: &Update) -> anyhow::Result<Exit> {
        let bag = env.resolve(&options.bag);
        let algorithms = options.algorithms.each();
        let updated = self.with_run(env, &options.bag, |run| update(&bag, &algorithms, run));
        let updated = updated.context("not updated")?;
        for line in Line::updated(&options.bag, &updated) {
            self.print(env, &line)?;
        }
        Ok(Exit::Good)
    }

    fn print(&self, env: &mut Env, line: &Line) -> anyhow::Result<()> {
        line.print(env, &self.output)
    }
}
