//! The program `par2`: called by a link of this name, or of `par2create`, `par2verify` or `par2repair`. Options, the lines of
//! results and the exit status are those of par2cmdline.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use hashlane_files::{Step, Walk};
use hashlane_par2::{
    Error, Kept, NewSet, RecoverySet, Redundancy, Repaired, Slices, State, Verification, Volumes,
    create, repair, verify, volumes_of,
};

use super::arguments::{Action, Arguments, Noise, Operand, Request};
use super::{Job, canonical, folder_of, new_set, relative_to};
use crate::commands::call::Call;
use crate::output::progress::ProgressLine;
use crate::output::text::Escaped;
use crate::{Env, Exit, input};

/// The names of the program.
const NAMES: [&str; 4] = ["par2", "par2create", "par2verify", "par2repair"];

/// The exit statuses of par2cmdline. It has one for errors in its own logic, too, which would be a panic here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Success = 0,
    RepairPossible = 1,
    RepairNotPossible = 2,
    InvalidArguments = 3,
    InsufficientCriticalData = 4,
    RepairFailed = 5,
    FileError = 6,
    MemoryError = 8,
}

const HELP: &str = "\
Usage: par2 c(reate) [OPTION]... SET [FILE]...   create recovery files
       par2 v(erify) [OPTION]... SET [FILE]...   compare files with them
       par2 r(epair) [OPTION]... SET [FILE]...   restore files
       par2create, par2verify, par2repair        the same without the first word
       par2 -h, par2 -V                          print this help, or the version

The first operand ends the options.

  -a<file> : Name of the recovery file, in place of SET
  -B<path> : Folder of the protected files [default: that of SET]
  -v       : Print no more than usual, and refuse -q
  -q [-q]  : Print less (-q -q prints only errors)
  -m<n>    : Memory for slices in MiB [default: 1024]
  -t<n>    : Number of threads [default: one per core]
  -T<n>    : Ignored: files are hashed side by side
  --       : End of the options
  @<file>  : Names of more FILEs, one per line; @ alone for standard input

To verify or repair:
  -p       : Remove the recovery files and the damaged files after success
  -O, -N   : Ignored: all files are searched at all offsets
  -S<n>    : Ignored, after -N

To create:
  -b<n>    : Number of slices, at most [default: 2000]
  -s<n>    : Length of a slice in bytes, a multiple of 4
  -r<n>    : Recovery data in percent [default: 5]
  -r<c><n> : Size of all recovery data, <c> is k, m or g for KiB, MiB or GiB
  -c<n>    : Number of recovery slices
  -f<n>    : Number of the first recovery slice [default: 0]
  -u       : Recovery files of the same size
  -l       : No recovery file longer than the longest FILE
  -n<n>    : Number of recovery files, at most 31
  -R       : Protect the files of folders
  -L       : Protect the files that symbolic links lead to

Exit status:
  0  success
  1  files are damaged or missing, and can be repaired
  2  files cannot be repaired: there are too few recovery slices
  3  wrong arguments
  4  the recovery files do not describe the set
  5  a repaired file is wrong
  6  a file cannot be read or written
  8  too little memory

Options and exit status are those of par2cmdline. PAR 1.0 is not supported.
This program is part of Hashlane: `hashlane par2 --help` has more options.
";

/// A call of the program.
#[derive(Debug)]
pub(crate) struct Program {
    name: &'static str,
    args: Vec<OsString>,
}

/// The end of a run before its result.
enum End {
    /// A message, and the status.
    Message(String, Status),
    Interrupted,
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Cancelled => return Self::Interrupted,
            Error::Options(_) => Status::InvalidArguments,
            Error::NoPackets(_) | Error::Incomplete(_) | Error::Impossible(_) => {
                Status::InsufficientCriticalData
            }
            Error::NotEnough { .. } | Error::NoSolution => Status::RepairNotPossible,
            Error::Wrong(_) => Status::RepairFailed,
            Error::Memory { .. } => Status::MemoryError,
            // Files that cannot be read or written, that change meanwhile, and full disks.
            _ => Status::FileError,
        };
        Self::Message(error.to_string(), status)
    }
}

