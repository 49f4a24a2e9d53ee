//! Any torrent with any damage, compared with a model that compares bytes one by one.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::num::NonZeroUsize;
use std::path::Path;

use hashlane_metainfo::Version;
use hashlane_sha::{Backend, Engine};
use hashlane_verify::{FileState, HashVersions, IoMode, Options};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::fixture::{BOTH, Fixture, V1, V2, letters_of, noise, possible};
use crate::plan::{LEAF, PlannedFile, PlannedTorrent};

/// The content on disk for each file of a plan; `None` for a missing file.
pub(crate) type Disk = Vec<Option<Vec<u8>>>;

/// Kinds of damage. Positions are indexes of files, or of bytes in one file.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Flip { at: Index, with: u8 },
    Truncate { to: Index },
    Extend { by: usize },
    Delete,
    Swap { other: Index },
    Punch { from: Index, to: Index },
}

pub(crate) fn any_damage() -> impl Strategy<Value = (Index, Damage)> {
    let index = any::<Index>;
    let damage = prop_oneof![
        3 => (index(), 1..=255_u8).prop_map(|(at, with)| Damage::Flip { at, with }),
        1 => index().prop_map(|to| Damage::Truncate { to }),
        1 => (1..40_000_usize).prop_map(|by| Damage::Extend { by }),
        1 => Just(Damage::Delete),
        1 => index().prop_map(|other| Damage::Swap { other }),
        2 => (index(), index()).prop_map(|(from, to)| Damage::Punch { from, to }),
    ];
    (index(), damage)
}

/// Damages a file, if it has bytes to damage.
pub(crate) fn damage(disk: &mut Disk, file: Index, damage: &Damage) {
    let n_files = disk.len();
    let file = file.index(n_files);
    let has_bytes = disk[file].as_ref().is_some_and(|bytes| !bytes.is_empty());
    match (damage, &mut disk[file]) {
        (Damage::Flip { at, with }, Some(bytes)) if has_bytes => {
            let at = at.index(bytes.len());
            bytes[at] ^= with;
        }
        (Damage::Truncate { to }, Some(bytes)) if has_bytes => {
            bytes.truncate(to.index(bytes.len()));
        }
        (Damage::Extend { by }, Some(bytes)) => bytes.extend(noise(77, *by)),
        (Damage::Delete, gone) => *gone = None,
        (Damage::Swap { other }, _) => disk.swap(file, other.index(n_files)),
        (Damage::Punch { from, to }, Some(bytes)) if has_bytes => {
            // Mostly whole blocks of the file system, which become holes.
            let [from, to] = [from, to].map(|at| at.index(bytes.len()) / 4096 * 4096);
            let (from, to) = (from.min(to), from.max(to));
            let to = if to + 4096 >= bytes.len() {
                bytes.len()
            } else {
                to
            };
            bytes[from..to].fill(0);
        }
        _ => {}
    }
}

/// Lengths up to 200 KiB, most of them near a border of leaves or pieces.
fn any_length(piece_length: usize) -> impl Strategy<Value = usize> {
    let near = |unit: usize| {
        let n = 0..=(200 << 10) / unit;
        (n, -2..=2_isize).prop_map(move |(n, off)| (n * unit).saturating_add_signed(off))
    };
    prop_oneof![
        1 => Just(0),
        2 => 1..200_usize << 10,
        2 => near(LEAF),
        4 => near(piece_length),
    ]
}

