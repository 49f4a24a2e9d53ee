//! Rules: what torrents with certain properties get, if no person chose it for the torrent itself.
//!
//! Rules are read in their order. The first one that fits and sets something decides about it. A category or label that a rule
//! sets counts in the conditions of the rules after it. Nothing of a decision is kept: without its rule, its effect ends.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hashlane_api::{Goal, Rates, RuleEffect, Target};
use hashlane_files::Globs;
use hashlane_metainfo::host_and_port;

/// A rule of the configuration.
#[derive(Clone, Debug, Default)]
pub struct TorrentRule {
    /// The name, by which people know the rule.
    pub name: String,
    /// The torrents that the rule is for.
    pub conditions: Conditions,
    /// When they have been served for long enough.
    pub goal: Goal,
    /// Their rate limits.
    pub rates: Rates,
    /// Their category.
    pub category: Option<String>,
    /// Labels that they get beside others.
    pub labels: BTreeSet<String>,
    /// Upload limit after the goal, in place of the pause.
    pub throttle: Option<NonZeroU32>,
    /// The goal does not count while no tracker reports at least this number of peers with all content, with this one.
    pub keep_seeders: Option<u32>,
}

/// Conditions. A torrent has to meet each of them, and of a list, one item. A property that is not known yet meets none.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Hosts of trackers, or domains that contain them.
    pub trackers: Vec<String>,
    /// Whether the torrent is private (BEP 27).
    pub private: Option<bool>,
    /// Categories.
    pub categories: Vec<String>,
    /// Labels.
    pub labels: Vec<String>,
    /// Folders of the content, or folders that contain them.
    pub folders: Vec<PathBuf>,
    /// Least length of all files in bytes.
    pub min_size: Option<u64>,
    /// Greatest length of all files in bytes.
    pub max_size: Option<u64>,
    /// Patterns of names; none if there is no condition.
    pub names: Globs,
    /// Least time since the torrent was added.
    pub min_age: Option<Duration>,
    /// Greatest time since the torrent was added.
    pub max_age: Option<Duration>,
    /// Least number of peers with all content, as a tracker reports it.
    pub min_seeders: Option<u32>,
    /// Greatest number of such peers.
    pub max_seeders: Option<u32>,
}

/// What rules look at. `None` for what is not known yet.
#[derive(Clone, Debug)]
pub(crate) struct Facts<'f> {
    pub(crate) metadata: Option<&'f Known>,
    pub(crate) category: Option<&'f str>,
    pub(crate) labels: &'f BTreeSet<String>,
    /// The folder of the content, or the content itself.
    pub(crate) folder: &'f Path,
    pub(crate) name: &'f str,
    /// The time since the torrent was added.
    pub(crate) age: Duration,
    /// The greatest number of seeders that a tracker reported.
    pub(crate) seeders: Option<u32>,
}

/// What the metadata says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The hosts of the trackers in lower case, without ports.
    pub(crate) trackers: Arc<[String]>,
    pub(crate) is_private: bool,
    /// Length of all files in bytes.
    pub(crate) size: u64,
}

/// What rules set for a torrent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decision {
    pub(crate) goal: Goal,
    pub(crate) rates: Rates,
    pub(crate) category: Option<String>,
    pub(crate) labels: BTreeSet<String>,
    pub(crate) throttle: Option<NonZeroU32>,
    pub(crate) keep_seeders: Option<u32>,
    /// What is set, each with the position of its rule.
    by: Vec<(Setting, usize)>,
}

/// Something that a rule sets.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Setting {
    SeedRatio,
    SeedTime,
    IdleTime,
    MaxDown,
    MaxUp,
    Category,
    Label(String),
    Throttle,
    KeepSeeders,
}

/// Returns what rules set for a torrent.
pub(crate) fn decide(rules: &[TorrentRule], facts: &Facts<'_>) -> Decision {
    let mut decision = Decision::default();
    for (position, rule) in rules.iter().enumerate() {
        if rule.conditions.fit(facts, &decision) {
            decision.take(rule, position, facts);
        }
    }
    decision
}

impl Conditions {
    fn fit(&self, facts: &Facts<'_>, before: &Decision) -> bool {
        let known = facts.metadata;
        let category = facts.category.or(before.category.as_deref());
        let has_label =
            |label: &String| facts.labels.contains(label) || before.labels.contains(label);
        any(&self.trackers, |domain| {
            known.is_some_and(|known| known.trackers.iter().any(|host| is_in(host, domain)))
        }) && self
            .private
            .is_none_or(|private| known.is_some_and(|known| known.is_private == private))
            && any(&self.categories, |name| category == Some(name))
            && any(&self.labels, has_label)
            && any(&self.folders, |folder| facts.folder.starts_with(folder))
            && (self.names.is_empty() || self.names.is_match(facts.name))
            && within(self.min_size, self.max_size, known.map(|known| known.size))
            && within(self.min_age, self.max_age, Some(facts.age))
            && within(self.min_seeders, self.max_seeders, facts.seeders)
    }
}