impl From<anyhow::Error> for End {
    fn from(error: anyhow::Error) -> Self {
        Self::Message(format!("{error:#}"), Status::FileError)
    }
}

fn invalid(message: impl Into<String>) -> End {
    End::Message(message.into(), Status::InvalidArguments)
}

impl Program {
    /// Returns the program that a link calls. `hashlane par2` is a command with options of its own.
    pub(crate) fn called_by(args: &[OsString]) -> Option<Self> {
        let of_name = |name: &OsStr| NAMES.into_iter().find(|known| name == *known);
        let Call { program, args, .. } = Call::by_link(args, of_name)?;
        Some(Self {
            name: program,
            args: args.to_vec(),
        })
    }

    /// Runs the program.
    pub(crate) fn run(&self, env: &mut Env) -> Exit {
        let ended = match Request::read(self.name, &self.args) {
            Ok(Request::Help) => Ok(print(env, HELP)),
            Ok(Request::Version) => {
                let version = env!("CARGO_PKG_VERSION");
                Ok(print(env, &format!("{} (Hashlane) {version}\n", self.name)))
            }
            Ok(Request::Run(arguments)) => act(env, &arguments),
            Err(message) => Err(invalid(message)),
        };
        let status = match ended {
            Ok(status) => status,
            Err(End::Message(message, status)) => {
                let _ = env.stdout.flush();
                let _ = writeln!(env.stderr, "{}", Escaped(message));
                status
            }
            Err(End::Interrupted) => return Exit::Interrupted,
        };
        match env.stdout.flush() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let _ = writeln!(env.stderr, "standard output: {error}");
                Exit::Other(Status::FileError as u8)
            }
            _ => Exit::Other(status as u8),
        }
    }
}

/// Prints a text. A failure is found when the output is flushed.
fn print(env: &mut Env, text: &str) -> Status {
    let _ = env.stdout.write_all(text.as_bytes());
    Status::Success
}

fn act(env: &mut Env, arguments: &Arguments) -> Result<Status, End> {
    let files = expand(env, &arguments.files)?;
    match arguments.action {
        Action::Create => make(env, arguments, &files),
        Action::Verify | Action::Repair => check(env, arguments, &files),
    }
}

/// Returns the operands, with the names of lists.
fn expand(env: &mut Env, operands: &[Operand]) -> Result<Vec<PathBuf>, End> {
    let mut files = Vec::new();
    for operand in operands {
        let (path, list): (&Path, Box<dyn Read + '_>) = match operand {
            Operand::File(path) => {
                files.push(path.clone());
                continue;
            }
            Operand::List(None) => (Path::new("-"), Box::new(&mut env.stdin)),
            Operand::List(Some(path)) => {
                let list = input::open(&env.resolve(path));
                let failed = |error| invalid(format!("{}: {error}", path.display()));
                (path, Box::new(list.map_err(failed)?))
            }
        };
        for line in BufReader::new(list).split(b'\n') {
            let failed = |error| invalid(format!("{}: {error}", path.display()));
            let line = line.map_err(failed)?;
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if !line.trim_ascii().is_empty() {
                files.push(hashlane_sums::path_of(line));
            }
        }
    }
    Ok(files)
}

/// Prints lines of results.
struct Lines<'e> {
    env: &'e mut Env,
    noise: Noise,
}

impl Lines<'_> {
    /// Prints a line if as much output is wanted.
    fn print(&mut self, noise: Noise, line: impl std::fmt::Display) {
        if self.noise >= noise {
            // A failure is found when the output is flushed.
            let _ = writeln!(self.env.stdout, "{}", Escaped(line));
        }
    }

    fn job(&self, arguments: &Arguments) -> Job {
        let has_line = self.env.progress && self.noise >= Noise::Normal;
        let name = || arguments.set.display().to_string();
        Job {
            line: has_line.then(|| ProgressLine::new(name())),
            n_threads: arguments.n_threads,
            memory: arguments.memory.unwrap_or(1 << 30),
        }
    }
}

