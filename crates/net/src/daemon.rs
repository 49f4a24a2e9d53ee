//! `hashlane daemon`.
//!
//! | module | |
//! |---|---|
//! | `activation` | sockets that systemd opened |
//! | `configured` | what the options and the configuration say, and what the daemon was started with |
//! | `reload` | another reading of them |
//! | `api` | the daemon as its page and its API see it |
//! | `remote` | the daemon as the protocols of other programs see it |
//! | `service` | reports to systemd |
//! | `signals` | the signals that end the daemon, or ask for a reload |
//!
//! The torrents are those of a `hashlane_session::Session`, which runs on threads of its own.

mod activation;
mod api;
mod configured;
mod reload;
mod remote;
mod service;
mod signals;

use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hashlane_cli::torrent_file::MAX_LEN;
use hashlane_cli::{Daemon, Env, Exit, state_folder};
use hashlane_client::{Config, Error, Pulse, Rights, Subscription};
use hashlane_server::Server;
use hashlane_session::Session;
use hashlane_store::Store;
use hashlane_web::Links;

use crate::config::absolute;
use crate::executor::Unfinished;
use crate::log::LogFile as _;
use crate::output::reporter::Reporter;
use crate::runner::{ended, report_problems};
use crate::settings::SessionSettings as _;
use crate::watchdog::{Rescue, Watchdog};
use crate::{Run, again, log};
use activation::Sockets;
use configured::Start;
use reload::Reload;
use service::Service;
use signals::Hangups;

/// Interval at which systemd is informed, and signals are looked at.
const TICK: Duration = Duration::from_secs(1);

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
        let settings = configured::config(env, &start.settings, &state)?;
        let hangups = signals::install(env)?;
        let mut config = self.config(env)?;
        let earlier = again::continued()?;
        earlier.change(&mut config.session);
        if let Some(warning) = earlier.warning() {
            log::warn(env, &warning);
        }
        let pulse = config.pulse.clone();
        let rights = self.rights(env)?;
        let fixed = self.fixed(&settings, &config);
        let started = Session::start(store, config.clone(), settings, Vec::new());
        let (session, events) = started.map_err(ended)?;
        let rescue = rescue(env, &session, &config);
        let watchdog = Watchdog::start(pulse.clone(), rescue).map_err(Error::Thread)?;
        let reload = Arc::new(Reload {
            session: Arc::clone(&session),
            state: state.clone(),
            start,
            running: Mutex::default(),
        });
        let Sockets { http, .. } = sockets;
        let protocols = [sockets.transmission, sockets.qbittorrent];
        let links = Links::default();
        let page = api::serve(env, &self, http, &reload, &config, (&rights, &links))?;
        let url = page.as_ref().map(hashlane_web::Server::url);
        let remote = remote::serve(
            env,
            &self.remote,
            protocols,
            &session,
            (rights, url.as_deref()),
            fixed,
        )?;
        // A program that can connect to the socket can connect to the other listeners, too.
        let socket = api::serve_socket(&reload, &config, links)?;
        if let Some(page) = &page {
            api::report(env, page, &self, &state, &mut reporter)?;
        }
        report(env, &self, &state, &remote, &reporter)?;
        let service = Service::new(pulse)?;
        let followed = Followed {
            session: &session,
            events: &events,
            service: &service,
            hangups: &hangups,
            reload: &reload,
        };
        let followed = followed.follow(env, &mut reporter);
        service.stopping();
        drop((socket, remote, page));
        let stopped = session.stop();
        report_problems(env, &session);
        drop(watchdog);
        followed?;
        stopped.map_err(ended)?;
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
fn rescue(env: &Env, session: &Arc<Session>, config: &Config) -> Rescue {
    Rescue {
        observer: session.observer(),
        settings: config.session.clone(),
        session: Arc::downgrade(session),
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
    session: &'d Session,
    /// The events that are printed. Nothing else waits for their reader.
    events: &'d Subscription,
    service: &'d Service,
    hangups: &'d Hangups,
    reload: &'d Reload,
}

impl Followed<'_> {
    /// Reports what happens until a signal or an error ends the daemon.
    fn follow(&self, env: &mut Env, reporter: &mut Reporter) -> anyhow::Result<()> {
        let mut ticked = Instant::now();
        // A client that has failed has ended, and so `Session::stop` returns the error.
        while !env.cancel.is_cancelled()
            && !self.session.has_ended()
            && reporter.print_next(env, self.events, TICK)?
        {
            report_problems(env, self.session);
            if ticked.elapsed() < TICK {
                continue;
            }
            ticked = Instant::now();
            let status = self.session.changed_status();
            self.service.report(status.as_ref());
            if self.hangups.take() {
                self.reload(env);
            }
        }
        Ok(())
    }

    /// Reads the configuration again, and reports what a person has to do.
    fn reload(&self, env: &mut Env) {
        match self.reload.run() {
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
}

/// The settings from the options.
trait DaemonConfig {
    /// Returns the settings of the client.
    fn config(&self, env: &Env) -> anyhow::Result<Config>;

    /// Returns what the listeners of the protocols show and requests do not change.
    fn fixed(&self, settings: &hashlane_session::Config, config: &Config) -> remote::Fixed;

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

    fn fixed(&self, settings: &hashlane_session::Config, config: &Config) -> remote::Fixed {
        remote::Fixed {
            folder: settings.folder.clone(),
            settings: config.session.clone(),
            max_verifications: config.max_verifications,
        }
    }

    fn config(&self, env: &Env) -> anyhow::Result<Config> {
        let detail = self.log.event_detail(self.output.is_json());
        Ok(Config {
            session: self.network.settings(env, detail)?,
            peers: Vec::new(),
            hashing: self.hashing.options(),
            max_verifications: NonZeroU16::new(self.queue.max_active_verifications)
                .unwrap_or(NonZeroU16::MIN),
            cancel: env.cancel.clone(),
            pulse: Pulse::default(),
            max_metainfo_len: MAX_LEN,
            ..Config::default()
        })
    }
}
