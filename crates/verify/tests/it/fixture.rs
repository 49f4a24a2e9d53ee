//! A torrent and its content on disk.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hashlane_metainfo::{File, FileKind, Torrent};
use hashlane_sha::{Backend, Engine};
use hashlane_verify::{
    CancelToken, Content, FileReport, FileState, HashVersions, IoMode, Options, PieceCounts,
    PieceState, Progress, Report, verify,
};
use tempfile::TempDir;

use crate::plan::{Entry, EntryKind, PlannedTorrent, hashes, metainfo_of_file, metainfo_of_folder};
use crate::random::Random;

pub(crate) const BOTH: HashVersions = HashVersions { v1: true, v2: true };
pub(crate) const V1: HashVersions = HashVersions {
    v1: true,
    v2: false,
};
pub(crate) const V2: HashVersions = HashVersions {
    v1: false,
    v2: true,
};

/// Returns the number of bytes of a file that are in the page cache.
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
pub(crate) fn cached_bytes(path: &Path) -> u64 {
    let file = hashlane_files::SourceFile::open(path).expect("the file exists");
    let cached = file.cached_bytes(0..file.len_bytes());
    cached.expect("the system counts pages")
}

/// Returns bytes that look random, are not zero, and depend only on the seed.
pub(crate) fn noise(seed: u64, len_bytes: usize) -> Vec<u8> {
    let mut bytes = Random::new(seed).bytes(len_bytes.next_multiple_of(8));
    for word in bytes.as_chunks_mut::<8>().0 {
        *word = (u64::from_le_bytes(*word) | 0x0101_0101_0101_0101).to_le_bytes();
    }
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
    /// Returns a fixture without content.
    pub(crate) fn empty(metainfo: Vec<u8>) -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            metainfo,
        }
    }

    /// Returns a fixture with one correct file.
    pub(crate) fn file(bytes: &[u8], piece_length: usize) -> Self {
        let hashes = hashes(bytes, piece_length);
        let fixture = Self::empty(metainfo_of_file(bytes.len() as u64, piece_length, &hashes));
        fs::write(fixture.content(), bytes).expect("the temporary folder takes a file");
        fixture
    }

    /// Returns a fixture with a folder of correct pseudorandom files. Padding is not written.
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

    /// Returns a fixture with all files and links of a plan.
    pub(crate) fn of(plan: &PlannedTorrent) -> Self {
        Self::with_metainfo(plan, plan.metainfo())
    }

    /// Returns a fixture with all files and links of a plan, and a .torrent file that may describe
    /// other content.
    pub(crate) fn with_metainfo(plan: &PlannedTorrent, metainfo: Vec<u8>) -> Self {
        let fixture = Self::empty(metainfo);
        fixture.restore(plan);
        fixture
    }

    /// Replaces the content with everything in the plan.
    pub(crate) fn restore(&self, plan: &PlannedTorrent) {
        let is_folder = fs::symlink_metadata(self.content()).is_ok_and(|found| found.is_dir());
        if is_folder {
            fs::remove_dir_all(self.content()).expect("it is ours");
        }
        for file in &plan.files {
            // On other systems, no plan has links.
            #[cfg(unix)]
            if let Some(target) = &file.target {
                self.link(&file.path, &self.path(target));
                continue;
            }
            if plan.is_single_file() {
                fs::write(self.content(), &file.bytes).expect("the folder takes a file");
            } else {
                self.write(&file.path, &file.bytes);
            }
        }
    }

    /// Creates a symbolic link in a folder, and its parent folders.
    #[cfg(unix)]
    fn link(&self, path: &str, target: &Path) {
        let path = self.path(path);
        let parent = path.parent().expect("it is in the content folder");
        fs::create_dir_all(parent).expect("the temporary folder takes a folder");
        std::os::unix::fs::symlink(target, path).expect("the temporary folder takes a link");
    }

    /// Returns the path of the content: a file or a folder.
    pub(crate) fn content(&self) -> PathBuf {
        self.parent().join("content")
    }

    /// Returns the folder that contains the content.
    pub(crate) fn parent(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of a file in a content folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.content().join(path)
    }

    /// Writes a file in a content folder, and creates its parent folders.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        let parent = path.parent().expect("it is in the content folder");
        fs::create_dir_all(parent).expect("the temporary folder takes a folder");
        fs::write(path, bytes).expect("the temporary folder takes a file");
    }

    pub(crate) fn torrent_bytes(&self) -> &[u8] {
        &self.metainfo
    }

    pub(crate) fn torrent(&self) -> Torrent {
        Torrent::parse(self.metainfo.as_slice()).expect("the fixture's torrent is valid")
    }

    /// Verifies with the default options.
    pub(crate) fn verify(&self) -> Report {
        self.verify_with(&Options::default())
    }

    pub(crate) fn verify_with(&self, options: &Options) -> Report {
        self.watch(options, &CancelToken::default(), |_| ())
    }

    /// Verifies these versions of the torrent.
    pub(crate) fn verify_versions(&self, versions: HashVersions, options: &Options) -> Report {
        self.watch_versions(versions, options, &CancelToken::default(), |_| ())
    }

    /// Verifies, and checks what must hold for every report.
    pub(crate) fn watch(
        &self,
        options: &Options,
        cancel: &CancelToken,
        mut progress: impl FnMut(&Progress),
    ) -> Report {
        self.watch_versions(BOTH, options, cancel, &mut progress)
    }

    pub(crate) fn watch_versions(
        &self,
        versions: HashVersions,
        options: &Options,
        cancel: &CancelToken,
        mut progress: impl FnMut(&Progress),
    ) -> Report {
        let options = &possible(options);
        let torrent = self.torrent();
        let content = Content::in_folder(&torrent, self.parent()).expect("the name is ASCII");
        let report =
            verify(&content, versions, options, cancel, &mut progress).expect("it can be done");
        assert_eq!(
            report.hash_versions(),
            versions.and(HashVersions::of(torrent.version()))
        );
        check_sums(&torrent, &report);
        report
    }

    /// Verifies with every way of reading and several numbers of threads, and expects these states of the pieces each
    /// time. The states have the form of [`letters`].
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

    /// Checks the pieces of each file, as in [`letters_by_file`], for each version of the torrent
    /// alone and for both together.
    #[track_caller]
    pub(crate) fn expect_files(&self, v1: &str, v2: &str) -> Report {
        for options in every_road() {
            let report = self.verify_with(&options);
            self.expect_of(&report, v1, v2, &options);
            for versions in [V1, V2].map(|one| one.and(report.hash_versions())) {
                if !versions.is_empty() && versions != report.hash_versions() {
                    let report = self.verify_versions(versions, &options);
                    self.expect_of(&report, v1, v2, &options);
                }
            }
        }
        self.verify()
    }

    #[track_caller]
    fn expect_of(&self, report: &Report, v1: &str, v2: &str, options: &Options) {
        for (pieces, expected) in [(report.pieces_v1(), v1), (report.pieces_v2(), v2)] {
            if let Some(pieces) = pieces {
                let found = letters_by_file(report, pieces);
                assert_eq!(found, expected, "{:?}, {options:?}", report.hash_versions());
            }
        }
    }
}

