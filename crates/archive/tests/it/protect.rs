//! Archives that are protected with recovery data, damaged and repaired.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use hashlane_archive::{
    CancelToken, Catalogue, Event, Healed, Healing, IfMissing, Limits, Origin, Outcome, Protected,
    Protection, Verdict, heal, is_protected, protect, scrub, update,
};

use hashlane_par2::{Kernel, NewSet, Redundancy, Run, create};

use crate::random::Random;
use crate::runs::Archive;

/// What became of a file.
#[derive(Clone, Debug, PartialEq)]
enum Became {
    Recovered,
    Copied,
    Doubtful,
    Changed,
    Lost(Option<u64>),
}

impl Archive {
    /// Returns an archive of random files with their content, which is protected.
    fn protected(files: &[(&str, usize)], percent: f64) -> (Self, BTreeMap<String, Vec<u8>>) {
        let mut random = Random::new(1);
        let archive = Self::new(&[]);
        let mut content = BTreeMap::new();
        for (path, len) in files {
            let bytes = random.bytes(*len);
            archive.write_bytes(path, &bytes);
            content.insert((*path).to_owned(), bytes);
        }
        archive.update();
        let protected = archive.protect(Some(percent));
        assert_eq!(protected.n_unprotected, 0);
        (archive, content)
    }

    fn write_bytes(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn protect(&self, redundancy: Option<f64>) -> Protected {
        let mut wanted = Protection::default();
        wanted.redundancy = redundancy;
        wanted.checks_recovery = true;
        protect(&mut self.open(), &self.job(), wanted, &mut |_| ()).unwrap()
    }

    /// An update of files and recovery data, as the program does it.
    fn update_all(&self) -> Protected {
        let mut catalogue = self.open();
        update(&mut catalogue, &self.job(), IfMissing::Forget, &mut |_| ()).unwrap();
        assert!(is_protected(&catalogue).unwrap());
        protect(
            &mut catalogue,
            &self.job(),
            Protection::default(),
            &mut |_| (),
        )
        .unwrap()
    }

    /// Overwrites a part of a file as a disk does: no time changes.
    fn rot_at(&self, path: &str, offset: u64, bytes: &[u8]) {
        let place = self.path(path);
        let before = place.metadata().unwrap();
        let file = File::options().write(true).open(&place).unwrap();
        file.write_all_at(bytes, offset).unwrap();
        file.set_modified(before.modified().unwrap()).unwrap();
        self.forgive(path, before.ino());
    }

    /// Records the present time of the last change and inode of a file whose content stays that of the catalogue.
    fn forgive(&self, path: &str, inode: u64) {
        let now = self.path(path).metadata().unwrap();
        assert_eq!(now.ino(), inode);
        let ctime = now.ctime() * 1_000_000_000 + now.ctime_nsec();
        self.change(&format!(
            "UPDATE files SET ctime_ns = {ctime} WHERE path = CAST('{path}' AS BLOB)"
        ));
    }

    fn heal(&self, healing: Healing<'_>) -> (Healed, BTreeMap<String, Became>) {
        let mut catalogue = self.open();
        let mut rotten = Vec::new();
        scrub(
            &mut catalogue,
            &self.job(),
            Limits::default(),
            &mut |event| {
                if let Event::File(finding) = event
                    && finding.is_damaged()
                {
                    assert_eq!(finding.verdict, Verdict::Rot);
                    rotten.push(finding.path.to_vec());
                }
            },
        )
        .unwrap();
        let mut became = BTreeMap::new();
        let healed = heal(
            &mut catalogue,
            &self.job(),
            &rotten,
            healing,
            &mut |event| {
                let Event::Repair(repair) = event else {
                    return;
                };
                let path = String::from_utf8(repair.path.to_vec()).unwrap();
                let outcome = match repair.outcome {
                    Outcome::Repaired { from, damaged } => {
                        assert!(damaged.unwrap().exists());
                        match from {
                            Origin::Recovery(_) => Became::Recovered,
                            Origin::Copy(_) => Became::Copied,
                        }
                    }
                    Outcome::Doubtful => Became::Doubtful,
                    Outcome::Changed => Became::Changed,
                    Outcome::NotRepairable { missing_bytes } => Became::Lost(missing_bytes),
                };
                assert!(became.insert(path, outcome).is_none());
            },
        );
        assert_eq!(became.len(), rotten.len());
        (healed.unwrap(), became)
    }

    fn assert_is(&self, content: &BTreeMap<String, Vec<u8>>) {
        for (path, bytes) in content {
            assert!(fs::read(self.path(path)).unwrap() == *bytes, "{path}");
        }
    }

    fn recovery_files(&self) -> Vec<PathBuf> {
        let folder = self.catalogue.parent().unwrap();
        let files = fs::read_dir(folder).unwrap();
        let files = files.map(|file| file.unwrap().path());
        let is_recovery = |path: &PathBuf| path.extension().is_some_and(|it| it == "par2");
        let mut files: Vec<PathBuf> = files.filter(is_recovery).collect();
        files.sort();
        files
    }
}

fn doubtful() -> Healing<'static> {
    let mut healing = Healing::default();
    healing.is_doubtful_repaired = true;
    healing
}

