//! `hashlane get`: from what is there to all that is wanted.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use hashlane_metainfo::{FileSelection, InfoHashes, Magnet, PeerAddress, Torrent};
use hashlane_swarm::{Access, AddTorrent, Event, Session, Settings, Sources, State, Status};
use hashlane_verify::Options;

use super::audience::Audience;
use super::local::{Local, Wanted};
use super::page::Command;
use super::report::Report;
use super::view::{Activity, Snapshot, TorrentView};
use super::{fetch, log, part, ratio};
use crate::output::text::{self, Escaped, Grouped, Size, count};
use crate::swarm_args::Get;
use crate::{Env, Exit, torrent_file};

/// How many files are named that would be replaced.
const MAX_NAMED: usize = 10;

/// What has become of one torrent.
enum Stage {
    /// Nothing has been done about it.
    Given,
    /// A magnet link.
    Link(Box<Magnet>),
    /// Its metadata is looked for.
    Metadata(Box<Magnet>),
    /// It is there, and the link is leaving the session.
    Parting {
        magnet: Box<Magnet>,
        metainfo: Vec<u8>,
        /// Those that it was known to have.
        peers: Vec<SocketAddr>,
    },
    /// What is there is known, and not all.
    Ready(Box<Ready>),
    /// It is in the session.
    Running(Box<Running>),
    Ended(Exit),
}

struct Ready {
    local: Local,
    wanted: Wanted,
    sources: Sources,
    started: Instant,
    /// Whether all is there that is wanted.
    is_there: bool,
}

struct Running {
    ready: Ready,
    /// When all was there.
    finished: Option<Instant>,
}

/// One torrent of the command line.
struct Job {
    stage: Stage,
    /// How it was given, what the session calls it, and how far it is.
    view: TorrentView,
    /// When something last came, and how much was there then.
    moved: Instant,
    done: u64,
    /// What trackers or web seeds said last, for whoever waits in vain.
    trouble: Option<String>,
}

impl Job {
    fn new(number: usize, given: &str) -> Self {
        Self {
            stage: Stage::Given,
            view: TorrentView::new(number, given),
            moved: Instant::now(),
            done: 0,
            trouble: None,
        }
    }

    fn is_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    /// It is done with. In the session it stays, paused, so that what trackers answer is heard: they are told
    /// before the session ends.
    fn end(&mut self, session: Option<&Session>, exit: Exit) {
        if let (Some(session), Some(id)) = (session, self.view.id) {
            // It can be gone already.
            let _ = session.pause(id);
        }
        self.view.leaves(Activity::Ended);
        self.stage = Stage::Ended(exit);
    }
}

/// All that a download needs but the torrents.
struct Download<'r> {
    get: Get,
    env: &'r mut Env,
    options: Options,
    peers: Vec<SocketAddr>,
    audience: Audience,
    /// Where torrents have their content, and which ones, as they were given.
    places: HashMap<PathBuf, String>,
    /// When something was last verified: nothing was heard of the others meanwhile.
    verified: Instant,
}

impl Get {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let options = self.common.hashing.options()?;
        let peers = self.common.network.peer_addresses()?;
        let audience = Audience::new(env, &self.common)?;
        env.catch_interrupts();
        let given = self.torrents.iter().enumerate();
        let mut jobs: Vec<Job> = given.map(|(i, given)| Job::new(i, given)).collect();
        let mut download = Download {
            get: self,
            env,
            options,
            peers,
            audience,
            places: HashMap::new(),
            verified: Instant::now(),
        };
        match download.run(&mut jobs) {
            // Nobody reads what it tells: it ends, and what has not come is missing.
            Err(error) if crate::is_broken_pipe(&error) => {}
            result => result?,
        }
        // The worst of all.
        let exits = jobs.iter().map(|job| match job.stage {
            Stage::Ended(exit) => exit,
            _ => Exit::NotChecked,
        });
        Ok(exits.max().unwrap_or(Exit::Good))
    }

    /// Whether it goes on when all is there.
    fn goes_on(&self) -> bool {
        self.seed || self.seed_ratio.is_some() || self.seed_time.is_some()
    }
}