/// Returns the report on a file, by the file's position in the torrent.
pub(crate) fn file_of(report: &Report, position: usize) -> &FileReport {
    let mut files = report.files().iter();
    let file = files.find(|file| file.index.get() == position);
    file.expect("the file is in the report")
}

/// Returns one letter per piece: `h`ave, `b`ad, `u`nproven, `m`issing, `x` for unreadable, `-` for
/// unchecked.
pub(crate) fn letters(report: &Report) -> String {
    letters_of(report.pieces())
}

pub(crate) fn letters_of(pieces: &[PieceState]) -> String {
    let letter = |state: &PieceState| match state {
        PieceState::Have => 'h',
        PieceState::Bad => 'b',
        PieceState::Unproven => 'u',
        PieceState::Missing => 'm',
        PieceState::Unreadable => 'x',
        PieceState::Unchecked => '-',
    };
    pieces.iter().map(letter).collect()
}

/// Returns the letters of each file that has pieces, separated by spaces.
pub(crate) fn letters_by_file(report: &Report, pieces: &[PieceState]) -> String {
    let files = report.files().iter();
    let files = files.filter(|file| !file.pieces.is_empty());
    let files =
        files.map(|file| letters_of(&pieces[file.pieces.start as usize..file.pieces.end as usize]));
    files.collect::<Vec<_>>().join(" ")
}

/// Whether this system can map files.
const HAS_MAPS: bool = cfg!(all(target_os = "linux", not(hashlane_portable)));

/// Returns the options with a way of reading that this system supports.
pub(crate) fn possible(options: &Options) -> Options {
    let io = match options.io {
        IoMode::Mmap if !HAS_MAPS => IoMode::Auto,
        io => io,
    };
    options.io(io)
}

/// Returns every combination of a way of reading with 1 to 3 threads.
pub(crate) fn every_road() -> Vec<Options> {
    let mut roads = Vec::new();
    for io in [IoMode::Auto, IoMode::Mmap, IoMode::Pread, IoMode::Direct] {
        if io == IoMode::Mmap && !HAS_MAPS {
            continue;
        }
        for n_threads in 1..=3 {
            let options = Options::default().threads(NonZeroUsize::new(n_threads));
            roads.push(options.io(io).allow_signal_handler());
        }
    }
    roads
}