/// Returns `true` if a name ends as that of a recovery file.
fn is_recovery_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("par2"))
}

fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(extension);
    name.into()
}

/// Returns the folder of the protected files.
fn folder(env: &Env, arguments: &Arguments, place: &Path) -> Result<PathBuf, End> {
    Ok(match &arguments.base {
        Some(base) => canonical(&env.resolve(base))?,
        None => folder_of(place)?,
    })
}

/// Creates a set.
fn make(env: &mut Env, arguments: &Arguments, files: &[PathBuf]) -> Result<Status, End> {
    let given = env.resolve(&arguments.set);
    let is_named = is_recovery_file(&given);
    let place = if is_named {
        given.clone()
    } else {
        with_extension(&given, ".par2")
    };
    let base = folder(env, arguments, &place)?;
    let mut lines = Lines {
        noise: arguments.noise,
        env,
    };
    let mut found = Vec::new();
    for file in files {
        collect(&mut lines, arguments, file, &mut found);
    }
    // The file that the set is named after may be a link.
    if files.is_empty() && !is_named && given.is_file() {
        found.push(given);
    }
    let mut relative = BTreeSet::new();
    for file in found {
        let shown = file.display();
        match relative_to(&base, &file)? {
            None => lines.print(
                Noise::Quiet,
                format!("Ignoring out of basepath source file: {shown}"),
            ),
            Some(_) if file.metadata().is_ok_and(|file| file.len() == 0) => {
                lines.print(Noise::Quiet, format!("Skipping 0 byte file: {shown}"));
            }
            Some(name) => {
                if !relative.insert(name) {
                    lines.print(
                        Noise::Quiet,
                        format!("Skipping duplicate filename: {shown}"),
                    );
                }
            }
        }
    }
    if relative.is_empty() {
        return Err(invalid("You must specify a list of files when creating."));
    }
    if place.symlink_metadata().is_ok() {
        let shown = place.display();
        return Err(invalid(format!("Par2 file already exists: {shown}")));
    }
    let relative: Vec<PathBuf> = relative.into_iter().collect();
    let mut new = new_set();
    // Each file needs a slice.
    let usual = Slices::Count(relative.len().max(2000));
    new.slices = arguments.slices.unwrap_or(usual);
    new.redundancy = arguments.redundancy.unwrap_or(Redundancy::Percent(5.0));
    new.volumes = arguments.volumes.unwrap_or(Volumes::Doubling);
    new.n_volumes = arguments.n_volumes;
    new.first_exponent = arguments.first_slice;
    save(&mut lines, arguments, (&base, &place), &relative, &new)
}

fn save(
    lines: &mut Lines<'_>,
    arguments: &Arguments,
    (base, place): (&Path, &Path),
    files: &[PathBuf],
    new: &NewSet,
) -> Result<Status, End> {
    let job = lines.job(arguments);
    let created = job.run(lines.env, |run| create(base, place, files, new, run))?;
    for (name, number) in [
        ("Block size", created.slice_len),
        ("Source file count", created.n_files as u64),
        ("Source block count", created.n_slices as u64),
        ("Recovery block count", created.n_recovery as u64),
        ("Recovery file count", created.written.len() as u64 - 1),
    ] {
        lines.print(Noise::Normal, format!("{name}: {number}"));
    }
    lines.print(Noise::Quiet, "Done");
    Ok(Status::Success)
}

