//! `hashlane daemon`.
//!
//! | module | |
//! |---|---|
//! | `activation` | sockets that systemd opened |
//! | `torrents` | the torrents: those of the state folder, in the client; `choices`: what a person chose; `naming`: names of their content; `trackers`: their trackers; `totals`: what they sent and received, and goals; `turns`: turns in the queue |
//! | `trackers` | trackers in metadata and links |
//! | `configured` | what the options and the configuration say, and what the daemon was started with |
//! | `categories` | categories, and the goals that torrents inherit |
//! | `fetches` | .torrent files from servers |
//! | `goal` | what the client does for a torrent, from what a person chose |
//! | `hooks` | shell commands that run when something happens to a torrent |
//! | `add` | torrents that are added |
//! | `apply` | what commands ask of torrents |
//! | `priorities` | priorities of files |
//! | `limits` | the limits of all torrents together |
//! | `queue` | the torrents that run now, and those that wait for their turn |
//! | `api` | the daemon as its page and its API see it |
//! | `remote` | the daemon as the protocols of other programs see it |
//! | `space` | the guard of free space |
//! | `schedule` | limits at times of the week |
//! | `service` | reports to systemd |
//! | `watch` | folders whose files are added |
//! | `reload` | another reading of the options and the configuration |
//! | `signals` | the signals that end the daemon, or ask for a reload |

mod activation;
mod add;
mod api;
mod apply;
mod categories;
mod configured;
mod fetches;
mod goal;
mod hooks;
mod limits;
mod priorities;
mod queue;
mod reload;
mod remote;
mod schedule;
mod service;
mod signals;
mod space;
mod torrents;
mod trackers;
mod watch;

use std::num::NonZeroU16;
use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use hashlane_cli::torrent_file::MAX_LEN;
use hashlane_cli::{Daemon, Env, Exit, state_folder};
use hashlane_client::{Additions, Client, Config, Error, Pulse, Subscription};
use hashlane_server::Server;
use hashlane_store::Store;

use crate::config::absolute;
use crate::executor::Unfinished;
use crate::log::LogFile as _;
use crate::output::reporter::Reporter;
use crate::runner::named;
use crate::settings::SessionSettings as _;
use crate::watchdog::{Rescue, Watchdog};
use crate::{Run, again, log};
use activation::Sockets;
use apply::Rights;
use configured::{Configured, Start};
use fetches::Fetches;
use hooks::Hooks;
use service::Service;
use signals::Hangups;
use torrents::{Torrents, lock};
use watch::Watch;

impl Run for Daemon {
    fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let _log = self.log.start(env)?;
        service::prioritize_errors(env);
        let ended = self.serve(env);
        if let Err(error) = &ended {
            // The program prints the reason for its end.
            tracing::error!(reason = format!("{error:#}"), "ended");
        }
        ended
    }
}

/// The life of the daemon.
trait Serve {
    /// Serves the torrents of the state folder until a signal or an error ends the daemon.
    fn serve(self, env: &mut Env) -> anyhow::Result<Exit>;
}

impl Serve for Daemon {
    fn serve(self, env: &mut Env) -> anyhow::Result<Exit> {
        let state = state_folder(env, self.state.as_deref())?;
        // The lock of the folder comes first: the socket of another daemon must not be replaced.
        let store = Store::open(&state)?;
        for problem in store.problems() {
            log::warn(env, &problem.to_string());
        }
        let mut reporter = Reporter::new(self.output.is_json(), self.output.quiet).of_daemon();
        let lost_lines = reporter.lost_lines();
        env.printer.start(lost_lines).map_err(Error::Thread)?;
        let sockets = Sockets::take()?;
        let start = Start::read(env)?;
        let configured = Configured::of(env, &start.settings, &state)?;
        let hangups = signals::install(env)?;
        let config = self.config(env)?;
        let pulse = config.pulse.clone();
        let rights = self.rights(env)?;
        let fixed = self.fixed(&state, &configured, &config);
        let hooks = Hooks::start(configured.tables.hooks.clone(), &state)
            .with_context(|| format!("{}: hooks", state.display()))?;
        let earlier = again::continued()?;
        let (client, events) =
            Client::continue_from(config.clone(), Vec::new(), earlier).map_err(named)?;
        let printed = events.clone();
        let watchdog =
            Watchdog::start(pulse.clone(), rescue(env, &client)).map_err(Error::Thread)?;
        let torrents = Arc::new(Mutex::new(Torrents::new(
            store, client, start, configured, hooks,
        )));
        let watch = Watch::start(Arc::clone(&torrents)).map_err(Error::Thread)?;
        lock(&torrents).start_all();
        let fetches = Arc::new(Fetches::by(config.session.proxy.clone()));
        let Sockets { http, .. } = sockets;
        let protocols = [sockets.transmission, sockets.qbittorrent];
        let page = api::serve(env, &self, http, (&torrents, &fetches), &config, &rights)?;
        let url = page.as_ref().map(hashlane_client::http::Server::url);
        let remote = remote::serve(
            env,
            &self.remote,
            protocols,
            (&torrents, &fetches),
            (rights, url.as_deref()),
            fixed,
        )?;
        // A program that can connect to the socket can connect to the other listeners, too.
        let socket = api::serve_socket(&state, &torrents, &fetches, &config)?;
        if let Some(page) = &page {
            api::report(env, page, &self, &state, &mut reporter)?;
        }
        report(env, &self, &state, &remote, &reporter)?;
        let service = Service::new(pulse)?;
        let followed = Followed {
            torrents: &torrents,
            events: &events,
            printed: &printed,
            watch: &watch,
            service: &service,
            hangups: &hangups,
        };
        let followed = followed.follow(env, &mut reporter);
        service.stopping();
        drop((socket, remote, page));
        let ended = lock(&torrents).end();
        if let Some(left) = lock(&torrents).hooks.end() {
            log::warn(env, &left);
        }
        drop(watchdog);
        followed?;
        ended?;
        Ok(Exit::Good)
    }
}

