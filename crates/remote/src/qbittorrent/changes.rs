//! Changes since an earlier answer.
//!
//! Each answer has a number (`rid`), and the next request names it to get only what changed since. One state serves all programs:
//! for each value, the number of the first answer that had it. A number that the server does not know gets everything.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hashlane_client::{Snapshot, TorrentSnapshot};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::client::{category, queues, state};
use super::torrent::{FIELDS, Goals, Times, View};
use crate::model::Control;
use crate::torrent::Shown as _;

/// Maximum number of remembered removals of each kind. A program that missed more gets everything.
const MAX_REMOVED: usize = 10_000;

/// Milliseconds after which a program asks again, as qBittorrent suggests by default.
const REFRESH_MS: u32 = 1500;

/// What the last answer had, and since when.
pub(super) struct Changes {
    /// The number of the last answer.
    now: u32,
    /// The number before the first answer whose changes are known.
    horizon: u32,
    snapshot: Arc<Snapshot>,
    goals: Goals,
    /// For each torrent of the snapshot, what the answers had.
    rows: Vec<Sent>,
    removed: Removed,
    categories: Values,
    labels: Values,
    state: Values,
}

/// A torrent in answers.
#[derive(Clone)]
struct Sent {
    /// The times when anything else changed. Times that only run on are no changes.
    times: Times,
    /// Since when the fields have their values.
    since: [u32; FIELDS.len()],
}

/// Names that were removed, with the number of the first answer without them, the oldest first.
#[derive(Default)]
struct Removed(VecDeque<(u32, String)>);

impl Removed {
    /// Remembers a removal. Returns the number of one that is forgotten.
    fn add(&mut self, now: u32, name: String) -> Option<u32> {
        self.0.push_back((now, name));
        let is_full = self.0.len() > MAX_REMOVED;
        let forgotten = is_full.then(|| self.0.pop_front()).flatten();
        forgotten.map(|(since, _)| since)
    }

    /// Returns the names that were removed after an answer. Some may be present again.
    fn after(&self, rid: u32) -> BTreeSet<&str> {
        let after = self.0.iter().rev().take_while(|(since, _)| *since > rid);
        after.map(|(_, name)| name.as_str()).collect()
    }
}

/// Named values, and since when each has its value.
#[derive(Default)]
struct Values {
    known: BTreeMap<String, (Value, u32)>,
    removed: Removed,
}

impl Values {
    /// Replaces the values. Returns whether anything changed, and the number of a removal that is forgotten.
    fn update(&mut self, new: Map<String, Value>, now: u32) -> (bool, Option<u32>) {
        let mut has_changed = false;
        let mut forgotten = None;
        let gone: Vec<String> = self
            .known
            .keys()
            .filter(|name| !new.contains_key(*name))
            .cloned()
            .collect();
        for name in gone {
            self.known.remove(&name);
            forgotten = forgotten.max(self.removed.add(now, name));
            has_changed = true;
        }
        for (name, value) in new {
            if self.known.get(&name).is_none_or(|known| known.0 != value) {
                self.known.insert(name, (value, now));
                has_changed = true;
            }
        }
        (has_changed, forgotten)
    }

    /// Returns the values that are newer than an answer.
    fn after(&self, rid: u32) -> Map<String, Value> {
        let known = self.known.iter();
        let newer = known.filter(|(_, (_, since))| *since > rid);
        newer
            .map(|(name, (value, _))| (name.clone(), value.clone()))
            .collect()
    }

    fn removed_after(&self, rid: u32) -> BTreeSet<&str> {
        let mut removed = self.removed.after(rid);
        removed.retain(|name| !self.known.contains_key(*name));
        removed
    }
}

/// The answer to a request: what changed, or everything.
#[derive(Serialize)]
pub(super) struct Answered<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    torrents: Option<BTreeMap<String, Newer<'a>>>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// The fields of a torrent that are newer than an answer.
struct Newer<'a> {
    view: View<'a>,
    since: &'a [u32; FIELDS.len()],
    rid: u32,
}

impl Serialize for Newer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = FIELDS.iter().zip(self.since);
        let newer = fields.filter(|(_, since)| **since > self.rid);
        serializer.collect_map(newer.map(|((name, value), _)| (name, value(&self.view))))
    }
}