fn from(folder: &Path) -> Healing<'_> {
    let mut healing = Healing::default();
    healing.from = Some(folder);
    healing
}

/// Returns an archive whose 100 files are one group, with ten slices of 4,000 bytes each, and 50 recovery slices.
fn hundred() -> (Archive, BTreeMap<String, Vec<u8>>) {
    let paths: Vec<String> = (0..100).map(|i| format!("{}/{i}", i % 3)).collect();
    let files: Vec<(&str, usize)> = paths.iter().map(|path| (path.as_str(), 40_000)).collect();
    Archive::protected(&files, 5.0)
}

#[test]
fn rot_is_repaired_wherever_it_is() {
    let (archive, content) = hundred();
    archive.rot_at("0/0", 0, b"rot");
    archive.rot_at("1/1", 39_999, b"!");
    archive.rot_at("2/2", 4096, &[0; 4096]);
    let place = archive.path("2/2");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o640)).unwrap();
    archive.forgive("2/2", place.metadata().unwrap().ino());
    let modified = place.metadata().unwrap().modified().unwrap();
    let (healed, became) = archive.heal(Healing::default());
    assert_eq!((healed.n_repaired, became.len()), (3, 3));
    assert!(became.values().all(|became| *became == Became::Recovered));
    archive.assert_is(&content);
    assert_eq!(place.metadata().unwrap().mode() & 0o777, 0o640);
    assert_eq!(place.metadata().unwrap().modified().unwrap(), modified);
    let kept = fs::read(archive.path("2/2.damaged-1")).unwrap();
    assert_eq!(kept[4096..8192], [0; 4096]);
    // Nothing is left to do, and no time has changed for the catalogue.
    let (summary, found) = archive.scrub(Limits::default());
    assert_eq!((summary.count(Verdict::Intact), found.len()), (100, 0));
    let (summary, _) = archive.update();
    assert_eq!(summary.count(Verdict::Unchanged), 100);
}

/// One percent of the sectors of 300 files, in different files.
#[test]
fn many_bad_sectors_are_repaired() {
    let paths: Vec<String> = (0..300).map(|i| format!("{}/{i}", i % 7)).collect();
    let files: Vec<(&str, usize)> = paths.iter().map(|path| (path.as_str(), 24_576)).collect();
    let (archive, content) = Archive::protected(&files, 5.0);
    let mut random = Random::new(5);
    let n_sectors = 300 * 24_576 / 4096;
    for _ in 0..n_sectors / 100 {
        let path = &paths[random.below(300)];
        let sector = random.bytes(4096);
        archive.rot_at(path, 4096 * random.below(6) as u64, &sector);
    }
    let (healed, became) = archive.heal(Healing::default());
    assert!(healed.n_repaired > 10 && healed.n_repaired == became.len() as u64);
    archive.assert_is(&content);
}