pub(crate) fn any_plan() -> impl Strategy<Value = PlannedTorrent> {
    let version = prop_oneof![
        1 => Just(Version::V1),
        3 => Just(Version::V2),
        3 => Just(Version::Hybrid),
    ];
    let piece_length = prop_oneof![Just(LEAF), Just(2 * LEAF), Just(4 * LEAF)];
    (version, piece_length, any::<bool>()).prop_flat_map(|(version, piece_length, pads_tail)| {
        let file = (
            any_length(piece_length),
            proptest::bool::weighted(0.7),
            proptest::bool::weighted(0.2),
        );
        let files = proptest::collection::vec(file, 1..6);
        let files = files.prop_filter("there is content", |files| {
            files.iter().any(|(length, ..)| *length > 0)
        });
        files.prop_map(move |files| {
            let mut plan = PlannedTorrent::folder(version, piece_length);
            for (i, (length, has_layer, is_zeros)) in files.into_iter().enumerate() {
                plan = plan.with(PlannedFile {
                    path: format!("{}/{i}", i % 2),
                    target: None,
                    bytes: if is_zeros {
                        vec![0; length]
                    } else {
                        noise(i as u64, length)
                    },
                    has_layer,
                });
            }
            if pads_tail {
                plan.padded_to_the_end()
            } else {
                plan
            }
        })
    })
}

pub(crate) fn any_options() -> impl Strategy<Value = Options> {
    let io = prop_oneof![Just(IoMode::Auto), Just(IoMode::Mmap), Just(IoMode::Pread)];
    let backends = Backend::all().filter(|b| b.is_available());
    let backend = proptest::sample::select(backends.collect::<Vec<_>>());
    (1..=4_usize, io, backend).prop_map(|(n_threads, io, backend)| {
        let options = Options::default()
            .threads(NonZeroUsize::new(n_threads))
            .io(io);
        let engine = Engine::with(backend).expect("it is available");
        possible(&options.engine(engine).allow_signal_handler())
    })
}

/// The state of a byte.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Byte {
    Right,
    Wrong,
    Gone,
}

/// Returns the state of each byte of a file, and whether it is not zero on the disk.
fn compare(right: &[u8], found: Option<&Vec<u8>>) -> Vec<(Byte, bool)> {
    let found = found.map_or(&[][..], Vec::as_slice);
    let byte = |(i, byte): (usize, &u8)| match found.get(i) {
        Some(found) if found == byte => (Byte::Right, *found != 0),
        Some(found) => (Byte::Wrong, *found != 0),
        None => (Byte::Gone, false),
    };
    right.iter().enumerate().map(byte).collect()
}

/// Returns a letter for each piece. Wrong pieces of zeros are missing.
fn letters(bytes: &[(Byte, bool)], piece_length: usize) -> String {
    let pieces = bytes.chunks(piece_length);
    let letters = pieces.map(|piece| {
        let has_data = piece.iter().any(|(_, has_data)| *has_data);
        match piece.iter().map(|(state, _)| *state).max() {
            Some(Byte::Right) | None => 'h',
            Some(Byte::Wrong) if has_data => 'b',
            Some(Byte::Wrong | Byte::Gone) => 'm',
        }
    });
    letters.collect()
}

/// The states of all pieces as letters, for version 1 and for version 2.
struct Model {
    v1: String,
    v2: String,
}

impl Model {
    fn of(plan: &PlannedTorrent, disk: &Disk) -> Self {
        let files = plan.files.iter().zip(disk);
        let files = files.map(|(file, found)| (file, compare(&file.bytes, found.as_ref())));
        let files: Vec<_> = files.collect();
        // All bytes in a row, with padding between files. Padding at the end forms no piece.
        let mut content = Vec::new();
        for (_, bytes) in &files {
            if plan.version.has_v2() && !bytes.is_empty() {
                content.resize(
                    content.len().next_multiple_of(plan.piece_length),
                    (Byte::Right, false),
                );
            }
            content.extend_from_slice(bytes);
        }
        let of_file = |(file, bytes): &(&PlannedFile, Vec<(Byte, bool)>)| {
            let letters = letters(bytes, plan.piece_length);
            let is_right = !letters.contains(['b', 'm']);
            // Layers are stored under the root of a file, so that equal files share one.
            let has_layer = plan
                .files
                .iter()
                .any(|other| other.has_layer && other.bytes == file.bytes);
            if has_layer || letters.len() <= 1 || is_right {
                letters
            } else if bytes
                .iter()
                .all(|byte| *byte == (byte.0, false) && byte.0 != Byte::Gone)
            {
                "m".repeat(letters.len())
            } else {
                // Without a layer, zeros prove nothing about a single piece.
                let pieces = bytes.chunks(plan.piece_length);
                let is_gone =
                    |piece: &[(Byte, bool)]| piece.iter().any(|byte| byte.0 == Byte::Gone);
                pieces
                    .map(|piece| if is_gone(piece) { 'm' } else { 'u' })
                    .collect()
            }
        };
        Self {
            v1: letters(&content, plan.piece_length),
            v2: files.iter().map(of_file).collect(),
        }
    }
}

