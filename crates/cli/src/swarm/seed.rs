//! `hashlane seed`: what is there, for others.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, anyhow, bail};
use hashlane_metainfo::Torrent;
use hashlane_swarm::{Access, AddTorrent, Event, Session, Sources};
use hashlane_verify::Options;

use super::audience::Audience;
use super::local::Local;
use super::page::Command;
use super::view::{Activity, Snapshot, TorrentView};
use super::{log, part, ratio};
use crate::swarm_args::Seed;
use crate::{Env, Exit, torrent_file};

/// One torrent of the command line.
struct Served {
    /// How it was given, what the session calls it while it is served, and how far it is.
    view: TorrentView,
    exit: Exit,
}

/// All that serving needs but the torrents.
struct Service<'r> {
    seed: Seed,
    env: &'r mut Env,
    options: Options,
    peers: Vec<SocketAddr>,
    audience: Audience,
    session: Arc<Session>,
}

impl Seed {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let options = self.common.hashing.options()?;
        let peers = self.common.network.peer_addresses()?;
        let mut audience = Audience::new(env, &self.common)?;
        env.catch_interrupts();
        let session = Arc::new(Session::new(&self.common.settings()).context("libtorrent")?);
        audience.open_page(env, &self.common, &session)?;
        let paths = self.torrents.iter().enumerate();
        let mut all: Vec<Served> = paths
            .map(|(number, path)| Served {
                view: TorrentView::new(number, &path.display().to_string()),
                exit: Exit::Good,
            })
            .collect();
        let mut service = Service {
            seed: self,
            env,
            options,
            peers,
            audience,
            session,
        };
        let result = service.run(&mut all);
        let Service {
            audience, session, ..
        } = service;
        // Nobody else may have the session when it ends.
        drop(audience);
        part(session);
        match result {
            // Nobody reads what it tells.
            Err(error) if crate::is_broken_pipe(&error) => return Ok(Exit::NotChecked),
            result => result?,
        }
        let exits = all.iter().map(|this| this.exit);
        Ok(exits.max().unwrap_or(Exit::Good))
    }
}

