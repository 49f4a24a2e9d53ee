//! Verification of many torrents in one run.

mod files;
mod order;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use hashlane_pipeline::{
    CancelToken, Chosen, ChunkHasher, MessageDigest, Options, Results, hash_messages,
};
use hashlane_sha::{Engine, Sha1};

use crate::content::Content;
use crate::layout::{HashVersions, Layout};
use crate::piece_hasher::{PieceDigests, PieceRoots};
use crate::report::Report;
use crate::verify::{Error, Pieces, States, Verification};

use files::Files;
use order::Order;

/// Number of batches of results that may wait for the receiver.
const MAX_WAITING: usize = 16;

/// A verification of many torrents in one run: the pieces of all torrents are messages of the same workers. Only reads.
///
/// A file that belongs to several torrents under one name or several (hard links, and reflinks that share all of their bytes)
/// is read once for equal pieces, and its other pieces are read next to each other. Files on rotational disks are read in the order of their places on the disk.
/// Each rotational disk has workers of its own, and so have four other file systems, so that several disks work in parallel, and
/// one that does not answer does not stop the others.
///
/// ```no_run
/// use hashlane_metainfo::Torrent;
/// use hashlane_verify::{Content, Library, LibraryEvent};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut contents = Vec::new();
/// for path in ["a.torrent", "b.torrent"] {
///     contents.push(Content::in_folder(&Torrent::parse(std::fs::read(path)?)?, "downloads")?);
/// }
/// Library::new(&contents).run(|event| {
///     if let LibraryEvent::Verified { torrent, result } = event {
///         let is_complete = result.is_ok_and(|report| report.is_complete());
///         println!("{}: {is_complete}", contents[torrent].torrent().name());
///     }
/// })?;
/// # Ok(())
/// # }
/// ```
///
/// All torrents are in memory meanwhile. A caller with very many torrents verifies some thousands at a time.
#[derive(Debug)]
#[must_use = "nothing is verified before `run`"]
pub struct Library<'l> {
    contents: &'l [Content],
    versions: HashVersions,
    options: Options,
    cancel: CancelToken,
}

/// An event of the verification of a library.
#[derive(Debug)]
#[non_exhaustive]
pub enum LibraryEvent {
    /// Bytes were hashed, or pieces were found to be missing.
    Progress {
        /// Number of bytes done, of all torrents.
        hashed_bytes: u64,
        /// Number of bytes to verify, of all torrents.
        total_bytes: u64,
    },
    /// The system has not answered a read of a file for the time of `Options::patience`. The verification waits for the answer,
    /// and meanwhile reads from other disks. Each read is reported once, unless only one thread reads.
    Silent {
        /// The path of the file.
        path: PathBuf,
    },
    /// The verification of a torrent has ended. The events come in the order of the torrents, and each torrent has one.
    Verified {
        /// The position of the torrent among the contents.
        torrent: usize,
        /// The result.
        result: Result<Report, Error>,
    },
}

impl<'l> Library<'l> {
    /// Returns the verification of all pieces of these torrents, by all hashes of the torrents.
    pub fn new(contents: &'l [Content]) -> Self {
        Self {
            contents,
            versions: HashVersions { v1: true, v2: true },
            options: Options::default(),
            cancel: CancelToken::default(),
        }
    }

    /// Verifies only these hashes. A torrent that has none of them is an error of that torrent.
    pub fn versions(mut self, versions: HashVersions) -> Self {
        self.versions = versions;
        self
    }

