//! Creation, verification and repair.

use std::fs;

use hashlane_par2::{
    Error, Kept, NewSet, RecoverySet, Redundancy, Slices, State, create, repair, verify, volumes_of,
};

use crate::place::{Folder, SET, with_memory, with_run};
use crate::random::Random;

fn new_set(slice_len: u64, n_recovery: usize) -> NewSet {
    let mut new = NewSet::new("test");
    new.slices = Slices::Len(slice_len);
    new.redundancy = Redundancy::Count(n_recovery);
    new
}

/// Three files: 10 slices, 1 slice of one byte, and 5 slices.
fn folder() -> Folder {
    let mut random = Random::new(1);
    Folder::new(vec![
        ("a", random.bytes(9_990)),
        ("b/one byte", vec![7]),
        ("b/é", random.bytes(5_000)),
    ])
}

#[test]
fn an_intact_set_is_intact() {
    let folder = folder();
    let created = folder.create(&new_set(1000, 4));
    assert_eq!(
        (created.n_slices, created.n_recovery, created.n_files),
        (16, 4, 3)
    );
    let names: Vec<_> = created
        .written
        .iter()
        .map(|path| path.file_name().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "set.par2",
            "set.vol0+1.par2",
            "set.vol1+2.par2",
            "set.vol3+1.par2"
        ]
    );
    let set = folder.set();
    assert_eq!(
        (set.n_slices, set.recovery.len(), set.slice_len),
        (16, 4, 1000)
    );
    assert_eq!(set.id, created.id);
    assert!(folder.verify(&[]).is_intact());
}

#[test]
fn damaged_and_missing_files_are_restored() {
    let folder = folder();
    folder.create(&new_set(1000, 7));
    folder.change("a", |bytes| {
        bytes[100] ^= 1;
        bytes[8_999] ^= 1;
    });
    folder.remove("b/é");
    let found = folder.verify(&[]);
    let states: Vec<_> = found.files.iter().map(|file| file.state.clone()).collect();
    assert!(states.contains(&State::Damaged) && states.contains(&State::Missing));
    assert_eq!(found.n_missing, 7);
    let repaired = folder.repair(&[]).unwrap();
    assert_eq!((repaired.n_computed, repaired.files.len()), (7, 2));
    folder.check();
    assert!(folder.verify(&[]).is_intact());
    // The damaged file is kept.
    let kept = fs::read(folder.path("a.damaged-1")).unwrap();
    assert_eq!(kept.len(), 9_990);
    assert!(kept != folder.files[0].1);
}

#[test]
fn too_much_damage_changes_nothing() {
    let folder = folder();
    folder.create(&new_set(1000, 4));
    folder.remove("b/é");
    folder.change("a", |bytes| bytes[0] ^= 1);
    let error = folder.repair(&[]).unwrap_err();
    assert!(
        matches!(
            error,
            Error::NotEnough {
                missing: 6,
                available: 4
            }
        ),
        "{error}"
    );
    assert!(!folder.path("b/é").exists());
    assert!(!folder.path("a.damaged-1").exists());
}

/// Bytes that were inserted or removed move slices, which are found.
#[test]
fn moved_slices_are_found() {
    let folder = folder();
    folder.create(&new_set(1000, 3));
    folder.change("a", |bytes| {
        bytes.drain(3_500..3_510);
        bytes.splice(0..0, *b"inserted");
    });
    let found = folder.verify(&[]);
    assert_eq!(found.n_missing, 1);
    assert_eq!(folder.repair(&[]).unwrap().n_computed, 1);
    folder.check();
}

/// The last slice is shorter, and counts with zeros after the end of the file.
#[test]
fn a_moved_end_is_found() {
    let folder = folder();
    folder.create(&new_set(1000, 1));
    folder.change("a", |bytes| drop(bytes.drain(..8_995)));
    let found = folder.verify(&[]);
    assert_eq!(
        found.files.iter().map(|file| file.n_found).sum::<usize>(),
        7
    );
}

#[test]
fn appended_bytes_are_removed() {
    let folder = folder();
    folder.create(&new_set(1000, 0));
    folder.change("a", |bytes| bytes.extend([0; 3_000]));
    let found = folder.verify(&[]);
    assert_eq!((found.n_missing, found.is_intact()), (0, false));
    folder.repair(&[]).unwrap();
    folder.check();
}

#[test]
fn renamed_files_get_their_names() {
    let folder = folder();
    folder.create(&new_set(1000, 0));
    fs::rename(folder.path("a"), folder.path("other name")).unwrap();
    let others = [folder.path("other name")];
    assert_eq!(folder.verify(&[]).n_missing, 10);
    let found = folder.verify(&others);
    assert_eq!(found.n_missing, 0);
    assert!(
        found
            .files
            .iter()
            .any(|file| file.state == State::Renamed(others[0].clone()))
    );
    let repaired = folder.repair(&others).unwrap();
    assert_eq!(repaired.files[0].renamed_from.as_ref(), Some(&others[0]));
    assert!(!others[0].exists());
    folder.check();
}