/// Writes a file and leaves out whole blocks of zeros as holes.
fn write_sparse(path: &Path, bytes: &[u8]) {
    let mut file = File::create(path).expect("the folder takes a file");
    file.set_len(bytes.len() as u64).expect("it can be long");
    for (i, block) in bytes.chunks(4096).enumerate() {
        if block.iter().any(|byte| *byte != 0) {
            let start = SeekFrom::Start(i as u64 * 4096);
            file.seek(start).expect("it is a file");
            file.write_all(block).expect("it takes bytes");
        }
    }
}

pub(crate) fn write(fixture: &Fixture, plan: &PlannedTorrent, disk: &Disk, is_sparse: bool) {
    for (file, bytes) in plan.files.iter().zip(disk) {
        match bytes {
            Some(bytes) if is_sparse => write_sparse(&fixture.path(&file.path), bytes),
            Some(bytes) => fixture.write(&file.path, bytes),
            None => fs::remove_file(fixture.path(&file.path)).expect("it was there"),
        }
    }
}

/// Verifies, and compares the pieces of each version and the files with the model.
pub(crate) fn check(
    fixture: &Fixture,
    plan: &PlannedTorrent,
    disk: &Disk,
    options: &[Options],
) -> Result<(), TestCaseError> {
    let model = Model::of(plan, disk);
    for options in options {
        check_with(fixture, plan, disk, &model, options)?;
    }
    Ok(())
}

fn check_with(
    fixture: &Fixture,
    plan: &PlannedTorrent,
    disk: &Disk,
    model: &Model,
    options: &Options,
) -> Result<(), TestCaseError> {
    for versions in [BOTH, V1, V2] {
        if versions.and(HashVersions::of(plan.version)).is_empty() {
            continue;
        }
        let report = fixture.verify_versions(versions, options);
        if let Some(pieces) = report.pieces_v1() {
            prop_assert_eq!(
                letters_of(pieces),
                &model.v1[..],
                "version 1 of {:?}",
                versions
            );
        }
        if let Some(pieces) = report.pieces_v2() {
            prop_assert_eq!(
                letters_of(pieces),
                &model.v2[..],
                "version 2 of {:?}",
                versions
            );
        }
        let files = fixture.torrent();
        for report in report.files() {
            let path = files.file(report.index.get()).path().to_string();
            let position = plan.files.iter().position(|file| file.path == path);
            let found = &disk[position.expect("it is planned")];
            let state = match found {
                None => FileState::Missing,
                Some(_) if report.counts.have == report.counts.total() => FileState::Whole,
                Some(_) => FileState::Partial,
            };
            prop_assert_eq!(report.state, state, "{}", path);
            let length = found.as_ref().map(|bytes| bytes.len() as u64);
            prop_assert_eq!(report.length_on_disk, length, "{}", path);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_found_is_what_was_done(
        plan in any_plan(),
        damages in proptest::collection::vec(any_damage(), 1..4),
        is_sparse in any::<bool>(),
        options in any_options(),
        other_options in any_options(),
    ) {
        let fixture = Fixture::of(&plan);
        let mut disk: Disk = plan.files.iter().map(|file| Some(file.bytes.clone())).collect();
        if is_sparse {
            write(&fixture, &plan, &disk, true);
        }
        prop_assert!(fixture.verify_with(&options).is_complete());
        check(&fixture, &plan, &disk, &[other_options])?;
        for (file, harm) in damages {
            damage(&mut disk, file, &harm);
        }
        write(&fixture, &plan, &disk, is_sparse);
        check(&fixture, &plan, &disk, &[options, other_options])?;
    }
}
