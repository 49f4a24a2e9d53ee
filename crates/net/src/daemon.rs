//! `hashlane daemon`.
//!
//! | module | |
//! |---|---|
//! | `torrents` | the torrents: those of the state folder, in the client; `naming`: names of their content; `trackers`: their trackers |
//! | `trackers` | trackers in metadata and links |
//! | `categories` | categories, and the goals that torrents inherit |
//! | `goal` | what the client does for a torrent, from what a person chose |
//! | `hooks` | shell commands that run when something happens to a torrent |
//! | `priorities` | priorities of files |
//! | `queue` | the torrents that run now, and those that wait for their turn |
//! | `api` | the daemon as its page and its API see it |
//! | `remote` | the daemon as the protocols of other programs see it |
//! | `socket` | requests over the Unix socket |
//! | `request` | answers to requests |
//! | `report` | conversions between requests, replies and the state folder |
//! | `space` | the guard of free space |
//! | `schedule` | limits at times of the week |
//! | `service` | reports to systemd |
//! | `watch` | folders whose files are added |
//! | `signals` | the signals that end the daemon |

mod api;
mod categories;
mod goal;
mod hooks;
mod priorities;
mod queue;
mod remote;
mod report;
mod request;
mod schedule;
mod service;
mod signals;
mod socket;
mod space;
mod torrents;
mod trackers;
mod watch;

use std::num::NonZeroU32;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};

use hashlane_cli::tables::Tables;
use hashlane_cli::torrent_file::MAX_LEN;
use hashlane_cli::{Daemon, Env, Exit, Trust, daemon_tables, state_folder};
use hashlane_client::{
    Additions, Client, Config, Event, Limits, Pulse, Subscription, TorrentError,
};
use hashlane_store::{Store, Target};

use crate::Run;
use crate::config::absolute;
use crate::log::LogFile as _;
use crate::output::reporter::Reporter;
use crate::runner::named;
use crate::settings::SessionSettings as _;
use goal::Defaults;
use hooks::Hooks;
use service::Service;
use socket::Socket;
use torrents::{Torrents, lock};
use watch::{Watch, Watched};

impl Run for Daemon {
    fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let _log = self.log.start(env)?;
        service::prioritize_errors(env);
        let state = state_folder(env, self.state.as_deref())?;
        // The lock of the folder comes first: the socket of another daemon must not be replaced.
        let store = Store::open(&state)?;
        for problem in store.problems() {
            env.error(&format!("warning: {problem}"));
        }
        let tables = daemon_tables(&self, env)?;
        signals::install(env)?;
        let config = self.config(env)?;
        let pulse = config.pulse.clone();
        let folder = self
            .dir
            .as_deref()
            .map(|folder| absolute(env, folder))
            .transpose()?;
        let session_limits = (config.session.max_down, config.session.max_up);
        let fixed = remote::Fixed {
            state: state.clone(),
            folder: folder.clone(),
            settings: config.session.clone(),
        };
        let watched = self.watched(env, &tables)?;
        let hooks = Hooks::start(tables.hooks.clone())?;
        let client = Client::builder()
            .config(config.clone())
            .start()
            .map_err(named)?;
        let events = client.subscribe();
        let records = state.join("trust");
        let defaults = Defaults {
            folder,
            goal: hashlane_store::Goal {
                ratio: self.seed_ratio.map_or(Target::Inherited, Target::At),
                time: self.seed_time.map_or(Target::Inherited, Target::At),
                idle: Target::Inherited,
            },
            min_free: self.min_free,
            limits: Limits {
                max_down: Some(session_limits.0.and_then(NonZeroU32::new)),
                max_up: Some(session_limits.1.and_then(NonZeroU32::new)),
            },
            queue: (&self.queue).into(),
            records: self.trust.map(|trust| match trust {
                Trust::SizeAndTime => records,
            }),
        };
        let torrents = Arc::new(Mutex::new(Torrents::new(
            store, client, defaults, tables, hooks,
        )));
        let watch = Watch::start(watched, self.watch_remove, Arc::clone(&torrents))?;
        lock(&torrents).start_all();
        let remote = remote::serve(env, &self.remote, &torrents, fixed)?;
        let page = api::serve(env, &self, &torrents, &config, &state)?;
        // A program that can connect to the socket can connect to the other listeners, too.
        let socket = Socket::bind(&state)?;
        socket.serve(Arc::clone(&torrents))?;
        let mut reporter = Reporter::new(self.output.is_json(), self.output.quiet);
        if let Some(page) = &page {
            let (url, token) = (page.url(), None);
            reporter.on_event(env, &Event::Page { url, token })?;
        }
        let service = Service::new(pulse, env.end_at_once)?;
        let followed = follow(env, &torrents, &events, &watch, &mut reporter, &service);
        service.stopping();
        drop((socket, remote, page));
        let ended = lock(&torrents).end();
        followed?;
        ended?;
        Ok(Exit::Good)
    }
}