/// A program that writes changes a time. What it wrote is never undone without a word.
#[test]
fn what_a_person_changed_is_left_alone() {
    let (archive, mut content) = hundred();
    archive.write("0/0", "changed on purpose");
    archive.rot("1/1", "written, and the time set back");
    // A rotten file in the same group.
    archive.rot_at("2/2", 100, b"rot");
    let (healed, became) = archive.heal(Healing::default());
    assert_eq!(became["1/1"], Became::Doubtful);
    assert_eq!(became["2/2"], Became::Recovered);
    assert_eq!(
        (healed.n_repaired, healed.n_doubtful, became.len()),
        (1, 1, 2)
    );
    assert_eq!(
        fs::read(archive.path("0/0")).unwrap(),
        b"changed on purpose"
    );
    let written = fs::read(archive.path("1/1")).unwrap();
    assert!(written.starts_with(b"written, and"));
    // Only if the person says so.
    let (_, became) = archive.heal(doubtful());
    assert_eq!(became["1/1"], Became::Recovered);
    content.remove("0/0");
    archive.assert_is(&content);
    assert_eq!(
        fs::read(archive.path("0/0")).unwrap(),
        b"changed on purpose"
    );
}

/// Another program writes between the search for rot and the repair.
#[test]
fn a_file_that_changes_meanwhile_is_left_alone() {
    let (archive, _) = hundred();
    archive.rot_at("0/0", 0, b"rot");
    archive.scrub(Limits::default());
    archive.write("0/0", "new");
    let mut found = None;
    let paths = [b"0/0".to_vec()];
    let mut receive = |event: Event<'_>| {
        if let Event::Repair(repair) = event {
            found = Some(repair.outcome == Outcome::Changed);
        }
    };
    let healing = doubtful();
    heal(
        &mut archive.open(),
        &archive.job(),
        &paths,
        healing,
        &mut receive,
    )
    .unwrap();
    assert_eq!(found, Some(true));
    assert_eq!(fs::read(archive.path("0/0")).unwrap(), b"new");
}

#[test]
fn too_much_rot_is_measured() {
    let (archive, content) = hundred();
    // Six whole files exceed the recovery slices by ten.
    for i in 0..6 {
        archive.rot_at(&format!("{}/{i}", i % 3), 0, &vec![7; 40_000]);
    }
    let (healed, became) = archive.heal(Healing::default());
    assert_eq!((healed.n_repaired, healed.n_not_repairable), (0, 6));
    for became in became.values() {
        assert_eq!(*became, Became::Lost(Some(10 * 4000)));
    }
    // Files are as they were. Damaged copies of two of them are enough for all.
    assert_eq!(fs::read(archive.path("0/0")).unwrap(), vec![7; 40_000]);
    let other = tempfile::tempdir().unwrap();
    for path in ["0/0", "1/1"] {
        let place = other.path().join(path);
        fs::create_dir(place.parent().unwrap()).unwrap();
        let mut copy = content[path].clone();
        copy[0] ^= 1;
        fs::write(place, copy).unwrap();
    }
    let (healed, became) = archive.heal(from(other.path()));
    assert_eq!(healed.n_repaired, 6, "{became:?}");
    archive.assert_is(&content);
}

#[test]
fn copies_are_used_first() {
    let (archive, mut content) = hundred();
    archive.write_bytes("copy of 0", &content["0/0"]);
    content.insert("copy of 0".into(), content["0/0"].clone());
    archive.update();
    let other = tempfile::tempdir().unwrap();
    fs::create_dir(other.path().join("1")).unwrap();
    fs::write(other.path().join("1/1"), &content["1/1"]).unwrap();
    for path in ["0/0", "1/1", "2/2"] {
        archive.rot_at(path, 17, b"rot");
    }
    let (_, became) = archive.heal(from(other.path()));
    assert_eq!(
        became.into_values().collect::<Vec<_>>(),
        [Became::Copied, Became::Copied, Became::Recovered]
    );
    archive.assert_is(&content);
}

