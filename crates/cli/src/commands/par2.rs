//! `hashlane par2`: recovery files of PAR2.
//!
//! | module | |
//! |---|---|
//! | `output` | results of the command |
//! | `program` | the program `par2`, with the options of par2cmdline |
//! | `arguments` | its command line |

mod arguments;
mod output;
mod program;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand, ValueEnum};
use hashlane_files::{Walked, walk_files};
use hashlane_par2::{
    Error, Kept, Kernel, NewSet, RecoverySet, Redundancy, Run, Slices, Verification, Volumes,
    create, repair, verify, volumes_of,
};

use crate::options::{Output, Threads};
use crate::output::progress::ProgressLine;
use crate::values;
use crate::{Env, Exit};
use output::Line;
pub(crate) use program::Program;

const EXIT_STATUS: &str = "\
Exit status:
  0  the set was created, all files are intact, or all files were repaired
  1  files are damaged or missing, and `repair` can restore all of them
  2  files cannot be restored, a file could not be read or written, the set is
     incomplete, wrong usage, or Ctrl-C";

/// Protect files with recovery files (PAR2 2.0), verify and repair them
///
/// Called by a link named par2, par2create, par2verify or par2repair, the program has the options and exit statuses of par2cmdline:
/// `par2 -h` prints them.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Par2 {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Create(Create),
    Verify(Verify),
    Repair(Repair),
}

/// Create recovery files. No file is replaced
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
struct Create {
    /// New recovery file, for example photos.par2. Those with recovery data lie beside it, as photos.vol0+1.par2
    #[arg(value_name = "SET")]
    set: PathBuf,

    /// Files to protect, in the folder of SET or below it. Of folders, all files are protected
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Recovery data in percent of the files, for example 10%
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = values::percent)]
    redundancy: f64,

    /// Number of recovery slices, each of which restores one slice of any file
    #[arg(long, value_name = "N", conflicts_with = "redundancy")]
    recovery_slices: Option<usize>,

    /// Largest size of all recovery data in bytes, for example 1GiB
    #[arg(long, value_name = "SIZE", value_parser = values::size, conflicts_with_all = ["redundancy", "recovery_slices"])]
    recovery_size: Option<u64>,

    /// Number of slices of all files, which is not exceeded
    #[arg(
        long,
        value_name = "N",
        default_value = "2000",
        help_heading = "Content"
    )]
    slices: usize,

    /// Length of a slice in bytes: a multiple of 4
    #[arg(long, value_name = "SIZE", value_parser = values::size, conflicts_with = "slices", help_heading = "Content")]
    slice_size: Option<u64>,

    /// Distribution of recovery slices over files
    #[arg(
        long,
        value_name = "SCHEME",
        default_value = "doubling",
        help_heading = "Output"
    )]
    volumes: Scheme,

    /// Number of files with recovery slices
    #[arg(long, value_name = "N", help_heading = "Output")]
    n_volumes: Option<usize>,

    /// Exponent of the first recovery slice. One that is higher than those of an earlier set adds recovery data to it
    #[arg(long, value_name = "N", default_value = "0", help_heading = "Output")]
    first_slice: usize,

    /// Comment for the recovery files
    #[arg(short, long, value_name = "TEXT", help_heading = "Content")]
    comment: Option<String>,

    #[command(flatten)]
    resources: Resources,

    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scheme {
    /// Each file has twice as many slices as the one before
    Doubling,
    /// As doubling, but no file is longer than the longest protected file
    Limited,
    /// All files have the same number of slices
    Uniform,
}

/// Compare files with the recovery files. Nothing is changed
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
struct Verify {
    #[command(flatten)]
    set: Set,

    #[command(flatten)]
    resources: Resources,

    #[command(flatten)]
    output: Output,
}

/// Restore damaged and missing files. Each is written anew and compared before it gets its name
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
struct Repair {
    #[command(flatten)]
    set: Set,

    /// Replace damaged files. Otherwise, they are kept as NAME.damaged-1
    #[arg(long)]
    replace: bool,

    #[command(flatten)]
    resources: Resources,

    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
struct Set {
    /// One of the recovery files. The others in its folder are found by their names
    #[arg(value_name = "SET")]
    set: PathBuf,

    /// Files that may have slices of the protected files, under any names; of folders, all files
    #[arg(value_name = "FILE")]
    others: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct Resources {
    #[command(flatten)]
    threads: Threads,

    /// Memory for slices in bytes. With less, files are read in several passes
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = values::size, help_heading = "Hashing")]
    memory: u64,
}

impl Resources {
    /// Returns a job with a progress line, if the user wants one.
    fn job(&self, env: &Env, output: &Output, name: &Path) -> Job {
        Job {
            line: output.progress(env, name.display().to_string()),
            n_threads: self.threads.count(),
            memory: self.memory,
        }
    }
}

/// The resources of a job.
struct Job {
    line: Option<ProgressLine>,
    n_threads: Option<NonZeroUsize>,
    memory: u64,
}

impl Job {
    fn run<R>(mut self, env: &mut Env, job: impl FnOnce(&mut Run<'_>) -> R) -> R {
        env.catch_interrupts();
        let mut progress = |progress: hashlane_par2::Progress| {
            if let Some(line) = &mut self.line {
                line.update(progress.done_bytes, progress.total_bytes);
            }
        };
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let result = job(&mut Run {
            n_threads: self.n_threads.unwrap_or_else(cores),
            memory: self.memory,
            kernel: Kernel::detect(),
            cancel: &env.cancel,
            progress: &mut progress,
        });
        if let Some(line) = self.line {
            line.clear();
        }
        result
    }
}

impl Par2 {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        match self.action {
            Action::Create(create) => create.run(env),
            Action::Verify(verify) => verify.run(env),
            Action::Repair(repair) => repair.run(env),
        }
    }
}

