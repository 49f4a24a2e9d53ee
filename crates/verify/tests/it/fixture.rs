//! A torrent, and its content on the disk. It is written without any code of ours, and hashed by
//! another implementation of SHA-1.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hashlane_metainfo::{FileKind, Torrent};
use hashlane_sha::{Backend, Engine};
use hashlane_verify::{
    CancelToken, Content, FileReport, FileState, IoMode, Options, PieceCounts, PieceState,
    Progress, Report, verify,
};
use sha1::{Digest as _, Sha1};
use tempfile::TempDir;

pub(crate) type PieceHash = [u8; 20];

/// A file in the list of a torrent.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    path: String,
    length: u64,
    kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryKind {
    Regular,
    Padding,
    Symlink,
}

impl Entry {
    /// Components of `path` are separated by `/`.
    pub(crate) fn file(path: &str, length: u64) -> Self {
        Self {
            path: path.into(),
            length,
            kind: EntryKind::Regular,
        }
    }

    pub(crate) fn padding(length: u64) -> Self {
        Self {
            path: format!(".pad/{length}"),
            length,
            kind: EntryKind::Padding,
        }
    }

    /// A symbolic link to the file `target` of the same folder.
    pub(crate) fn symlink(path: &str) -> Self {
        Self {
            path: path.into(),
            length: 0,
            kind: EntryKind::Symlink,
        }
    }

    fn encode(&self) -> Vec<u8> {
        let attr = match self.kind {
            EntryKind::Regular => "",
            EntryKind::Padding => "4:attr1:p",
            EntryKind::Symlink => "4:attr1:l",
        };
        let target = match self.kind {
            EntryKind::Symlink => "12:symlink pathl6:targete",
            _ => "",
        };
        let components = self.path.split('/');
        let components: Vec<String> = components
            .map(|component| format!("{}:{component}", component.len()))
            .collect();
        let path = components.concat();
        let length = self.length;
        format!("d{attr}6:lengthi{length}e4:pathl{path}e{target}e").into_bytes()
    }
}

/// A .torrent file of a single file that is named `content`.
pub(crate) fn metainfo_of_file(length: u64, piece_length: usize, hashes: &[PieceHash]) -> Vec<u8> {
    metainfo(
        format!("6:lengthi{length}e").as_bytes(),
        piece_length,
        hashes,
    )
}

/// A .torrent file of a folder that is named `content`.
pub(crate) fn metainfo_of_folder(
    entries: &[Entry],
    piece_length: usize,
    hashes: &[PieceHash],
) -> Vec<u8> {
    let entries: Vec<u8> = entries.iter().flat_map(Entry::encode).collect();
    let files = [b"5:filesl", &entries[..], b"e"].concat();
    metainfo(&files, piece_length, hashes)
}

fn metainfo(files: &[u8], piece_length: usize, hashes: &[PieceHash]) -> Vec<u8> {
    let hashes = hashes.as_flattened();
    let rest = format!(
        "4:name7:content12:piece lengthi{piece_length}e6:pieces{}:",
        hashes.len()
    );
    [b"d4:infod", files, rest.as_bytes(), hashes, b"ee"].concat()
}

pub(crate) fn hash(piece: &[u8]) -> PieceHash {
    Sha1::digest(piece).into()
}

pub(crate) fn hashes(content: &[u8], piece_length: usize) -> Vec<PieceHash> {
    content.chunks(piece_length).map(hash).collect()
}

/// Bytes without a pattern, none of them zero: always the same for a seed.
pub(crate) fn noise(seed: u64, len_bytes: usize) -> Vec<u8> {
    let mut state = seed;
    let words = std::iter::repeat_with(|| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) | 0x0101_0101_0101_0101).to_le_bytes()
    });
    let mut bytes: Vec<u8> = words.take(len_bytes.div_ceil(8)).flatten().collect();
    bytes.truncate(len_bytes);
    bytes
}

