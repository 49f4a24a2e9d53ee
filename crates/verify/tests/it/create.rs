//! New torrents, compared with torrents that another program could have made of the same files.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashlane_metainfo::{FileKind, NewContent, NewMetadata, Torrent, Version};
use hashlane_verify::{
    CancelToken, Choice, CreateError, Options, Selection, SourceTree, hash_source_tree,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::fixture::{Fixture, every_way, noise};
use crate::plan::{LEAF, PlannedTorrent};
use crate::roundtrip::{Disk, any_damage, any_options, any_plan, check, damage, write};

pub(crate) fn everything() -> Selection<'static> {
    Selection::new(&|_| Choice::Take)
}

fn find(root: &Path) -> SourceTree {
    SourceTree::find(root, &everything(), false).expect("the content is there")
}

fn content(payload: &SourceTree, version: Version, piece_length: usize) -> NewContent {
    let single = payload.is_single_file();
    let name = b"content".to_vec();
    NewContent::new(version, piece_length as u32, name, single, payload.files())
        .expect("there is content")
}

/// Creates a .torrent file of the fixture's content.
fn create(fixture: &Fixture, plan: &PlannedTorrent, options: &Options) -> Vec<u8> {
    let payload = find(&fixture.content());
    let content = content(&payload, plan.version, plan.piece_length);
    let hashes = hash_source_tree(
        &payload,
        &content,
        options,
        &CancelToken::default(),
        &mut |_| (),
    );
    content.write(&hashes.expect("it is unchanged"), &NewMetadata::default())
}

/// Returns a plan with everything that creators write.
fn complete(plan: PlannedTorrent) -> PlannedTorrent {
    let mut plan = plan.padded_to_the_end();
    plan.files.iter_mut().for_each(|file| file.has_layer = true);
    plan
}

/// Returns `true` if two torrents are equal, apart from the position of padding beside empty files.
fn is_same(made: &Torrent, planned: &Torrent) -> bool {
    if planned.version() != Version::Hybrid {
        return made.info_bytes() == planned.info_bytes();
    }
    let files = |torrent: &Torrent| {
        let files = torrent.files().iter();
        let files = files.filter(|file| file.kind() != FileKind::Padding);
        let files = files.map(|file| {
            let layer = file.piece_layer().map(<[_]>::to_vec);
            let root = file.pieces_root().copied();
            (file.path().to_string(), file.length(), root, layer)
        });
        files.collect::<Vec<_>>()
    };
    made.version() == planned.version()
        && made.lengths() == planned.lengths()
        && made.piece_hashes() == planned.piece_hashes()
        && files(made) == files(planned)
}

#[test]
fn every_way_makes_what_others_make() {
    for version in [Version::V1, Version::V2, Version::Hybrid] {
        let plan = PlannedTorrent::folder(version, 4 * LEAF)
            .file("a", noise(1, 3 * LEAF + 1))
            .file("b/empty", Vec::new())
            .file("b/large", noise(2, 20 * LEAF))
            .file("b/zeros", vec![0; 9 * LEAF + 5])
            .file("b.txt", noise(3, LEAF))
            .file("c", noise(2, 20 * LEAF));
        let plan = complete(plan);
        let fixture = Fixture::of(&plan);
        for (backend, options) in every_way() {
            let made = create(&fixture, &plan, &options);
            let made = Torrent::parse(made.as_slice()).expect("it is valid");
            let is_same = is_same(&made, &fixture.torrent());
            assert!(is_same, "{version} {backend} {options:?}");
        }
    }
}