/// Returns the files that are given, and those of folders that are given.
fn files_of(env: &mut Env, given: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for given in given {
        let path = env.resolve(given);
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        for walked in walk_files(&path, false) {
            match walked {
                Walked::File(path) => files.push(path),
                Walked::LeftOut(path, reason) => {
                    env.error(&format!("{}: left out: it is {reason}", path.display()));
                }
                Walked::Failed(path, error) => bail!("{}: {error}", path.display()),
            }
        }
    }
    Ok(files)
}

/// Returns the folder of a recovery file, in which the protected files are.
fn folder_of(set: &Path) -> anyhow::Result<PathBuf> {
    let folder = set.parent().filter(|folder| !folder.as_os_str().is_empty());
    canonical(folder.unwrap_or(Path::new(".")))
}

fn canonical(folder: &Path) -> anyhow::Result<PathBuf> {
    let canonical = folder.canonicalize();
    canonical.with_context(|| folder.display().to_string())
}

/// Returns the path of a file below a folder without links, and `None` for files elsewhere. The file itself may be a link.
fn relative_to(folder: &Path, file: &Path) -> anyhow::Result<Option<PathBuf>> {
    let in_folder = folder_of(file)?.join(file.file_name().unwrap_or_default());
    Ok(in_folder.strip_prefix(folder).ok().map(Path::to_owned))
}

fn new_set() -> NewSet {
    NewSet::new(concat!("hashlane ", env!("CARGO_PKG_VERSION")))
}

impl Create {
    fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let place = env.resolve(&self.set);
        if !place
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("par2"))
        {
            bail!(
                "{}: the name of a recovery file ends with .par2",
                self.set.display()
            );
        }
        let folder = folder_of(&place)?;
        let mut files = Vec::new();
        for file in files_of(env, &self.files)? {
            let Some(relative) = relative_to(&folder, &file)? else {
                bail!(
                    "{}: is not below the folder of {}",
                    file.display(),
                    self.set.display()
                );
            };
            let is_recovery_file = relative
                .extension()
                .is_some_and(|it| it.eq_ignore_ascii_case("par2"));
            if !is_recovery_file || self.files.iter().any(|given| env.resolve(given) == file) {
                files.push(relative);
            }
        }
        files.sort_unstable();
        files.dedup();
        let mut new = new_set();
        new.slices = self
            .slice_size
            .map_or(Slices::Count(self.slices), Slices::Len);
        new.redundancy = match (self.recovery_slices, self.recovery_size) {
            (Some(n), _) => Redundancy::Count(n),
            (_, Some(bytes)) => Redundancy::Bytes(bytes),
            _ => Redundancy::Percent(self.redundancy),
        };
        new.volumes = match self.volumes {
            Scheme::Doubling => Volumes::Doubling,
            Scheme::Limited => Volumes::Limited,
            Scheme::Uniform => Volumes::Uniform,
        };
        new.n_volumes = self.n_volumes;
        new.first_exponent = self.first_slice;
        new.comment.clone_from(&self.comment);
        let job = self.resources.job(env, &self.output, &self.set);
        let created = job.run(env, |run| create(&folder, &place, &files, &new, run))?;
        for path in &created.left_out {
            env.error(&format!("{}: left out: it is empty", path.display()));
        }
        Line::created(&self.set, &created).print(env, &self.output)?;
        Ok(Exit::Good)
    }
}

impl Set {
    /// Reads the set and searches its slices.
    fn verify(
        &self,
        env: &mut Env,
        resources: &Resources,
        output: &Output,
    ) -> anyhow::Result<(RecoverySet, PathBuf, Verification)> {
        let place = env.resolve(&self.set);
        let folder = folder_of(&place)?;
        let others = files_of(env, &self.others)?;
        let job = resources.job(env, output, &self.set);
        let (set, found) = job.run(env, |run| -> Result<_, Error> {
            let set = RecoverySet::read(volumes_of(&place)?, run)?;
            let found = verify(&set, &folder, &others, run)?;
            Ok((set, found))
        })?;
        for path in &found.not_searched {
            let path = path.display();
            env.error(&format!("{path}: not searched for moved slices to its end"));
        }
        for report in &found.files {
            Line::file(&self.set, &set, report).print(env, output)?;
        }
        Line::verified(&self.set, &set, &found).print(env, output)?;
        Ok((set, folder, found))
    }
}

impl Verify {
    fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let (set, _, found) = self.set.verify(env, &self.resources, &self.output)?;
        Ok(match () {
            () if found.is_intact() => Exit::Good,
            () if found.is_repairable(&set) => Exit::Bad,
            () => Exit::NotChecked,
        })
    }
}

impl Repair {
    fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let (set, folder, found) = self.set.verify(env, &self.resources, &self.output)?;
        if found.is_intact() {
            return Ok(Exit::Good);
        }
        let kept = if self.replace { Kept::No } else { Kept::Yes };
        let job = self.resources.job(env, &self.output, &self.set.set);
        let repaired = job.run(env, |run| repair(&set, &found, &folder, kept, run))?;
        for file in &repaired.files {
            Line::repaired_file(&self.set.set, &set, file).print(env, &self.output)?;
        }
        Line::repaired(&self.set.set, &repaired).print(env, &self.output)?;
        Ok(Exit::Good)
    }
}