/// Reports the protocols and the folders of a daemon that has started.
fn report(
    env: &mut Env,
    daemon: &Daemon,
    state: &Path,
    protocols: &[(&str, Server)],
    reporter: &Reporter,
) -> anyhow::Result<()> {
    for (name, server) in protocols {
        reporter.note(env, &format!("{name}: {}", server.endpoint().url()))?;
    }
    if let Some(folder) = &daemon.dir {
        let folder = absolute(env, folder)?;
        let absence = if folder.exists() {
            ""
        } else {
            ", which does not exist yet"
        };
        reporter.note(env, &format!("content: {}{absence}", folder.display()))?;
    }
    let folder = state.display();
    reporter.note(env, &format!("state folder: {folder}, for `hashlane ctl`"))
}

/// Returns what the watchdog needs to start the daemon again.
fn rescue(env: &Env, client: &Client) -> Rescue {
    Rescue {
        observer: client.observer(),
        keeps_torrents: true,
        cancel: env.cancel.clone(),
        end_at_once: env.end_at_once,
        printer: env.printer.clone(),
        args: env.args.clone(),
        commands: Unfinished::default(),
        has_failed: Arc::default(),
    }
}

/// What the main thread of the daemon follows.
struct Followed<'d> {
    torrents: &'d Mutex<Torrents>,
    events: &'d Subscription,
    /// The events that are printed. Nothing else waits for their reader.
    printed: &'d Subscription,
    watch: &'d Watch,
    service: &'d Service,
    hangups: &'d Hangups,
}

impl Followed<'_> {
    /// Handles events until a signal or an error ends the daemon.
    fn follow(&self, env: &mut Env, reporter: &mut Reporter) -> anyhow::Result<()> {
        let torrents = self.torrents;
        while !env.cancel.is_cancelled() {
            // Not in the `match`, which would hold the lock.
            let until_tick = lock(torrents).until_tick();
            match self.events.recv_timeout(until_tick) {
                Ok(event) => {
                    if let Err(error) = lock(torrents).on_event(&event) {
                        log::error(env, &error.to_string());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The client has ended with an error, which `Torrents::end` returns.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            reporter.print_waiting(env, self.printed)?;
            let mut torrents = lock(torrents);
            if torrents.until_tick().is_zero() {
                for error in torrents.tick() {
                    log::error(env, &error.to_string());
                }
                for problem in torrents.hook_problems().chain(self.watch.problems()) {
                    log::warn(env, &problem);
                }
                let status = torrents.changed_status();
                self.service.report(status.as_ref());
                if self.hangups.take() {
                    reload(env, &mut torrents);
                }
            }
        }
        Ok(())
    }
}

/// Reads the configuration again, and reports what a person has to do.
fn reload(env: &mut Env, torrents: &mut Torrents) {
    match torrents.reload() {
        Ok(restart) if restart.is_empty() => {}
        Ok(restart) => {
            let restart = restart.join(", ");
            log::warn(
                env,
                &format!("reloaded, but these changes need a restart: {restart}"),
            );
        }
        Err(reason) => log::error(env, &format!("not reloaded: {reason}")),
    }
}

/// The settings from the options.
trait DaemonConfig {
    /// Returns the settings of the client.
    fn config(&self, env: &Env) -> anyhow::Result<Config>;

    /// Returns what the listeners of the protocols show and requests do not change.
    fn fixed(&self, state: &Path, configured: &Configured, config: &Config) -> remote::Fixed;

    /// Returns what requests may do.
    fn rights(&self, env: &Env) -> anyhow::Result<Rights>;
}

impl DaemonConfig for Daemon {
    fn rights(&self, env: &Env) -> anyhow::Result<Rights> {
        let folders = self.dir.iter().chain(&self.remote.remote_folders);
        let folders = folders.map(|folder| absolute(env, folder));
        Ok(Rights {
            folders: folders.collect::<anyhow::Result<_>>()?,
            may_delete: self.remote.remote_delete,
            fetches_local: self.http.http_fetch_local,
        })
    }

    fn fixed(&self, state: &Path, configured: &Configured, config: &Config) -> remote::Fixed {
        remote::Fixed {
            state: state.to_owned(),
            folder: configured.folder.clone(),
            settings: config.session.clone(),
            max_verifications: config.max_verifications,
        }
    }

    fn config(&self, env: &Env) -> anyhow::Result<Config> {
        let detail = self.log.event_detail(self.output.is_json());
        Ok(Config {
            session: self.network.settings(env, detail)?,
            peers: Vec::new(),
            http: None,
            hashing: self.hashing.options(),
            max_verifications: NonZeroU16::new(self.queue.max_active_verifications)
                .unwrap_or(NonZeroU16::MIN),
            cancel: env.cancel.clone(),
            pulse: Pulse::default(),
            max_metainfo_len: MAX_LEN,
            additions: Additions {
                // The folder has no limit either.
                max_torrents: usize::MAX,
                runs_on: true,
                ..Additions::default()
            },
        })
    }
}
