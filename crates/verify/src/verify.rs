//! Verification of a torrent's content.

use std::fmt;
use std::ops::Range;
use std::time::Instant;

use hashlane_metainfo::{PieceIndex, Torrent, Version};
use hashlane_pipeline::{
    CancelToken, Fault, FileFact, FileSet, Options, Results, hash_messages, hash_messages_on,
    inspect,
};
use hashlane_sha::Engine;

use crate::comparison::{Comparison, Watch};
use crate::content::Content;
use crate::layout::{HashVersions, Layout, files_of};
use crate::links;
use crate::piece::{PieceCounts, PieceState};
use crate::piece_hasher::{PieceDigests, piece_hasher};
use crate::report::Report;

/// An error that prevents a verification. Problems with single files and pieces are no errors; the
/// [`Report`] lists them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The torrent has none of the requested hashes.
    #[error("the torrent is {version} and has none of the requested hashes")]
    NoSuchHashes {
        /// The version of the torrent.
        version: Version,
    },
    /// Nothing could be read or hashed.
    #[error(transparent)]
    Pipeline(#[from] hashlane_pipeline::Error),
}

/// The progress of a verification.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Number of bytes done: all bytes of pieces whose digests are known, and the hashed bytes of other pieces.
    pub hashed_bytes: u64,
    /// Number of bytes to verify.
    pub total_bytes: u64,
    /// Number of pieces in each state.
    pub counts: PieceCounts,
}

/// Determines which pieces of a torrent are in `content`. Only reads.
///
/// Verifies the hashes in `versions` that the torrent has; both kinds of a hybrid torrent are verified in one pass.
/// `progress` is called on this thread, about fifty times per second for each worker. When `cancel` is set, the
/// function returns soon, with a report of the states that are already known. [`Verification`] has more choices.
///
/// # Errors
/// Fails only if nothing can be verified, for example with [`Error::NoSuchHashes`] if the torrent has none of the
/// hashes in `versions`. Absent and unreadable files are in the report.
pub fn verify(
    content: &Content,
    versions: HashVersions,
    options: &Options,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, Error> {
    let verification = Verification::new(content).versions(versions);
    let verification = verification.options(*options).cancel(cancel);
    verification.run(progress)
}

/// A verification with choices: of some pieces, of content that is not on the disk, or without the pieces that the
/// caller trusts. Only reads.
///
/// ```
/// use hashlane_metainfo::{NewContent, NewFile, NewMetadata, PieceHashes, Torrent, Version};
/// use hashlane_verify::{Options, PieceState, Readers, Verification};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let bytes = [vec![1; 16_384], vec![2; 16_384]].concat();
/// # let file = NewFile::new(vec![b"a".to_vec()], 32_768);
/// # let content = NewContent::new(Version::V1, 16_384, b"a".to_vec(), true, vec![file])?;
/// # let mut hashes = PieceHashes { v1: vec![[0; 20]; 2], v2: Vec::new() };
/// # for (hash, piece) in hashes.v1.iter_mut().zip(bytes.chunks(16_384)) {
/// #     *hash = hashlane_sha::digest::<hashlane_sha::Sha1>(piece).into();
/// # }
/// # let torrent = Torrent::parse(content.write(&hashes, &NewMetadata::default()))?;
/// // The only file of the torrent is in memory. Its second piece alone is verified, on this thread.
/// let files = Readers::new(|_| Ok(Box::new(&bytes[..])));
/// let options = Options::default().threads(std::num::NonZeroUsize::MIN);
/// let report = Verification::of(&torrent, &files).pieces(1..2).options(options).run(|_| ())?;
/// assert_eq!(report.pieces(), [PieceState::Unchecked, PieceState::Have]);
/// # Ok(())
/// # }
/// ```
///
/// With one thread, everything runs on the calling thread. [`Self::run_on`] runs on threads of the caller.
#[must_use = "nothing is verified before `run`"]
pub struct Verification<'a> {
    torrent: &'a Torrent,
    files: &'a dyn FileSet,
    /// The content, if it is on the disk.
    content: Option<&'a Content>,
    versions: HashVersions,
    options: Options,
    cancel: CancelToken,
    pieces: Range<u32>,
    trusted: &'a dyn Fn(PieceIndex) -> bool,
    watch: Watch<'a>,
}

impl fmt::Debug for Verification<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verification")
            .field("versions", &self.versions)
            .field("pieces", &self.pieces)
            .finish_non_exhaustive()
    }
}

impl<'a> Verification<'a> {
    /// Returns the verification of all pieces of a torrent on the disk, by all hashes of the torrent.
    pub fn new(content: &'a Content) -> Self {
        Self {
            content: Some(content),
            ..Self::of(content.torrent(), content)
        }
    }

