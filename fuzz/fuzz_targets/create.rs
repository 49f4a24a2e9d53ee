//! Torrents created from arbitrary content: reading returns the values that were written, also
//! after an edit.

#![no_main]

use arbitrary::Arbitrary;
use hashlane_metainfo::merkle::LEAF_LEN;
use hashlane_metainfo::{
    Attributes, Edit, FileKind, ListEdit, Magnet, NewContent, NewFile, NewMetadata, PathComponent,
    PieceHashes, Torrent, TorrentPath, Version,
};
use libfuzzer_sys::fuzz_target;

/// Maximum number of pieces, so that their hashes fit in memory. More pieces would test nothing
/// else.
const MAX_PIECES: u32 = 1 << 12;

#[derive(Debug, Arbitrary)]
struct Input {
    version: u8,
    piece_length: u8,
    name: Vec<u8>,
    is_single_file: bool,
    files: Vec<File>,
    hash: u8,
    metadata: Metadata,
    edit: Changes,
}

#[derive(Debug, Arbitrary)]
struct File {
    path: Vec<Vec<u8>>,
    length: u64,
    is_short: bool,
    executable: bool,
    hidden: bool,
    target: Option<Vec<Vec<u8>>>,
}

#[derive(Debug, Arbitrary)]
struct Metadata {
    trackers: Vec<Vec<String>>,
    web_seeds: Vec<String>,
    nodes: Vec<(String, u16)>,
    comment: Option<String>,
    created_by: Option<String>,
    creation_date: Option<i64>,
    is_private: bool,
    source: Option<String>,
}

#[derive(Debug, Arbitrary)]
struct Changes {
    trackers: Option<(bool, Vec<Vec<String>>)>,
    web_seeds: Option<(bool, Vec<String>)>,
    comment: Option<Option<String>>,
    source: Option<Option<String>>,
    is_private: Option<bool>,
}

fuzz_target!(|input: Input| {
    let version = [Version::V1, Version::V2, Version::Hybrid][usize::from(input.version % 3)];
    let piece_length = 1_u32
        .checked_shl((input.piece_length % 32).into())
        .unwrap_or(0);
    let Some(content) = content(&input, version, piece_length) else {
        return;
    };
    let n_pieces = content.lengths().piece_count();
    if n_pieces > MAX_PIECES {
        return;
    }
    let hashes = hashes(&content, input.hash);
    let metadata = metadata(input.metadata);
    let bytes = content.write(&hashes, &metadata);
    let torrent = Torrent::parse(bytes).unwrap_or_else(|error| panic!("{error}: {content:?}"));
    compare(&torrent, &content, &hashes, &metadata);

    let edit = Edit {
        trackers: input.edit.trackers.map(urls),
        web_seeds: input.edit.web_seeds.map(urls),
        comment: input.edit.comment,
        source: input.edit.source,
        is_private: input.edit.is_private,
        ..Edit::default()
    };
    let after = edit.apply(&torrent).expect("what was read is read again");
    let is_same = after.info_bytes() == torrent.info_bytes();
    assert_eq!(is_same, !edit.changes_info_hash(&torrent));
    assert_eq!(after.piece_hashes(), torrent.piece_hashes());
    assert_eq!(after.files().len(), torrent.files().len());
    if let Some(is_private) = edit.is_private {
        assert_eq!(after.metadata().is_private, is_private);
    }
    if let Some(source) = &edit.source {
        assert_eq!(after.metadata().source.as_deref(), source.as_deref());
    }
    if let Some(comment) = &edit.comment {
        assert_eq!(after.metadata().comment.as_deref(), comment.as_deref());
    }
});

fn urls<T>((add, urls): (bool, Vec<T>)) -> ListEdit<T> {
    if add {
        ListEdit::Add(urls)
    } else {
        ListEdit::Set(urls)
    }
}

