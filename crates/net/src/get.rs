//! `hashlane get`.

mod source;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use hashlane_client::{
    Download, Existing, Mode, Naming, Replacement, SeedLimits, Task, TorrentCommand,
};

use hashlane_cli::options::globs;
use hashlane_cli::output::text::{Escaped, Grouped, count};
use hashlane_cli::{Env, Exit, Get, content_map, links, torrent_file};
use hashlane_files::Globs;

use crate::Run;
use crate::again;
use crate::config::{ClientConfig as _, records};
use crate::log::LogFile as _;
use crate::output::reporter::Reporter;
use crate::runner::Runner;

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
        let download = Arc::new(self.download(env)?);
        let mode = Mode::Download(Arc::clone(&download));
        let page = self.client.page(env, &mode)?;
        let mut config = self.client.config(env, mode)?;
        config.session.close_redundant = download.seeding.is_some();
        let continued = again::continued()?;
        let max_len = config.max_metainfo_len;
        // Torrents that are added later have no line in the map.
        let mut mapped = Download::clone(&download);
        let map = self.content_map.as_deref();
        mapped.naming.map = map.map(|path| content_map::read(env, path)).transpose()?;
        let mapped = Arc::new(mapped);
        let mut tasks = Vec::new();
        for (number, given) in self.torrents.iter().enumerate() {
            let source = continued.source(number, max_len);
            tasks.push(Task {
                label: links::without_secrets(given),
                source: source.unwrap_or_else(|| source::source(env, given)),
                mode: Mode::Download(Arc::clone(&mapped)),
            });
        }
        let mode = Mode::Download(download);
        tasks.extend(continued.added(tasks.len(), max_len, &mode));
        Runner::new(reporter)
            .executing(self.exec)
            .asking(confirm)
            .continuing(continued)
            .serving(page)
            .run(env, &config, tasks)
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
