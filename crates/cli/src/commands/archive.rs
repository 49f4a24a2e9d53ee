//! `hashlane archive`: a catalogue of the files of a folder, and what has become of them.

mod export;
mod report;

#[cfg(feature = "schema")]
pub(crate) use report::schema;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use hashlane_archive::{
    Catalogue, Event, Healed, Healing, IfMissing, Job, Limits, Protection, Summary, Verdict, check,
    is_protected, scrub, update,
};

use crate::options::{Force, Hashing};
use crate::{Env, Exit, documentation, values};
use export::ListFormat;
use report::{Kept, Lists, Report};

const EXIT_STATUS: &str = "\
Exit status:
  0  everything that was read is right; new, moved and copied files do not
     count, and for `update` neither do changed ones
  1  the run is complete, and files are rotten or missing; for `check` and
     `scrub` also: files were changed by a writer; for `protect`: files could
     not be protected. Rotten files that were repaired do not count
  2  the run is not complete: wrong usage, files that cannot be read or change
     while they are read, no catalogue or a damaged one, another run, or Ctrl-C";

/// Keep a catalogue of the files of a folder, and find bit rot, changes, moves and losses
///
/// The catalogue has the size, times, inode and SHA-256 of each regular file below DIR, and when it was read first and last.
/// Start with `update`, and run `update` and `scrub` regularly. Symbolic links are not followed. Files are only read, except by
/// `scrub --repair`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS, subcommand_required = true, arg_required_else_help = true)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Archive {
    /// File of the catalogue [default: `.hashlane-archive.sqlite` in DIR]
    #[arg(long, value_name = "FILE", global = true)]
    catalogue: Option<PathBuf>,

    #[arg(long, global = true, help = documentation::json_help(), help_heading = "Output")]
    json: bool,

    /// Print only rotten, missing and unreadable files, for check and scrub also changed ones, and no progress
    #[arg(short, long, global = true, help_heading = "Output")]
    quiet: bool,

    /// Print only the paths of the files of --quiet, one per line. A backslash before a path shows that it has escapes, as in
    /// lists of `sha256sum`
    #[arg(
        long,
        global = true,
        conflicts_with_all = ["json", "verbose"],
        help_heading = "Output"
    )]
    list_bad: bool,

    /// List every file that was read
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "quiet",
        help_heading = "Output"
    )]
    verbose: bool,

    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Read new and changed files, and take them into the catalogue
    ///
    /// Files whose size, times and inode are those of the catalogue are not read. The first update makes the catalogue.
    Update(UpdateArgs),
    /// Read again what was not read for longest
    ///
    /// Without a limit, all files of the catalogue are read. A file that is being read when a limit is reached is read to its
    /// end. A file whose time of modification changed is reported, and not read.
    Scrub(ScrubArgs),
    /// Read all files, and compare them with the catalogue
    ///
    /// New and changed files are reported, and not taken into the catalogue.
    Check(Folder),
    /// Make recovery files, with which `scrub --repair` restores rotten files
    ///
    /// They lie beside the catalogue, in sets of PAR2 that protect up to 1000 files or 1 GiB each, or one larger file. From then on,
    /// each `update` keeps them up to date. Existing recovery files are read, and made anew where they are damaged.
    Protect(ProtectArgs),
    /// Print the catalogue as a list for other programs
    Export(ExportArgs),
}

#[derive(Debug, Args)]
struct Folder {
    /// Folder of the archive
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    hashing: Hashing,
}

#[derive(Debug, Args)]
struct UpdateArgs {
    #[command(flatten)]
    folder: Folder,

    /// Remove files from the catalogue that are missing, instead of reporting them again each time
    #[arg(long)]
    forget: bool,
}

#[derive(Debug, Args)]
struct ScrubArgs {
    #[command(flatten)]
    folder: Folder,

    /// Maximum number of bytes to read, for example 100GiB; at least one file is read
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = "Limits")]
    budget: Option<u64>,

    /// Every file, or with a time only those that were not read within it, for example --oldest=30d
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "0",
        value_parser = values::duration_or_zero, help_heading = "Limits")]
    oldest: Option<Duration>,

    /// Time after which no more files are begun, for example 2h
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Limits")]
    max_time: Option<Duration>,

    #[command(flatten)]
    repair: RepairArgs,
}