impl Download<'_> {
    fn run(&mut self, jobs: &mut [Job]) -> anyhow::Result<()> {
        // What is there is looked at first: if that is all, nobody else is needed.
        for job in jobs.iter_mut() {
            if let Err(error) = self.open(job) {
                self.fail(None, job, error)?;
            }
        }
        if jobs.iter().all(Job::is_ended) {
            return Ok(());
        }
        let settings = Settings {
            close_redundant: self.get.goes_on(),
            ..self.get.common.settings()
        };
        let session = Arc::new(Session::new(&settings).context("libtorrent")?);
        self.audience
            .open_page(self.env, &self.get.common, &session)?;
        self.show(&session, jobs);
        for job in jobs.iter_mut() {
            let peers = self.peers.clone();
            if let Err(error) = self.join(&session, job, &peers) {
                self.fail(Some(&session), job, error)?;
            }
        }
        let ended = self.go_on(&session, jobs);
        // Nobody else may have the session when it ends.
        self.audience.close();
        part(session);
        ended
    }

    /// Does what happens, until all torrents are done with.
    fn go_on(&mut self, session: &Session, jobs: &mut [Job]) -> anyhow::Result<()> {
        while !jobs.iter().all(Job::is_ended) {
            let events = session.wait(self.audience.idle())?;
            if self.env.cancel.is_cancelled() {
                return self.interrupt(session, jobs);
            }
            for command in self.audience.commands() {
                self.obey(session, jobs, command)?;
            }
            let is_finished = events
                .iter()
                .any(|event| matches!(event, Event::Finished(_)));
            for event in events {
                self.on_event(session, jobs, event)?;
            }
            if is_finished || self.audience.idle().is_zero() {
                self.on_tick(session, jobs)?;
            }
        }
        Ok(())
    }

    fn interrupt(&mut self, session: &Session, jobs: &mut [Job]) -> anyhow::Result<()> {
        tracing::info!("interrupted");
        let statuses = session.statuses()?;
        for job in jobs.iter_mut().filter(|job| !job.is_ended()) {
            match &job.stage {
                Stage::Running(running) if running.finished.is_some() => {
                    let status = job.view.id.and_then(|id| statuses.get(&id));
                    let uploaded = status.map_or(0, |status| status.uploaded);
                    self.audience.ended(self.env, &job.view.torrent, uploaded)?;
                    job.stage = Stage::Ended(Exit::Good);
                }
                _ => {
                    let error = anyhow!("interrupted; the next time it goes on from what is there");
                    self.fail(None, job, error)?;
                }
            }
        }
        Ok(())
    }

    /// Reads what was given, and looks what of it is there.
    fn open(&mut self, job: &mut Job) -> anyhow::Result<()> {
        let given = &job.view.torrent;
        let is_link = given
            .get(..7)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("magnet:"));
        if is_link {
            job.stage = Stage::Link(Box::new(given.parse()?));
            return Ok(());
        }
        let metainfo = if fetch::is_url(given) {
            let network = &self.get.common.network;
            let timeout = self.get.timeout.map(Duration::from_secs_f64);
            fetch::fetch(self.env, given, network.proxy.as_ref(), timeout)?
        } else {
            let is_hash = [40, 64].contains(&given.len());
            if is_hash && given.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                let kind = if given.len() == 40 {
                    "btih:"
                } else {
                    "btmh:1220"
                };
                bail!("an info-hash is given as a link: magnet:?xt=urn:{kind}{given}");
            }
            if let Some((scheme, _)) = given.split_once("://") {
                bail!("{scheme} is neither http nor https nor a magnet link");
            }
            torrent_file::read(&self.env.resolve(given.as_ref()))?
        };
        self.look(job, Torrent::parse(metainfo)?, Sources::default(), None)
    }

    /// Verifies what is there. If that is not all, or it is to be served, the torrent is ready for a session.
    fn look(
        &mut self,
        job: &mut Job,
        torrent: Torrent,
        sources: Sources,
        selection: Option<&FileSelection>,
    ) -> anyhow::Result<()> {
        let started = Instant::now();
        let folder = self.env.resolve(&self.get.output);
        let mut local = Local::new(torrent, &folder, Access::Download)?;
        let wanted = local.wanted(&self.get.select, selection)?;
        // They would overwrite each other.
        if let Some(other) = self.places.get(&local.root) {
            bail!("has the same place as {other}: {}", local.root.display());
        }
        self.places
            .insert(local.root.clone(), job.view.torrent.clone());
        job.view.is_local(&local);
        self.may_replace(&local, &wanted)?;
        local.storage.prepare(&wanted.files)?;
        self.verify(&mut local)?;
        self.audience
            .verified(self.env, &job.view.torrent, &local)?;
        let is_there = wanted.is_in(&local.have);
        if is_there && !self.get.goes_on() {
            job.end(None, Exit::Good);
            return Ok(());
        }
        job.stage = Stage::Ready(Box::new(Ready {
            local,
            wanted,
            sources,
            started,
            is_there,
        }));
        Ok(())
    }

    fn verify(&mut self, local: &mut Local) -> anyhow::Result<()> {
        let is_quiet = self.get.common.quiet;
        let (env, options) = (&mut *self.env, &self.options);
        let result = self.audience.aside(|| local.look(env, options, is_quiet));
        self.verified = Instant::now();
        result
    }

    /// With `--repair`, asks before what is wrong is replaced.
    fn may_replace(&mut self, local: &Local, wanted: &Wanted) -> anyhow::Result<()> {
        if !self.get.repair {
            return Ok(());
        }
        let is_quiet = self.get.common.quiet;
        let (env, options) = (&mut *self.env, &self.options);
        let wrong = self
            .audience
            .aside(|| local.wrong(env, wanted, options, is_quiet))?;
        if wrong.n_pieces == 0 {
            return Ok(());
        }
        let question = format!(
            "{}: {} of {} {} there and wrong, and would be replaced",
            local.name,
            count(wrong.n_pieces.into(), "piece"),
            Grouped(local.n_pieces.into()),
            if wrong.n_pieces == 1 { "is" } else { "are" }
        );
        if !env.can_ask {
            bail!("{question}; there is nobody to ask, and nothing is done");
        }
        let mut question = Escaped(&question).to_string();
        for (name, n_pieces) in wrong.files.iter().take(MAX_NAMED) {
            let pieces = count((*n_pieces).into(), "piece");
            let _ = write!(question, "\n  {pieces} of {}", Escaped(name));
        }
        let others = wrong.files.len().saturating_sub(MAX_NAMED);
        if others > 0 {
            let _ = write!(
                question,
                "\n  and in {}",
                count(others as u64, "other file")
            );
        }
        if !self.audience.aside(|| env.agrees(&question))? {
            bail!("left as it is");
        }
        Ok(())
    }

    /// Adds what is ready to the session.
    fn join(
        &mut self,
        session: &Session,
        job: &mut Job,
        peers: &[SocketAddr],
    ) -> anyhow::Result<()> {
        job.moved = Instant::now();
        let stage = std::mem::replace(&mut job.stage, Stage::Given);
        job.stage = match stage {
            Stage::Link(magnet) => {
                let id = session.add_magnet(&magnet, peers)?;
                job.view.joins(id, Activity::Metadata);
                Stage::Metadata(magnet)
            }
            Stage::Ready(ready) => {
                let id = session.add(&AddTorrent {
                    torrent: &ready.local.torrent,
                    storage: Arc::clone(&ready.local.storage),
                    have: &ready.local.have,
                    wanted: &ready.wanted.files,
                    peers,
                    only_serve: false,
                    sequential: self.get.sequential,
                    super_seeding: false,
                    sources: &ready.sources,
                })?;
                job.view.joins(id, Activity::Downloading);
                Stage::Running(Box::new(Running {
                    finished: ready.is_there.then(Instant::now),
                    ready: *ready,
                }))
            }
            stage => stage,
        };
        Ok(())
    }

    /// Does what was asked for on the page.
    fn obey(
        &mut self,
        session: &Session,
        jobs: &mut [Job],
        command: Command,
    ) -> anyhow::Result<()> {
        let network = &mut self.get.common.network;
        let id = |number: usize| jobs[number].view.id;
        let Some(number) = command.obey(session, network, id)? else {
            return Ok(());
        };
        let job = &mut jobs[number];
        match &job.stage {
            Stage::Ended(_) => Ok(()),
            Stage::Running(running) if running.finished.is_some() => {
                let uploaded = job.view.uploaded_bytes;
                self.audience.ended(self.env, &job.view.torrent, uploaded)?;
                job.end(Some(session), Exit::Good);
                Ok(())
            }
            _ => self.fail(Some(session), job, anyhow!("ended by request")),
        }
    }

    /// Finds out what was not told, as too much happened at once.
    fn catch_up(&mut self, session: &Session, jobs: &mut [Job]) -> anyhow::Result<()> {
        for job in jobs.iter_mut() {
            let Some(id) = job.view.id else {
                continue;
            };
            let missed: Vec<Event> = match &job.stage {
                Stage::Metadata(_) => {
                    let info = session.metadata(id)?;
                    info.map(|info| Event::Metadata(id, info))
                        .into_iter()
                        .collect()
                }
                Stage::Running(_) => {
                    let pieces = (0..).zip(session.have(id)?).filter(|(_, have)| *have);
                    pieces
                        .map(|(piece, _)| Event::PieceFinished(id, piece))
                        .collect()
                }
                _ => Vec::new(),
            };
            for event in missed {
                let result = self.on_event_of(session, job, event);
                result.or_else(|error| self.fail(Some(session), job, error))?;
            }
        }
        Ok(())
    }

    fn on_event(
        &mut self,
        session: &Session,
        jobs: &mut [Job],
        event: Event,
    ) -> anyhow::Result<()> {
        let job = event
            .torrent()
            .and_then(|id| jobs.iter_mut().find(|job| job.view.id == Some(id)));
        log::event(job.as_ref().map_or("", |job| &job.view.torrent), &event);
        let Some(job) = job else {
            if matches!(event, Event::Dropped) {
                return self.catch_up(session, jobs);
            }
            return self.audience.of_session(self.env, &event);
        };
        let result = self.on_event_of(session, job, event);
        result.or_else(|error| self.fail(Some(session), job, error))
    }

    /// Hears of an event of a torrent, whose error it is if that cannot be gone on from.
    fn on_event_of(
        &mut self,
        session: &Session,
        job: &mut Job,
        event: Event,
    ) -> anyhow::Result<()> {
        match event {
            Event::Metadata(id, info) => {
                if let Stage::Metadata(magnet) = &job.stage {
                    let mut peers = self.peers.clone();
                    let known = session.peers(id)?.into_iter();
                    peers.extend(
                        known
                            .filter(|peer| peer.is_outgoing)
                            .map(|peer| peer.address),
                    );
                    peers.extend(magnet.peers.iter().filter_map(PeerAddress::socket_addr));
                    session.remove(id)?;
                    job.stage = Stage::Parting {
                        magnet: magnet.clone(),
                        metainfo: [b"d4:info", &info[..], b"e"].concat(),
                        peers,
                    };
                }
            }
            Event::Removed(_) => {
                let stage = std::mem::replace(&mut job.stage, Stage::Given);
                if let Stage::Parting {
                    magnet,
                    metainfo,
                    peers,
                } = stage
                {
                    job.view.leaves(Activity::Waiting);
                    self.look_behind(job, &magnet, metainfo)?;
                    self.join(session, job, &peers)?;
                } else {
                    job.stage = stage;
                }
            }
            Event::PieceFinished(_, piece) => {
                // libtorrent can tell of those, too, that it was told of.
                if let Stage::Running(running) = &mut job.stage
                    && let Some(have) = running.ready.local.have.get_mut(piece as usize)
                    && !std::mem::replace(have, true)
                {
                    self.audience.piece(self.env, &job.view.torrent, piece)?;
                }
            }
            Event::Failed(_, reason) => bail!(reason),
            Event::FileFailed { failure, text, .. } => {
                return Err(failure.map_or_else(|| anyhow!(text), anyhow::Error::from));
            }
            Event::TrackerFailed(_, reason) | Event::WebSeedFailed(_, reason) => {
                if job.trouble.as_ref() != Some(&reason) {
                    self.audience
                        .warn(self.env, Some(&job.view.torrent), &reason)?;
                }
                job.trouble = Some(reason);
            }
            _ => {}
        }
        Ok(())
    }

    /// Verifies what is there of a torrent whose metadata has come.
    fn look_behind(
        &mut self,
        job: &mut Job,
        magnet: &Magnet,
        metainfo: Vec<u8>,
    ) -> anyhow::Result<()> {
        let torrent = Torrent::parse(metainfo)?;
        if !fits(magnet.info_hashes, torrent.info_hashes()) {
            bail!("the metadata that came is not that of the link");
        }
        let sources = Sources {
            trackers: magnet.trackers.clone(),
            web_seeds: magnet.web_seeds.clone(),
        };
        self.look(job, torrent, sources, magnet.select_only.as_ref())
    }

    /// Looks how far all torrents are, and shows it.
    fn on_tick(&mut self, session: &Session, jobs: &mut [Job]) -> anyhow::Result<()> {
        let statuses = session.statuses()?;
        for job in jobs.iter_mut() {
            if let Some(status) = job.view.id.and_then(|id| statuses.get(&id)) {
                job.view.update(status);
                if let Err(error) = self.progress(session, job, status) {
                    self.fail(Some(session), job, error)?;
                }
            }
        }
        self.show(session, jobs);
        Ok(())
    }

    fn show(&mut self, session: &Session, jobs: &[Job]) {
        let network = &self.get.common.network;
        let views = jobs.iter().map(|job| &job.view);
        self.audience
            .show(session, || Snapshot::new(views, network));
    }

    /// Looks whether a torrent has come to its end.
    fn progress(
        &mut self,
        session: &Session,
        job: &mut Job,
        status: &Status,
    ) -> anyhow::Result<()> {
        if status.wanted_done > job.done || status.state == State::Stopped {
            // While it is paused nothing is waited for.
            (job.done, job.moved) = (status.wanted_done, Instant::now());
        }
        let timeout = self.get.timeout.unwrap_or(f64::INFINITY);
        let since = job.moved.max(self.verified);
        let is_late = since.elapsed().as_secs_f64() > timeout;
        match &mut job.stage {
            Stage::Metadata(_) if is_late => {
                let trouble = job.trouble.as_deref();
                let trouble = trouble.unwrap_or("no peer was found that has it");
                bail!("the link's metadata has not come: {trouble}");
            }
            Stage::Running(running) => {
                let has_all = matches!(status.state, State::Finished | State::Seeding);
                if running.finished.is_none() && has_all {
                    running.ready.local.storage.close();
                    self.verify(&mut running.ready.local)?;
                    if !running.ready.wanted.is_in(&running.ready.local.have) {
                        let error = anyhow!(
                            "all has come, and not all is there any more: something else changes it"
                        );
                        self.fail(Some(session), job, error)?;
                        job.stage = Stage::Ended(Exit::NotAllThere);
                        return Ok(());
                    }
                    running.finished = Some(Instant::now());
                    self.tell_finished(&job.view.torrent, running, status)?;
                }
                if let Some(finished) = running.finished {
                    let ratio = ratio(status.uploaded, running.ready.local.length);
                    let served = finished.elapsed().as_secs_f64();
                    let is_over = !self.get.goes_on()
                        || self.get.seed_ratio.is_some_and(|most| ratio >= most)
                        || self.get.seed_time.is_some_and(|most| served >= most);
                    if is_over {
                        if self.get.goes_on() {
                            self.audience
                                .ended(self.env, &job.view.torrent, status.uploaded)?;
                        }
                        job.end(Some(session), Exit::Good);
                    }
                } else if is_late {
                    let trouble = job.trouble.clone();
                    let trouble = trouble.unwrap_or_else(|| count(status.peers.into(), "peer"));
                    bail!("nothing has come for {timeout} s: {trouble}");
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn tell_finished(
        &mut self,
        given: &str,
        running: &Running,
        status: &Status,
    ) -> anyhow::Result<()> {
        let seconds = running.ready.started.elapsed().as_secs_f64();
        let report = Report::Finished {
            torrent: given,
            downloaded_bytes: status.downloaded,
            wasted_bytes: status.wasted,
            elapsed_seconds: seconds,
        };
        self.audience.tell(self.env, &report, || {
            let came = Size(status.downloaded);
            let name = &running.ready.local.name;
            format!(
                "{name}: complete and verified, {came} came in {}",
                text::Duration(seconds)
            )
        })
    }

    /// Says why a torrent cannot be gone on with.
    fn fail(
        &mut self,
        session: Option<&Session>,
        job: &mut Job,
        error: anyhow::Error,
    ) -> anyhow::Result<()> {
        let message = self.audience.error(self.env, &job.view.torrent, error)?;
        job.end(session, Exit::NotChecked);
        job.view.fails(message);
        Ok(())
    }
}

/// Whether metadata with these info-hashes is what the link means.
fn fits(link: InfoHashes, found: InfoHashes) -> bool {
    let same = link.v1().is_none_or(|v1| found.v1() == Some(v1))
        && link.v2().is_none_or(|v2| found.v2() == Some(v2));
    same && (link.v1().is_some() || link.v2().is_some())
}
