//! `hashlane get`: from what is there to all that is wanted.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use hashlane_metainfo::{FileKind, InfoHashes, Magnet, PeerAddress, Torrent};
use hashlane_swarm::{Access, AddTorrent, Event, Session, Sources, State, Status, TorrentId};
use hashlane_verify::{Families, FileIndex, Layout, Options};

use crate::args::Get;
use crate::progress::ProgressLine;
use crate::swarm::{Local, Report, ratio, settings};
use crate::text::{self, Size, count};
use crate::{Env, Exit, torrent_file};

/// How often progress is told, and the end looked for.
const TICK: Duration = Duration::from_millis(200);

/// How long the end may take.
const PARTING: Duration = Duration::from_secs(2);

/// What has become of one torrent.
enum Stage {
    /// A magnet link.
    Link(Box<Magnet>),
    /// Its metadata is looked for.
    Metadata {
        id: TorrentId,
        magnet: Box<Magnet>,
    },
    /// It is there, and the link is leaving the session.
    Parting {
        id: TorrentId,
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
    /// Files that are wanted, without padding; empty for all.
    wanted_files: Vec<bool>,
    /// Pieces of these files; empty for all.
    wanted_pieces: Vec<bool>,
    sources: Sources,
    started: Instant,
    /// Whether all is there that is wanted.
    is_there: bool,
}

struct Running {
    id: TorrentId,
    ready: Ready,
    /// When all was there.
    finished: Option<Instant>,
}

/// One torrent of the command line.
struct Job {
    /// As it was given.
    given: String,
    stage: Stage,
    /// When something last came, and how much was there then.
    moved: Instant,
    done: u64,
    /// What trackers said last, for whoever waits in vain.
    trouble: Option<String>,
}

impl Job {
    /// Takes it out of the session.
    fn leave(&self, session: &Session) {
        let id = match &self.stage {
            Stage::Metadata { id, .. } => *id,
            Stage::Running(running) => running.id,
            _ => return,
        };
        // It can be gone already.
        let _ = session.remove(id);
    }
}

impl Get {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let options = self.common.hashing.options()?;
        let peers = self.common.network.peer_addresses()?;
        env.catch_interrupts();
        // What is there is looked at first: if that is all, nobody else is needed.
        let mut jobs = Vec::new();
        for given in &self.torrents {
            let stage = if given.starts_with("magnet:") {
                link(given)
            } else {
                torrent_file::read(&env.resolve(given.as_ref()))
                    .and_then(|bytes| self.look(env, given, bytes, Sources::default(), &options))
            };
            let stage = match stage {
                Ok(stage) => stage,
                Err(error) => self.fail(env, given, error)?,
            };
            jobs.push(Job {
                given: given.clone(),
                stage,
                moved: Instant::now(),
                done: 0,
                trouble: None,
            });
        }
        let ended = |jobs: &[Job]| jobs.iter().all(|job| matches!(job.stage, Stage::Ended(_)));
        if ended(&jobs) {
            return Ok(exit_of(&jobs));
        }
        let session = Session::new(&settings(&self.common.network)).context("libtorrent")?;
        for job in &mut jobs {
            if let Err(error) = self.join(&session, job, &peers) {
                job.stage = self.fail(env, &job.given, error)?;
            }
        }
        let mut line: Option<ProgressLine> = None;
        while !ended(&jobs) {
            let events = session.wait(TICK);
            if env.cancel.is_cancelled() {
                break;
            }
            let handle = || self.handle(env, &session, &mut jobs, events, &options, &peers);
            match &line {
                Some(line) => line.suspend(handle)?,
                None => handle()?,
            }
            self.show(env, &session, &jobs, &mut line);
        }
        if let Some(line) = line {
            line.clear();
        }
        for job in &mut jobs {
            match &job.stage {
                Stage::Ended(_) => {}
                Stage::Running(running) if running.finished.is_some() => {
                    let status = session.status(running.id)?;
                    self.common
                        .teller()
                        .ended(env, &job.given, status.uploaded)?;
                    job.stage = Stage::Ended(Exit::Good);
                }
                _ => {
                    let error = anyhow!("interrupted; the next time it goes on from what is there");
                    job.stage = self.fail(env, &job.given, error)?;
                }
            }
        }
        part(session);
        Ok(exit_of(&jobs))
    }