/// Handles events until a signal or an error ends the daemon.
fn follow(
    env: &mut Env,
    torrents: &Mutex<Torrents>,
    events: &Subscription,
    watch: &Watch,
    reporter: &mut Reporter,
    service: &Service,
) -> anyhow::Result<()> {
    while !env.cancel.is_cancelled() {
        // Not in the `match`, which would hold the lock.
        let until_tick = lock(torrents).until_tick();
        match events.recv_timeout(until_tick) {
            Ok(event) => {
                if !is_own(&event) {
                    reporter.on_event(env, &event)?;
                }
                if let Err(error) = lock(torrents).on_event(&event) {
                    env.error(&format!("{error}"));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The client has ended with an error, which `Torrents::end` returns.
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let mut torrents = lock(torrents);
        if torrents.until_tick().is_zero() {
            for error in torrents.tick() {
                env.error(&format!("{error}"));
            }
            for problem in torrents.hook_problems().chain(watch.problems()) {
                env.error(&format!("warning: {problem}"));
            }
            service.report(torrents.changed_status().as_ref());
        }
    }
    Ok(())
}

/// Returns `true` for the end of a torrent that a person removed, or that ends with the daemon.
fn is_own(event: &Event) -> bool {
    matches!(
        event,
        Event::Failed {
            error: TorrentError::Ended | TorrentError::Interrupted,
            ..
        }
    )
}

/// The settings from the options.
trait DaemonConfig {
    /// Returns the settings of the client.
    fn config(&self, env: &Env) -> anyhow::Result<Config>;

    /// Returns the watched folders, with the categories of their torrents.
    fn watched(&self, env: &Env, tables: &Tables) -> anyhow::Result<Vec<Watched>>;
}

impl DaemonConfig for Daemon {
    fn watched(&self, env: &Env, tables: &Tables) -> anyhow::Result<Vec<Watched>> {
        let of_options = self.watch_dir.iter().map(|folder| (folder.as_path(), None));
        let of_categories = tables.categories.iter().filter_map(|(name, category)| {
            let folder = category.watch_dir.as_ref()?.as_ref();
            Some((folder, Some(name.clone())))
        });
        let watched = |(folder, category)| {
            let folder = absolute(env, folder)?;
            Ok(Watched { folder, category })
        };
        of_options.chain(of_categories).map(watched).collect()
    }

    fn config(&self, env: &Env) -> anyhow::Result<Config> {
        let detail = self.log.event_detail(self.output.is_json());
        Ok(Config {
            session: self.network.settings(env, detail)?,
            peers: Vec::new(),
            http: None,
            hashing: self.hashing.options(),
            cancel: env.cancel.clone(),
            pulse: Pulse::default(),
            max_metainfo_len: MAX_LEN,
            additions: Additions {
                // The folder has no limit either.
                max_torrents: usize::MAX,
                ..Additions::default()
            },
        })
    }
}
