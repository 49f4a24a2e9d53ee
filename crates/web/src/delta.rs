//! The changes of all torrents since an earlier event.
//!
//! Each field of each torrent has the version at which it changed last. An event since any version is made of these numbers, so
//! nothing is stored for a stream, and a program that was disconnected continues where it was. Removed torrents are
//! remembered for as long as [`MAX_REMOVED`] others were not removed after them.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::mem;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use hashlane_client::{Snapshot, TorrentSnapshot};
use serde::Serialize;
use serde_json::{Map, Value};

/// Number of removed torrents that are remembered.
const MAX_REMOVED: usize = 4096;

/// The names of fields that identify a torrent, which every change has.
const IDENTITY: [&str; 2] = ["number", "info_hash"];

/// All torrents as they were last seen, with the versions of their changes.
pub(super) struct Delta {
    /// Random: an event of another start has other versions.
    epoch: String,
    version: u64,
    /// The snapshot of the last comparison.
    snapshot: Arc<Snapshot>,
    torrents: BTreeMap<usize, Known>,
    /// The numbers of removed torrents, with the versions of their removals.
    removed: VecDeque<(u64, usize)>,
    /// The version of the last removal that was forgotten.
    forgotten: u64,
    session: Session,
    session_version: u64,
}

struct Known {
    last: Arc<TorrentSnapshot>,
    /// The version of the last change.
    version: u64,
    /// The version of each field, in the order of their names.
    fields: Vec<u64>,
}

/// What is not part of a torrent.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Session {
    /// Download limit in bytes per second; `None` for no limit.
    max_down: Option<u32>,
    /// Upload limit in bytes per second; `None` for no limit.
    max_up: Option<u32>,
    /// Whether torrents can be added.
    accepts_torrents: bool,
}

/// The changes since an earlier event.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Changes {
    /// Whether these are all torrents, not only changes.
    full: bool,
    /// The changed fields of torrents, and all fields of new ones.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<ChangedTorrent>"))]
    changed: Vec<Map<String, Value>>,
    /// The numbers of torrents that were removed.
    removed: Vec<usize>,
    #[serde(flatten)]
    session: Option<Session>,
}

/// The schema of the changed fields of a torrent.
#[cfg(feature = "schema")]
struct ChangedTorrent;

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ChangedTorrent {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ChangedTorrent".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = TorrentSnapshot::json_schema(generator);
        schema.insert("required".into(), IDENTITY.into());
        let description = "The changed fields of a torrent; all fields of a new one.";
        schema.insert("description".into(), description.into());
        schema
    }
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        !self.full && self.changed.is_empty() && self.removed.is_empty() && self.session.is_none()
    }
}

