//! The pieces of several torrents as messages, in the order in which they are read.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hashlane_pipeline::{Extent, FileIndex, FileSet, MessageLen, Messages, ReadOrder};

use super::files::Files;
use crate::layout::{HashVersions, Layout};
use crate::piece_hasher::PieceTrees;

/// Number of different messages at one place with which a message is compared.
const MAX_COMPARED: usize = 16;

/// The messages of one disk.
#[derive(Debug)]
pub(super) struct Order<'l> {
    /// The layouts of the torrents; `None` for a torrent that is not verified.
    layouts: &'l [Option<&'l Layout>],
    files: &'l Files<'l>,
    disk: usize,
    numbers: Numbers,
    usual_len: u64,
}

/// A piece: its torrent, and its message in the layout of the torrent.
type Piece = (u32, u32);

/// The pieces of each message.
#[derive(Debug)]
enum Numbers {
    /// All pieces of all torrents, one after the other. Each number is the end of the messages of a torrent.
    Consecutive(Vec<u32>),
    /// Pieces in the order of the disk. Those from one start to the next have the same bytes, and are one message.
    Sorted {
        pieces: Vec<Piece>,
        starts: Vec<u32>,
    },
}

impl<'l> Order<'l> {
    /// Returns the messages of each disk. There are no more than `u32::MAX` pieces.
    pub(super) fn of_disks(layouts: &'l [Option<&'l Layout>], files: &'l Files<'l>) -> Vec<Self> {
        let n_messages = |layout: Option<&Layout>| layout.map_or(0, Messages::count);
        let new = |disk, numbers| Self::new(layouts, files, disk, numbers);
        if files.n_disks() == 1 && !files.has_shared() {
            let mut end = 0_u32;
            let ends = layouts.iter().map(|layout| {
                end = end.saturating_add(n_messages(*layout));
                end
            });
            return vec![new(0, Numbers::Consecutive(ends.collect()))];
        }
        let mut by_disk: Vec<Vec<((u64, u64), Piece)>> = vec![Vec::new(); files.n_disks()];
        for (torrent, layout) in layouts.iter().enumerate() {
            let Some(layout) = layout else { continue };
            for message in 0..layout.count() {
                let first = first_file(layout, files, torrent, message);
                let (disk, position) = match first {
                    Some((file, offset)) => (files.disk_of(file), files.position(file, offset)),
                    // Padding alone is not read.
                    None => (0, (0, 0)),
                };
                by_disk[disk].push((position, (torrent as u32, message)));
            }
        }
        let orders = by_disk.into_iter().enumerate().map(|(disk, mut pieces)| {
            pieces.sort_unstable();
            let mut numbers = Sorting::new(layouts, files);
            for place in pieces.chunk_by(|(a, _), (b, _)| a == b) {
                numbers.add(place);
            }
            new(disk, numbers.numbers())
        });
        orders.filter(|order| order.count() > 0).collect()
    }

    fn new(
        layouts: &'l [Option<&'l Layout>],
        files: &'l Files<'l>,
        disk: usize,
        numbers: Numbers,
    ) -> Self {
        let mut order = Self {
            layouts,
            files,
            disk,
            numbers,
            usual_len: 1,
        };
        let total: u64 = match &order.numbers {
            Numbers::Consecutive(_) => layouts.iter().flatten().map(|it| it.total_bytes()).sum(),
            Numbers::Sorted { .. } => (0..order.count())
                .map(|message| order.len_of(message))
                .sum(),
        };
        order.usual_len = total.div_ceil(u64::from(order.count()).max(1)).max(1);
        order
    }

    /// Adds the number of messages of each torrent to `counts`.
    pub(super) fn count_by_torrent(&self, counts: &mut [u32]) {
        match &self.numbers {
            Numbers::Consecutive(ends) => {
                let mut start = 0;
                for (count, end) in counts.iter_mut().zip(ends) {
                    *count += end - start;
                    start = *end;
                }
            }
            Numbers::Sorted { pieces, .. } => {
                for (torrent, _) in pieces {
                    counts[*torrent as usize] += 1;
                }
            }
        }
    }

    /// Calls `piece` with the torrent of each piece of a message, and the message in the layout of the torrent.
    pub(super) fn for_each_piece(&self, message: u32, mut piece: impl FnMut(usize, u32)) {
        match &self.numbers {
            Numbers::Consecutive(_) => {
                let (torrent, message) = self.first_piece(message);
                piece(torrent as usize, message);
            }
            Numbers::Sorted { pieces, starts } => {
                let end = starts.get(message as usize + 1);
                let end = end.map_or(pieces.len(), |end| *end as usize);
                for (torrent, message) in &pieces[starts[message as usize] as usize..end] {
                    piece(*torrent as usize, *message);
                }
            }
        }
    }

    fn first_piece(&self, message: u32) -> Piece {
        match &self.numbers {
            Numbers::Consecutive(ends) => {
                let torrent = ends.partition_point(|end| *end <= message);
                let start = torrent.checked_sub(1).map_or(0, |before| ends[before]);
                (torrent as u32, message - start)
            }
            Numbers::Sorted { pieces, starts } => pieces[starts[message as usize] as usize],
        }
    }

    /// Returns the torrent of the first piece of a message, its layout, and the message in the layout.
    fn first(&self, message: u32) -> (usize, &'l Layout, u32) {
        let (torrent, message) = self.first_piece(message);
        let layout = self.layouts[torrent as usize];
        (
            torrent as usize,
            layout.expect("a torrent without layout has no messages"),
            message,
        )
    }

    /// Returns the hashes that are computed of a message.
    pub(super) fn versions(&self, message: u32) -> HashVersions {
        self.first(message).1.hash_versions()
    }

    fn len_of(&self, message: u32) -> u64 {
        let (_, layout, message) = self.first(message);
        layout.piece_len(layout.piece(message)).into()
    }
}