/// Returns `true` if there is no condition, or one item fits.
fn any<T>(items: &[T], fits: impl FnMut(&T) -> bool) -> bool {
    items.is_empty() || items.iter().any(fits)
}

/// Returns `true` if there are no bounds, or a known value is between them.
fn within<T: PartialOrd>(min: Option<T>, max: Option<T>, value: Option<T>) -> bool {
    if min.is_none() && max.is_none() {
        return true;
    }
    value.is_some_and(|value| {
        min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
    })
}

/// Returns `true` if a host is a domain, or below it.
fn is_in(host: &str, domain: &str) -> bool {
    match host.strip_suffix(domain) {
        Some(rest) => rest.is_empty() || rest.ends_with('.'),
        None => false,
    }
}

impl Decision {
    /// The decision of no rule.
    pub(crate) const NONE: Self = Self {
        goal: Goal {
            ratio: Target::Inherited,
            time: Target::Inherited,
            idle: Target::Inherited,
        },
        rates: Rates {
            down: None,
            up: None,
        },
        category: None,
        labels: BTreeSet::new(),
        throttle: None,
        keep_seeders: None,
        by: Vec::new(),
    };

    /// Returns `true` if no rule sets anything.
    pub(crate) fn is_none(&self) -> bool {
        self.by.is_empty()
    }

    /// Takes what a rule sets and none before has set.
    fn take(&mut self, rule: &TorrentRule, position: usize, facts: &Facts<'_>) {
        // A person who chose a category has chosen it.
        let category = rule.category.clone().filter(|_| facts.category.is_none());
        let goal = rule.goal;
        for (is_set, setting) in [
            (
                take_target(&mut self.goal.ratio, goal.ratio),
                Setting::SeedRatio,
            ),
            (
                take_target(&mut self.goal.time, goal.time),
                Setting::SeedTime,
            ),
            (
                take_target(&mut self.goal.idle, goal.idle),
                Setting::IdleTime,
            ),
            (
                take(&mut self.rates.down, rule.rates.down),
                Setting::MaxDown,
            ),
            (take(&mut self.rates.up, rule.rates.up), Setting::MaxUp),
            (take(&mut self.throttle, rule.throttle), Setting::Throttle),
            (
                take(&mut self.keep_seeders, rule.keep_seeders),
                Setting::KeepSeeders,
            ),
            (take(&mut self.category, category), Setting::Category),
        ] {
            if is_set {
                self.by.push((setting, position));
            }
        }
        for label in &rule.labels {
            if !facts.labels.contains(label) && self.labels.insert(label.clone()) {
                self.by.push((Setting::Label(label.clone()), position));
            }
        }
    }

    /// Returns what is set, with the rules that set it. `chosen` is what a person chose, which wins.
    pub(crate) fn effects(&self, rules: &[TorrentRule], chosen: (Goal, Rates)) -> Vec<RuleEffect> {
        let (goal, rates) = chosen;
        let seconds = |time: Target<Duration>| time.map(|time| time.as_secs().to_string());
        let target = |target: Target<String>| match target {
            Target::At(text) => text,
            Target::Never | Target::Inherited => "never".to_owned(),
        };
        let rate = |rate: Option<NonZeroU32>| rate.map_or_else(String::new, |it| it.to_string());
        let effect = |(setting, position): &(Setting, usize)| {
            let (name, value, is_overridden) = match setting {
                Setting::SeedRatio => (
                    "seed-ratio",
                    target(self.goal.ratio.map(|ratio| ratio.to_string())),
                    !goal.ratio.is_inherited(),
                ),
                Setting::SeedTime => (
                    "seed-time",
                    target(seconds(self.goal.time)),
                    !goal.time.is_inherited(),
                ),
                Setting::IdleTime => (
                    "idle-time",
                    target(seconds(self.goal.idle)),
                    !goal.idle.is_inherited(),
                ),
                Setting::MaxDown => ("max-down", rate(self.rates.down), rates.down.is_some()),
                Setting::MaxUp => ("max-up", rate(self.rates.up), rates.up.is_some()),
                Setting::Category => ("category", self.category.clone().unwrap_or_default(), false),
                Setting::Label(label) => ("label", label.clone(), false),
                Setting::Throttle => ("throttle", rate(self.throttle), rates.up.is_some()),
                Setting::KeepSeeders => (
                    "keep-seeders",
                    self.keep_seeders.unwrap_or_default().to_string(),
                    false,
                ),
            };
            RuleEffect {
                rule: rules
                    .get(*position)
                    .map_or_else(String::new, |rule| rule.name.clone()),
                setting: name.to_owned(),
                value,
                overridden: is_overridden,
            }
        };
        self.by.iter().map(effect).collect()
    }
}