/// Returns every combination of these options with a backend that this CPU can run.
pub(crate) fn every_way() -> Vec<(Backend, Options)> {
    let backends = Backend::all().filter(|b| b.is_available());
    let with = |backend| {
        let engine = Engine::with(backend).expect("it is available");
        let roads = every_road().into_iter();
        roads.map(move |options| (backend, options.engine(engine)))
    };
    backends.flat_map(with).collect()
}

/// Returns the number of bytes checked in each piece: of the concatenated content of version 1, or
/// of the file that starts there.
fn judged_bytes(torrent: &Torrent, versions: HashVersions) -> Vec<u64> {
    let piece_length = u64::from(torrent.lengths().piece_length().get());
    let cut = |total: u64| {
        let starts = (0..total).step_by(piece_length as usize);
        starts.map(move |start| piece_length.min(total - start))
    };
    if versions.v1 {
        let lengths = torrent.files().iter().map(File::length);
        return cut(lengths.sum()).collect();
    }
    let files = torrent.files().iter();
    let files = files.filter(|file| file.kind() == FileKind::Regular);
    files.flat_map(|file| cut(file.length())).collect()
}

/// Returns the number of bytes of files in each piece.
fn content_bytes(torrent: &Torrent, n_pieces: usize) -> Vec<u64> {
    let piece_length = u64::from(torrent.lengths().piece_length().get());
    let mut pieces = vec![0; n_pieces];
    let files = torrent.files().iter();
    for file in files.filter(|file| file.kind() == FileKind::Regular) {
        let (mut at, end) = (file.offset(), file.offset() + file.length());
        while at < end {
            let next = end.min((at / piece_length + 1) * piece_length);
            pieces[(at / piece_length) as usize] += next - at;
            at = next;
        }
    }
    pieces
}

/// Recomputes the totals of a report in the simplest way and compares them.
fn check_sums(torrent: &Torrent, report: &Report) {
    let count = |pieces: &[PieceState]| {
        let n = |state| pieces.iter().filter(|piece| **piece == state).count() as u32;
        PieceCounts {
            unchecked: n(PieceState::Unchecked),
            have: n(PieceState::Have),
            bad: n(PieceState::Bad),
            unproven: n(PieceState::Unproven),
            missing: n(PieceState::Missing),
            unreadable: n(PieceState::Unreadable),
        }
    };
    let versions = report.hash_versions();
    let lengths = judged_bytes(torrent, versions);
    let contents = content_bytes(torrent, lengths.len());
    let bytes = |lengths: &[u64], wanted: &dyn Fn(PieceState) -> bool| -> u64 {
        let pieces = lengths.iter().zip(report.pieces());
        let pieces = pieces.filter(|(_, state)| wanted(**state));
        pieces.map(|(length, _)| length).sum()
    };
    assert_eq!(report.pieces().len(), lengths.len());
    assert_eq!(report.counts(), count(report.pieces()));
    assert_eq!(report.counts().total() as usize, lengths.len());
    assert_eq!(
        report.have_bytes(),
        bytes(&contents, &|s| s == PieceState::Have)
    );
    assert_eq!(report.total_bytes(), torrent.content_length());
    assert_eq!(
        report.checked_bytes(),
        bytes(&lengths, &|s| s != PieceState::Unchecked)
    );
    let (v1, v2) = (report.pieces_v1(), report.pieces_v2());
    assert_eq!((v1.is_some(), v2.is_some()), (versions.v1, versions.v2));
    let by_family: Vec<_> = [v1, v2].into_iter().flatten().collect();
    for (i, piece) in report.pieces().iter().enumerate() {
        let worst = by_family.iter().map(|pieces| pieces[i]);
        assert_eq!(
            Some(*piece),
            worst.max_by_key(|state| badness(*state)),
            "piece {i}"
        );
    }
    for file in report.files() {
        let range = file.pieces.start as usize..file.pieces.end as usize;
        assert_eq!(file.counts, count(&report.pieces()[range.clone()]));
        assert_eq!(
            report.counts_v1(file),
            v1.map(|v1| count(&v1[range.clone()]))
        );
        assert_eq!(
            report.counts_v2(file),
            v2.map(|v2| count(&v2[range.clone()]))
        );
        assert_eq!(file.length, torrent.file(file.index.get()).length());
        assert!(file.found_target.is_none() || file.state == FileState::WrongLink);
    }
    let listed = report.files().iter().map(|file| file.index.get());
    let is_file = |i: &usize| torrent.file(*i).kind() != FileKind::Padding;
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

/// Orders the states, because the worse of two versions' states counts.
fn badness(state: PieceState) -> usize {
    let from_good_to_bad = [
        PieceState::Have,
        PieceState::Unchecked,
        PieceState::Unproven,
        PieceState::Bad,
        PieceState::Missing,
        PieceState::Unreadable,
    ];
    let position = from_good_to_bad.iter().position(|known| *known == state);
    position.expect("all of them are there")
}