impl Delta {
    pub(super) fn new() -> io::Result<Self> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self {
            epoch: HEXLOWER.encode(&bytes),
            version: 0,
            snapshot: Arc::default(),
            torrents: BTreeMap::new(),
            removed: VecDeque::new(),
            forgotten: 0,
            session: Session::default(),
            session_version: 0,
        })
    }

    /// Returns the name of an event with all changes up to now, for `Last-Event-ID`.
    pub(super) fn id(&self) -> String {
        format!("{}-{}", self.epoch, self.version)
    }

    /// Returns the version of now.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Returns the version of an event; `None` if it is of another start, or if the removals since then are forgotten.
    pub(super) fn version_of(&self, id: &str) -> Option<u64> {
        let (epoch, version) = id.split_once('-')?;
        let version = version.parse().ok()?;
        let is_known = epoch == self.epoch && (self.forgotten..=self.version).contains(&version);
        is_known.then_some(version)
    }

    /// Compares with the latest snapshot. Times that only run on are no changes.
    pub(super) fn update(&mut self, snapshot: &Arc<Snapshot>) {
        if Arc::ptr_eq(&self.snapshot, snapshot) {
            return;
        }
        self.snapshot = Arc::clone(snapshot);
        let next = self.version + 1;
        let mut is_changed = false;
        let mut before = mem::take(&mut self.torrents);
        for torrent in &snapshot.torrents {
            let number = torrent.identity.number;
            let known = match before.remove(&number) {
                Some(known) if Arc::ptr_eq(&known.last, torrent) => known,
                Some(mut known) if known.last.is_same(torrent) => {
                    known.last = Arc::clone(torrent);
                    known
                }
                known => {
                    is_changed = true;
                    known.map_or_else(
                        || Known::new(torrent, next),
                        |known| known.changed(torrent, next),
                    )
                }
            };
            self.torrents.insert(number, known);
        }
        for number in before.into_keys() {
            is_changed = true;
            self.removed.push_back((next, number));
        }
        while self.removed.len() > MAX_REMOVED {
            self.forgotten = self
                .removed
                .pop_front()
                .map_or(next, |(version, _)| version);
        }
        let session = Session {
            max_down: snapshot.max_down,
            max_up: snapshot.max_up,
            accepts_torrents: snapshot.accepts_torrents,
        };
        if session != self.session {
            is_changed = true;
            (self.session, self.session_version) = (session, next);
        }
        if is_changed {
            self.version = next;
        }
    }

    /// Returns the changes since a version, or all torrents without one, or if the removals since then are forgotten.
    pub(super) fn since(&self, version: Option<u64>) -> Changes {
        let version = version.filter(|version| *version >= self.forgotten);
        let Some(since) = version else {
            return Changes {
                full: true,
                changed: self
                    .torrents
                    .values()
                    .map(|it| fields_of(&it.last))
                    .collect(),
                removed: Vec::new(),
                session: Some(self.session),
            };
        };
        let changed = self.torrents.values().filter(|it| it.version > since);
        let removed = self.removed.iter().filter(|(version, _)| *version > since);
        Changes {
            full: false,
            changed: changed.map(|it| it.since(since)).collect(),
            removed: removed.map(|(_, number)| *number).collect(),
            session: (self.session_version > since).then_some(self.session),
        }
    }
}

impl Known {
    fn new(torrent: &Arc<TorrentSnapshot>, version: u64) -> Self {
        Self {
            last: Arc::clone(torrent),
            version,
            fields: vec![version; fields_of(torrent).len()],
        }
    }

    fn changed(mut self, torrent: &Arc<TorrentSnapshot>, version: u64) -> Self {
        let (old, new) = (fields_of(&self.last), fields_of(torrent));
        for (place, (old, new)) in self.fields.iter_mut().zip(old.values().zip(new.values())) {
            if old != new {
                *place = version;
            }
        }
        Self {
            last: Arc::clone(torrent),
            version,
            ..self
        }
    }

    fn since(&self, since: u64) -> Map<String, Value> {
        let mut fields = fields_of(&self.last);
        let mut versions = self.fields.iter();
        fields.retain(|name, _| {
            let is_new = versions.next().is_some_and(|version| *version > since);
            is_new || IDENTITY.contains(&name.as_str())
        });
        fields
    }
}