/// Sets what is not set, and returns `true` then.
fn take<T>(present: &mut Option<T>, new: Option<T>) -> bool {
    let is_set = present.is_none() && new.is_some();
    if is_set {
        *present = new;
    }
    is_set
}

/// Does the same with a target.
fn take_target<T>(present: &mut Target<T>, new: Target<T>) -> bool {
    let is_set = present.is_inherited() && !new.is_inherited();
    if is_set {
        *present = new;
    }
    is_set
}

/// Returns the host of a tracker's URL in lower case, without a port.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let place = host_and_port(url);
    let host = match place.strip_prefix('[') {
        Some(v6) => v6.split(']').next()?,
        None => place.split(':').next()?,
    };
    (url.contains("://") && !host.is_empty()).then(|| host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn rule(name: &str, conditions: Conditions) -> TorrentRule {
        TorrentRule {
            name: name.to_owned(),
            conditions,
            ..TorrentRule::default()
        }
    }

    /// Returns a rule that sets a ratio.
    fn with_ratio(name: &str, conditions: Conditions, ratio: f64) -> TorrentRule {
        let mut rule = rule(name, conditions);
        rule.goal.ratio = Target::At(ratio);
        rule
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn known() -> Known {
        Known {
            trackers: words(&["tracker.site.example", "other.example"]).into(),
            is_private: true,
            size: 1000,
        }
    }

    /// Returns `true` if a torrent meets conditions.
    fn fits(conditions: Conditions, change: impl FnOnce(&mut Facts<'_>)) -> bool {
        let known = known();
        let labels = BTreeSet::from(["kept".to_owned()]);
        let mut facts = Facts {
            metadata: Some(&known),
            category: Some("tv"),
            labels: &labels,
            folder: Path::new("/srv/tv"),
            name: "Show S01",
            age: DAY,
            seeders: Some(5),
        };
        change(&mut facts);
        let decision = decide(&[with_ratio("a", conditions, 1.0)], &facts);
        decision.goal.ratio == Target::At(1.0)
    }

    fn names(pattern: &str) -> Globs {
        let mut names = Globs::ignoring_case();
        names.add(pattern).unwrap();
        names
    }

    /// A change of conditions, and whether the torrent meets them then.
    type Case = (fn(&mut Conditions), bool);

    #[test]
    fn every_condition_has_to_be_met() {
        let cases: [Case; 26] = [
            (|_| (), true),
            (|it| it.trackers = words(&["site.example"]), true),
            (|it| it.trackers = words(&["tracker.site.example"]), true),
            (
                |it| it.trackers = words(&["x.example", "other.example"]),
                true,
            ),
            (|it| it.trackers = words(&["ite.example"]), false),
            (|it| it.trackers = words(&["a.tracker.site.example"]), false),
            (|it| it.private = Some(true), true),
            (|it| it.private = Some(false), false),
            (|it| it.categories = words(&["a", "tv"]), true),
            (|it| it.categories = words(&["TV"]), false),
            (|it| it.labels = words(&["a", "kept"]), true),
            (|it| it.labels = words(&["a"]), false),
            (|it| it.folders = vec!["/srv".into()], true),
            (|it| it.folders = vec!["/srv/t".into()], false),
            (|it| it.names = names("show*"), true),
            (|it| it.names = names("*.iso"), false),
            (|it| it.min_size = Some(1000), true),
            (|it| it.min_size = Some(1001), false),
            (|it| it.max_size = Some(1000), true),
            (|it| it.max_size = Some(999), false),
            (|it| it.min_age = Some(DAY), true),
            (|it| it.min_age = Some(2 * DAY), false),
            (|it| it.max_age = Some(DAY / 2), false),
            (|it| it.min_seeders = Some(5), true),
            (|it| it.max_seeders = Some(4), false),
            (
                |it| (it.private, it.min_size) = (Some(true), Some(1001)),
                false,
            ),
        ];
        for (number, (change, expected)) in cases.into_iter().enumerate() {
            let mut conditions = Conditions::default();
            change(&mut conditions);
            assert_eq!(fits(conditions, |_| ()), expected, "case {number}");
        }
    }

    /// A torrent whose metadata is not known may be private or public.
    #[test]
    fn what_is_unknown_meets_no_condition() {
        let cases: [Case; 7] = [
            (|_| (), true),
            (|it| it.trackers = words(&["site.example"]), false),
            (|it| it.private = Some(true), false),
            (|it| it.private = Some(false), false),
            (|it| it.min_size = Some(0), false),
            (|it| it.max_size = Some(u64::MAX), false),
            (|it| it.max_seeders = Some(9), false),
        ];
        for (number, (change, expected)) in cases.into_iter().enumerate() {
            let mut conditions = Conditions::default();
            change(&mut conditions);
            let unknown = |facts: &mut Facts<'_>| (facts.metadata, facts.seeders) = (None, None);
            assert_eq!(fits(conditions, unknown), expected, "case {number}");
        }
    }

    fn decision(rules: &[TorrentRule], category: Option<&str>) -> Decision {
        let labels = BTreeSet::from(["kept".to_owned()]);
        let facts = Facts {
            metadata: None,
            category,
            labels: &labels,
            folder: Path::new("/srv"),
            name: "name",
            age: Duration::ZERO,
            seeders: None,
        };
        decide(rules, &facts)
    }

    #[test]
    fn the_first_rule_that_sets_something_wins() {
        let mut first = with_ratio("first", Conditions::default(), 2.0);
        first.goal.idle = Target::Never;
        let mut second = with_ratio("second", Conditions::default(), 3.0);
        second.goal.time = Target::At(DAY);
        second.goal.idle = Target::At(DAY);
        second.rates.up = NonZeroU32::new(1000);
        second.labels = BTreeSet::from(["kept".to_owned(), "new".to_owned()]);
        second.throttle = NonZeroU32::new(7);
        second.keep_seeders = Some(3);
        let rules = [first, second];
        let decision = decision(&rules, None);
        let goal = Goal {
            ratio: Target::At(2.0),
            time: Target::At(DAY),
            idle: Target::Never,
        };
        assert_eq!(decision.goal, goal);
        // A label that the torrent has is not set again.
        assert_eq!(decision.labels, BTreeSet::from(["new".to_owned()]));
        let chosen = Goal {
            ratio: Target::At(9.0),
            ..Goal::default()
        };
        let effects = decision.effects(&rules, (chosen, Rates::default()));
        let shown = effects.iter().map(|effect| {
            let RuleEffect {
                rule,
                setting,
                value,
                overridden,
            } = effect;
            (&**rule, &**setting, &**value, *overridden)
        });
        let expected = [
            ("first", "seed-ratio", "2", true),
            ("first", "idle-time", "never", false),
            ("second", "seed-time", "86400", false),
            ("second", "max-up", "1000", false),
            ("second", "throttle", "7", false),
            ("second", "keep-seeders", "3", false),
            ("second", "label", "new", false),
        ];
        assert!(
            shown.clone().eq(expected),
            "{:?}",
            shown.collect::<Vec<_>>()
        );
    }

    #[test]
    fn later_rules_see_the_category_and_labels_of_earlier_ones() {
        let if_category = Conditions {
            categories: words(&["films"]),
            ..Conditions::default()
        };
        let if_label = Conditions {
            labels: words(&["new"]),
            ..Conditions::default()
        };
        let mut sets = rule("sets", Conditions::default());
        sets.category = Some("films".to_owned());
        sets.labels.insert("new".to_owned());
        let by_category = with_ratio("by category", if_category, 2.0);
        let mut by_label = rule("by label", if_label);
        by_label.goal.time = Target::At(DAY);
        let found = decision(&[sets.clone(), by_category.clone(), by_label.clone()], None);
        assert_eq!(found.category.as_deref(), Some("films"));
        assert_eq!(found.goal.ratio, Target::At(2.0));
        assert_eq!(found.goal.time, Target::At(DAY));
        // Earlier rules do not, and a category that a person chose stays.
        let found = decision(&[by_category.clone(), by_label, sets.clone()], None);
        assert_eq!(found.goal, Goal::default());
        let found = decision(&[sets, by_category], Some("tv"));
        assert_eq!((found.category, found.goal), (None, Goal::default()));
    }

    #[test]
    fn without_rules_nothing_is_set() {
        let found = decision(&[], None);
        assert!(found.is_none());
        assert_eq!(found, Decision::NONE);
    }

    #[test]
    fn hosts_of_trackers() {
        for (url, host) in [
            ("https://T.Example/announce?passkey=x", Some("t.example")),
            ("udp://user:secret@t.example:80/x", Some("t.example")),
            ("udp://[2001:db8::1]:6969", Some("2001:db8::1")),
            ("http://t.example", Some("t.example")),
            ("http://@/", None),
            ("http://", None),
            ("t.example", None),
            ("http://[::1", Some("::1")),
        ] {
            assert_eq!(host_of(url).as_deref(), host, "{url}");
        }
    }
}
