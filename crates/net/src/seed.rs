//! `hashlane seed`.

use std::path::Path;

use anyhow::bail;
use hashlane_cli::{Env, Exit, Seed, content_map, links, torrent_file};
use hashlane_client::{Mode, Naming, Place, Seed as SeedGoal, SeedLimits, Source, Task};

use crate::Run;
use crate::config::{ClientConfig as _, records};
use crate::log::LogFile as _;
use crate::output::reporter::Reporter;
use crate::runner::Runner;

impl Run for Seed {
    fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        if self.content.is_some() && self.torrents.len() > 1 {
            let n_torrents = self.torrents.len();
            bail!("--content needs a single torrent, but {n_torrents} were given");
        }
        torrent_file::check_inputs(&self.torrents)?;
        self.client.use_state_dir(env)?;
        let _log = self.client.log.start(env)?;
        let output = &self.client.output;
        let reporter = Reporter::new(output.is_json(), output.quiet)
            .dated(env)
            .verbose(self.client.verbose);
        let reporter = reporter.expecting_here(self.dir.is_none() && self.content.is_none());
        let records = self.trust.map(|trust| records(trust, env)).transpose()?;
        let map = self.content_map.as_deref();
        let map = map.map(|path| content_map::read(env, path)).transpose()?;
        let mode = |place: Place, map| {
            Mode::Seed(SeedGoal {
                place,
                super_seeding: self.super_seeding,
                limits: SeedLimits {
                    ratio: self.seed_ratio,
                    time: self.seed_time,
                },
                records: records.clone(),
                naming: Naming {
                    map,
                    ..Naming::default()
                },
            })
        };
        let folder = env.resolve(self.dir.as_deref().unwrap_or(Path::new(".")));
        let mode_of_others = mode(Place::Folder(folder.clone()), None);
        let page = self.client.page(env, &mode_of_others)?;
        let config = self.client.config(env, mode_of_others)?;
        let mut tasks = Vec::new();
        for path in &self.torrents {
            tasks.push(Task {
                label: links::without_secrets(path.display()),
                source: source(env, path),
                mode: mode(
                    match &self.content {
                        Some(content) => Place::Content(env.resolve(content)),
                        None => Place::Folder(folder.clone()),
                    },
                    map.clone(),
                ),
            });
        }
        Runner::new(reporter).serving(page).run(env, &config, tasks)
    }
}

/// Returns the source of a .torrent file. A file is read later, by a thread of the client.
fn source(env: &mut Env, path: &Path) -> Source {
    if torrent_file::is_stream(path) {
        let bytes = torrent_file::read_given(env, path);
        return Source::Metainfo(Box::new(move || Ok(bytes?)));
    }
    let path = env.resolve(path);
    Source::Metainfo(Box::new(move || Ok(torrent_file::read(&path)?)))
}
