//! Sets of other programs, and other programs with sets of this crate.

use std::path::Path;
use std::process::{Command, Stdio};

use hashlane_par2::{Error, NewSet, Redundancy, Slices, Volumes};

use crate::damage::damage;
use crate::par2cmdline::{par2cmdline, turbo};
use crate::place::{Folder, SET};
use crate::random::Random;

/// The exit statuses of par2cmdline.
const REPAIR_POSSIBLE: i32 = 1;
const REPAIR_NOT_POSSIBLE: i32 = 2;

/// Returns the number of random sets for each program.
fn n_sets() -> u64 {
    let n_sets = std::env::var("HASHLANE_TEST_PAR2");
    n_sets.map_or(24, |n_sets| {
        n_sets.parse().expect("HASHLANE_TEST_PAR2 is a number")
    })
}

#[test]
fn sets_and_par2cmdline() {
    if let Some(program) = par2cmdline() {
        compare(&program, 1000);
    }
}

#[test]
fn sets_and_par2cmdline_turbo() {
    if let Some(program) = turbo() {
        compare(&program, 2000);
    }
}

/// Runs a program in a folder, and returns its exit status.
fn run(program: &Path, folder: &Folder, args: &[&str]) -> i32 {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(folder.path(""))
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    output
        .status
        .code()
        .unwrap_or_else(|| panic!("{args:?}: {output:?}"))
}

/// par2cmdline 0.8.1 crashes on names of one byte.
const NAMES: [&str; 6] = ["aa", "b b.txt", "c/d", "c/ü", "ε", "empty"];

/// Returns a folder with random files, and the length of a slice.
fn random_folder(random: &mut Random) -> (Folder, u64) {
    let n_files = 1 + random.below(NAMES.len() - 1);
    let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
    for name in &NAMES[..n_files] {
        let len = match random.below(5) {
            0 => 1,
            1 => 1 + random.below(40_000),
            _ => 1 + random.below(9_000),
        };
        files.push((name, random.bytes(len)));
    }
    if random.below(4) == 0 {
        files.push(("empty", Vec::new()));
    }
    (Folder::new(files), 4 * (1 + random.below(400)) as u64)
}

/// Returns the arguments that name the files.
fn names(folder: &Folder) -> Vec<String> {
    folder
        .files
        .iter()
        .map(|(name, _)| name.to_str().unwrap().to_owned())
        .collect()
}

/// Returns the exit status of a verification, and the number of slices that were found.
fn verdict(program: &Path, folder: &Folder, n_slices: usize) -> (i32, usize) {
    let mut command = Command::new(program);
    let output = command
        .args(["verify", SET])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("You have ")?.split_once(" out of "));
    let n_found = line.map_or(n_slices, |(n_found, _)| n_found.parse().unwrap());
    (output.status.code().unwrap(), n_found)
}

fn new_set(random: &mut Random, slice_len: u64, n_recovery: usize) -> NewSet {
    let mut new = NewSet::new("test");
    new.slices = Slices::Len(slice_len);
    new.redundancy = Redundancy::Count(n_recovery);
    new.comment = Some("a comment: ü".into());
    if random.below(3) == 0 {
        new.volumes = Volumes::Limited;
    }
    new
}

/// Lets a program create a set.
fn create_by(program: &Path, folder: &Folder, slice_len: u64, n_recovery: usize) {
    let (slice_len, n_recovery) = (format!("-s{slice_len}"), format!("-c{n_recovery}"));
    let mut args = vec!["create", "-q", "-q", &slice_len, &n_recovery, SET];
    let names = names(folder);
    args.extend(names.iter().map(String::as_str));
    assert_eq!(run(program, folder, &args), 0, "{args:?}");
}

/// Compares what both do with the same sets and the same damage.
fn compare(program: &Path, first_seed: u64) {
    let mut n_unequal = 0;
    for seed in first_seed..first_seed + n_sets() {
        let mut random = Random::new(seed);
        let (folder, slice_len) = random_folder(&mut random);
        let n_recovery = 1 + random.below(30);
        let is_ours = seed % 2 == 0;
        if is_ours {
            folder.create(&new_set(&mut random, slice_len, n_recovery));
        } else {
            create_by(program, &folder, slice_len, n_recovery);
        }
        // Both find it intact.
        assert!(folder.verify(&[]).is_intact(), "{seed}");
        assert_eq!(
            run(program, &folder, &["verify", "-q", "-q", SET]),
            0,
            "{seed}"
        );
        let set = folder.set();
        assert_eq!(
            (set.slice_len, set.recovery.len()),
            (slice_len, n_recovery),
            "{seed}"
        );

        damage(&folder, &mut random);
        let found = folder.verify(&[]);
        let n_found = set.n_slices - found.n_missing;
        let (status, their_found) = verdict(program, &folder, set.n_slices);
        let expected = match () {
            () if found.is_intact() => 0,
            () if found.is_repairable(&set) => REPAIR_POSSIBLE,
            () => REPAIR_NOT_POSSIBLE,
        };
        // par2cmdline does not find every end of a file that was moved.
        n_unequal += u64::from(their_found < n_found);
        assert!(
            their_found <= n_found,
            "{seed}: {their_found} slices, not {n_found}"
        );
        let is_equal = status == expected || their_found < n_found && status > expected;
        assert!(is_equal, "{seed}: exit status {status}, not {expected}");
        // One of both repairs, and both find the result intact.
        if expected == REPAIR_NOT_POSSIBLE {
            let repaired = folder.repair(&[]);
            assert!(matches!(repaired, Err(Error::NotEnough { .. })), "{seed}");
            continue;
        }
        if seed % 4 < 2 || status != expected {
            folder
                .repair(&[])
                .unwrap_or_else(|error| panic!("{seed}: {error}"));
        } else {
            assert_eq!(
                run(program, &folder, &["repair", "-q", "-q", SET]),
                0,
                "{seed}"
            );
        }
        folder.check();
        assert!(folder.verify(&[]).is_intact(), "{seed}");
        assert_eq!(
            run(program, &folder, &["verify", "-q", "-q", SET]),
            0,
            "{seed}"
        );
    }
    println!("{n_unequal} sets in which par2cmdline found fewer slices");
    assert!(n_unequal <= 3 + n_sets() / 10, "{n_unequal}");
}