    /// Returns the verification of all pieces in other files, such as [`Readers`](crate::Readers). The files have the
    /// indexes of the torrent's files. Symbolic links of the torrent are not compared.
    pub fn of(torrent: &'a Torrent, files: &'a dyn FileSet) -> Self {
        Self {
            torrent,
            files,
            content: None,
            versions: HashVersions::of(torrent.version()),
            options: Options::default(),
            cancel: CancelToken::default(),
            pieces: 0..u32::MAX,
            trusted: &|_| false,
            watch: &|_, _| {},
        }
    }

    /// Verifies only these hashes.
    pub fn versions(mut self, versions: HashVersions) -> Self {
        self.versions = versions;
        self
    }

    /// Sets the options of reading and hashing.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Stops the verification when `cancel` is set.
    pub fn cancel(mut self, cancel: &CancelToken) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Verifies only the pieces with these indexes. All others are [`Unchecked`](crate::PieceState::Unchecked) in the
    /// report. If a file has a single hash for all of its pieces, all of them are verified. Empty files and links are looked
    /// at together with the first piece.
    pub fn pieces(mut self, pieces: Range<u32>) -> Self {
        self.pieces = pieces;
        self
    }

    /// Does not read the pieces for which `trusted` returns `true`: they count as present and correct. If a file has a
    /// single hash for all of its pieces, these pieces are trusted together or not at all.
    pub fn trust(mut self, trusted: &'a dyn Fn(PieceIndex) -> bool) -> Self {
        self.trusted = trusted;
        self
    }

    /// Calls `watch` with the state of each piece as soon as it is known, on the thread that calls `progress`. A piece with
    /// hashes of both versions can get a worse state later. Pieces that are not verified have no call.
    pub fn watch(mut self, watch: &'a (dyn Fn(PieceIndex, PieceState) + Sync)) -> Self {
        self.watch = watch;
        self
    }

    /// Verifies the pieces. `progress` is called on this thread, about fifty times per second for each worker.
    ///
    /// # Errors
    /// As for [`verify`].
    pub fn run(self, mut progress: impl FnMut(&Progress)) -> Result<Report, Error> {
        let pieces = Pieces::of(&self)?;
        let mut states = pieces.unverified();
        let hasher = |engine| piece_hasher(&pieces.layout, engine);
        hash_messages(
            &pieces.layout,
            self.files,
            hasher,
            &self.options,
            &self.cancel,
            |results| progress(&states.receive(results)),
        )?;
        Ok(states.report())
    }

    /// Verifies the pieces on threads of the caller, such as those of rayon.
    ///
    /// `on_threads` receives the work of one thread, a function that returns when no pieces are left. It calls this
    /// function on as many threads as it likes, and returns after all calls have returned. At most [`Options::threads`]
    /// calls do work. If there are none, the calling thread does the work. `progress` runs on these threads, one call at
    /// a time. It must not wait for other work on the same threads.
    ///
    /// `|work| work()` verifies on the calling thread, and `|work| drop(pool.broadcast(|_| work()))` on a pool of rayon, as
    /// in `examples/rayon.rs`. A program with tokio calls [`Self::run`] in `spawn_blocking`, because a thread that waits for a
    /// disk must not run tasks.
    ///
    /// # Errors
    /// As for [`verify`].
    pub fn run_on(
        self,
        on_threads: impl FnOnce(&(dyn Fn() + Sync)),
        mut progress: impl FnMut(&Progress) + Send,
    ) -> Result<Report, Error> {
        let pieces = Pieces::of(&self)?;
        let mut states = pieces.unverified();
        let hasher = |engine| piece_hasher(&pieces.layout, engine);
        hash_messages_on(
            &pieces.layout,
            self.files,
            hasher,
            &self.options,
            &self.cancel,
            on_threads,
            |results| progress(&states.receive(results)),
        )?;
        Ok(states.report())
    }

    /// Returns the choice for each piece. If a file has a single hash for all of its pieces, they are read together.
    fn choices(&self, layout: &Layout) -> Vec<Choice> {
        let pieces = layout.lengths().pieces();
        let choices = pieces.map(|piece| match piece {
            piece if !self.pieces.contains(&piece.get()) => Choice::LeaveOut,
            piece if (self.trusted)(piece) => Choice::Trust,
            _ => Choice::Read,
        });
        let mut choices: Vec<Choice> = choices.collect();
        if !layout.hash_versions().v2 {
            return choices;
        }
        for (index, file) in files_of(self.torrent) {
            let pieces = layout.pieces_of(index);
            let pieces = &mut choices[pieces.start as usize..pieces.end as usize];
            let has_one_hash = file.piece_layer().is_none() && pieces.len() > 1;
            if has_one_hash && pieces.iter().any(|choice| *choice != pieces[0]) {
                pieces.fill(Choice::Read);
            }
        }
        choices
    }
}

