//! `hashlane import`: the torrents of other programs.

mod human;
mod json;
mod outcome;
mod report;
#[cfg(unix)]
mod state;

#[cfg(feature = "schema")]
pub(crate) use json::schema;

use std::path::PathBuf;

#[cfg(not(unix))]
use anyhow::bail;
use clap::builder::PossibleValuesParser;
use clap::{Args, builder::TypedValueParser as _};
use hashlane_import::{Options, PathMap, Program, read};

#[cfg(not(unix))]
use outcome::Outcome;
use outcome::Totals;
use report::Report;

use crate::commands::configured::Configurable;
use crate::options::Json;
use crate::output::progress::ProgressLine;
use crate::{Env, Exit};

const EXIT_STATUS: &str = "\
Exit status:
  0  every torrent is imported or was present already
  2  an error: wrong usage, no session, a state folder in use, or a torrent that
     cannot be read or written; the other torrents are imported";

/// Import the torrents of another program
///
/// Each torrent is added to the state folder of `hashlane daemon` with the place of its content, category, labels, priorities, pause, limits, goals
/// and statistics. The session is only read. Stop its program first, because programs write their state when they end.
/// Content is neither moved nor read: it is verified when the torrents are used.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Import {
    /// Program whose session is read
    #[arg(value_name = "PROGRAM", value_parser = program())]
    program: Program,

    /// Folder of the session: qBittorrent's `BT_backup`, the folder of torrents.db, or its profile; Transmission's
    /// configuration; rTorrent's session.path; Deluge's configuration
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Folder that is called NEW on this machine and OLD in the session, for example /downloads=/srv/torrents; the
    /// longest OLD counts; repeatable
    #[arg(long = "map", value_name = "OLD=NEW")]
    maps: Vec<PathMap>,

    /// Folder of the program's settings, if they are not where the program keeps them
    #[arg(long, value_name = "DIR")]
    settings: Option<PathBuf>,

    /// State folder that the torrents are added to, which no daemon may use [default: that of `hashlane daemon`]. With
    /// --dry-run, it is only read
    #[arg(long = "state-dir", value_name = "DIR")]
    state: Option<PathBuf>,

    /// Print what would be imported, and write nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    form: Json,
}

fn program() -> impl clap::builder::TypedValueParser<Value = Program> {
    let names = Program::ALL.map(Program::name);
    PossibleValuesParser::new(names).map(|name| {
        let program = Program::ALL
            .into_iter()
            .find(|program| program.name() == name);
        program.expect("clap accepts only these names")
    })
}

impl Import {
    /// `all` are the commands that can be configured: the daemon's state folder may be.
    pub(crate) fn run(self, env: &mut Env, all: &[Configurable]) -> anyhow::Result<Exit> {
        let mut options = Options::default();
        options.map = self.maps.into_iter().collect();
        options.settings = self.settings.map(|folder| env.resolve(&folder));
        let torrents = read(self.program, &env.resolve(&self.folder), options)?;
        let of_session: Vec<String> = torrents.notes().iter().map(ToString::to_string).collect();
        if let Some(lock) = torrents.lock() {
            let (lock, program) = (lock.display(), self.program.name());
            env.error(&format!(
                "warning: {lock}: exists, so {program} may be running: end it first, because it writes its state when it ends"
            ));
        }
        let mut report = Report {
            is_json: self.form.json,
            is_dry_run: self.dry_run,
            totals: Totals::default(),
            line: env.progress.then(|| ProgressLine::of_items("torrents")),
            n_torrents: torrents.len(),
        };
        if self.dry_run {
            let mut torrents = torrents;
            report.categories(env, torrents.categories())?;
            let present = present(env, self.state, all)?;
            while let Some(torrent) = torrents.next() {
                report.show_remaining(torrents.len());
                match torrent {
                    Ok(torrent) => {
                        let notes = notes(&torrent);
                        let outcome = present.of(&torrent);
                        report.torrent(env, &torrent, &notes, outcome)?;
                    }
                    Err(failure) => report.of_failure(env, &failure)?,
                }
            }
        } else {
            add(env, self.state, all, torrents, &mut report)?;
        }
        report.clear_progress();
        report.summary(env, &of_session)?;
        Ok(if report.totals.failed == 0 {
            Exit::Good
        } else {
            Exit::NotChecked
        })
    }
}

#[cfg(unix)]
use state::{add, notes, present};

/// No state folder, which has no torrents.
#[cfg(not(unix))]
struct Present;

#[cfg(not(unix))]
impl Present {
    fn of(&self, _: &hashlane_import::Imported) -> Outcome {
        Outcome::New
    }
}

#[cfg(not(unix))]
fn present(_: &Env, _: Option<PathBuf>, _: &[Configurable]) -> anyhow::Result<Present> {
    Ok(Present)
}

/// Returns the notes of the session.
#[cfg(not(unix))]
fn notes(torrent: &hashlane_import::Imported) -> Vec<String> {
    torrent.notes.iter().map(ToString::to_string).collect()
}

#[cfg(not(unix))]
fn add(
    _: &mut Env,
    _: Option<PathBuf>,
    _: &[Configurable],
    _: hashlane_import::Torrents,
    _: &mut Report,
) -> anyhow::Result<()> {
    bail!("this system has no state folders: use --dry-run")
}