/// Adds a file, or the files of a folder.
fn collect(lines: &mut Lines<'_>, arguments: &Arguments, given: &Path, found: &mut Vec<PathBuf>) {
    let path = lines.env.resolve(given);
    let shown = given.display();
    let Ok(metadata) = path.symlink_metadata() else {
        return lines.print(
            Noise::Quiet,
            format!("Ignoring non-existent source file: {shown}"),
        );
    };
    let is_followed = arguments.follows_links && path.is_file();
    if metadata.is_file() || is_followed {
        found.push(path);
    } else if metadata.is_dir() && arguments.is_recursive {
        let mut walk = Walk::new(&path);
        while let Some(step) = walk.step() {
            let place = walk.place();
            match step {
                Step::File(_) => found.push(place),
                Step::Link if arguments.follows_links && place.is_file() => found.push(place),
                Step::Failed(error) => {
                    let shown = place.display();
                    lines.print(Noise::Quiet, format!("Ignoring {shown}: {error}"));
                }
                _ => {}
            }
        }
    } else {
        lines.print(Noise::Quiet, format!("Ignoring {shown}: not a file"));
    }
}

/// Returns the recovery file that a name stands for: the file itself, or the one that is named after it.
fn recovery_file(env: &Env, given: &Path) -> Option<PathBuf> {
    let path = env.resolve(given);
    if is_recovery_file(&path) {
        return path.is_file().then_some(path);
    }
    let names = [".par2", ".PAR2"].map(|extension| with_extension(&path, extension));
    names.into_iter().find(|path| path.is_file())
}

/// Verifies or repairs files.
fn check(env: &mut Env, arguments: &Arguments, files: &[PathBuf]) -> Result<Status, End> {
    let Some(place) = recovery_file(env, &arguments.set) else {
        let set = arguments.set.display();
        return Err(invalid(format!("{set}: there is no recovery file of PAR2")));
    };
    let folder = folder(env, arguments, &place)?;
    let files = files.iter().map(|file| env.resolve(file));
    let (recovery_files, others): (Vec<PathBuf>, Vec<PathBuf>) = files
        .filter(|file| file.is_file())
        .partition(|file| is_recovery_file(file));
    let mut lines = Lines {
        noise: arguments.noise,
        env,
    };
    let job = lines.job(arguments);
    let (set, found) = job.run(lines.env, |run| -> Result<_, Error> {
        let mut volumes = volumes_of(&place)?;
        for file in recovery_files {
            if !volumes.contains(&file) {
                volumes.push(file);
            }
        }
        let set = RecoverySet::read(volumes, run)?;
        let found = verify(&set, &folder, &others, run)?;
        Ok((set, found))
    })?;
    report(&mut lines, &set, &found);
    if found.is_intact() {
        remove_all(&mut lines, arguments, &set)?;
        return Ok(Status::Success);
    }
    if !found.is_repairable(&set) {
        return Ok(Status::RepairNotPossible);
    }
    if arguments.action == Action::Verify {
        return Ok(Status::RepairPossible);
    }
    let kept = if arguments.removes_recovery_files {
        Kept::No
    } else {
        Kept::Numbered
    };
    let job = lines.job(arguments);
    let repaired = job.run(lines.env, |run| repair(&set, &found, &folder, kept, run))?;
    report_repair(&mut lines, &set, &repaired);
    remove_all(&mut lines, arguments, &set)?;
    Ok(Status::Success)
}

/// Prints what was found.
fn report(lines: &mut Lines<'_>, set: &RecoverySet, found: &Verification) {
    let n_bytes: u64 = set.files.iter().map(|file| file.len).sum();
    for line in [
        String::new(),
        format!(
            "There are {} recoverable files and {} other files.",
            set.files.len(),
            set.n_other_files
        ),
        format!("The block size used was {} bytes.", set.slice_len),
        format!("There are a total of {} data blocks.", set.n_slices),
        format!("The total size of the data files is {n_bytes} bytes."),
        String::new(),
        "Verifying source files:".into(),
        String::new(),
    ] {
        lines.print(Noise::Normal, line);
    }
    report_files(lines, set, found);
    lines.print(Noise::Quiet, "");
    if found.is_intact() {
        return lines.print(
            Noise::Quiet,
            "All files are correct, repair is not required.",
        );
    }
    report_slices(lines, set, found);
}