impl Messages for Order<'_> {
    fn count(&self) -> u32 {
        match &self.numbers {
            Numbers::Consecutive(ends) => ends.last().copied().unwrap_or(0),
            Numbers::Sorted { starts, .. } => starts.len() as u32,
        }
    }

    /// Returns the mean length.
    fn usual_len(&self) -> Option<u64> {
        Some(self.usual_len)
    }

    fn len(&self, message: u32) -> MessageLen {
        MessageLen::Bytes(self.len_of(message))
    }

    fn extents(&self, message: u32, range: Range<u64>) -> impl Iterator<Item = Extent> {
        let (torrent, layout, message) = self.first(message);
        extents(layout, self.files, torrent, message, range)
    }
}

impl PieceTrees for &Order<'_> {
    fn data_len(&self, message: u32) -> u64 {
        let (_, layout, message) = self.first(message);
        layout.data_len(message)
    }

    fn height(&self, message: u32) -> u32 {
        let (_, layout, message) = self.first(message);
        layout.height(message)
    }
}

impl FileSet for Order<'_> {
    fn root(&self) -> &Path {
        self.files.root()
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        self.files.path_of(file.get())
    }

    fn read_order(&self) -> ReadOrder {
        let of_content = || self.files.read_order_of_content();
        self.files.read_order(self.disk).unwrap_or_else(of_content)
    }
}

/// Returns the extents of a range of bytes of a piece. The files have their numbers among all torrents.
fn extents<'l>(
    layout: &'l Layout,
    files: &'l Files<'l>,
    torrent: usize,
    message: u32,
    range: Range<u64>,
) -> impl Iterator<Item = Extent> + 'l {
    let extents = Messages::extents(layout, message, range);
    extents.map(move |extent| Extent {
        file: extent
            .file
            .map(|file| FileIndex::new(files.number(torrent, file))),
        ..extent
    })
}

/// Returns all extents of a piece.
fn all_extents<'l>(
    layout: &'l Layout,
    files: &'l Files<'l>,
    (torrent, message): Piece,
) -> impl Iterator<Item = Extent> + 'l {
    let len_bytes = layout.piece_len(layout.piece(message));
    extents(
        layout,
        files,
        torrent as usize,
        message,
        0..len_bytes.into(),
    )
}

/// Returns the first file of a piece, and the offset in the file.
fn first_file(
    layout: &Layout,
    files: &Files<'_>,
    torrent: usize,
    message: u32,
) -> Option<(usize, u64)> {
    let mut extents = all_extents(layout, files, (torrent as u32, message));
    extents.find_map(|extent| Some((extent.file?.get(), extent.offset)))
}

/// Messages that are numbered in the order of the disk.
struct Sorting<'l> {
    layouts: &'l [Option<&'l Layout>],
    files: &'l Files<'l>,
    pieces: Vec<Piece>,
    starts: Vec<u32>,
}

impl<'l> Sorting<'l> {
    fn new(layouts: &'l [Option<&'l Layout>], files: &'l Files<'l>) -> Self {
        Self {
            layouts,
            files,
            pieces: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// Adds the pieces that begin at one place.
    fn add(&mut self, place: &[((u64, u64), Piece)]) {
        if let [(_, piece)] = place {
            self.starts.push(self.pieces.len() as u32);
            self.pieces.push(*piece);
            return;
        }
        let mut different: Vec<Vec<Piece>> = Vec::new();
        for (_, piece) in place {
            let mut last = different.iter_mut().rev().take(MAX_COMPARED);
            match last.find(|equal| self.are_equal(equal[0], *piece)) {
                Some(equal) => equal.push(*piece),
                None => different.push(vec![*piece]),
            }
        }
        for equal in different {
            self.starts.push(self.pieces.len() as u32);
            self.pieces.extend(equal);
        }
    }

    /// Returns `true` if two pieces have the same bytes of the same file, and the same kinds of hashes.
    fn are_equal(&self, one: Piece, other: Piece) -> bool {
        let layout = |piece: Piece| self.layouts[piece.0 as usize];
        let (Some(a), Some(b)) = (layout(one), layout(other)) else {
            return false;
        };
        let extents = |layout, piece| all_extents(layout, self.files, piece);
        let shape =
            |layout: &Layout, piece: Piece| (layout.data_len(piece.1), layout.height(piece.1));
        let is_shared =
            |extent: Extent| extent.file.is_some_and(|it| self.files.is_shared(it.get()));
        let versions = a.hash_versions();
        extents(a, one).any(is_shared)
            && versions == b.hash_versions()
            && (!versions.v2 || shape(a, one) == shape(b, other))
            && extents(a, one).eq(extents(b, other))
    }

    fn numbers(self) -> Numbers {
        Numbers::Sorted {
            pieces: self.pieces,
            starts: self.starts,
        }
    }
}
