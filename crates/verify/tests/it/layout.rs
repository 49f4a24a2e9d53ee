//! The mapping from pieces to byte ranges of files, compared with a map of every single byte.

use std::collections::BTreeMap;

use hashlane_metainfo::{FileKind, Torrent, Version};
use hashlane_verify::{FileIndex, HashVersions, Layout};
use proptest::prelude::*;

use crate::fixture::{BOTH, V1, V2};
use crate::plan::{Entry, PlannedTorrent, metainfo_of_folder};

/// Files of a few bytes, many of them empty, some of them padding, and a piece length.
fn any_content() -> impl Strategy<Value = (Vec<(u64, bool)>, usize)> {
    let length = prop_oneof![2 => Just(0), 3 => 1..4_u64, 3 => 1..100_u64];
    let files = proptest::collection::vec((length, proptest::bool::weighted(0.2)), 1..15);
    let piece_length = prop_oneof![1..10_usize, 1..60_usize, Just(10_000)];
    (files, piece_length).prop_filter("padding alone is no content", |(files, _)| {
        files.iter().any(|(length, is_pad)| *length > 0 && !is_pad)
    })
}

fn metainfo(files: &[(u64, bool)], piece_length: usize) -> Vec<u8> {
    let entry = |(i, &(length, is_padding)): (usize, &(u64, bool))| {
        if is_padding {
            Entry::padding(length)
        } else {
            Entry::file(&format!("folder/{i}"), length)
        }
    };
    let entries: Vec<Entry> = files.iter().enumerate().map(entry).collect();
    let total: u64 = files.iter().map(|(length, _)| length).sum();
    let n_pieces = total.div_ceil(piece_length as u64);
    metainfo_of_folder(&entries, piece_length, &vec![[0; 20]; n_pieces as usize])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn extents_are_the_bytes_of_the_content_in_order((files, piece_length) in any_content()) {
        let metainfo = metainfo(&files, piece_length);
        let torrent = Torrent::parse(metainfo.as_slice()).expect("it is valid");
        let layout = Layout::new(&torrent, BOTH);

        // The file of each byte of the content, and its offset in that file.
        let mut content: Vec<(Option<usize>, u64)> = Vec::new();
        for (i, &(length, is_padding)) in files.iter().enumerate() {
            let byte = |offset| if is_padding { (None, 0) } else { (Some(i), offset) };
            content.extend((0..length).map(byte));
        }
        prop_assert_eq!(layout.lengths().total_length(), content.len() as u64);
        let pieces: Vec<_> = layout.lengths().pieces().collect();
        prop_assert_eq!(pieces.len(), content.chunks(piece_length).len());
        for (piece, expected) in pieces.into_iter().zip(content.chunks(piece_length)) {
            let extents: Vec<_> = layout.extents(piece).collect();
            let bytes: Vec<_> = extents
                .iter()
                .flat_map(|extent| {
                    let offset = |i| extent.file.map_or(extent.offset, |_| extent.offset + i);
                    let file = extent.file.map(FileIndex::get);
                    (0..extent.len_bytes).map(move |i| (file, offset(i)))
                })
                .collect();
            prop_assert_eq!(&bytes, expected, "piece {}", piece.get());
            prop_assert!(extents.iter().all(|extent| extent.len_bytes > 0));
            for pair in extents.windows(2) {
                prop_assert_ne!(pair[0].file, pair[1].file, "two extents where one would do");
            }
        }
    }

    #[test]
    fn a_file_has_the_pieces_that_its_bytes_are_in((files, piece_length) in any_content()) {
        let metainfo = metainfo(&files, piece_length);
        let torrent = Torrent::parse(metainfo.as_slice()).expect("it is valid");
        let layout = Layout::new(&torrent, BOTH);

        let found: BTreeMap<usize, FileIndex> = layout
            .lengths()
            .pieces()
            .flat_map(|piece| layout.extents(piece).filter_map(|extent| extent.file))
            .map(|file| (file.get(), file))
            .collect();
        let mut start = 0;
        for (i, &(length, is_padding)) in files.iter().enumerate() {
            let mut pieces: Vec<u32> = (start..start + length)
                .map(|offset| (offset / piece_length as u64) as u32)
                .collect();
            pieces.dedup();
            let has_extents = !is_padding && length > 0;
            prop_assert_eq!(found.contains_key(&i), has_extents, "file {}", i);
            if let Some(&index) = found.get(&i) {
                prop_assert_eq!(layout.pieces_of(index).collect::<Vec<_>>(), pieces, "file {}", i);
            }
            start += length;
        }
    }
}