impl Service<'_> {
    fn run(&mut self, all: &mut [Served]) -> anyhow::Result<()> {
        for number in 0..all.len() {
            if self.env.cancel.is_cancelled() {
                break;
            }
            // Verifying them can take its time.
            if number == 0 || self.audience.idle().is_zero() {
                self.show(all);
            }
            if let Err(error) = self.start(&mut all[number]) {
                self.fail(&mut all[number], error)?;
            }
        }
        let started = Instant::now();
        while all.iter().any(|this| this.view.id.is_some()) && !self.env.cancel.is_cancelled() {
            for event in self.session.wait(self.audience.idle())? {
                self.on_event(all, &event)?;
            }
            for command in self.audience.commands() {
                self.obey(all, command)?;
            }
            if self.audience.idle().is_zero() {
                self.on_tick(all)?;
            }
            let served = started.elapsed().as_secs_f64();
            if self.seed.seed_time.is_some_and(|most| served >= most) {
                break;
            }
        }
        self.update(all)?;
        for this in all.iter_mut().filter(|this| this.view.id.is_some()) {
            self.end(this)?;
        }
        Ok(())
    }

    /// Verifies what is there, and serves it.
    fn start(&mut self, this: &mut Served) -> anyhow::Result<()> {
        let path = &self.seed.torrents[this.view.number];
        let torrent = Torrent::parse(torrent_file::read(&self.env.resolve(path))?)?;
        let beside = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = self.seed.dir.as_deref().or(beside);
        let folder = self.env.resolve(folder.unwrap_or(Path::new(".")));
        let mut local = Local::new(torrent, &folder, Access::Serve)?;
        this.view.is_local(&local);
        let (env, is_quiet) = (&mut *self.env, self.seed.common.quiet);
        self.audience
            .aside(|| local.look(env, &self.options, is_quiet))?;
        if local.n_have() == 0 && local.n_pieces > 0 {
            bail!("{}: nothing of it is there", local.root.display());
        }
        local.storage.probe()?;
        let id = self.session.add(&AddTorrent {
            torrent: &local.torrent,
            storage: Arc::clone(&local.storage),
            have: &local.have,
            wanted: &[],
            peers: &self.peers,
            only_serve: true,
            sequential: false,
            super_seeding: self.seed.super_seeding,
            sources: &Sources::default(),
        })?;
        this.view.joins(id, Activity::Serving);
        if !local.is_complete {
            this.exit = Exit::NotAllThere;
        }
        self.audience.verified(self.env, &this.view.torrent, &local)
    }

    /// Does what was asked for on the page.
    fn obey(&mut self, all: &mut [Served], command: Command) -> anyhow::Result<()> {
        let network = &mut self.seed.common.network;
        let id = |number: usize| all[number].view.id;
        match command.obey(&self.session, network, id)? {
            Some(number) if all[number].view.id.is_some() => self.end(&mut all[number]),
            _ => Ok(()),
        }
    }

    fn on_event(&mut self, all: &mut [Served], event: &Event) -> anyhow::Result<()> {
        let id = event.torrent();
        let this = all
            .iter_mut()
            .find(|this| id.is_some() && this.view.id == id);
        log::event(this.as_ref().map_or("", |this| &this.view.torrent), event);
        let Some(this) = this else {
            return self.audience.of_session(self.env, event);
        };
        match event {
            Event::TrackerFailed(_, reason) => {
                self.audience
                    .warn(self.env, Some(&this.view.torrent), reason)
            }
            Event::FileFailed { failure, text, .. } => {
                let error = match failure {
                    Some(failure) => anyhow!("{failure}"),
                    None => anyhow!("{text}"),
                };
                self.fail(this, error)
            }
            Event::Failed(_, reason) => self.fail(this, anyhow!("{reason}")),
            _ => Ok(()),
        }
    }

    /// Looks how far all torrents are.
    fn update(&mut self, all: &mut [Served]) -> anyhow::Result<()> {
        let statuses = self.session.statuses()?;
        for this in all {
            if let Some(status) = this.view.id.and_then(|id| statuses.get(&id)) {
                this.view.update(status);
                // What is not paused is served, whether all of it is there or not.
                if this.view.activity != Activity::Paused {
                    this.view.activity = Activity::Serving;
                }
            }
        }
        Ok(())
    }

    /// Ends what has been sent often enough, and shows the rest.
    fn on_tick(&mut self, all: &mut [Served]) -> anyhow::Result<()> {
        self.update(all)?;
        if let Some(most) = self.seed.seed_ratio {
            for this in all.iter_mut().filter(|this| this.view.id.is_some()) {
                if ratio(this.view.uploaded_bytes, this.view.total_bytes) >= most {
                    self.end(this)?;
                }
            }
        }
        self.show(all);
        Ok(())
    }

    fn show(&mut self, all: &[Served]) {
        let network = &self.seed.common.network;
        let views = all.iter().map(|this| &this.view);
        self.audience
            .show(&self.session, || Snapshot::new(views, network));
    }

    /// It is not served any more.
    fn end(&mut self, this: &mut Served) -> anyhow::Result<()> {
        let uploaded = this.view.uploaded_bytes;
        self.audience
            .ended(self.env, &this.view.torrent, uploaded)?;
        self.leave(this);
        Ok(())
    }

    /// Says why it cannot be served.
    fn fail(&mut self, this: &mut Served, error: anyhow::Error) -> anyhow::Result<()> {
        let message = self.audience.error(self.env, &this.view.torrent, error)?;
        self.leave(this);
        this.view.fails(message);
        this.exit = Exit::NotChecked;
        Ok(())
    }

    /// It is done with. In the session it stays, paused, so that what trackers answer is heard: they are told
    /// before the session ends.
    fn leave(&mut self, this: &mut Served) {
        if let Some(id) = this.view.id {
            // It can be gone already.
            let _ = self.session.pause(id);
        }
        this.view.leaves(Activity::Ended);
    }
}