    /// Sets the options of reading and hashing.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Stops the verification when `cancel` is set. The reports then have the states that are already known.
    pub fn cancel(mut self, cancel: &CancelToken) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Verifies the torrents. `event` is called on this thread. The elapsed time in a report begins with the run.
    ///
    /// # Errors
    /// Fails only if nothing can be verified. Absent and unreadable files are in the reports.
    pub fn run(self, mut event: impl FnMut(LibraryEvent)) -> Result<(), hashlane_pipeline::Error> {
        let lengths = self
            .contents
            .iter()
            .map(|content| content.torrent().lengths());
        let n_pieces: u64 = lengths
            .map(|lengths| u64::from(lengths.piece_count()))
            .sum();
        if n_pieces > u32::MAX.into() {
            // Messages are numbered by 32 bits.
            for (torrent, content) in self.contents.iter().enumerate() {
                let result = self.verification_of(content).run(|_| ());
                event(LibraryEvent::Verified { torrent, result });
            }
            return Ok(());
        }
        let verifications: Vec<Verification<'_>> = self
            .contents
            .iter()
            .map(|content| self.verification_of(content))
            .collect();
        let (mut pieces, mut errors) = (Vec::new(), BTreeMap::new());
        for (torrent, verification) in verifications.iter().enumerate() {
            match Pieces::of(verification) {
                Ok(of_torrent) => pieces.push(Some(of_torrent)),
                Err(error) => {
                    pieces.push(None);
                    errors.insert(torrent, error);
                }
            }
        }
        let layouts: Vec<Option<&Layout>> = pieces
            .iter()
            .map(|pieces| Some(&pieces.as_ref()?.layout))
            .collect();
        let files = Files::new(self.contents, &self.options, &self.cancel);
        let orders = Order::of_disks(&layouts, &files);
        let mut receiver = Receiver::new(&self, &files, &pieces, errors, event);
        for order in &orders {
            receiver.expect(order);
        }
        receiver.emit();
        let token = self.cancel.child();
        let result = match &orders[..] {
            [order] => self.hash(order, &token, |results| receiver.receive(0, order, results)),
            orders => self.hash_disks(orders, &token, |disk, results| {
                receiver.receive(disk, &orders[disk], results);
            }),
        };
        result?;
        receiver.end();
        Ok(())
    }