/// Lengths of files around the borders of pieces, at least one of them nonzero, and a piece length.
fn any_tree() -> impl Strategy<Value = (Vec<usize>, usize)> {
    let piece_length = prop_oneof![Just(16_usize << 10), Just(32_usize << 10)];
    piece_length.prop_flat_map(|piece_length| {
        let length = prop_oneof![
            Just(0),
            1..3 * piece_length,
            (1..4_usize, 0..3_usize).prop_map(move |(n, off)| n * piece_length + off - 1),
        ];
        let lengths = proptest::collection::vec(length, 1..6);
        let lengths = lengths.prop_filter("there is content", |all| all.iter().any(|n| *n > 0));
        (lengths, Just(piece_length))
    })
}

/// The files of each piece (`None`: padding), with the offset in the file and the number of bytes.
type Pieces = Vec<Vec<(Option<usize>, u64, u64)>>;

/// Returns the pieces file by file. Each file starts a new piece, and padding may follow it.
fn expected(lengths: &[usize], piece_length: usize, is_padded: impl Fn(usize) -> bool) -> Pieces {
    let mut pieces = Pieces::new();
    for (i, &length) in lengths.iter().enumerate() {
        for start in (0..length).step_by(piece_length) {
            let n_bytes = piece_length.min(length - start);
            let mut piece = vec![(Some(i), start as u64, n_bytes as u64)];
            if n_bytes < piece_length && is_padded(i) {
                piece.push((None, 0, (piece_length - n_bytes) as u64));
            }
            pieces.push(piece);
        }
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn with_version_2_a_piece_is_of_one_file(
        (lengths, piece_length) in any_tree(),
        pads_tail in any::<bool>(),
    ) {
        let last = lengths.iter().rposition(|length| *length > 0).expect("there is content");
        for version in [Version::V2, Version::Hybrid] {
            let mut plan = PlannedTorrent::folder(version, piece_length);
            for (i, length) in lengths.iter().enumerate() {
                plan = plan.file(&format!("folder/{i}"), vec![1; *length]);
            }
            if pads_tail {
                plan = plan.padded_to_the_end();
            }
            let metainfo = plan.metainfo();
            let torrent = Torrent::parse(metainfo.as_slice()).expect("it is valid");
            // Positions of files that are not padding.
            let files = torrent.files().iter().enumerate();
            let files = files.filter(|(_, file)| file.kind() == FileKind::Regular);
            let files: Vec<usize> = files.map(|(position, _)| position).collect();

            for versions in [V1, V2, BOTH].map(|some| some.and(HashVersions::of(version))) {
                if versions.is_empty() {
                    continue;
                }
                let layout = Layout::new(&torrent, versions);
                let is_padded = |i| versions.v1 && (i != last || pads_tail);
                let expected = expected(&lengths, piece_length, is_padded);
                let pieces: Vec<_> = layout.lengths().pieces().collect();
                prop_assert_eq!(pieces.len(), expected.len());
                let mut total = 0;
                for (piece, expected) in pieces.into_iter().zip(expected) {
                    let extents = layout.extents(piece).map(|extent| {
                        let file = extent.file.map(|file| {
                            files.iter().position(|known| *known == file.get())
                        });
                        (file.flatten(), extent.offset, extent.len_bytes)
                    });
                    prop_assert_eq!(extents.collect::<Vec<_>>(), &expected[..]);
                    let n_bytes: u64 = expected.iter().map(|(_, _, n_bytes)| n_bytes).sum();
                    prop_assert_eq!(u64::from(layout.piece_len(piece)), n_bytes);
                    total += n_bytes;
                }
                prop_assert_eq!(layout.total_bytes(), total);
                prop_assert_eq!(layout.hash_versions(), versions);
            }
        }
    }
}