#[test]
fn split_files_are_joined() {
    let folder = folder();
    folder.create(&new_set(1000, 0));
    for (number, part) in folder.files[0].1.chunks(3_333).enumerate() {
        fs::write(folder.path(format!("a.{:03}", number + 1)), part).unwrap();
    }
    folder.remove("a");
    assert_eq!(folder.verify(&[]).n_missing, 0);
    folder.repair(&[]).unwrap();
    folder.check();
}

/// A process that was killed between two renames leaves the damaged file under its new name.
#[test]
fn kept_files_are_searched() {
    let folder = folder();
    folder.create(&new_set(1000, 1));
    folder.change("a", |bytes| bytes[0] ^= 1);
    fs::rename(folder.path("a"), folder.path("a.damaged-1")).unwrap();
    assert_eq!(folder.verify(&[]).n_missing, 1);
    folder.repair(&[]).unwrap();
    folder.check();
}

/// With little memory, columns are computed in several passes, with the same result.
#[test]
fn several_passes_give_the_same_files() {
    let mut random = Random::new(5);
    let folder = Folder::new(vec![
        ("x", random.bytes(3_000_000)),
        ("y", random.bytes(500_001)),
    ]);
    let new = new_set(400_000, 9);
    let files: Vec<_> = folder.files.iter().map(|(name, _)| name.clone()).collect();
    let base = folder.path("");
    let [little, much] = ["little.par2", SET].map(|name| {
        let memory = if name == SET { 1 << 30 } else { 1 << 20 };
        with_memory(memory, |run| {
            create(&base, &folder.path(name), &files, &new, run)
        })
        .unwrap()
    });
    assert_eq!((little.n_passes, much.n_passes), (7, 1));
    for (little, much) in little.written.iter().zip(&much.written) {
        assert!(
            fs::read(little).unwrap() == fs::read(much).unwrap(),
            "{}",
            much.display()
        );
    }
    folder.remove("x");
    let set = folder.set();
    let repaired = with_memory(1 << 20, |run| {
        let found = verify(&set, &base, &[], run)?;
        repair(&set, &found, &base, Kept::Yes, run)
    });
    assert!(repaired.unwrap().n_passes > 1);
    folder.check();
}

/// A set is read from any of its files, and packets of other sets among them change nothing.
#[test]
fn foreign_packets_are_ignored() {
    let folder = folder();
    folder.create(&new_set(1000, 10));
    let foreign = Folder::new(vec![("a", vec![5; 9_990])]);
    foreign.create(&new_set(1000, 3));
    let volume = folder.path("set.vol0+1.par2");
    let mut bytes = fs::read(&volume).unwrap();
    bytes.extend(fs::read(foreign.path("set.vol1+2.par2")).unwrap());
    fs::write(&volume, bytes).unwrap();
    let set = folder.set();
    assert_eq!((set.files.len(), set.recovery.len()), (3, 10));
    for name in ["set.par2", "set.vol7+3.par2"] {
        let volumes = volumes_of(&folder.path(name)).unwrap();
        assert_eq!(volumes.len(), 5, "{name}");
        let set = with_run(|run| RecoverySet::read(volumes, run)).unwrap();
        assert_eq!(set.recovery.len(), 10);
    }
    folder.remove("a");
    folder.repair(&[]).unwrap();
    folder.check();
}

#[test]
fn damaged_recovery_slices_are_not_used() {
    let folder = folder();
    folder.create(&new_set(1000, 4));
    for (name, at) in [("set.vol0+1.par2", 500), ("set.vol1+2.par2", 200)] {
        folder.change(name, |bytes| bytes[at] ^= 1);
    }
    assert_eq!(folder.set().recovery.len(), 2);
    folder.change("a", |bytes| bytes[..2_000].fill(0));
    folder.repair(&[]).unwrap();
    folder.check();
}

/// Nothing is replaced, and a failed creation leaves no file.
#[test]
fn existing_recovery_files_are_kept() {
    let folder = folder();
    fs::write(folder.path("set.vol1+2.par2"), "mine").unwrap();
    let files: Vec<_> = folder.files.iter().map(|(name, _)| name.clone()).collect();
    let new = new_set(1000, 4);
    let created = with_run(|run| create(&folder.path(""), &folder.path(SET), &files, &new, run));
    assert!(matches!(created, Err(Error::Io { .. })));
    assert!(!folder.path(SET).exists());
    assert_eq!(fs::read(folder.path("set.vol1+2.par2")).unwrap(), b"mine");
}

#[test]
fn empty_files_are_left_out() {
    let mut random = Random::new(3);
    let folder = Folder::new(vec![("full", random.bytes(10)), ("empty", vec![])]);
    let created = folder.create(&new_set(4, 1));
    assert_eq!(
        created.left_out,
        ["empty".into()] as [std::path::PathBuf; 1]
    );
    assert_eq!(created.n_files, 1);
}
