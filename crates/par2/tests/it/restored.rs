//! Single files that are restored, and what sets record for them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use hashlane_par2::{
    Error, Kept, NewSet, Redundancy, Slices, create, kept_names, repair, restore, verify,
};

use crate::place::{Folder, SET, with_run};
use crate::random::Random;

/// Returns a protected folder with two files of ten slices.
fn protected(n_recovery: usize) -> Folder {
    let mut random = Random::new(7);
    let folder = Folder::new(vec![("a", random.bytes(1000)), ("b", random.bytes(1000))]);
    let mut new = NewSet::new("test");
    new.slices = Slices::Len(100);
    new.redundancy = Redundancy::Count(n_recovery);
    new.n_copies = Some(2);
    new.sha256.insert("b".into(), [9; 32]);
    folder.create(&new);
    folder
}

#[test]
fn one_file_is_restored_and_others_stay() {
    let folder = protected(4);
    let set = folder.set();
    let sha256 = |name: &str| {
        let mut files = set.files.iter();
        let number = files
            .position(|file| file.path.as_os_str() == name)
            .unwrap();
        (number, set.files[number].sha256)
    };
    assert_eq!((sha256("a").1, sha256("b").1), (None, Some([9; 32])));
    folder.change("a", |bytes| bytes[500] ^= 1);
    folder.change("b", |bytes| bytes[..200].fill(0));
    let changed = fs::read(folder.path("a")).unwrap();
    let inode = fs::metadata(folder.path("b")).unwrap().ino();
    let (number, place) = (sha256("b").0, folder.path("elsewhere"));
    with_run(|run| {
        let found = verify(&set, &folder.path(""), &[], run)?;
        let (restored, _) = restore(&set, &found, &[(number, place.clone())], run)?;
        assert_eq!(restored[0].file(), number);
        assert!(!place.exists());
        for restored in restored {
            assert_eq!(restored.put(Kept::Yes)?, None);
        }
        Ok::<(), Error>(())
    })
    .unwrap();
    assert_eq!(fs::read(&place).unwrap(), folder.files[1].1);
    assert_eq!(fs::read(folder.path("a")).unwrap(), changed);
    // The damaged file keeps its name until the new one takes it.
    folder.repair(&[]).unwrap();
    folder.check();
    let kept = kept_names(&folder.path("b")).next().unwrap();
    assert_eq!(fs::metadata(kept).unwrap().ino(), inode);
}

/// A file whose slices are all in another one needs no recovery slice.
#[test]
fn found_slices_need_no_recovery_data() {
    let folder = protected(1);
    let set = folder.set();
    fs::copy(folder.path("b"), folder.path("copy")).unwrap();
    folder.change("a", |bytes| bytes[..500].fill(0));
    folder.change("b", |bytes| bytes.fill(0));
    fs::write(folder.path(SET), "").unwrap();
    let number = |name: &str| {
        let mut files = set.files.iter();
        files
            .position(|file| file.path.as_os_str() == name)
            .unwrap()
    };
    let others = [folder.path("copy")];
    let try_restore = |name: &str| {
        with_run(|run| {
            let found = verify(&set, &folder.path(""), &others, run)?;
            let wanted = [(number(name), folder.path(name))];
            for file in restore(&set, &found, &wanted, run)?.0 {
                file.put(Kept::No)?;
            }
            Ok::<(), Error>(())
        })
    };
    try_restore("b").unwrap();
    assert_eq!(fs::read(folder.path("b")).unwrap(), folder.files[1].1);
    let refused = try_restore("a");
    assert!(
        matches!(
            refused,
            Err(Error::NotEnough {
                missing: 5,
                available: 1
            })
        ),
        "{refused:?}"
    );
}

