//! Settings and statistics of the session.

use std::num::NonZeroU32;
use std::path::Path;

use hashlane_api::{Refusal, SessionPatch, Target};
use hashlane_client::{Encryption, Network, ProxyKind, Space, Transport};
use hashlane_remote::model::{self, Session, SessionChange, Statistics, minutes, of_minutes};

use super::Remote;

impl Remote {
    pub(super) fn settings(&self) -> Session {
        let (limits, totals) = (self.session.limits_in_force(), self.session.totals());
        let (network, reach) = (self.session.network(), self.session.reach());
        let number = |limit: Option<NonZeroU32>| limit.map(NonZeroU32::get);
        let settings = &self.fixed.settings;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Session {
            version: env!("CARGO_PKG_VERSION"),
            config_folder: self.session.folder().map_or_else(String::new, text),
            folder: self.fixed.folder.as_deref().map_or_else(String::new, text),
            port: network.port,
            max_down: number(limits.rates.down),
            max_up: number(limits.rates.up),
            is_alternative: limits.is_alternative,
            alt_max_down: number(limits.alternative.down),
            alt_max_up: number(limits.alternative.up),
            ratio: limits.goal.ratio.limit(),
            seeding_minutes: limits.goal.time.limit().map(minutes),
            idle_minutes: limits.goal.idle.limit().map(minutes),
            is_listening: !reach.listening.is_empty(),
            is_reachable: reach.counters.has_incoming,
            n_dht_nodes: reach.counters.dht_nodes,
            uses_dht: settings.dht,
            uses_local_discovery: settings.local_discovery,
            uses_peer_exchange: true,
            maps_port: settings.port_mapping,
            uses_utp: settings.transport != Transport::Tcp,
            encryption: match settings.encryption {
                Encryption::Required => model::Encryption::Required,
                Encryption::Allowed => model::Encryption::Preferred,
                Encryption::Off => model::Encryption::Off,
            },
            proxy: settings.proxy.as_ref().map(|proxy| model::Proxy {
                kind: match proxy.kind {
                    ProxyKind::Http => model::ProxyKind::Http,
                    ProxyKind::Socks5 => model::ProxyKind::Socks5,
                },
                host: proxy.host.clone(),
                port: proxy.port,
                has_login: proxy.login.is_some(),
            }),
            max_peers: settings.max_peers.map(u32::from),
            max_downloads: number(limits.queue.downloads),
            max_seeds: number(limits.queue.uploads),
            max_verifications: self.fixed.max_verifications.get(),
            stalled_minutes: Some(limits.queue.stalled_minutes()),
            starts_added: !limits.adds_paused,
            now: Statistics {
                uploaded: totals.sent,
                downloaded: totals.received,
                n_added: totals.torrents,
                n_starts: 1,
                seconds: totals.seconds,
            },
            all: Statistics {
                uploaded: totals.all.sent,
                downloaded: totals.all.received,
                n_added: totals.torrents,
                n_starts: totals.all.starts,
                seconds: totals.all.seconds,
            },
        }
    }

    pub(super) fn change_settings(&self, change: &SessionChange) -> Result<(), Refusal> {
        let now = self.settings();
        if change
            .folder
            .as_ref()
            .is_some_and(|folder| *folder != now.folder)
        {
            return Err(Refusal::Forbidden(
                "the folder of new downloads cannot be changed here: set --dir at the start".into(),
            ));
        }
        let limits = [
            change.max_down,
            change.max_up,
            change.alt_max_down,
            change.alt_max_up,
            change.max_downloads,
            change.max_seeds,
        ];
        if limits.contains(&Some(Some(0))) {
            return Err(Refusal::Invalid(
                "a limit of 0 would stop all torrents: pause them instead".into(),
            ));
        }
        if let Some(port) = change.port {
            // First, because only this can be refused now.
            let bind = self.session.network().bind;
            let changed = self.session.set_network(Network { bind, port });
            changed.map_err(|error| Refusal::Conflict(error.to_string()))?;
        }
        self.session.change(&patch(change, &now))
    }

    pub(super) fn space(&self, folder: &str) -> Result<(u64, u64), Refusal> {
        let path = self.allowed(folder)?;
        // A file system that is not mounted has no space, and that of the parent would be taken for it.
        let space = path.metadata().and_then(|_| Space::of(&path));
        let space = space.map_err(|error| Refusal::Conflict(format!("{folder}: {error}")))?;
        Ok((space.free_bytes, space.total_bytes))
    }
}

/// Returns the settings that a program has changed. Programs send all settings back: those that stay leave the configuration in
/// force. Shown times are rounded, so a program that sends them back must not change them.
fn patch(change: &SessionChange, now: &Session) -> SessionPatch {
    #[expect(clippy::option_option, reason = "absent and none differ")]
    fn new<T: PartialEq + Copy>(given: Option<Option<T>>, before: Option<T>) -> Option<Target<T>> {
        given.filter(|given| *given != before).map(Target::of)
    }
    let limit = |given, before| {
        let limit: Option<Target<u32>> = new(given, before);
        limit.map(|limit| Target::of(limit.limit().and_then(NonZeroU32::new)))
    };
    let time = |given, before| {
        let minutes: Option<Target<u32>> = new(given, before);
        minutes.map(|minutes| minutes.map(of_minutes))
    };
    SessionPatch {
        alternative: change.is_alternative,
        adds_paused: change.starts_added.map(|starts_added| !starts_added),
        max_down: limit(change.max_down, now.max_down),
        max_up: limit(change.max_up, now.max_up),
        alt_max_down: limit(change.alt_max_down, now.alt_max_down),
        alt_max_up: limit(change.alt_max_up, now.alt_max_up),
        max_active_downloads: limit(change.max_downloads, now.max_downloads),
        max_active_uploads: limit(change.max_seeds, now.max_seeds),
        ratio: new(change.ratio, now.ratio),
        time: time(change.seeding_minutes, now.seeding_minutes),
        idle: time(change.idle_minutes, now.idle_minutes),
    }
}
