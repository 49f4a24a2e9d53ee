//! `hashlane get`.

mod source;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use hashlane_client::{Download, Existing, Mode, Naming, Replacement, SeedLimits, TorrentCommand};

use hashlane_cli::options::globs;
use hashlane_cli::output::text::{Escaped, Grouped, count};
use hashlane_cli::{Env, Exit, Get, content_map, links, torrent_file};
use hashlane_files::Globs;
use hashlane_session::Given;

use crate::Run;
use crate::again;
use crate::config::{ClientConfig as _, records};
use crate::log::LogFile as _;
use crate::output::reporter::Reporter;
use crate::runner::Runner;

pub(crate) use source::of_bytes;

impl Run for Get {
    fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        torrent_file::check_inputs(&self.torrents)?;
        self.client.use_state_dir(env)?;
        let _log = self.client.log.start(env)?;
        let output = &self.client.output;
        let reporter = Reporter::new(output.is_json(), output.quiet)
            .dated(env)
            .verbose(self.client.verbose)
            .with_force();
        let reporter = reporter.expecting_here(self.output == Path::new("."));
        let download = self.download(env)?;
        let mut config = self.client.config(env)?;
        config.session.close_redundant = download.seeding.is_some();
        let (folder, mode) = (download.folder.clone(), Mode::Download(Arc::new(download)));
        let page = self.client.page(env, &mode)?;
        let session = self.client.session(env, mode, folder);
        let continued = again::continued()?;
        // Torrents that are added later have no line in the map.
        let map = self.content_map.as_deref();
        let map = map.map(|path| content_map::read(env, path)).transpose()?;
        let mut given = Vec::new();
        for (position, torrent) in self.torrents.iter().enumerate() {
            if !continued.memory.has(position) {
                given.push(Given {
                    position: Some(position),
                    label: links::without_secrets(torrent),
                    source: source::source(env, torrent),
                    content: None,
                    map: map.clone(),
                });
            }
        }
        Runner::new(reporter)
            .executing(self.exec)
            .asking(confirm)
            .continuing(continued)
            .serving(page)
            .run(env, config, session, given)
    }
}

/// Options that have the mode of a download.
trait DownloadGoal {
    fn download(&self, env: &Env) -> anyhow::Result<Download>;
}

impl DownloadGoal for Get {
    fn download(&self, env: &Env) -> anyhow::Result<Download> {
        let limits = SeedLimits {
            ratio: self.seed_ratio,
            time: self.seed_time,
        };
        let is_seeded = self.seed || limits.ratio.is_some() || limits.time.is_some();
        Ok(Download {
            folder: env.resolve(&self.output),
            selection: globs(Globs::ignoring_case(), "--include", &self.includes)?,
            priorities: Vec::new(),
            sequential: self.sequential,
            super_seeding: false,
            existing: if self.confirm == Some(true) {
                Existing::Confirm
            } else if self.force {
                Existing::Overwrite
            } else {
                Existing::Resume
            },
            was_present: false,
            seeding: is_seeded.then_some(limits),
            move_to: self.move_to.as_deref().map(|folder| env.resolve(folder)),
            timeout: self.timeout,
            records: self.trust.map(|trust| records(trust, env)).transpose()?,
            metadata_file: None,
            naming: Naming::default(),
            reuse: self
                .reuse
                .iter()
                .map(|folder| env.resolve(folder))
                .collect(),
            copy_linked: self.copy_linked == Some(true),
        })
    }
}

/// Maximum number of files that a question lists.
const MAX_NAMED: usize = 10;

/// Asks whether wrong pieces may be replaced.
fn confirm(env: &mut Env, replacement: &Replacement) -> anyhow::Result<TorrentCommand> {
    let question = format!(
        "{}: {} of {} {} wrong and would be replaced",
        replacement.name,
        count(replacement.wrong_pieces.into(), "piece"),
        Grouped(replacement.pieces.into()),
        if replacement.wrong_pieces == 1 {
            "is"
        } else {
            "are"
        }
    );
    if !env.can_ask {
        let reason = format!("{question}; no terminal to ask, nothing was changed");
        return Ok(TorrentCommand::Keep(reason));
    }
    // `agrees` does not escape line ends.
    let mut question = Escaped(&question).to_string();
    for (name, n_pieces) in replacement.files.iter().take(MAX_NAMED) {
        let pieces = count((*n_pieces).into(), "piece");
        let _ = write!(question, "\n  {pieces} of {}", Escaped(name));
    }
    let others = replacement.files.len().saturating_sub(MAX_NAMED);
    if others > 0 {
        let others = count(others as u64, "other file");
        let _ = write!(question, "\n  and in {others}");
    }
    Ok(if env.agrees(&question)? {
        TorrentCommand::Replace
    } else {
        TorrentCommand::Keep("not replaced".to_owned())
    })
}
