//! What rules decide about torrents.

use std::sync::Arc;
use std::time::Duration;

use hashlane_api::{Identity, Named, Patch, Rates, Rules, TorrentRules};
use hashlane_client::{Snapshot, unix_seconds};
use hashlane_store::{Entry, Name};

use super::{Running, Torrents};
use crate::rules::{Decision, Facts, Known, TorrentRule, decide, host_of};

/// The decision about a torrent that the client does not have.
static NONE: Decision = Decision::NONE;

impl Torrents {
    /// Returns what rules set for a torrent.
    pub(crate) fn decision(&self, name: Name) -> &Decision {
        let running = self.running.get(&name);
        running.map_or(&NONE, |running| &running.decision)
    }

    /// Returns the same to keep.
    pub(crate) fn shared_decision(&self, name: Name) -> Arc<Decision> {
        let running = self.running.get(&name);
        running.map_or_else(Arc::default, |running| Arc::clone(&running.decision))
    }

    /// Returns the rate limits of a torrent.
    pub(crate) fn limits_of(&self, entry: &Entry) -> Rates {
        let chosen = entry.choices.limits;
        let Some(running) = self.running.get(&entry.name()) else {
            return chosen;
        };
        let of_rules = running.decision.rates;
        let up = [running.throttle, of_rules.up].into_iter().flatten().min();
        chosen.or(Rates { up, ..of_rules })
    }

    /// Limits the uploads of torrents that have reached their goals, if rules ask for that in place of a pause.
    pub(super) fn throttle_at_goals(&mut self, all: &Snapshot) {
        let changed = self.store.iter().filter_map(|entry| {
            let running = self.running.get(&entry.name())?;
            let throttle = running
                .decision
                .throttle
                .filter(|_| !entry.choices.paused && self.has_reached_goal(entry, running, all));
            (throttle != running.throttle).then_some((entry.name(), throttle))
        });
        let changed: Vec<_> = changed.collect();
        for (name, throttle) in changed {
            if let Some(running) = self.running.get_mut(&name) {
                running.throttle = throttle;
            }
            self.pass_limits(name);
        }
    }

    /// Passes the rate limits of a torrent to the client.
    fn pass_limits(&self, name: Name) {
        if let (Some(handle), Some(entry)) = (self.handle(name), self.store.get(name)) {
            let limits = self.limits_of(entry);
            // The torrent may have ended.
            let _ = handle.set(&Patch {
                max_down: Some(limits.down),
                max_up: Some(limits.up),
                ..Patch::default()
            });
        }
    }

    /// Decides about all torrents again, by a snapshot of the client, and passes what has changed to the client.
    pub(super) fn follow_rules(&mut self, all: &Snapshot) {
        let has_rules = !self.config.rules.is_empty();
        let mut running = self.running.values();
        if !has_rules && running.all(|running| running.decision.is_none()) {
            return;
        }
        self.learn(all);
        let now = unix_seconds();
        let mut changed = Vec::new();
        for entry in self.store.iter() {
            let name = entry.name();
            let Some(running) = self.running.get_mut(&name) else {
                continue;
            };
            let decision = decide_for(&self.config.rules, entry, running, (all, now));
            if decision != *running.decision {
                tracing::debug!(torrent = %name, ?decision, "rules decide");
                running.decision = Arc::new(decision);
                changed.push(name);
            }
        }
        for name in changed {
            self.pass_limits(name);
            self.send_goal(name);
        }
    }

    /// Looks at the metadata that became known since the last time.
    fn learn(&mut self, all: &Snapshot) {
        let new = self.running.iter().filter_map(|(name, running)| {
            if running.known.is_some() {
                return None;
            }
            let snapshot = running.snapshot(all)?;
            snapshot.metainfo()?;
            let hosts = self.tiers(*name);
            let hosts = hosts.iter().flatten().filter_map(|url| host_of(url));
            let known = Known {
                trackers: hosts.collect(),
                is_private: snapshot.is_private,
                size: snapshot.total_bytes,
            };
            Some((*name, known))
        });
        let new: Vec<(Name, Known)> = new.collect();
        for (name, known) in new {
            if let Some(running) = self.running.get_mut(&name) {
                running.known = Some(known);
            }
        }
    }

    /// Returns what the rules set for torrents, or what others would set.
    pub(crate) fn shown_rules(&mut self, others: Option<&[TorrentRule]>) -> Rules {
        let (all, now) = (self.all(), unix_seconds());
        self.learn(&all);
        let rules = others.unwrap_or(&self.config.rules);
        let shown = self.store.entries().into_iter().filter_map(|entry| {
            let running = self.running.get(&entry.name())?;
            let decision = match others {
                Some(rules) => Arc::new(decide_for(rules, entry, running, (&all, now))),
                None => Arc::clone(&running.decision),
            };
            let choices = &entry.choices;
            let effects = decision.effects(rules, (choices.goal, choices.limits));
            let is_reached = self.has_reached(entry, &decision, running, &all);
            (!effects.is_empty()).then(|| TorrentRules {
                torrent: Named {
                    identity: Identity {
                        number: running.handle.number(),
                        info_hashes: Some(entry.info_hashes),
                    },
                    title: entry.shown_title(),
                },
                effects,
                reached_goal: !choices.paused && is_reached,
            })
        });
        Rules {
            torrents: shown.collect(),
            rules: rules.iter().map(|rule| rule.name.clone()).collect(),
        }
    }
}

/// Returns what rules set for a torrent, by a snapshot of the client at a time in seconds since 1970.
fn decide_for(
    rules: &[TorrentRule],
    entry: &Entry,
    running: &Running,
    (all, now): (&Snapshot, u64),
) -> Decision {
    let choices = &entry.choices;
    let facts = Facts {
        metadata: running.known.as_ref(),
        category: choices.category.as_deref(),
        labels: &choices.labels,
        folder: choices.place.path(),
        name: &entry.shown_title(),
        age: Duration::from_secs(now.saturating_sub(running.base.added)),
        seeders: running.snapshot(all).and_then(|it| it.tracker_seeds),
    };
    decide(rules, &facts)
}