/// Returns all fields of a torrent as JSON. Every torrent has the same ones.
fn fields_of(torrent: &TorrentSnapshot) -> Map<String, Value> {
    match serde_json::to_value(torrent) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("a torrent is an object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 5000;

    fn snapshot(n: usize) -> Arc<Snapshot> {
        Arc::new(Snapshot {
            torrents: (0..n)
                .map(|number| Arc::new(TorrentSnapshot::new(number, "torrent")))
                .collect(),
            ..Snapshot::default()
        })
    }

    fn text(changes: &Changes) -> Value {
        serde_json::to_value(changes).unwrap()
    }

    /// A client whose torrents only grow older sends nothing.
    #[test]
    fn an_idle_client_with_many_torrents_sends_nothing() {
        let mut delta = Delta::new().unwrap();
        let mut all = snapshot(N);
        delta.update(&all);
        let first = delta.since(None);
        assert_eq!((first.full, first.changed.len()), (true, N));
        let mut n_bytes = 0;
        for _ in 0..10 {
            let since = delta.version();
            for torrent in &mut Arc::make_mut(&mut all).torrents {
                let torrent = Arc::make_mut(torrent);
                torrent.serving_seconds = (torrent.serving_seconds.seconds() + 0.5).into();
                torrent.downloading_seconds = (torrent.downloading_seconds.seconds() + 0.5).into();
            }
            delta.update(&all);
            let changes = delta.since(Some(since));
            if !changes.is_empty() {
                n_bytes += serde_json::to_vec(&changes).unwrap().len();
            }
        }
        assert_eq!(n_bytes, 0);
        // One torrent of all is a small event.
        let since = delta.version();
        let torrents = &mut Arc::make_mut(&mut all).torrents;
        Arc::make_mut(&mut torrents[17]).uploaded_bytes = 1;
        delta.update(&all);
        let changes = text(&delta.since(Some(since)));
        let bytes = serde_json::to_vec(&changes).unwrap();
        assert!(bytes.len() < 200, "{changes}");
        assert_eq!(changes["changed"][0]["number"], 17);
        assert_eq!(changes["changed"][0]["uploaded_bytes"], 1);
        assert!(changes["changed"][0].get("name").is_none(), "{changes}");
    }

    /// Applying the changes since any event gives the state of now.
    #[test]
    fn changes_since_any_event_lead_to_the_same_state() {
        let apply = |state: &mut BTreeMap<u64, Map<String, Value>>, changes: &Changes| {
            if changes.full {
                state.clear();
            }
            for fields in &changes.changed {
                let number = fields["number"].as_u64().unwrap();
                state.entry(number).or_default().extend(fields.clone());
            }
            for number in &changes.removed {
                state.remove(&(*number as u64));
            }
        };
        let mut delta = Delta::new().unwrap();
        let mut all = snapshot(8);
        let mut followers = Vec::new();
        for step in 0..20_u64 {
            let torrents = &mut Arc::make_mut(&mut all).torrents;
            let at = step as usize % torrents.len();
            Arc::make_mut(&mut torrents[at]).done_bytes += step;
            Arc::make_mut(&mut torrents[0]).peers = step as u32;
            if step % 5 == 4 {
                torrents.remove(at);
                let number = 100 + step as usize;
                torrents.push(Arc::new(TorrentSnapshot::new(number, "new")));
            }
            delta.update(&all);
            let mut state = BTreeMap::new();
            apply(&mut state, &delta.since(None));
            followers.push((delta.id(), state));
        }
        let (_, now) = followers.last().unwrap().clone();
        for (id, mut state) in followers {
            let version = delta.version_of(&id).unwrap();
            apply(&mut state, &delta.since(Some(version)));
            assert_eq!(state, now, "{id}");
        }
        for unknown in ["", "x-1", "0123456789abcdef-1", &format!("{}0", delta.id())] {
            assert_eq!(delta.version_of(unknown), None, "{unknown}");
        }
    }

    /// Memory is bounded: who missed too many removals gets all torrents again.
    #[test]
    fn forgotten_removals_lead_to_a_full_event() {
        let mut delta = Delta::new().unwrap();
        delta.update(&snapshot(N));
        let (id, since) = (delta.id(), delta.version());
        for n in (0..N).step_by(100).rev() {
            delta.update(&snapshot(n));
        }
        assert_eq!(delta.removed.len(), MAX_REMOVED);
        assert_eq!(delta.version_of(&id), None);
        assert!(delta.since(Some(since)).full);
        let recent = delta.version() - 1;
        assert_eq!(delta.since(Some(recent)).removed.len(), 100);
    }

    #[test]
    fn limits_of_the_session_are_sent_when_they_change() {
        let mut delta = Delta::new().unwrap();
        delta.update(&snapshot(1));
        let since = delta.version();
        let limited = Snapshot {
            max_up: Some(7),
            ..(*snapshot(1)).clone()
        };
        delta.update(&Arc::new(limited));
        let changes = text(&delta.since(Some(since)));
        let expected = serde_json::json!({
            "full": false, "changed": [], "removed": [], "max_down": null, "max_up": 7, "accepts_torrents": false
        });
        assert_eq!(changes, expected);
    }
}