/// A torrent, and a folder for its content.
#[derive(Debug)]
pub(crate) struct Fixture {
    folder: TempDir,
    metainfo: Vec<u8>,
}

impl Fixture {
    /// Without any content.
    pub(crate) fn empty(metainfo: Vec<u8>) -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            metainfo,
        }
    }

    /// A single file, there and right.
    pub(crate) fn file(bytes: &[u8], piece_length: usize) -> Self {
        let hashes = hashes(bytes, piece_length);
        let fixture = Self::empty(metainfo_of_file(bytes.len() as u64, piece_length, &hashes));
        fs::write(fixture.content(), bytes).expect("the temporary folder takes a file");
        fixture
    }

    /// A folder of files with noise in them, there and right. Padding is not written.
    pub(crate) fn folder(entries: &[Entry], piece_length: usize) -> Self {
        let bytes_of = |(i, entry): (usize, &Entry)| match entry.kind {
            EntryKind::Regular => noise(i as u64, entry.length as usize),
            _ => vec![0; entry.length as usize],
        };
        let files: Vec<Vec<u8>> = entries.iter().enumerate().map(bytes_of).collect();
        let hashes = hashes(&files.concat(), piece_length);
        let fixture = Self::empty(metainfo_of_folder(entries, piece_length, &hashes));
        fs::create_dir(fixture.content()).expect("the temporary folder takes a folder");
        for (entry, bytes) in entries.iter().zip(&files) {
            if entry.kind == EntryKind::Regular {
                fixture.write(&entry.path, bytes);
            }
        }
        fixture
    }

    /// Where the content is: the file, or the folder.
    pub(crate) fn content(&self) -> PathBuf {
        self.parent().join("content")
    }

    /// The folder that the content is in.
    pub(crate) fn parent(&self) -> &Path {
        self.folder.path()
    }

    /// Where a file of a folder is.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.content().join(path)
    }

    /// Writes a file of a folder, and the folders that it is in.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        let parent = path.parent().expect("it is in the content folder");
        fs::create_dir_all(parent).expect("the temporary folder takes a folder");
        fs::write(path, bytes).expect("the temporary folder takes a file");
    }

    pub(crate) fn torrent(&self) -> Torrent<'_> {
        Torrent::parse(&self.metainfo).expect("the fixture's torrent is valid")
    }

    /// Verifies with the default options.
    pub(crate) fn verify(&self) -> Report {
        self.verify_with(&Options::default())
    }

    pub(crate) fn verify_with(&self, options: &Options) -> Report {
        self.watch(options, &CancelToken::default(), |_| ())
    }

    /// Verifies, and checks what holds for every report.
    pub(crate) fn watch(
        &self,
        options: &Options,
        cancel: &CancelToken,
        progress: impl FnMut(&Progress),
    ) -> Report {
        // What cannot be mapped on this system is verified by the road that can.
        let has_maps = cfg!(all(target_os = "linux", not(hashlane_portable)));
        let io = match options.io {
            IoMode::Mmap if !has_maps => IoMode::Auto,
            io => io,
        };
        let options = &Options { io, ..*options };
        let torrent = self.torrent();
        let content = Content::in_folder(&torrent, self.parent()).expect("the name is ASCII");
        let report = verify(&content, options, cancel, progress).expect("it can be done");
        check_sums(&torrent, &report);
        report
    }

    /// Verifies by every road and with several numbers of threads, and expects the same states of
    /// the pieces, one letter for each as in [`letters`], every time.
    #[track_caller]
    pub(crate) fn expect(&self, states: &str) -> Report {
        for options in every_road() {
            let report = self.verify_with(&options);
            assert_eq!(
                letters(&report),
                states,
                "{:?}, {:?} threads",
                options.io,
                options.threads
            );
        }
        self.verify()
    }
}