/// A process that was killed after it had kept the damaged file does not keep it twice.
#[test]
fn a_damaged_file_is_kept_once() {
    let folder = protected(4);
    folder.change("a", |bytes| bytes[0] ^= 1);
    let place = folder.path("a");
    let mut names = kept_names(&place);
    let (first, second) = (names.next().unwrap(), names.next().unwrap());
    fs::hard_link(folder.path("a"), &first).unwrap();
    folder.repair(&[]).unwrap();
    folder.check();
    assert!(first.exists() && !second.exists());
}

/// A hole as long as no disk: recovery data of this length is refused before a file is made.
#[test]
fn a_full_disk_is_found_before_anything_is_written() {
    let folder = protected(1);
    let file = fs::File::create(folder.path("large")).unwrap();
    let len = 8 << 40;
    if file.set_len(len).is_err() {
        // The file system has no files of this length.
        return;
    }
    let mut new = NewSet::new("test");
    new.redundancy = Redundancy::Percent(100.0);
    let files = ["large".into()];
    let place = folder.path("large.par2");
    let created = with_run(|run| create(&folder.path(""), &place, &files, &new, run));
    assert!(
        matches!(created, Err(Error::Space { needed, .. }) if needed > len),
        "{created:?}"
    );
    assert!(!place.exists());
}

/// A set from somebody else could otherwise replace any file of its user.
#[test]
fn links_out_of_the_folder_are_not_followed() {
    use std::os::unix::fs::symlink;

    let outside = tempfile::tempdir().unwrap();
    let mine = outside.path().join("mine");
    fs::write(&mine, "mine").unwrap();
    let new = outside.path().join("new");
    for target in [&mine, &new] {
        let folder = protected(20);
        folder.remove("a");
        symlink(target, folder.path("a")).unwrap();
        let refused = folder.repair(&[]);
        assert!(matches!(refused, Err(Error::File { .. })), "{refused:?}");
    }
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
    assert!(!new.exists());
    // A link within the folder is.
    let folder = protected(20);
    folder.change("a", |bytes| bytes[0] ^= 1);
    fs::rename(folder.path("a"), folder.path("real")).unwrap();
    symlink("real", folder.path("a")).unwrap();
    folder.repair(&[]).unwrap();
    folder.check();
    assert!(folder.path("a").is_symlink());
    // Folders are checked, too.
    let folder = Folder::new(vec![("d/a", vec![1; 1000])]);
    let mut new = NewSet::new("test");
    new.redundancy = Redundancy::Percent(100.0);
    folder.create(&new);
    fs::remove_dir_all(folder.path("d")).unwrap();
    symlink(outside.path(), folder.path("d")).unwrap();
    let refused = folder.repair(&[]);
    assert!(matches!(refused, Err(Error::File { .. })), "{refused:?}");
    assert!(!outside.path().join("a").exists());
}

/// The names that par2cmdline gives to damaged files.
#[test]
fn damaged_files_are_numbered() {
    let folder = protected(4);
    folder.change("a", |bytes| bytes[0] ^= 1);
    fs::write(folder.path("a.1"), "mine").unwrap();
    let set = folder.set();
    let base = folder.path("");
    with_run(|run| {
        let found = verify(&set, &base, &[], run)?;
        repair(&set, &found, &base, Kept::Numbered, run)
    })
    .unwrap();
    folder.check();
    assert_eq!(fs::read(folder.path("a.1")).unwrap(), b"mine");
    assert_eq!(fs::metadata(folder.path("a.2")).unwrap().len(), 1000);
}

/// Sets that par2cmdline made on Windows have backslashes between folders. Names of Hashlane's own sets may have them.
#[test]
fn backslashes_separate_folders() {
    for (creator, place) in [("test", "d/a"), ("hashlane 1", "d\\a")] {
        let folder = Folder::new(vec![("d\\a", vec![7; 1000])]);
        let mut new = NewSet::new(creator);
        new.redundancy = Redundancy::Percent(100.0);
        folder.create(&new);
        folder.remove("d\\a");
        folder.repair(&[]).unwrap();
        assert_eq!(fs::read(folder.path(place)).unwrap(), vec![7; 1000]);
    }
}
