//! Rules for torrents.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hashlane_api::{Command, Goal, NewTorrent, Patch, RuleEffect, Source, Target};
use hashlane_client::Activity;
use hashlane_session::{Conditions, Config, Session, TorrentRule};

use super::Shared;
use super::restart::{open_with, wait};

const HOUR: Duration = Duration::from_secs(3600);

fn rule(name: &str) -> TorrentRule {
    TorrentRule {
        name: name.to_owned(),
        ..TorrentRule::default()
    }
}

/// Opens a session with rules, and adds the torrent.
fn with_rules(shared: &Shared, state: &Path, rules: Vec<TorrentRule>) -> Arc<Session> {
    let session = open_with(state, shared.folder.path(), rules);
    let source = Source::Torrent(shared.torrent.clone());
    session.add(source, &NewTorrent::default(), None).unwrap();
    session
}

/// Returns the names of the rules, what they set, and whether a person has chosen something else.
fn effects(session: &Session) -> Vec<(String, String, bool)> {
    let torrents = session.rules(None).torrents.into_iter();
    let effects = torrents.flat_map(|torrent| torrent.effects);
    effects
        .map(|effect| {
            let RuleEffect {
                rule,
                setting,
                value,
                overridden,
            } = effect;
            (rule, format!("{setting} {value}"), overridden)
        })
        .collect()
}

fn set(session: &Session, patch: Patch) {
    let number = session.snapshot().torrents[0].identity.number;
    let results = session.apply(&[number], &Command::Set(Box::new(patch)), None);
    assert_eq!(results, [Ok(())]);
}

/// A rule applies while it is in the configuration, and what a person chose for a torrent wins.
#[test]
fn rules_set_what_no_person_chose() {
    let shared = Shared::new();
    let state = tempfile::tempdir().unwrap();
    let mut public = rule("public");
    public.conditions = Conditions {
        private: Some(false),
        min_size: Some(300_001),
        ..Conditions::default()
    };
    public.goal.ratio = Target::At(1.5);
    public.rates.up = NonZeroU32::new(5000);
    public.category = Some("public".to_owned());
    public.labels.insert("by-rule".to_owned());
    let mut private = rule("private");
    private.conditions.private = Some(true);
    private.rates.down = NonZeroU32::new(1);
    let mut all = rule("all");
    all.goal.ratio = Target::At(7.0);
    all.goal.time = Target::At(HOUR);
    let rules = vec![private, public, all];
    let session = with_rules(&shared, state.path(), rules);
    let ruled = wait(&session, |it| it.category.is_some());
    assert_eq!(ruled.category.as_deref(), Some("public"));
    assert_eq!(ruled.labels, ["by-rule"]);
    assert_eq!((ruled.max_up, ruled.max_down), (Some(5000), None));
    assert_eq!(
        (ruled.seed_ratio, ruled.seed_seconds),
        (Some(1.5), Some(3600))
    );
    // The goal of the torrent itself is that of a person.
    assert_eq!(ruled.goal, Goal::default());
    let by = |rule: &str, what: &str, overridden| (rule.to_owned(), what.to_owned(), overridden);
    let mut expected = [
        by("public", "seed-ratio 1.5", false),
        by("public", "max-up 5000", false),
        by("public", "category public", false),
        by("public", "label by-rule", false),
        by("all", "seed-time 3600", false),
    ];
    assert_eq!(effects(&session), expected);
    let groups = session.groups();
    let category = groups.categories.iter().find(|it| it.name == "public");
    assert_eq!(category.map(|category| category.torrents), Some(1));
    assert_eq!(groups.labels, ["by-rule"]);

    set(
        &session,
        Patch {
            ratio: Some(Target::Never),
            max_up: Some(NonZeroU32::new(9)),
            ..Patch::default()
        },
    );
    let chosen = wait(&session, |it| it.max_up == Some(9));
    assert_eq!((chosen.seed_ratio, chosen.seed_seconds), (None, Some(3600)));
    (expected[0].2, expected[1].2) = (true, true);
    assert_eq!(effects(&session), expected);
    // A category of a person.
    set(
        &session,
        Patch {
            category: Some(None),
            labels: Some(["own".to_owned()].into()),
            ..Patch::default()
        },
    );
    assert_eq!(wait(&session, |_| true).labels, ["by-rule", "own"]);

    // Without rules, only what the person chose is left.
    let config = session_config(&session, shared.folder.path());
    session.configure(config).unwrap();
    let left = wait(&session, |it| it.category.is_none());
    assert_eq!(left.labels, ["own"]);
    assert_eq!((left.max_up, left.seed_seconds), (Some(9), None));
    assert_eq!(effects(&session), []);
}