    /// Verifies what is there. If that is not all, or it is to be served, the torrent is ready for a session.
    fn look(
        &self,
        env: &mut Env,
        given: &str,
        metainfo: Vec<u8>,
        sources: Sources,
        options: &Options,
    ) -> anyhow::Result<Stage> {
        let folder = env.resolve(&self.output);
        let started = Instant::now();
        let access = Access::Download;
        let local = Local::look(env, metainfo, &folder, access, options, self.common.quiet)?;
        self.common.teller().verified(env, given, &local)?;
        let (wanted_files, wanted_pieces) = self.wanted(&local)?;
        self.may_replace(env, &local)?;
        local.storage.make_empty()?;
        let is_there = are_there(&local.have, &wanted_pieces);
        if is_there && !self.goes_on() {
            return Ok(Stage::Ended(Exit::Good));
        }
        Ok(Stage::Ready(Box::new(Ready {
            local,
            wanted_files,
            wanted_pieces,
            sources,
            started,
            is_there,
        })))
    }

    /// Adds what is ready to the session.
    fn join(&self, session: &Session, job: &mut Job, peers: &[SocketAddr]) -> anyhow::Result<()> {
        let stage = std::mem::replace(&mut job.stage, Stage::Ended(Exit::NotChecked));
        job.stage = match stage {
            Stage::Link(magnet) => Stage::Metadata {
                id: session.add_magnet(&magnet, peers)?,
                magnet,
            },
            Stage::Ready(ready) => {
                let id = session.add(&AddTorrent {
                    metainfo: &ready.local.metainfo,
                    storage: Arc::clone(&ready.local.storage),
                    have: &ready.local.have,
                    wanted: &ready.wanted_files,
                    peers,
                    only_serve: false,
                    sequential: self.sequential,
                    super_seeding: false,
                    sources: &ready.sources,
                })?;
                Stage::Running(Box::new(Running {
                    id,
                    finished: ready.is_there.then(Instant::now),
                    ready: *ready,
                }))
            }
            stage => stage,
        };
        Ok(())
    }

    fn goes_on(&self) -> bool {
        self.seed || self.seed_ratio.is_some() || self.seed_time.is_some()
    }

    /// Which files are wanted, and which pieces those have; nothing for all of them.
    fn wanted(&self, local: &Local) -> anyhow::Result<(Vec<bool>, Vec<bool>)> {
        if self.select.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let torrent = Torrent::parse(&local.metainfo)?;
        let globs = crate::globs::of("--select", &self.select)?;
        let layout = Layout::new(&torrent, Families::of(torrent.version()));
        let mut files = Vec::new();
        let mut pieces = vec![false; local.have.len()];
        for (index, file) in FileIndex::all(&torrent) {
            let is_wanted = globs.is_match(file.path().to_string());
            if is_wanted {
                for piece in layout.pieces_of(index) {
                    pieces[piece as usize] = true;
                }
            }
            if file.kind() != FileKind::Padding {
                files.push(is_wanted);
            }
        }
        if !files.contains(&true) {
            bail!("--select: no file of the torrent fits");
        }
        Ok((files, pieces))
    }

    /// With `--repair`, asks before what is wrong is replaced.
    fn may_replace(&self, env: &mut Env, local: &Local) -> anyhow::Result<()> {
        let n_bad = u64::from(local.counts.bad + local.counts.unproven);
        if !self.repair || n_bad == 0 {
            return Ok(());
        }
        let question = format!(
            "{}: {} of {} are there and wrong, and would be replaced",
            local.name,
            count(n_bad, "piece"),
            local.have.len()
        );
        if !env.can_ask {
            bail!("{question}; there is nobody to ask, and nothing is done");
        }
        env.stdout.flush()?;
        write!(env.stderr, "{question}. Go on? [y/N] ")?;
        env.stderr.flush()?;
        let mut answer = String::new();
        env.stdin.read_line(&mut answer)?;
        if !["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()) {
            bail!("left as it is");
        }
        Ok(())
    }

    /// Hears of events, and looks whether a torrent has come to its end.
    fn handle(
        &self,
        env: &mut Env,
        session: &Session,
        jobs: &mut [Job],
        events: Vec<Event>,
        options: &Options,
        peers: &[SocketAddr],
    ) -> anyhow::Result<()> {
        for event in events {
            self.on_event(env, session, jobs, event, options, peers)?;
        }
        for job in jobs {
            if let Err(error) = self.on_tick(env, session, job, options) {
                job.leave(session);
                job.stage = self.fail(env, &job.given, error)?;
            }
        }
        Ok(())
    }