/// Two rotten files with the same content, which is protected once.
#[test]
fn equal_files_are_repaired_from_one_another() {
    let (archive, mut content) = hundred();
    archive.write_bytes("copy of 0", &content["0/0"]);
    content.insert("copy of 0".into(), content["0/0"].clone());
    let protected = archive.update_all();
    assert_eq!((protected.n_files, protected.n_new), (100, 0));
    archive.rot_at("0/0", 17, b"rot");
    archive.rot_at("copy of 0", 30_000, b"rot");
    let (_, became) = archive.heal(Healing::default());
    let became: Vec<Became> = became.into_values().collect();
    assert!(became.contains(&Became::Recovered) && became.contains(&Became::Copied));
    archive.assert_is(&content);
}

#[test]
fn damaged_recovery_files_are_made_anew() {
    let (archive, content) = hundred();
    let files = archive.recovery_files();
    assert_eq!(files.len(), 2);
    // A few recovery slices less still repair.
    let volume = File::options().write(true).open(&files[1]).unwrap();
    volume.write_all_at(&[0; 9000], 50_000).unwrap();
    // The file without recovery slices is of no use at all.
    fs::write(&files[0], [0; 5000]).unwrap();
    archive.rot_at("0/0", 0, b"rot");
    let (healed, _) = archive.heal(Healing::default());
    assert_eq!(healed.n_repaired, 1);
    archive.assert_is(&content);
    fs::remove_file(archive.path("0/0.damaged-1")).unwrap();
    // An update does not read recovery slices. A protection does.
    let protected = archive.protect(None);
    assert_eq!(
        (protected.n_damaged, protected.n_new, protected.n_removed),
        (1, 1, 1)
    );
    let protected = archive.protect(None);
    assert_eq!(
        (protected.n_damaged, protected.n_new, protected.n_removed),
        (0, 0, 0)
    );
    assert_eq!(Some(protected.redundancy), Some(5.0));
    // A lost or shortened file is found by every update.
    for number in [0, 1] {
        fs::write(&archive.recovery_files()[number], "").unwrap();
        let protected = archive.update_all();
        let counts = (protected.n_damaged, protected.n_new, protected.n_removed);
        assert_eq!(counts, (1, 1, 1));
    }
    fs::remove_file(&archive.recovery_files()[1]).unwrap();
    assert_eq!(archive.update_all().n_damaged, 1);
    archive.rot_at("1/1", 0, b"rot");
    assert_eq!(archive.heal(Healing::default()).0.n_repaired, 1);
    archive.assert_is(&content);
}

/// Recovery data is never made of content that is not that of the catalogue, and old recovery data of rotten files stays.
#[test]
fn rotten_files_are_not_protected_as_they_are() {
    let (archive, content) = hundred();
    archive.rot_at("0/0", 0, b"rot");
    // Another redundancy needs new sets.
    let mut unprotected = Vec::new();
    let mut wanted = Protection::default();
    wanted.redundancy = Some(10.0);
    let mut receive = |event: Event<'_>| {
        if let Event::Unprotected { path, reason } = event {
            unprotected.push((path.to_vec(), reason.to_owned()));
        }
    };
    let protected = protect(&mut archive.open(), &archive.job(), wanted, &mut receive).unwrap();
    let reason = "its content is not that of the catalogue".to_owned();
    assert_eq!(unprotected, [(b"0/0".to_vec(), reason)]);
    assert_eq!(
        (
            protected.n_unprotected,
            protected.n_new,
            protected.n_removed
        ),
        (1, 1, 0)
    );
    let (healed, _) = archive.heal(Healing::default());
    assert_eq!(healed.n_repaired, 1);
    archive.assert_is(&content);
    let protected = archive.protect(Some(10.0));
    assert_eq!((protected.n_unprotected, protected.n_removed), (0, 1));
    assert_eq!(Some(protected.redundancy), Some(10.0));
}

