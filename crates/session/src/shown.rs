//! Torrents as users see them, shared until they change.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hashlane_api::{Goal, Place, Rates, Target};
use hashlane_client::{Activity, SecretTiers, Snapshot, TorrentSnapshot, unix_seconds};
use hashlane_store::{Choices, Entry, Metainfo, TorrentTotals};

use super::goal::is_served;
use super::rules::Decision;
use super::torrents::{DAMAGED, Torrents, counted};
use super::trackers::of_magnet;

/// The torrents as users last saw them.
#[derive(Default)]
pub(super) struct Shown {
    /// The number of the session's last change that `snapshot` has.
    change: u64,
    /// The snapshot of the client that `snapshot` was made of.
    client: Arc<Snapshot>,
    snapshot: Arc<Snapshot>,
    /// The torrents by their numbers.
    torrents: HashMap<usize, Known>,
}

/// A torrent as users last saw it.
struct Known {
    parts: Parts,
    shown: Arc<TorrentSnapshot>,
}

/// What a shown torrent is made of, besides the settings in the folder. The same parts show the same torrent.
#[derive(PartialEq)]
struct Parts {
    /// The last change of the settings.
    revision: u64,
    number: usize,
    position: u64,
    /// The torrent in the client; `None` before the client knows it.
    client: Option<Shared>,
    /// The totals without those of the client.
    totals: TorrentTotals,
    activity: Activity,
    /// The reason why the torrent waits or failed.
    error: Option<String>,
    /// The trackers, if they are not those of the metadata.
    tiers: Option<SecretTiers>,
    /// What rules set.
    decision: Arc<Decision>,
    limits: Rates,
    /// The goal that applies.
    goal: Goal,
    /// The goal of rules, the category and the labels.
    inherited: Goal,
    /// The torrent as a person named it.
    label: String,
    /// Whether the torrent is served until a person stops it.
    is_daemon: bool,
}

/// A shared torrent, which equals no other.
struct Shared(Arc<TorrentSnapshot>);

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Shown {
    /// Returns all torrents in the order of their numbers. Two snapshots share a torrent that did not change between them, and
    /// they are the same if none did.
    pub(super) fn of(&mut self, torrents: &Torrents) -> Arc<Snapshot> {
        let client = torrents.all();
        let is_same_client = Arc::ptr_eq(&self.client, &client);
        if is_same_client && self.change == torrents.change {
            return Arc::clone(&self.snapshot);
        }
        let now = unix_seconds();
        let session_goal = torrents.session_goal();
        let mut shown = Vec::with_capacity(self.torrents.len());
        let mut has_changed = !is_same_client;
        for (entry, position) in torrents.store.entries().into_iter().zip(0..) {
            let Some(parts) = Parts::of(torrents, entry, position, &client, session_goal) else {
                continue;
            };
            let known = self.torrents.get(&parts.number);
            if let Some(known) = known
                && known.parts == parts
            {
                shown.push(Arc::clone(&known.shown));
                continue;
            }
            has_changed = true;
            let torrent = Arc::new(parts.shown(entry, known.map(|it| &*it.shown), now));
            shown.push(Arc::clone(&torrent));
            let number = parts.number;
            let shown = torrent;
            self.torrents.insert(number, Known { parts, shown });
        }
        let n_kept = shown.len();
        shown.extend(torrents.others().values().map(|other| {
            // The client may not have published it yet.
            let torrent = other.handle.find(&client);
            torrent.map_or_else(|| other.handle.snapshot(), Arc::clone)
        }));
        shown.sort_by_key(|torrent| torrent.identity.number);
        if self.torrents.len() > n_kept {
            has_changed = true;
            let is_present = |number: &usize| {
                let found = shown.binary_search_by_key(number, |torrent| torrent.identity.number);
                found.is_ok()
            };
            self.torrents.retain(|number, _| is_present(number));
        }
        if has_changed {
            self.snapshot = Arc::new(Snapshot {
                network: client.network.clone(),
                network_problem: client.network_problem.clone(),
                reach: Arc::clone(&client.reach),
                next_number: shown.last().map_or(0, |last| last.identity.number + 1),
                torrents: shown,
                max_down: client.max_down,
                max_up: client.max_up,
                accepts_torrents: true,
            });
        }
        (self.change, self.client) = (torrents.change, client);
        Arc::clone(&self.snapshot)
    }
}