#[derive(Debug, Args)]
struct ProtectArgs {
    #[command(flatten)]
    folder: Folder,

    /// Recovery data in percent of the files [default: that of the last run, or 5%]
    #[arg(long, value_name = "PERCENT", value_parser = values::redundancy)]
    redundancy: Option<f64>,
}

#[derive(Debug, Args)]
struct RepairArgs {
    /// Repair rotten files, from copies in the archive or from recovery files. Each is kept as NAME.damaged-1
    #[arg(long, help_heading = "Repair")]
    repair: bool,

    /// With --repair: another copy of DIR, which may be damaged, too
    #[arg(long, value_name = "DIR", requires = "repair", help_heading = "Repair")]
    from: Option<PathBuf>,

    /// With --repair: repair files in doubt, too, which a program may have written and then set the time back: their ctime or inode
    /// is not that of the catalogue
    #[arg(long, requires = "repair", help_heading = "Repair")]
    doubtful: bool,
}

#[derive(Debug, Args)]
struct ExportArgs {
    /// Folder of the archive, which is not read
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Form of the list; --json prints JSON lines instead
    #[arg(
        long,
        value_name = "FORM",
        required_unless_present = "json",
        conflicts_with = "json"
    )]
    format: Option<ListFormat>,

    /// File to write instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

impl Archive {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let given = self.catalogue.as_deref();
        let mut report = Report {
            is_json: self.json,
            must_be_unchanged: !matches!(self.action, Action::Update(_)),
            lists_bad: self.list_bad,
            kept: Kept::default(),
            lists: match &self.action {
                _ if self.quiet || self.list_bad => Lists::Bad,
                _ if self.verbose => Lists::All,
                Action::Check(_) => Lists::New,
                _ if self.json => Lists::New,
                _ => Lists::Changes,
            },
            folder: PathBuf::new(),
            line: None,
            failure: None,
        };
        match self.action {
            Action::Update(args) => args.run(env, given, &mut report),
            Action::Protect(args) => args.run(env, given, &mut report),
            Action::Scrub(args) => args.run(env, given, &mut report),
            Action::Check(args) => {
                let (folder, place) = places(env, &args.folder, given)?;
                let mut catalogue = Catalogue::open(&place)?;
                let job = args.job(env, &folder);
                let summary = report.follow(env, args.folder, |receive| {
                    check(&mut catalogue, &job, receive)
                })?;
                report.summary(env, "check", &summary)?;
                Ok(exit(&summary, true))
            }
            Action::Export(args) => {
                let folder = env.resolve(&args.folder);
                let place = given.map_or_else(
                    || Catalogue::default_place(&folder),
                    |given| env.resolve(given),
                );
                let catalogue = Catalogue::open_to_read(&place)?;
                let output = args.output.as_deref();
                export::run(env, &catalogue, args.format, output, args.force.overwrite())
            }
        }
    }
}

impl UpdateArgs {
    fn run(self, env: &mut Env, given: Option<&Path>, report: &mut Report) -> anyhow::Result<Exit> {
        let (folder, place) = places(env, &self.folder.folder, given)?;
        let mut catalogue = Catalogue::open_or_create(&place)?;
        let if_missing = if self.forget {
            IfMissing::Forget
        } else {
            IfMissing::Report
        };
        let job = self.folder.job(env, &folder);
        let summary = report.follow(env, self.folder.folder, |receive| {
            update(&mut catalogue, &job, if_missing, receive)
        })?;
        report.summary(env, "update", &summary)?;
        let mut status = exit(&summary, false);
        if !summary.is_interrupted && is_protected(&catalogue)? {
            let wanted = Protection::default();
            let of_protection = report.protect(env, &mut catalogue, &job, wanted)?;
            status = status.max(of_protection);
        }
        Ok(status)
    }
}

impl ProtectArgs {
    fn run(self, env: &mut Env, given: Option<&Path>, report: &mut Report) -> anyhow::Result<Exit> {
        let (folder, place) = places(env, &self.folder.folder, given)?;
        let mut catalogue = Catalogue::open(&place)?;
        let job = self.folder.job(env, &folder);
        let mut wanted = Protection::default();
        wanted.redundancy = self.redundancy;
        wanted.checks_recovery = true;
        report.folder = self.folder.folder;
        report.protect(env, &mut catalogue, &job, wanted)
    }
}