/// The cost of changes, as the documentation states it.
#[test]
fn few_changes_keep_groups() {
    let (archive, mut content) = hundred();
    let set = archive.recovery_files();
    // One of 100 files: 10 of 50 recovery slices.
    archive.write_bytes("0/0", &vec![1; 20_000]);
    content.insert("0/0".into(), vec![1; 20_000]);
    let protected = archive.update_all();
    assert_eq!(
        (
            protected.n_new,
            protected.n_removed,
            protected.n_unprotected
        ),
        (1, 0, 0)
    );
    assert!(set.iter().all(|file| file.exists()));
    // The others of the group are still protected, with the recovery slices that are left.
    archive.rot_at("1/1", 0, &vec![0; 40_000]);
    archive.rot_at("0/0", 0, b"rot");
    assert_eq!(archive.heal(Healing::default()).0.n_repaired, 2);
    // Renamed files cost nothing.
    fs::rename(archive.path("2"), archive.path("renamed")).unwrap();
    let moved = |path: &str| {
        path.strip_prefix("2/")
            .map(|rest| format!("renamed/{rest}"))
    };
    content = content
        .into_iter()
        .map(|(path, bytes)| (moved(&path).unwrap_or(path), bytes))
        .collect();
    for kept in ["1/1.damaged-1", "0/0.damaged-1"] {
        fs::remove_file(archive.path(kept)).unwrap();
    }
    let protected = archive.update_all();
    assert_eq!((protected.n_new, protected.n_removed), (0, 0));
    archive.rot_at("renamed/2", 0, b"rot");
    assert_eq!(archive.heal(Healing::default()).0.n_repaired, 1);
    archive.assert_is(&content);
    fs::remove_file(archive.path("renamed/2.damaged-1")).unwrap();
    // More than a quarter of the recovery slices would be needed: the group is dissolved, and takes the small one in.
    fs::remove_file(archive.path("1/4")).unwrap();
    let protected = archive.update_all();
    assert_eq!(
        (protected.n_sets, protected.n_new, protected.n_removed),
        (1, 1, 2)
    );
    // Nothing to do.
    let protected = archive.update_all();
    assert_eq!(
        (protected.n_new, protected.n_removed, protected.n_files),
        (0, 0, 99)
    );
}

/// In a folder to which files are added, a file is read again only when its group has doubled.
#[test]
fn new_files_join_small_groups() {
    let (archive, _) = Archive::protected(&[("first", 20_000)], 5.0);
    let mut random = Random::new(8);
    let mut n_read = 1;
    for i in 0..31 {
        archive.write_bytes(&format!("{i}"), &random.bytes(20_000));
        let before = archive.recovery_files().len();
        let protected = archive.update_all();
        assert_eq!(protected.n_new, 1);
        assert!(protected.n_sets <= 6, "{} {before}", protected.n_sets);
        n_read += protected.n_removed;
    }
    // As the bits of a counter: 32 files are one group.
    assert_eq!(archive.recovery_files().len(), 2);
    assert_eq!(n_read, 32);
}

