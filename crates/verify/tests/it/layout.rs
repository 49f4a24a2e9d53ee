//! Which bytes of which files a piece is made of, against a map of every single byte.

use hashlane_metainfo::Torrent;
use hashlane_verify::{FileIndex, Layout};
use proptest::prelude::*;

use crate::fixture::{Entry, metainfo_of_folder};

/// Files of few bytes, many of them empty, some of them padding; and a piece length.
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
        let torrent = Torrent::parse(&metainfo).expect("it is valid");
        let layout = Layout::new(&torrent);

        // Which file each byte of the content is in, and where in it.
        let mut content: Vec<(Option<usize>, u64)> = Vec::new();
        for (i, &(length, is_padding)) in files.iter().enumerate() {
            content.extend((0..length).map(|offset| ((!is_padding).then_some(i), offset)));
        }
        prop_assert_eq!(layout.lengths().total_length(), content.len() as u64);
        let pieces: Vec<_> = layout.lengths().pieces().collect();
        prop_assert_eq!(pieces.len(), content.chunks(piece_length).len());
        for (piece, expected) in pieces.into_iter().zip(content.chunks(piece_length)) {
            let extents: Vec<_> = layout.extents(piece).collect();
            let bytes: Vec<_> = extents
                .iter()
                .flat_map(|extent| {
                    let offsets = extent.offset..extent.offset + extent.len_bytes;
                    offsets.map(|offset| (extent.file.map(FileIndex::get), offset))
                })
                .collect();
            prop_assert_eq!(&bytes, expected, "piece {}", piece.get());
            prop_assert!(extents.iter().all(|extent| extent.len_bytes > 0));
            for pair in extents.windows(2) {
                let is_same = pair[0].file.is_some() && pair[0].file == pair[1].file;
                prop_assert!(!is_same, "one file, two extents: {pair:?}");
            }
        }
    }

    #[test]
    fn a_file_has_the_pieces_that_its_bytes_are_in((files, piece_length) in any_content()) {
        let metainfo = metainfo(&files, piece_length);
        let torrent = Torrent::parse(&metainfo).expect("it is valid");
        let layout = Layout::new(&torrent);

        let mut start = 0;
        prop_assert_eq!(layout.files().len(), files.len());
        for ((index, file), (i, &(length, _))) in layout.files().zip(files.iter().enumerate()) {
            prop_assert_eq!(index.get(), i);
            prop_assert_eq!(layout.file(index), file);
            prop_assert_eq!(file.length(), length);
            let mut pieces: Vec<u32> = (start..start + length)
                .map(|offset| (offset / piece_length as u64) as u32)
                .collect();
            pieces.dedup();
            prop_assert_eq!(layout.pieces_of(index).collect::<Vec<_>>(), pieces, "file {}", i);
            start += length;
        }
    }
}