impl Changes {
    /// Returns an empty state. Its first number is random: an answer of an earlier process is not taken for one of this.
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        // Between 1 and 2^30, so that the number does not overflow in a century of one change per second.
        let first = (getrandom::u32()? >> 2) + 1;
        Ok(Self {
            now: first,
            horizon: first,
            snapshot: Arc::default(),
            goals: Goals::default(),
            rows: Vec::new(),
            removed: Removed::default(),
            categories: Values::default(),
            labels: Values::default(),
            state: Values::default(),
        })
    }

    /// Compares the client with the last answer. The number increases if anything changed.
    pub(super) fn update(&mut self, control: &dyn Control, snapshot: &Arc<Snapshot>) {
        let session = control.session();
        let now = self.now.wrapping_add(1);
        let (mut has_changed, mut forgotten) =
            self.update_torrents(snapshot, Goals::of(&session), now);
        let groups = control.groups();
        let categories = groups.categories.iter();
        let categories = categories.map(|known| (known.name.clone(), category(known)));
        let labels = groups.labels.into_iter().map(|label| (label, Value::Null));
        let torrents = &snapshot.torrents;
        let mut state = state(&session, torrents);
        let free = control.free_space(&session.folder);
        let n_peers = torrents.iter().map(|torrent| u64::from(torrent.peers));
        let wasted = torrents.iter().map(|torrent| torrent.wasted_bytes);
        let more = [
            ("alltime_dl", json!(session.all.downloaded)),
            ("alltime_ul", json!(session.all.uploaded)),
            (
                "free_space_on_disk",
                json!(free.map_or(0, |(free, _)| free)),
            ),
            (
                "global_ratio",
                json!(ratio(session.all.uploaded, session.all.downloaded)),
            ),
            ("queueing", json!(queues(&session))),
            ("refresh_interval", json!(REFRESH_MS)),
            ("total_peer_connections", json!(n_peers.sum::<u64>())),
            (
                "total_wasted_session",
                json!(wasted.fold(0, u64::saturating_add)),
            ),
            ("use_alt_speed_limits", json!(session.is_alternative)),
        ];
        state.extend(more.map(|(name, value)| (name.to_owned(), value)));
        for (values, new) in [
            (&mut self.categories, categories.collect()),
            (&mut self.labels, labels.collect()),
            (&mut self.state, state),
        ] {
            let updated = values.update(new, now);
            has_changed |= updated.0;
            forgotten = forgotten.max(updated.1);
        }
        if has_changed {
            self.now = now;
        }
        self.horizon = self.horizon.max(forgotten.unwrap_or(0));
    }

    /// Compares the torrents with those of the last answer. Returns whether anything changed, and the number of a removal that
    /// is forgotten.
    fn update_torrents(
        &mut self,
        snapshot: &Arc<Snapshot>,
        goals: Goals,
        now: u32,
    ) -> (bool, Option<u32>) {
        if Arc::ptr_eq(&self.snapshot, snapshot) && self.goals == goals {
            return (false, None);
        }
        let mut has_changed = false;
        let mut forgotten = None;
        let mut rows = Vec::with_capacity(snapshot.torrents.len());
        let mut remove = |torrent: &TorrentSnapshot| {
            forgotten = forgotten.max(self.removed.add(now, torrent.short_hash()));
        };
        // Both are in the order of their numbers.
        let mut old = self.snapshot.torrents.iter().zip(&self.rows).peekable();
        for torrent in &snapshot.torrents {
            let number = torrent.identity.number;
            while let Some((gone, _)) = old.next_if(|(old, _)| old.identity.number < number) {
                remove(gone);
                has_changed = true;
            }
            let Some((before, row)) = old.next_if(|(old, _)| old.identity.number == number) else {
                has_changed = true;
                rows.push(Sent {
                    times: Times::of(torrent),
                    since: [now; FIELDS.len()],
                });
                continue;
            };
            let mut row = row.clone();
            if !Arc::ptr_eq(before, torrent) || self.goals != goals {
                let before = View::at(row.times, before, &self.goals);
                row.times = Times::of(torrent);
                let after = View::at(row.times, torrent, &goals);
                for (since, (_, value)) in row.since.iter_mut().zip(FIELDS) {
                    if value(&before) != value(&after) {
                        *since = now;
                        has_changed = true;
                    }
                }
            }
            rows.push(row);
        }
        for (gone, _) in old {
            remove(gone);
            has_changed = true;
        }
        self.rows = rows;
        self.snapshot = Arc::clone(snapshot);
        self.goals = goals;
        (has_changed, forgotten)
    }

    /// Returns what changed since an answer, or everything.
    pub(super) fn after(&self, rid: u32) -> Answered<'_> {
        let is_full = rid < self.horizon || rid > self.now;
        let rid = if is_full { 0 } else { rid };
        let torrents = self.torrents_after(rid);
        let mut answer = Map::new();
        answer.insert("rid".into(), json!(self.now));
        if is_full {
            answer.insert("full_update".into(), json!(true));
        }
        let mut add = |name: &str, values: Value, is_empty: bool| {
            if is_full || !is_empty {
                answer.insert(name.into(), values);
            }
        };
        let categories = self.categories.after(rid);
        add("categories", json!(categories), categories.is_empty());
        let labels = self.labels.after(rid);
        let labels: Vec<&String> = labels.keys().collect();
        add("tags", json!(labels), labels.is_empty());
        let state = self.state.after(rid);
        add("server_state", json!(state), state.is_empty());
        if !is_full {
            let gone = self.torrents_removed_after(rid);
            add("torrents_removed", json!(gone), gone.is_empty());
            let gone = self.categories.removed_after(rid);
            add("categories_removed", json!(gone), gone.is_empty());
            let gone = self.labels.removed_after(rid);
            add("tags_removed", json!(gone), gone.is_empty());
        }
        Answered {
            torrents: (is_full || !torrents.is_empty()).then_some(torrents),
            others: answer,
        }
    }

    fn torrents_removed_after(&self, rid: u32) -> BTreeSet<&str> {
        let mut removed = self.removed.after(rid);
        if !removed.is_empty() {
            for torrent in &self.snapshot.torrents {
                removed.remove(torrent.short_hash().as_str());
            }
        }
        removed
    }

    fn torrents_after(&self, rid: u32) -> BTreeMap<String, Newer<'_>> {
        let rows = self.snapshot.torrents.iter().zip(&self.rows);
        let newer = rows.filter(|(_, row)| row.since.iter().any(|since| *since > rid));
        let rows = newer.map(|(torrent, row)| {
            let view = View::at(row.times, torrent, &self.goals);
            let since = &row.since;
            (torrent.short_hash(), Newer { view, since, rid })
        });
        rows.collect()
    }
}

/// Returns a ratio as qBittorrent shows it: a text with two digits.
#[expect(clippy::cast_precision_loss, reason = "it has two digits")]
fn ratio(uploaded: u64, downloaded: u64) -> String {
    if downloaded == 0 {
        return "-".to_owned();
    }
    format!("{:.2}", uploaded as f64 / downloaded as f64)
}