    fn on_event(
        &self,
        env: &mut Env,
        session: &Session,
        jobs: &mut [Job],
        event: Event,
        options: &Options,
        peers: &[SocketAddr],
    ) -> anyhow::Result<()> {
        match event {
            Event::Metadata(id, info) => {
                if let Some(job) = of(jobs, id)
                    && let Stage::Metadata { magnet, .. } = &job.stage
                {
                    let mut known = session.peers(id)?;
                    known.extend(magnet.peers.iter().filter_map(PeerAddress::socket_addr));
                    session.remove(id)?;
                    job.stage = Stage::Parting {
                        id,
                        magnet: magnet.clone(),
                        metainfo: [b"d4:info", &info[..], b"e"].concat(),
                        peers: [peers, &known].concat(),
                    };
                }
            }
            Event::Removed(id) => {
                if let Some(job) = of(jobs, id)
                    && let Stage::Parting {
                        magnet,
                        metainfo,
                        peers,
                        ..
                    } = &mut job.stage
                {
                    let (metainfo, peers) = (std::mem::take(metainfo), std::mem::take(peers));
                    job.moved = Instant::now();
                    let stage = self.look_behind(env, &job.given, magnet, metainfo, options);
                    let joined = stage.and_then(|stage| {
                        job.stage = stage;
                        self.join(session, job, &peers)
                    });
                    if let Err(error) = joined {
                        job.stage = self.fail(env, &job.given, error)?;
                    }
                }
            }
            Event::PieceFinished(id, piece) => {
                // libtorrent can tell of those, too, that it was told of.
                if let Some(job) = of(jobs, id)
                    && let Stage::Running(running) = &mut job.stage
                    && let Some(have) = running.ready.local.have.get_mut(piece as usize)
                    && !std::mem::replace(have, true)
                    && self.common.json
                {
                    let torrent = &job.given;
                    let report = Report::Piece { torrent, piece };
                    self.common.teller().tell(env, &report, String::new)?;
                }
            }
            Event::Failed(id, reason) => {
                if let Some(job) = of(jobs, id) {
                    job.leave(session);
                    job.stage = self.fail(env, &job.given, anyhow!(reason))?;
                }
            }
            Event::FileFailed {
                torrent,
                failure,
                text,
                ..
            } => {
                if let Some(job) = of(jobs, torrent) {
                    job.leave(session);
                    let error = failure.map_or_else(|| anyhow!(text), anyhow::Error::from);
                    job.stage = self.fail(env, &job.given, error)?;
                }
            }
            Event::TrackerFailed(id, reason) => {
                if let Some(job) = of(jobs, id) {
                    if job.trouble.as_ref() != Some(&reason) {
                        self.common.teller().warn(env, Some(&job.given), &reason)?;
                    }
                    job.trouble = Some(reason);
                }
            }
            event => self.common.teller().of_session(env, &event)?,
        }
        Ok(())
    }

    /// Verifies what is there of a torrent whose metadata has come.
    fn look_behind(
        &self,
        env: &mut Env,
        given: &str,
        magnet: &Magnet,
        metainfo: Vec<u8>,
        options: &Options,
    ) -> anyhow::Result<Stage> {
        let found = Torrent::parse(&metainfo)?.info_hashes();
        if !fits(magnet.info_hashes, found) {
            bail!("the metadata that came is not that of the link");
        }
        let sources = Sources {
            trackers: magnet.trackers.clone(),
            web_seeds: magnet.web_seeds.clone(),
        };
        self.look(env, given, metainfo, sources, options)
    }

    /// Looks whether a torrent has come to its end.
    fn on_tick(
        &self,
        env: &mut Env,
        session: &Session,
        job: &mut Job,
        options: &Options,
    ) -> anyhow::Result<()> {
        let timeout = self.timeout.map(Duration::from_secs_f64);
        let is_late = timeout.is_some_and(|timeout| job.moved.elapsed() > timeout);
        match &mut job.stage {
            Stage::Link(_) | Stage::Ready(_) | Stage::Parting { .. } | Stage::Ended(_) => {}
            Stage::Metadata { .. } => {
                if is_late {
                    let trouble = job
                        .trouble
                        .as_deref()
                        .unwrap_or("no peer was found that has it");
                    bail!("the link's metadata has not come: {trouble}");
                }
            }
            Stage::Running(running) => {
                let status = session.status(running.id)?;
                if status.wanted_done > job.done {
                    (job.done, job.moved) = (status.wanted_done, Instant::now());
                }
                let has_all = matches!(status.state, State::Finished | State::Seeding);
                if running.finished.is_none() && has_all {
                    let folder = env.resolve(&self.output);
                    let local = &running.ready.local;
                    let have = local.look_again(env, &folder, options, self.common.quiet)?;
                    if !are_there(&have, &running.ready.wanted_pieces) {
                        session.remove(running.id)?;
                        let error = anyhow!(
                            "all has come, and not all is there any more: something else changes it"
                        );
                        self.fail(env, &job.given, error)?;
                        job.stage = Stage::Ended(Exit::NotAllThere);
                        return Ok(());
                    }
                    running.finished = Some(Instant::now());
                    self.tell_finished(env, &job.given, running, &status)?;
                }
                if let Some(finished) = running.finished {
                    let ratio = ratio(status.uploaded, running.ready.local.length);
                    let is_over = !self.goes_on()
                        || self.seed_ratio.is_some_and(|most| ratio >= most)
                        || self
                            .seed_time
                            .is_some_and(|most| finished.elapsed().as_secs_f64() >= most);
                    if is_over {
                        if self.goes_on() {
                            self.common
                                .teller()
                                .ended(env, &job.given, status.uploaded)?;
                        }
                        session.remove(running.id)?;
                        job.stage = Stage::Ended(Exit::Good);
                    }
                } else if is_late {
                    let trouble = job.trouble.clone();
                    let trouble = trouble.unwrap_or_else(|| count(status.peers.into(), "peer"));
                    bail!(
                        "nothing has come for {} s: {trouble}",
                        self.timeout.unwrap_or(0.0)
                    );
                }
            }
        }
        Ok(())
    }