fn session_config(session: &Session, folder: &Path) -> Config {
    Config {
        folder: Some(folder.to_owned()),
        network: session.network(),
        ..Config::default()
    }
}

/// Rules that are not in force say what they would do, and do nothing.
#[test]
fn other_rules_are_tried() {
    let shared = Shared::new();
    let state = tempfile::tempdir().unwrap();
    let session = with_rules(&shared, state.path(), Vec::new());
    wait(&session, |it| it.activity == Activity::Serving);
    let mut other = rule("other");
    other.goal.ratio = Target::At(0.0);
    other.rates.up = NonZeroU32::new(1);
    let tried = session.rules(Some(&[other]));
    assert_eq!(tried.rules, ["other"]);
    let [torrent] = &tried.torrents[..] else {
        panic!("{tried:?}");
    };
    assert!(torrent.reached_goal, "{torrent:?}");
    assert_eq!(torrent.effects.len(), 2);
    assert_eq!(torrent.torrent.title, "data");
    std::thread::sleep(Duration::from_secs(2));
    let torrent = wait(&session, |_| true);
    assert_eq!(
        (torrent.activity, torrent.max_up),
        (Activity::Serving, None)
    );
    assert_eq!(effects(&session), []);
}

/// A torrent that has been served for as long as its rule asks for is paused, and another one is not. It stays so after a restart.
#[test]
fn a_rule_pauses_at_its_goal() {
    let shared = Shared::new();
    let state = tempfile::tempdir().unwrap();
    let rules = || {
        let mut short = rule("short");
        short.goal.time = Target::At(Duration::from_secs(1));
        short.conditions.labels = vec!["short".to_owned()];
        let mut long = rule("long");
        long.goal.time = Target::At(HOUR);
        vec![short, long]
    };
    let session = with_rules(&shared, state.path(), rules());
    wait(&session, |it| {
        it.activity == Activity::Serving && it.serving_seconds.seconds() > 2.5
    });
    let labels = Patch {
        labels: Some(["short".to_owned()].into()),
        ..Patch::default()
    };
    set(&session, labels);
    wait(&session, |it| {
        it.activity == Activity::Paused && it.is_paused
    });
    session.stop().unwrap();
    drop(session);
    let session = open_with(state.path(), shared.folder.path(), rules());
    // The rules have looked at it, and its content was verified.
    let paused = wait(&session, |it| {
        it.activity == Activity::Paused && it.is_complete && it.seed_seconds.is_some()
    });
    assert!(paused.serving_seconds.seconds() >= 2.0);
    // A person who resumes it wins over the rule.
    let resumed = session.apply(
        &[paused.identity.number],
        &Command::Resume { now: false },
        None,
    );
    assert_eq!(resumed, [Ok(())]);
    wait(&session, |it| it.activity == Activity::Serving);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(wait(&session, |_| true).activity, Activity::Serving);
    assert!(effects(&session).iter().all(|(.., overridden)| *overridden));
}

/// A torrent that has reached its goal is served on with few bytes per second, and at the full rate again without the rule.
#[test]
fn a_rule_throttles_at_its_goal() {
    let shared = Shared::new();
    let state = tempfile::tempdir().unwrap();
    let mut slow = rule("slow");
    slow.goal.time = Target::At(Duration::from_secs(2));
    slow.throttle = NonZeroU32::new(1000);
    slow.rates.up = NonZeroU32::new(50_000);
    let session = with_rules(&shared, state.path(), vec![slow]);
    wait(&session, |it| it.max_up == Some(50_000));
    let slow = wait(&session, |it| it.max_up == Some(1000));
    assert_eq!((slow.activity, slow.is_paused), (Activity::Serving, false));
    assert!(slow.serving_seconds.seconds() >= 2.0);
    assert!(session.rules(None).torrents[0].reached_goal);
    let config = session_config(&session, shared.folder.path());
    session.configure(config).unwrap();
    wait(&session, |it| it.max_up.is_none());
}

/// While no tracker reports enough seeders, the goal does not count.
#[test]
fn a_rule_keeps_the_last_seeders() {
    let shared = Shared::new();
    let state = tempfile::tempdir().unwrap();
    let mut keeps = rule("keeps");
    keeps.goal.ratio = Target::At(0.0);
    keeps.keep_seeders = Some(1);
    let session = with_rules(&shared, state.path(), vec![keeps]);
    wait(&session, |it| it.activity == Activity::Serving);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(wait(&session, |_| true).activity, Activity::Serving);
    assert!(!session.rules(None).torrents[0].reached_goal);
    let mut keeps = rule("keeps");
    keeps.goal.ratio = Target::At(0.0);
    let config = Config {
        rules: vec![keeps],
        ..session_config(&session, shared.folder.path())
    };
    session.configure(config).unwrap();
    wait(&session, |it| it.activity == Activity::Paused);
}
