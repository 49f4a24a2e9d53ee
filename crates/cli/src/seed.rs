//! `hashlane seed`: what is there, for others.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use hashlane_swarm::{Access, AddTorrent, Event, Session, Sources, TorrentId};
use hashlane_verify::Options;

use crate::args::Seed;
use crate::get::part;
use crate::progress::ProgressLine;
use crate::swarm::{Local, ratio, settings};
use crate::text::{Size, count};
use crate::{Env, Exit, torrent_file};

/// How often rates are told, and the end looked for.
const TICK: Duration = Duration::from_millis(500);

/// A torrent that is served.
struct Served {
    /// As it was given.
    given: String,
    id: TorrentId,
    length: u64,
}

impl Seed {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let options = self.common.hashing.options()?;
        env.catch_interrupts();
        let peers = self.common.network.peer_addresses()?;
        let session = Session::new(&settings(&self.common.network)).context("libtorrent")?;
        let mut exit = Exit::Good;
        let mut served = Vec::new();
        for path in &self.torrents {
            let given = path.display().to_string();
            match self.start(env, &session, path, &peers, &options) {
                Ok((this, is_complete)) => {
                    if !is_complete {
                        exit = exit.max(Exit::NotAllThere);
                    }
                    served.push(this);
                }
                Err(error) => {
                    exit = Exit::NotChecked;
                    self.common.teller().error(env, &given, error)?;
                }
            }
        }
        let started = Instant::now();
        let mut line: Option<ProgressLine> = None;
        while !served.is_empty() && !env.cancel.is_cancelled() {
            let events = session.wait(TICK);
            let handle = || self.handle(env, &session, &mut served, events);
            exit = exit.max(match &line {
                Some(line) => line.suspend(handle)?,
                None => handle()?,
            });
            if self
                .seed_time
                .is_some_and(|most| started.elapsed().as_secs_f64() >= most)
            {
                break;
            }
            if let Some(most) = self.seed_ratio {
                let (over, going): (Vec<_>, Vec<_>) = served.into_iter().partition(|this| {
                    let uploaded = session.status(this.id).map_or(0, |status| status.uploaded);
                    ratio(uploaded, this.length) >= most
                });
                served = going;
                for this in over {
                    self.tell_end(env, &session, &this)?;
                    session.remove(this.id)?;
                }
            }
            self.show(env, &session, &served, &mut line);
        }
        if let Some(line) = line {
            line.clear();
        }
        for this in &served {
            self.tell_end(env, &session, this)?;
        }
        part(session);
        Ok(exit)
    }

    /// Verifies what is there, and serves it.
    fn start(
        &self,
        env: &mut Env,
        session: &Session,
        path: &Path,
        peers: &[SocketAddr],
        options: &Options,
    ) -> anyhow::Result<(Served, bool)> {
        let given = path.display().to_string();
        let metainfo = torrent_file::read(&env.resolve(path))?;
        let beside = path.parent().unwrap_or(Path::new(""));
        let folder = env.resolve(self.dir.as_deref().unwrap_or(beside));
        let local = Local::look(
            env,
            metainfo,
            &folder,
            Access::Serve,
            options,
            self.common.quiet,
        )?;
        let (have, pieces) = (local.n_have(), local.counts.total());
        if have == 0 && pieces > 0 {
            bail!("{}: nothing of it is there", local.root.display());
        }
        let id = session.add(&AddTorrent {
            metainfo: &local.metainfo,
            storage: Arc::clone(&local.storage),
            have: &local.have,
            wanted: &[],
            peers,
            only_serve: true,
            sequential: false,
            super_seeding: self.super_seeding,
            sources: &Sources::default(),
        })?;
        self.common.teller().verified(env, &given, &local)?;
        let length = local.length;
        Ok((Served { given, id, length }, local.is_complete))
    }

    fn handle(
        &self,
        env: &mut Env,
        session: &Session,
        served: &mut Vec<Served>,
        events: Vec<Event>,
    ) -> anyhow::Result<Exit> {
        let mut exit = Exit::Good;
        for event in events {
            exit = exit.max(self.on_event(env, session, served, event)?);
        }
        Ok(exit)
    }

    fn on_event(
        &self,
        env: &mut Env,
        session: &Session,
        served: &mut Vec<Served>,
        event: Event,
    ) -> anyhow::Result<Exit> {
        match event {
            Event::TrackerFailed(id, reason) => {
                if let Some(this) = served.iter().find(|this| this.id == id) {
                    self.common.teller().warn(env, Some(&this.given), &reason)?;
                }
            }
            Event::FileFailed {
                torrent,
                failure,
                text,
                ..
            } => {
                if let Some(index) = served.iter().position(|this| this.id == torrent) {
                    let this = served.swap_remove(index);
                    let error = failure.map_or_else(|| anyhow!(text), anyhow::Error::from);
                    self.common.teller().error(env, &this.given, error)?;
                    session.remove(torrent)?;
                    return Ok(Exit::NotChecked);
                }
            }
            Event::Failed(id, reason) => {
                if let Some(index) = served.iter().position(|this| this.id == id) {
                    let this = served.swap_remove(index);
                    self.common
                        .teller()
                        .error(env, &this.given, anyhow!(reason))?;
                    session.remove(id)?;
                    return Ok(Exit::NotChecked);
                }
            }
            event => self.common.teller().of_session(env, &event)?,
        }
        Ok(Exit::Good)
    }

    fn show(
        &self,
        env: &Env,
        session: &Session,
        served: &[Served],
        line: &mut Option<ProgressLine>,
    ) {
        if !env.progress || self.common.quiet {
            return;
        }
        let (mut peers, mut rate, mut sent) = (0, 0, 0);
        for status in served
            .iter()
            .filter_map(|this| session.status(this.id).ok())
        {
            peers += status.peers;
            rate += status.up_rate;
            sent += status.uploaded;
        }
        let line = line.get_or_insert_with(|| ProgressLine::of_service(String::new()));
        line.set_name(format!(
            "{} served: {}, {}/s, {} sent",
            count(served.len() as u64, "torrent"),
            count(peers.into(), "peer"),
            Size(rate),
            Size(sent)
        ));
        line.update(0, 0);
    }

    fn tell_end(&self, env: &mut Env, session: &Session, this: &Served) -> anyhow::Result<()> {
        let uploaded = session.status(this.id)?.uploaded;
        self.common.teller().ended(env, &this.given, uploaded)
    }
}
