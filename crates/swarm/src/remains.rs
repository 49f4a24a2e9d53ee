//! Distinguishes the remains of an interrupted download in a piece from other content.
//!
//! A download first gives its files their length, and then writes whole blocks. So an incomplete piece has blocks of
//! zeros, and in each other block every file has data. Other content almost never looks like this.

use std::io;

use hashlane_metainfo::merkle::LEAF_LEN;
use hashlane_verify::FileIndex;

use crate::storage::Storage;

/// Length in bytes of the blocks that peers send.
const BLOCK_LEN: u32 = LEAF_LEN;

/// The content of a piece on the disk, classified without its hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remains {
    /// Only zeros.
    Nothing,
    /// Blocks with data and blocks of zeros, as after an interrupted download.
    Blocks,
    /// Data in every block.
    Everything,
    /// A block in which one file has data and another file only zeros. No download leaves such a block.
    Other,
}

impl Storage {
    /// Classifies the content of a piece on the disk. Bytes that cannot be read count as data.
    ///
    /// # Errors
    /// Fails if there is no such piece.
    pub fn remains(&self, piece: u32) -> io::Result<Remains> {
        if !self.holds_data(piece) {
            return Ok(Remains::Nothing);
        }
        let (mut n_empty, mut n_written) = (0, 0);
        for block in self.blocks(piece, BLOCK_LEN)? {
            let files = block
                .iter()
                .filter_map(|extent| Some((extent.file?, extent)));
            let mut data = files.map(|(file, extent)| {
                let end = extent.offset + extent.len_bytes;
                self.file_holds_data(file, extent.offset, end)
            });
            // A block of padding counts neither as written nor as empty.
            let Some(first) = data.next() else {
                continue;
            };
            if !data.all(|holds_data| holds_data == first) {
                return Ok(Remains::Other);
            }
            if first {
                n_written += 1;
            } else {
                n_empty += 1;
            }
        }
        Ok(match (n_written, n_empty) {
            (0, _) => Remains::Nothing,
            (_, 0) => Remains::Everything,
            _ => Remains::Blocks,
        })
    }

    /// Returns `true` if a file has a byte that is not zero, also beyond its length in the torrent. Bytes that cannot be
    /// read count as data.
    pub fn is_written(&self, file: FileIndex) -> bool {
        self.file_holds_data(file, 0, u64::MAX)
    }
}