    fn verification_of(&self, content: &'l Content) -> Verification<'l> {
        let verification = Verification::new(content).versions(self.versions);
        verification.options(self.options).cancel(&self.cancel)
    }

    /// Hashes the messages of one disk.
    fn hash(
        &self,
        order: &Order<'_>,
        token: &CancelToken,
        receive: impl FnMut(Results<PieceDigests>),
    ) -> Result<(), hashlane_pipeline::Error> {
        let has_v1 = |message| order.versions(message).v1;
        let has_v2 = |message| order.versions(message).v2;
        let hasher = |engine: Engine| {
            let roots = ChunkHasher::new(PieceRoots::new(order, engine), engine);
            (
                Chosen::new(MessageDigest::<Sha1>::new(engine), &has_v1),
                Chosen::new(roots, &has_v2),
            )
        };
        hash_messages(order, order, hasher, &self.options, token, receive)
    }

    /// Hashes the messages of several disks at the same time. `receive` is called on this thread, with the number of the disk.
    fn hash_disks(
        &self,
        orders: &[Order<'_>],
        token: &CancelToken,
        mut receive: impl FnMut(usize, Results<PieceDigests>),
    ) -> Result<(), hashlane_pipeline::Error> {
        let (sender, sent) = mpsc::sync_channel(MAX_WAITING);
        thread::scope(|scope| {
            let (mut threads, mut left) = (Vec::new(), Vec::new());
            for (disk, order) in orders.iter().enumerate() {
                let sender = sender.clone();
                let work = move || {
                    let _stop = token.cancel_on_panic();
                    // Cannot fail: the receiver exists until all disks have been read, or the run is cancelled.
                    self.hash(order, token, |results| drop(sender.send((disk, results))))
                };
                let builder = thread::Builder::new().name(format!("hashlane-disk-{disk}"));
                match builder.spawn_scoped(scope, work) {
                    Ok(thread) => threads.push(thread),
                    // The calling thread reads this disk when all others have been read.
                    Err(_) => left.push(disk),
                }
            }
            drop(sender);
            // If `receive` panics, the scope waits for the workers, which need not continue.
            let _stop = token.cancel_on_drop();
            for (disk, results) in sent {
                receive(disk, results);
            }
            for thread in threads {
                match thread.join() {
                    Ok(result) => result?,
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            for disk in left {
                self.hash(&orders[disk], token, |results| receive(disk, results))?;
            }
            Ok(())
        })
    }
}

/// Distributes the results among the torrents.
struct Receiver<'r, 'l, F> {
    library: &'r Library<'l>,
    files: &'r Files<'l>,
    /// The states of the torrents whose verification has not ended.
    states: Vec<Option<States<'r>>>,
    /// The number of messages of each torrent that have not been received.
    outstanding: Vec<u32>,
    /// Results that wait for those of the torrents before them.
    ready: BTreeMap<usize, Result<Report, Error>>,
    n_emitted: usize,
    /// Number of pending bytes by disk.
    pending_bytes: Vec<u64>,
    checked_bytes: u64,
    total_bytes: u64,
    event: F,
}

impl<'r, 'l, F: FnMut(LibraryEvent)> Receiver<'r, 'l, F> {
    fn new(
        library: &'r Library<'l>,
        files: &'r Files<'l>,
        pieces: &'r [Option<Pieces<'r>>],
        errors: BTreeMap<usize, Error>,
        event: F,
    ) -> Self {
        let states = pieces
            .iter()
            .map(|pieces| Some(pieces.as_ref()?.unverified()));
        let layouts = pieces.iter().flatten().map(|pieces| &pieces.layout);
        Self {
            library,
            files,
            states: states.collect(),
            outstanding: vec![0; pieces.len()],
            ready: errors
                .into_iter()
                .map(|(i, error)| (i, Err(error)))
                .collect(),
            n_emitted: 0,
            pending_bytes: Vec::new(),
            checked_bytes: 0,
            total_bytes: layouts.map(Layout::total_bytes).sum(),
            event,
        }
    }

    /// Counts the messages of a disk.
    fn expect(&mut self, order: &Order<'_>) {
        self.pending_bytes.push(0);
        order.count_by_torrent(&mut self.outstanding);
    }

    fn receive(&mut self, disk: usize, order: &Order<'_>, results: Results<PieceDigests>) {
        for file in results.silent {
            if let Ok(path) = self.files.path_of(file.get()) {
                (self.event)(LibraryEvent::Silent { path });
            }
        }
        // A worker sends facts about a file with or before the outcomes of its messages.
        for fact in results.facts {
            for (torrent, fact) in self.files.names_of(fact) {
                if let Some(states) = &mut self.states[torrent] {
                    states.file(fact);
                }
            }
        }
        for result in results.messages {
            order.for_each_piece(result.message, |torrent, message| {
                let Some(states) = &mut self.states[torrent] else {
                    return;
                };
                let before = states.checked_bytes();
                states.piece(message, result.digest);
                self.checked_bytes += states.checked_bytes() - before;
                self.outstanding[torrent] -= 1;
                if self.outstanding[torrent] == 0 {
                    self.finish(torrent);
                }
            });
        }
        self.pending_bytes[disk] = results.pending_bytes;
        let pending_bytes: u64 = self.pending_bytes.iter().sum();
        (self.event)(LibraryEvent::Progress {
            hashed_bytes: self.checked_bytes + pending_bytes,
            total_bytes: self.total_bytes,
        });
        self.emit();
    }

    /// Ends the verification of a torrent.
    fn finish(&mut self, torrent: usize) {
        if let Some(states) = self.states[torrent].take() {
            self.ready.insert(torrent, Ok(states.report()));
        }
    }

    /// Emits the results that wait for no other one.
    fn emit(&mut self) {
        while self.n_emitted < self.states.len() {
            let torrent = self.n_emitted;
            if self.outstanding[torrent] == 0 {
                // Torrents without messages end here.
                self.finish(torrent);
            }
            let Some(mut result) = self.ready.remove(&torrent) else {
                return;
            };
            if result.is_ok() && !self.files.are_unchanged(torrent) {
                // A file whose bytes several torrents have was replaced or written to meanwhile: its bytes may be others.
                let content = &self.library.contents[torrent];
                result = self.library.verification_of(content).run(|_| ());
            }
            self.n_emitted += 1;
            (self.event)(LibraryEvent::Verified { torrent, result });
        }
    }

    /// Ends the verification of all torrents: those that are left were cancelled.
    fn end(&mut self) {
        for torrent in 0..self.states.len() {
            self.finish(torrent);
        }
        self.outstanding.fill(0);
        self.emit();
    }
}
