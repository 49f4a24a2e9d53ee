//! `hashlane seed`: serves the content of torrents.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use hashlane_client::{Command, Goal, Seed as SeedGoal, SeedLimits, Source, Task};

use super::reporter::Reporter;
use crate::swarm_args::Seed;
use crate::{Env, Exit, torrent_file};

impl Seed {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let reporter = Reporter::new(env, &self.common)?;
        let config = self.common.config(env)?;
        let time = self.seed_time.map(Duration::try_from_secs_f64);
        let limits = SeedLimits {
            ratio: self.seed_ratio,
            time: time.transpose().context("--seed-time")?,
        };
        let tasks = self.torrents.iter().map(|path| {
            let parent = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = self.dir.as_deref().or(parent).unwrap_or(Path::new("."));
            let torrent = env.resolve(path);
            Task {
                label: path.display().to_string(),
                source: Source::Metainfo(Box::new(move || Ok(torrent_file::read(&torrent)?))),
                goal: Goal::Seed(SeedGoal {
                    folder: env.resolve(folder),
                    super_seeding: self.super_seeding,
                    limits,
                }),
            }
        });
        let tasks = tasks.collect();
        reporter.run(env, config, tasks, |_, torrent, _| {
            // Nothing that is served is replaced.
            Ok(Command::Keep(torrent, "left as it is".to_owned()))
        })
    }
}