/// The report on a file, by its position in the torrent.
pub(crate) fn file_of(report: &Report, position: usize) -> &FileReport {
    let mut files = report.files().iter();
    let file = files.find(|file| file.index.get() == position);
    file.expect("the file is in the report")
}

/// `h`ave, `b`ad, `m`issing, `x` for unreadable, `-` for unchecked: of each piece.
pub(crate) fn letters(report: &Report) -> String {
    let letter = |state: &PieceState| match state {
        PieceState::Have => 'h',
        PieceState::Bad => 'b',
        PieceState::Missing => 'm',
        PieceState::Unreadable => 'x',
        PieceState::Unchecked => '-',
    };
    report.pieces().iter().map(letter).collect()
}

/// Every combination of a way of reading with 1 to 3 threads.
pub(crate) fn every_road() -> Vec<Options> {
    let mut roads = Vec::new();
    for io in [IoMode::Auto, IoMode::Mmap, IoMode::Pread] {
        if io == IoMode::Mmap && !cfg!(all(target_os = "linux", not(hashlane_portable))) {
            continue;
        }
        for n_threads in 1..=3 {
            roads.push(Options {
                threads: NonZeroUsize::new(n_threads),
                io,
                ..Options::default()
            });
        }
    }
    roads
}

/// The same, with every backend that this CPU can run.
pub(crate) fn every_way() -> Vec<(Backend, Options)> {
    let backends = Backend::ALL.into_iter().filter(|b| b.is_available());
    let with = |backend| {
        let engine = Engine::with(backend).expect("it is available");
        let roads = every_road().into_iter();
        roads.map(move |options| (backend, Options { engine, ..options }))
    };
    backends.flat_map(with).collect()
}

/// Adds up what a report says in the most obvious way.
fn check_sums(torrent: &Torrent<'_>, report: &Report) {
    let count = |pieces: &[PieceState]| {
        let n = |state| pieces.iter().filter(|piece| **piece == state).count() as u32;
        PieceCounts {
            unchecked: n(PieceState::Unchecked),
            have: n(PieceState::Have),
            bad: n(PieceState::Bad),
            missing: n(PieceState::Missing),
            unreadable: n(PieceState::Unreadable),
        }
    };
    let lengths = torrent.lengths();
    let bytes = |wanted: &dyn Fn(PieceState) -> bool| -> u64 {
        let pieces = lengths.pieces().zip(report.pieces());
        let pieces = pieces.filter(|(_, state)| wanted(**state));
        pieces
            .map(|(piece, _)| u64::from(lengths.piece_len(piece)))
            .sum()
    };
    assert_eq!(report.pieces().len() as u32, lengths.piece_count());
    assert_eq!(report.counts(), count(report.pieces()));
    assert_eq!(report.counts().total(), lengths.piece_count());
    assert_eq!(report.have_bytes(), bytes(&|s| s == PieceState::Have));
    assert_eq!(
        report.checked_bytes(),
        bytes(&|s| s != PieceState::Unchecked)
    );
    for file in report.files() {
        let pieces = &report.pieces()[file.pieces.start as usize..file.pieces.end as usize];
        assert_eq!(file.counts, count(pieces));
        assert_eq!(file.length, torrent.files()[file.index.get()].length());
    }
    let listed = report.files().iter().map(|file| file.index.get());
    let is_file = |i: &usize| torrent.files()[*i].kind() != FileKind::Padding;
    assert!(listed.eq((0..torrent.files().len()).filter(is_file)));
    let whole = [FileState::Whole, FileState::Link];
    assert_eq!(
        report.is_complete(),
        report.pieces().iter().all(|s| *s == PieceState::Have)
            && report.files().iter().all(|f| whole.contains(&f.state))
    );
    let is_unchecked = |file: &FileReport| file.state == FileState::Unchecked;
    assert_eq!(
        report.is_cancelled(),
        report.counts().unchecked > 0 || report.files().iter().any(is_unchecked)
    );
}
