//! A process that changes a folder is killed at random moments. Everything that it acknowledged is there afterwards.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hashlane_api::Place;
use hashlane_metainfo::Magnet;
use hashlane_store::{Choices, Metainfo, Name, Store};

use crate::made::torrent;
use crate::random::Random;

/// The variable with the folder, which makes this program the process that is killed.
const FOLDER: &str = "HASHLANE_TEST_FOLDER";

/// The variable with the first number of the generator.
const SEED: &str = "HASHLANE_TEST_SEED";

/// Number of torrents that the process adds, changes and removes.
const N_TORRENTS: u64 = 12;

/// What is known of a torrent: the version of its choices, and whether it has metadata. `None` if it is absent.
type State = Option<(u64, bool)>;

fn choices(version: u64) -> Choices {
    Choices::at(Place::Folder(format!("/srv/{version}").into()))
}

/// Changes the folder until it is killed. Prints each change before it starts and after it is acknowledged.
#[test]
#[ignore = "run by the test of kills"]
fn change_until_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let seed = std::env::var(SEED).unwrap().parse().unwrap();
    let mut numbers = Random::new(seed);
    let mut store = Store::open(folder).unwrap();
    assert!(store.problems().is_empty(), "{:?}", store.problems());
    let mut out = std::io::stdout().lock();
    for version in 1.. {
        let number = numbers.below(N_TORRENTS as usize) as u64;
        let torrent = torrent(u32::try_from(number).unwrap());
        let name = Name::from(torrent.info_hashes());
        let has_metadata = store
            .get(name)
            .map(|entry| matches!(entry.metainfo, Metainfo::File(_)));
        let action = numbers.below(3);
        let after = match (has_metadata, action) {
            (None, action) => format!("{version} {}", action > 0),
            (Some(_), 0) => "absent".to_owned(),
            (Some(has_metadata), 1) => format!("{version} {has_metadata}"),
            (Some(_), _) => format!("{} true", version_of(&store, name)),
        };
        writeln!(out, "\nstart {number} {after}").unwrap();
        match (has_metadata, action) {
            (None, 0) => store
                .put_magnet(Magnet::new(torrent.info_hashes()), choices(version))
                .map(drop),
            (None, _) => store.put(torrent, choices(version)).map(drop),
            (Some(_), 0) => store.remove(name),
            (Some(_), 1) => store.update(name, choices(version)),
            (Some(_), _) => store.set_metainfo(name, &torrent).map(drop),
        }
        .unwrap();
        writeln!(out, "done").unwrap();
    }
}

fn version_of(store: &Store, name: Name) -> u64 {
    let path = store.get(name).unwrap().choices.place.path();
    path.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// Returns the state of each torrent that is present.
fn states(folder: &Path) -> BTreeMap<u64, (u64, bool)> {
    let store = Store::open(folder).unwrap();
    assert!(store.problems().is_empty(), "{:?}", store.problems());
    let numbers = 0..N_TORRENTS;
    let states = numbers.filter_map(|number| {
        let name = torrent(u32::try_from(number).unwrap()).info_hashes().into();
        let has_metadata = matches!(store.get(name)?.metainfo, Metainfo::File(_));
        Some((number, (version_of(&store, name), has_metadata)))
    });
    states.collect()
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged() {
    let n_kills = std::env::var("HASHLANE_TEST_KILLS").map_or(10, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let mut expected = BTreeMap::new();
    let (mut n_interrupted, mut n_done) = (0, 0);
    let mut numbers = Random::new(1);
    for kill in 0..n_kills {
        let seed = 1 + numbers.below(1 << 40);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "kills::change_until_killed",
                "--ignored",
                "--nocapture",
            ])
            .env(FOLDER, &state)
            .env(SEED, seed.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (n_lines, pause) = (numbers.below(60), numbers.below(2000));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut output: Vec<String> = Vec::new();
        while output.len() < n_lines {
            output.push(lines.next().expect("the process ended by itself").unwrap());
        }
        std::thread::sleep(Duration::from_micros(pause as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        output.extend(lines.map_while(Result::ok));
        let mut started: Option<(u64, State)> = None;
        for line in &output {
            let words: Vec<_> = line.split(' ').collect();
            match words[..] {
                ["start", number, "absent"] => started = Some((number.parse().unwrap(), None)),
                ["start", number, version, has_metadata] => {
                    let state = (version.parse().unwrap(), has_metadata == "true");
                    started = Some((number.parse().unwrap(), Some(state)));
                }
                ["done"] => {
                    apply(&mut expected, started.take().unwrap());
                    n_done += 1;
                }
                _ => {}
            }
        }
        let found = states(&state);
        // The change that was not acknowledged has happened, or it has not.
        if let Some(started) = started
            && found != expected
        {
            apply(&mut expected, started);
            n_interrupted += 1;
        }
        assert_eq!(
            found,
            expected,
            "kill {kill}, seed {seed}:\n{}",
            output.join("\n")
        );
        let files = std::fs::read_dir(state.join("torrents")).unwrap().count();
        assert_eq!(files, 2 * found.len(), "kill {kill}, seed {seed}");
    }
    println!("{n_kills} kills, {n_done} changes, {n_interrupted} done and not acknowledged");
}

fn apply(states: &mut BTreeMap<u64, (u64, bool)>, (number, state): (u64, State)) {
    match state {
        Some(state) => states.insert(number, state),
        None => states.remove(&number),
    };
}