fn content(input: &Input, version: Version, piece_length: u32) -> Option<NewContent> {
    let mut files: Vec<NewFile> = input.files.iter().map(new_file).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if input.is_single_file {
        files.truncate(1);
        let file = files.first_mut()?;
        file.path = vec![input.name.clone()];
        file.target = None;
    }
    NewContent::new(
        version,
        piece_length,
        input.name.clone(),
        input.is_single_file,
        files,
    )
    .ok()
}

fn new_file(file: &File) -> NewFile {
    let length = if file.is_short {
        file.length % (1 << 20)
    } else {
        file.length
    };
    let attributes = Attributes::default()
        .executable(file.executable)
        .hidden(file.hidden);
    let new = match &file.target {
        Some(target) => NewFile::link(file.path.clone(), target.clone()),
        None => NewFile::new(file.path.clone(), length),
    };
    new.attributes(attributes)
}

fn metadata(metadata: Metadata) -> NewMetadata {
    NewMetadata {
        trackers: metadata.trackers,
        web_seeds: metadata.web_seeds,
        nodes: metadata.nodes,
        comment: metadata.comment,
        created_by: metadata.created_by,
        creation_date: metadata.creation_date,
        is_private: metadata.is_private,
        source: metadata.source,
        entropy: None,
    }
}

/// Returns arbitrary hashes: a torrent alone cannot show whether its hashes are right.
fn hashes(content: &NewContent, seed: u8) -> PieceHashes {
    let pieces = 0..content.lengths().piece_count();
    let hash = |piece: u32| piece.wrapping_mul(31).wrapping_add(seed.into()) as u8 | 1;
    let v1 = pieces.clone().map(|piece| [hash(piece); 20]);
    let v2 = pieces.map(|piece| [hash(piece); 32]);
    PieceHashes {
        v1: v1.filter(|_| content.version().has_v1()).collect(),
        v2: v2.filter(|_| content.version().has_v2()).collect(),
    }
}

fn compare(torrent: &Torrent, content: &NewContent, hashes: &PieceHashes, metadata: &NewMetadata) {
    assert_eq!(torrent.version(), content.version());
    assert_eq!(
        torrent.lengths().piece_count(),
        content.lengths().piece_count()
    );
    assert_eq!(torrent.piece_hashes().unwrap_or_default(), hashes.v1);
    let files = torrent.files().iter();
    let files: Vec<_> = files
        .filter(|file| file.kind() != FileKind::Padding)
        .collect();
    assert_eq!(files.len(), content.files().len());
    let piece_length = content.lengths().piece_length().get();
    for (file, expected) in files.iter().zip(content.files()) {
        assert!(!file.is_renamed());
        assert_eq!(components(file.path()), expected.path);
        assert_eq!(file.length(), expected.length);
        assert_eq!(file.attributes(), expected.attributes);
        match (file.kind(), &expected.target) {
            (FileKind::Symlink { target }, Some(expected)) => {
                assert_eq!(components(target), *expected);
            }
            (kind, expected) => assert!(kind == FileKind::Regular && expected.is_none()),
        }
        if let Some(layer) = file.piece_layer() {
            assert!(file.length() > piece_length.into() && piece_length >= LEAF_LEN);
            let first = (file.offset() / u64::from(piece_length)) as usize;
            assert_eq!(layer, &hashes.v2[first..first + layer.len()]);
        }
    }
    let read = torrent.metadata();
    assert_eq!(read.comment.as_deref(), metadata.comment.as_deref());
    assert_eq!(read.created_by.as_deref(), metadata.created_by.as_deref());
    assert_eq!(read.source.as_deref(), metadata.source.as_deref());
    assert_eq!(read.creation_date, metadata.creation_date);
    assert_eq!(read.is_private, metadata.is_private);
    assert_eq!(read.nodes.len(), metadata.nodes.len());
    let link = Magnet::of(torrent);
    assert_eq!(link.to_string().parse(), Ok(link));
}

fn components(path: TorrentPath<'_>) -> Vec<Vec<u8>> {
    path.components()
        .map(|name: PathComponent<'_>| name.as_bytes().to_vec())
        .collect()
}