    fn show(&self, env: &Env, session: &Session, jobs: &[Job], line: &mut Option<ProgressLine>) {
        if !env.progress || self.common.quiet {
            return;
        }
        let (mut done, mut wanted, mut peers, mut rate) = (0, 0, 0, 0);
        let mut names = Vec::new();
        for job in jobs {
            if let Stage::Running(running) = &job.stage
                && let Ok(status) = session.status(running.id)
            {
                done += status.wanted_done;
                wanted += status.wanted;
                peers += status.peers;
                rate += status.down_rate;
                names.push(running.ready.local.name.as_str());
            }
        }
        let name = match names[..] {
            [] => "looking for metadata".to_owned(),
            [name] => name.to_owned(),
            _ => count(names.len() as u64, "torrent"),
        };
        let line = line.get_or_insert_with(|| ProgressLine::of_transfer(name.clone()));
        line.set_name(format!(
            "{name}: {}, {}/s",
            count(peers.into(), "peer"),
            Size(rate)
        ));
        line.update(done, wanted);
    }

    fn tell_finished(
        &self,
        env: &mut Env,
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
        self.common.teller().tell(env, &report, || {
            let came = Size(status.downloaded);
            let name = &running.ready.local.name;
            format!(
                "{name}: complete and verified, {came} came in {}",
                text::Duration(seconds)
            )
        })
    }

    /// Says why a torrent cannot be gone on with.
    fn fail(&self, env: &mut Env, given: &str, error: anyhow::Error) -> anyhow::Result<Stage> {
        self.common.teller().error(env, given, error)?;
        Ok(Stage::Ended(Exit::NotChecked))
    }
}

fn of(jobs: &mut [Job], wanted: TorrentId) -> Option<&mut Job> {
    jobs.iter_mut().find(|job| match &job.stage {
        Stage::Metadata { id, .. } | Stage::Parting { id, .. } => *id == wanted,
        Stage::Running(running) => running.id == wanted,
        Stage::Link(_) | Stage::Ready(_) | Stage::Ended(_) => false,
    })
}

fn link(text: &str) -> anyhow::Result<Stage> {
    Ok(Stage::Link(Box::new(text.parse()?)))
}

/// Whether all pieces are there that are wanted, which none named means of all.
fn are_there(have: &[bool], wanted: &[bool]) -> bool {
    let mut have = have.iter().enumerate();
    have.all(|(i, have)| *have || !wanted.get(i).unwrap_or(&true))
}

/// The worst of all.
fn exit_of(jobs: &[Job]) -> Exit {
    let exits = jobs.iter().map(|job| match job.stage {
        Stage::Ended(exit) => exit,
        _ => Exit::NotChecked,
    });
    exits.max().unwrap_or(Exit::Good)
}

/// Whether metadata with these info-hashes is what the link means.
fn fits(link: InfoHashes, found: InfoHashes) -> bool {
    let same = link.v1().is_none_or(|v1| found.v1() == Some(v1))
        && link.v2().is_none_or(|v2| found.v2() == Some(v2));
    same && (link.v1().is_some() || link.v2().is_some())
}

/// Ends the session: trackers are told, and not waited for longer than [`PARTING`].
pub(crate) fn part(session: Session) {
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        drop(session);
        let _ = done.send(());
    });
    let _ = ended.recv_timeout(PARTING);
}