impl ScrubArgs {
    fn run(self, env: &mut Env, given: Option<&Path>, report: &mut Report) -> anyhow::Result<Exit> {
        let (folder, place) = places(env, &self.folder.folder, given)?;
        let mut catalogue = Catalogue::open(&place)?;
        let mut limits = Limits::default();
        limits.budget = self.budget;
        limits.max_time = self.max_time;
        limits.min_age = self.oldest.filter(|age| !age.is_zero());
        let job = self.folder.job(env, &folder);
        let (mut damaged, mut n_unreadable) = (Vec::new(), 0);
        let summary = report.follow(env, self.folder.folder, |receive| {
            scrub(&mut catalogue, &job, limits, &mut |event| {
                if let Event::File(finding) = &event
                    && finding.is_damaged()
                {
                    damaged.push(finding.path.to_vec());
                    n_unreadable += u64::from(finding.verdict == Verdict::Unreadable);
                }
                receive(event);
            })
        })?;
        report.summary(env, "scrub", &summary)?;
        if !self.repair.repair || summary.is_interrupted {
            return Ok(exit(&summary, true));
        }
        let from = self.repair.from.as_deref().map(|from| env.resolve(from));
        let mut healing = Healing::default();
        healing.from = from.as_deref();
        healing.is_doubtful_repaired = self.repair.doubtful;
        let healed = report.heal(env, &mut catalogue, &job, &damaged, healing)?;
        let mut status = exit_healed(&summary, damaged.len() as u64, n_unreadable, &healed);
        // A limited run reads no more than its limits.
        let is_limited =
            self.budget.is_some() || self.max_time.is_some() || limits.min_age.is_some();
        if !is_limited && !healed.is_interrupted && is_protected(&catalogue)? {
            let mut wanted = Protection::default();
            wanted.checks_recovery = true;
            status = status.max(report.protect(env, &mut catalogue, &job, wanted)?);
        }
        Ok(status)
    }
}

impl Folder {
    /// Returns the work on the folder. From now on, Ctrl-C ends it early.
    fn job<'j>(&self, env: &mut Env, folder: &'j Path) -> Job<'j> {
        env.catch_interrupts();
        Job {
            folder,
            options: self.hashing.options(),
            cancel: env.cancel.clone(),
        }
    }
}

/// Returns the places of the folder and of its catalogue.
fn places(env: &Env, folder: &Path, given: Option<&Path>) -> anyhow::Result<(PathBuf, PathBuf)> {
    let place = env.resolve(folder);
    let metadata = place
        .metadata()
        .with_context(|| folder.display().to_string())?;
    anyhow::ensure!(metadata.is_dir(), "{}: is not a folder", folder.display());
    let catalogue = given.map_or_else(
        || Catalogue::default_place(&place),
        |given| env.resolve(given),
    );
    Ok((place, catalogue))
}

/// Returns the exit status of a scrub with repair. It found `n_damaged` damaged files, of which `n_unreadable` could not be read.
fn exit_healed(summary: &Summary, n_damaged: u64, n_unreadable: u64, healed: &Healed) -> Exit {
    let has = |verdict| summary.count(verdict) > 0;
    if healed.is_interrupted
        || has(Verdict::Unstable)
        || summary.count(Verdict::Unreadable) > n_unreadable
    {
        Exit::NotChecked
    } else if healed.n_repaired < n_damaged || has(Verdict::Missing) || has(Verdict::Changed) {
        Exit::Bad
    } else {
        Exit::Good
    }
}

fn exit(summary: &Summary, must_be_unchanged: bool) -> Exit {
    let has = |verdict| summary.count(verdict) > 0;
    if summary.is_interrupted || has(Verdict::Unreadable) || has(Verdict::Unstable) {
        Exit::NotChecked
    } else if has(Verdict::Rot)
        || has(Verdict::Missing)
        || must_be_unchanged && has(Verdict::Changed)
    {
        Exit::Bad
    } else {
        Exit::Good
    }
}
