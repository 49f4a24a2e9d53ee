//! `hashlane seed`.

use std::path::Path;

use anyhow::bail;
use hashlane_cli::{Env, Exit, Seed, content_map, links, torrent_file};
use hashlane_client::{Mode, Naming, Place, Seed as SeedGoal, SeedLimits, Source};
use hashlane_session::Given;

use crate::config::{ClientConfig as _, records};
use crate::get::of_bytes;
use crate::log::LogFile as _;
use crate::output::reporter::Reporter;
use crate::runner::Runner;
use crate::{Run, again};

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
        let folder = env.resolve(self.dir.as_deref().unwrap_or(Path::new(".")));
        let mode = Mode::Seed(SeedGoal {
            place: Place::Folder(folder.clone()),
            super_seeding: self.super_seeding,
            limits: SeedLimits {
                ratio: self.seed_ratio,
                time: self.seed_time,
            },
            records: records.clone(),
            naming: Naming::default(),
        });
        let page = self.client.page(env, &mode)?;
        let config = self.client.config(env)?;
        let session = hashlane_session::Config {
            records,
            ..self.client.session(env, mode, folder)
        };
        let continued = again::continued()?;
        let given = self.torrents.iter().enumerate();
        let given = given.filter(|(position, _)| !continued.memory.has(*position));
        let given = given.map(|(position, path)| Given {
            position: Some(position),
            label: links::without_secrets(path.display()),
            source: source(env, path),
            content: self.content.as_deref().map(|content| env.resolve(content)),
            map: map.clone(),
        });
        let given = given.collect();
        Runner::new(reporter)
            .continuing(continued)
            .serving(page)
            .run(env, config, session, given)
    }
}

/// Returns the source of a .torrent file. A file is read later, by a thread of the client.
fn source(env: &mut Env, path: &Path) -> Source {
    if torrent_file::is_stream(path) {
        return of_bytes(torrent_file::read_given(env, path));
    }
    let path = env.resolve(path);
    Source::Metainfo(Box::new(move || Ok(torrent_file::read(&path)?)))
}