fn report_files(lines: &mut Lines<'_>, set: &RecoverySet, found: &Verification) {
    for report in &found.files {
        let file = &set.files[report.file];
        let name = format!("\"{}\"", file.path.display());
        let line = match &report.state {
            State::Intact => format!("Target: {name} - found."),
            State::Renamed(from) => {
                lines.print(Noise::Quiet, format!("Target: {name} - missing."));
                format!("File: \"{}\" - is a match for {name}.", from.display())
            }
            State::Missing => format!("Target: {name} - missing."),
            State::Damaged | State::Unreadable(_) => {
                let (n_found, n_slices) = (report.n_found, file.n_slices);
                format!("Target: {name} - damaged. Found {n_found} of {n_slices} data blocks.")
            }
        };
        lines.print(Noise::Quiet, line);
    }
}

/// Prints what is missing, and whether it can be restored.
fn report_slices(lines: &mut Lines<'_>, set: &RecoverySet, found: &Verification) {
    let count = |is_it: fn(&State) -> bool| {
        let states = found.files.iter().map(|file| &file.state);
        states.filter(|state| is_it(state)).count()
    };
    lines.print(Noise::Quiet, "Repair is required.");
    for (n, what) in [
        (
            count(|state| matches!(state, State::Renamed(_))),
            "have the wrong name",
        ),
        (count(|state| *state == State::Missing), "are missing"),
        (
            count(|state| matches!(state, State::Damaged | State::Unreadable(_))),
            "exist but are damaged",
        ),
        (count(|state| *state == State::Intact), "are ok"),
    ] {
        if n > 0 {
            lines.print(Noise::Normal, format!("{n} file(s) {what}."));
        }
    }
    let (n_missing, n_recovery) = (found.n_missing, set.recovery.len());
    let (n_found, n_slices) = (set.n_slices - n_missing, set.n_slices);
    let available = format!("You have {n_found} out of {n_slices} data blocks available.");
    lines.print(Noise::Normal, available);
    if n_recovery > 0 {
        let available = format!("You have {n_recovery} recovery blocks available.");
        lines.print(Noise::Normal, available);
    }
    if let Some(n_left) = n_recovery.checked_sub(n_missing) {
        lines.print(Noise::Quiet, "Repair is possible.");
        if n_left > 0 {
            let excess = format!("You have an excess of {n_left} recovery blocks.");
            lines.print(Noise::Normal, excess);
        }
        let used = match n_missing {
            0 => "None of the recovery blocks will be used for the repair.".into(),
            n => format!("{n} recovery blocks will be used to repair."),
        };
        if n_recovery > 0 {
            lines.print(Noise::Normal, used);
        }
    } else {
        let n_needed = n_missing - n_recovery;
        lines.print(Noise::Quiet, "Repair is not possible.");
        let needed = format!("You need {n_needed} more recovery blocks to be able to repair.");
        lines.print(Noise::Quiet, needed);
    }
}

fn report_repair(lines: &mut Lines<'_>, set: &RecoverySet, repaired: &Repaired) {
    for line in ["", "Verifying repaired files:", ""] {
        lines.print(Noise::Quiet, line);
    }
    for file in &repaired.files {
        let name = set.files[file.file].path.display();
        lines.print(Noise::Quiet, format!("Target: \"{name}\" - found."));
    }
    lines.print(Noise::Quiet, "");
    lines.print(Noise::Quiet, "Repair complete.");
}

/// Removes the recovery files, if the user wants it.
fn remove_all(lines: &mut Lines<'_>, arguments: &Arguments, set: &RecoverySet) -> Result<(), End> {
    if !arguments.removes_recovery_files {
        return Ok(());
    }
    lines.print(Noise::Quiet, "");
    lines.print(Noise::Quiet, "Purge par files.");
    for volume in &set.volumes {
        let name = volume.file_name().unwrap_or_default();
        lines.print(Noise::Quiet, format!("Remove \"{}\".", name.display()));
        let failed = |error| anyhow::Error::from(error).context(volume.display().to_string());
        std::fs::remove_file(volume).map_err(failed)?;
    }
    Ok(())
}