#[test]
fn a_single_file() {
    for version in [Version::V1, Version::V2, Version::Hybrid] {
        for length in [1, LEAF, 2 * LEAF + 1, 7 * LEAF] {
            let plan = PlannedTorrent::single_file(version, 2 * LEAF, noise(5, length));
            let fixture = Fixture::of(&plan);
            let made = create(&fixture, &plan, &Options::default());
            assert_eq!(made, fixture.torrent_bytes(), "{version} {length}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_content_is_verified_by_its_torrent(
        plan in any_plan(),
        options in any_options(),
        damages in proptest::collection::vec(any_damage(), 1..3),
        is_sparse in any::<bool>(),
    ) {
        let plan = complete(plan);
        let fixture = Fixture::of(&plan);
        let made = create(&fixture, &plan, &options);
        let is_one = plan.files.len() == 1;
        let parsed = Torrent::parse(made.as_slice()).expect("it is valid");
        // Hashlane adds no padding after a single file.
        if !is_one {
            prop_assert!(is_same(&parsed, &fixture.torrent()));
        }
        let fixture = Fixture::with_metainfo(&plan, made);
        let mut disk: Disk = plan.files.iter().map(|file| Some(file.bytes.clone())).collect();
        check(&fixture, &plan, &disk, &[options])?;
        for (file, how) in &damages {
            damage(&mut disk, *file, how);
        }
        write(&fixture, &plan, &disk, is_sparse);
        check(&fixture, &plan, &disk, &[options])?;
    }

    #[test]
    fn a_file_that_is_not_what_it_was_is_an_error(
        plan in any_plan(),
        options in any_options(),
        file in any::<Index>(),
        how in 0..6_u8,
    ) {
        let plan = complete(plan);
        let fixture = Fixture::of(&plan);
        let payload = find(&fixture.content());
        let content = content(&payload, plan.version, plan.piece_length);
        let path = fixture.path(&plan.files[file.index(plan.files.len())].path);
        let bytes = fs::read(&path).expect("it is there");
        match how {
            0 => fs::write(&path, [&bytes[..], b"more"].concat()).expect("it can be longer"),
            1 if bytes.is_empty() => fs::remove_file(&path).expect("it was there"),
            1 => fs::write(&path, &bytes[1..]).expect("it can be shorter"),
            2 => fs::remove_file(&path).expect("it was there"),
            3 => {
                // Another file of the same length.
                fs::rename(&path, fixture.parent().join("aside")).expect("it was there");
                fs::write(&path, noise(99, bytes.len())).expect("it can be there again");
            }
            4 => {
                // Other bytes with the old modification time.
                let modified = fs::metadata(&path).and_then(|found| found.modified());
                fs::write(&path, noise(99, bytes.len())).expect("it can be written to");
                let file = fs::File::options().write(true).open(&path).expect("it is there");
                file.set_modified(modified.expect("it has a time")).expect("it is ours");
            }
            _ => {
                let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
                let file = fs::File::options().write(true).open(&path).expect("it is there");
                file.set_modified(later).expect("it is ours");
            }
        }
        let made = hash_source_tree(&payload, &content, &options, &CancelToken::default(), &mut |_| ());
        let is_this = matches!(&made, Err(CreateError::Changed { path: found }) if *found == path);
        prop_assert!(is_this, "{:?} of {}", made, path.display());
    }
}

#[test]
fn a_file_that_changes_meanwhile_is_an_error() {
    let plan = PlannedTorrent::folder(Version::Hybrid, LEAF)
        .file("a", noise(1, 4 << 20))
        .file("b", noise(2, 4 << 20));
    let fixture = Fixture::of(&plan);
    let payload = find(&fixture.content());
    let content = content(&payload, plan.version, plan.piece_length);
    let path = fixture.path("b");
    let n_calls = AtomicUsize::new(0);
    let options = Options::default().threads(std::num::NonZeroUsize::new(1));
    let made = hash_source_tree(
        &payload,
        &content,
        &options,
        &CancelToken::default(),
        &mut |_| {
            if n_calls.fetch_add(1, Ordering::Relaxed) == 0 {
                fs::write(&path, noise(3, 4 << 20)).expect("it can be written to");
            }
        },
    );
    assert!(
        matches!(&made, Err(CreateError::Changed { path: found }) if *found == path),
        "{made:?}"
    );
}

#[test]
fn progress_comes_to_the_end_and_can_be_cut_short() {
    let plan = PlannedTorrent::folder(Version::V2, LEAF)
        .file("a", noise(1, 3 << 20))
        .file("b", noise(2, 100_000));
    let fixture = Fixture::of(&plan);
    let payload = find(&fixture.content());
    let content = content(&payload, plan.version, plan.piece_length);
    let total = (3 << 20) + 100_000;
    assert_eq!(payload.length(), total);
    let mut last = 0;
    let made = hash_source_tree(
        &payload,
        &content,
        &Options::default(),
        &CancelToken::default(),
        &mut |progress| {
            assert_eq!(progress.total_bytes, total);
            last = progress.hashed_bytes;
        },
    );
    assert!(made.is_ok());
    assert_eq!(last, total);
    let cancel = CancelToken::default();
    cancel.cancel();
    let made = hash_source_tree(
        &payload,
        &content,
        &Options::default(),
        &cancel,
        &mut |_| (),
    );
    assert!(matches!(made, Err(CreateError::Cancelled)), "{made:?}");
}

/// The threads end, and the panic reaches the caller.
#[test]
fn a_panic_of_the_progress_ends_the_hashing() {
    let plan = PlannedTorrent::folder(Version::V2, LEAF).file("a", noise(1, 3 << 20));
    let fixture = Fixture::of(&plan);
    let payload = find(&fixture.content());
    let content = content(&payload, plan.version, plan.piece_length);
    let (options, cancel) = (Options::default(), CancelToken::default());
    let run = || {
        hash_source_tree(&payload, &content, &options, &cancel, &mut |_| {
            panic!("as a test")
        })
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"as a test"));
    assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
}