/// The choice for a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Read,
    /// The piece counts as present without being read.
    Trust,
    LeaveOut,
}

/// The pieces of a verification, and the choice for each.
pub(crate) struct Pieces<'v> {
    started: Instant,
    torrent: &'v Torrent,
    files: &'v dyn FileSet,
    content: Option<&'v Content>,
    cancel: &'v CancelToken,
    engine: Engine,
    pub(crate) layout: Layout,
    choices: Vec<Choice>,
    watch: Watch<'v>,
}

impl<'v> Pieces<'v> {
    pub(crate) fn of(verification: &'v Verification<'v>) -> Result<Self, Error> {
        let started = Instant::now();
        let version = verification.torrent.version();
        let versions = verification.versions.and(HashVersions::of(version));
        if versions.is_empty() {
            return Err(Error::NoSuchHashes { version });
        }
        let layout = Layout::new(verification.torrent, versions);
        let choices = verification.choices(&layout);
        let is_whole = choices.iter().all(|choice| *choice == Choice::Read);
        Ok(Self {
            started,
            torrent: verification.torrent,
            files: verification.files,
            content: verification.content,
            cancel: &verification.cancel,
            engine: verification.options.engine,
            layout: if is_whole {
                layout
            } else {
                layout.with_messages(|piece| choices[piece as usize] == Choice::Read)
            },
            choices,
            watch: verification.watch,
        })
    }

    /// Returns the states of the pieces before anything is read.
    pub(crate) fn unverified(&self) -> States<'_> {
        let mut states = States {
            pieces: self,
            comparison: Comparison::new(self.torrent, &self.layout, self.engine, self.watch),
            total_bytes: self.layout.total_bytes(),
            n_left_out: 0,
        };
        for (piece, choice) in self.layout.lengths().pieces().zip(&self.choices) {
            match choice {
                Choice::Read => {}
                Choice::Trust => states.comparison.trusted(piece),
                Choice::LeaveOut => {
                    states.total_bytes -= u64::from(self.layout.piece_len(piece));
                    states.n_left_out += 1;
                }
            }
        }
        states
    }
}

/// The states of the pieces while they are verified.
pub(crate) struct States<'p> {
    pieces: &'p Pieces<'p>,
    comparison: Comparison<'p>,
    total_bytes: u64,
    n_left_out: u32,
}

impl States<'_> {
    /// Notes digests of pieces and facts about files, and returns the progress.
    fn receive(&mut self, results: Results<PieceDigests>) -> Progress {
        for result in results.messages {
            self.piece(result.message, result.digest);
        }
        for fact in results.facts {
            self.file(fact);
        }
        Progress {
            hashed_bytes: self.comparison.checked_bytes() + results.pending_bytes,
            total_bytes: self.total_bytes,
            counts: self.comparison.counts(),
        }
    }

    /// Notes the digests of the piece of a message, or its fault. Called once per message.
    pub(crate) fn piece(&mut self, message: u32, digests: Result<PieceDigests, Fault>) {
        self.comparison.piece(message, digests);
    }

    /// Notes a fact about a file.
    pub(crate) fn file(&mut self, fact: FileFact) {
        self.comparison.file(fact);
    }

    /// Returns the number of bytes in pieces whose digests or faults are known.
    pub(crate) fn checked_bytes(&self) -> u64 {
        self.comparison.checked_bytes()
    }

    /// Looks at the files of which nothing is known yet, and returns the report.
    pub(crate) fn report(mut self) -> Report {
        let Pieces {
            layout, choices, ..
        } = self.pieces;
        let comparison = &mut self.comparison;
        let mut is_cancelled = comparison.counts().unchecked > self.n_left_out;
        for file in comparison.unknown_files() {
            let mut pieces = layout.pieces_of(file);
            if pieces.is_empty() {
                // An empty file or a link has no piece, and is looked at with the first one.
                pieces = 0..u32::from(!choices.is_empty());
            }
            let pieces = &choices[pieces.start as usize..pieces.end as usize];
            if self.n_left_out > 0 && pieces.iter().all(|choice| *choice == Choice::LeaveOut) {
                continue;
            }
            if self.pieces.cancel.is_cancelled() {
                is_cancelled = true;
                break;
            }
            match (comparison.is_link(file), self.pieces.content) {
                (false, _) => comparison.file(inspect(self.pieces.files, file)),
                (true, Some(content)) => comparison.link(file, links::compare(content, file)),
                (true, None) => {}
            }
        }
        self.comparison
            .build(self.pieces.started.elapsed(), is_cancelled)
    }
}