impl Parts {
    fn of(
        torrents: &Torrents,
        entry: &Entry,
        position: u64,
        all: &Snapshot,
        session_goal: Goal,
    ) -> Option<Self> {
        let name = entry.name();
        let (number, client, totals) = torrents.parts(name, all)?;
        let (activity, error) = torrents.activity(entry, client.map(|it| &**it));
        let decision = torrents.shared_decision(name);
        let inherited = torrents.inherited_goal(entry, &decision);
        Some(Self {
            revision: entry.revision,
            number,
            position,
            client: client.map(|it| Shared(Arc::clone(it))),
            totals,
            activity,
            error,
            tiers: torrents.changed_tiers(name).cloned(),
            decision,
            limits: torrents.limits_of(entry),
            goal: entry.choices.goal.or(inherited).or(session_goal),
            inherited,
            label: torrents.label(entry),
            is_daemon: torrents.config.mode.is_none(),
        })
    }

    /// Returns the torrent as requests see it at a time in seconds since 1970. `before` is the torrent as they saw it last.
    fn shown(&self, entry: &Entry, before: Option<&TorrentSnapshot>, now: u64) -> TorrentSnapshot {
        let of_client = self.client.as_ref().map(|client| &*client.0);
        let totals = of_client.map_or(self.totals, |it| counted(&self.totals, it));
        let choices = &entry.choices;
        let mut torrent = of_client
            .cloned()
            .unwrap_or_else(|| TorrentSnapshot::new(self.number, ""));
        let text = |path: &Path| path.to_string_lossy().into_owned();
        torrent.identity.info_hashes = Some(entry.info_hashes);
        if let Some(before) = before {
            keep_size(&mut torrent, before);
        }
        torrent.activity = self.activity;
        torrent.error.clone_from(&self.error);
        if torrent.activity == Activity::Serving
            && !torrent.is_complete
            && self.is_daemon
            && is_served(choices, &totals)
        {
            torrent.error.get_or_insert_with(|| DAMAGED.to_owned());
        }
        torrent.torrent.clone_from(&self.label);
        torrent.name = match entry.metainfo {
            Metainfo::File(_) | Metainfo::Torrent(_) => Some(entry.shown_title()),
            Metainfo::Magnet(_) => choices.title.clone().or(torrent.name),
        };
        match &choices.place {
            Place::Folder(folder) => torrent.folder = Some(text(folder)),
            Place::Content(content) => torrent.content = Some(text(content)),
        }
        torrent.trackers = match &entry.metainfo {
            Metainfo::Magnet(magnet) => Some(SecretTiers(of_magnet(magnet).into())),
            Metainfo::File(_) | Metainfo::Torrent(_) => self.tiers.clone(),
        };
        torrent.move_to = choices.move_to.as_deref().map(text);
        torrent.is_paused = choices.paused;
        torrent.is_forced = choices.forced;
        torrent.queue_position = self.is_daemon.then_some(self.position);
        torrent.is_sequential = choices.sequential;
        torrent.is_super_seeding = choices.super_seeding;
        self.show_ruled(choices, &mut torrent);
        let seconds = |time: Target<Duration>| time.limit().map(|time| time.as_secs());
        torrent.goal = choices.goal;
        torrent.inherited = self.inherited;
        torrent.is_served |= self.is_daemon;
        if torrent.is_served {
            torrent.seed_ratio = self.goal.ratio.limit();
            torrent.seed_seconds = seconds(self.goal.time);
        }
        torrent.idle_seconds = seconds(self.goal.idle);
        torrent.added_at = totals.added;
        torrent.completed_at = totals.completed;
        torrent.active_at = totals.active;
        torrent.downloaded_bytes = totals.received;
        torrent.uploaded_bytes = totals.sent;
        let earlier = Duration::from_secs(self.totals.seeding_seconds).as_secs_f64();
        torrent.serving_seconds = match of_client {
            Some(it) => it.serving_seconds.after(earlier),
            None => earlier.into(),
        };
        torrent.changed_at = match before {
            Some(before) if before.is_same(&torrent) => before.changed_at,
            Some(_) => now,
            // The session does not know when an earlier process changed it.
            None => torrent.active_at.unwrap_or(torrent.added_at),
        };
        torrent
    }
}

impl Parts {
    /// Adds what a person chose, or otherwise a rule.
    fn show_ruled(&self, choices: &Choices, torrent: &mut TorrentSnapshot) {
        let labels = choices.labels.union(&self.decision.labels);
        torrent.labels = labels.cloned().collect();
        let of_rules = self.decision.category.as_ref();
        torrent.category = choices.category.as_ref().or(of_rules).cloned();
        torrent.max_down = self.limits.down.map(NonZeroU32::get);
        torrent.max_up = self.limits.up.map(NonZeroU32::get);
    }
}

/// Gives a torrent that is started again the size that it had, until its metadata is read.
fn keep_size(torrent: &mut TorrentSnapshot, before: &TorrentSnapshot) {
    if torrent.total_bytes == 0 {
        torrent.piece_length = before.piece_length;
        torrent.files = before.files;
        torrent.is_folder = before.is_folder;
        torrent.total_bytes = before.total_bytes;
        torrent.wanted_bytes = before.wanted_bytes;
    }
}