/// Recovery files that lie about the digest of a file.
#[test]
fn what_is_restored_is_compared_with_the_catalogue() {
    let archive = Archive::new(&[]);
    let (right, forged) = (vec![1; 9000], vec![2; 9000]);
    archive.write_bytes("a", &forged);
    Catalogue::open_or_create(&archive.catalogue).unwrap();
    let mut new = NewSet::new("test");
    new.redundancy = Redundancy::Percent(100.0);
    let digest = hashlane_sha::digest::<hashlane_sha::Sha256>(&right);
    new.sha256.insert("a".into(), digest.into());
    let place = archive.path(".hashlane-archive.sqlite-recovery-00000001.par2");
    let mut run = Run {
        n_threads: std::num::NonZeroUsize::MIN,
        memory: 1 << 30,
        kernel: Kernel::detect(),
        cancel: &CancelToken::default(),
        progress: &mut |_| (),
    };
    create(archive.folder.path(), &place, &["a".into()], &new, &mut run).unwrap();
    archive.write_bytes("a", &right);
    archive.update();
    archive.rot_at("a", 0, b"rot");
    let (healed, became) = archive.heal(Healing::default());
    assert_eq!((healed.n_repaired, &became["a"]), (0, &Became::Lost(None)));
    assert!(
        fs::read(archive.path("a"))
            .unwrap()
            .starts_with(b"rot\x01\x01")
    );
    assert!(!archive.path("a.damaged-1").exists());
}

/// More damaged files in one group than are restored at once.
#[test]
fn many_files_of_a_group_are_repaired() {
    let paths: Vec<String> = (0..250).map(|i| i.to_string()).collect();
    let files: Vec<(&str, usize)> = paths.iter().map(|path| (path.as_str(), 2000)).collect();
    let (archive, content) = Archive::protected(&files, 100.0);
    for path in &paths[..230] {
        archive.rot(path, "rot");
    }
    let (healed, _) = archive.heal(doubtful());
    assert_eq!(healed.n_repaired, 230);
    archive.assert_is(&content);
}

/// A run that was killed before it removed the groups whose files are in a new one.
#[test]
fn what_is_protected_twice_is_removed() {
    let (archive, _) = Archive::protected(&[("a", 20_000)], 5.0);
    let kept = archive.path("kept");
    fs::create_dir(&kept).unwrap();
    let old = archive.recovery_files();
    for file in &old {
        fs::copy(file, kept.join(file.file_name().unwrap())).unwrap();
    }
    archive.write_bytes("b", &vec![7; 30_000]);
    let protected = archive.update_all();
    assert_eq!(
        (protected.n_sets, protected.n_new, protected.n_removed),
        (1, 1, 1)
    );
    for file in &old {
        fs::rename(kept.join(file.file_name().unwrap()), file).unwrap();
    }
    let protected = archive.update_all();
    assert_eq!(
        (protected.n_sets, protected.n_new, protected.n_removed),
        (1, 0, 1)
    );
}

#[test]
fn a_set_for_other_content_restores_nothing() {
    let (archive, content) = hundred();
    archive.rot_at("0/0", 0, b"rot");
    archive.scrub(Limits::default());
    // No file and no set has the digest that the catalogue has now.
    archive.change("UPDATE files SET sha256 = zeroblob(32) WHERE path = CAST('0/0' AS BLOB)");
    let (healed, became) = archive.heal(Healing::default());
    assert_eq!(
        (healed.n_repaired, &became["0/0"]),
        (0, &Became::Lost(None))
    );
    assert_ne!(fs::read(archive.path("0/0")).unwrap(), content["0/0"]);
}

/// What a killed run leaves: recovery files without the one that is named last.
#[test]
fn incomplete_sets_are_replaced() {
    let (archive, content) = hundred();
    let files = archive.recovery_files();
    fs::remove_file(&files[0]).unwrap();
    archive.rot_at("0/0", 5, b"rot");
    assert_eq!(archive.heal(Healing::default()).0.n_repaired, 1);
    archive.assert_is(&content);
    let protected = archive.update_all();
    assert_eq!(
        (protected.n_new, protected.n_removed, protected.n_damaged),
        (1, 1, 0)
    );
    assert!(!files[1].exists());
}

#[test]
fn empty_files_need_no_protection() {
    let (archive, _) = Archive::protected(&[("empty", 0), ("full", 10)], 5.0);
    let protected = archive.protect(None);
    assert_eq!(
        (
            protected.n_files,
            protected.n_bytes,
            protected.n_unprotected
        ),
        (1, 10, 0)
    );
}
