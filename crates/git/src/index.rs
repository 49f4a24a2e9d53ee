//! The index of a pack (Git's documentation, `gitformat-pack`, "Original (version 1)" and
//! "Version 2"): identifiers in order, with the place of each object in the pack.

use hashlane_hashes::{Algorithm, Hasher};
use hashlane_sha::Engine;

use crate::object::Id;

/// The place of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    /// CRC-32 of the object's bytes in the pack. Version 1 has none.
    pub(crate) crc: Option<u32>,
}

/// An index.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) algorithm: Algorithm,
    /// All identifiers in order, one after the other.
    ids: Vec<u8>,
    /// The places, in the order of the identifiers.
    pub(crate) places: Vec<Place>,
    /// The checksum of the pack.
    pub(crate) pack_checksum: Id,
    /// Whether the index has the checksum that it ends with.
    pub(crate) is_intact: bool,
}

/// Number of entries of the table by the first byte of an identifier.
const FANOUT: usize = 256;

impl Index {
    /// Reads an index. Errors are the reason, without the name of the file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        const TOO_SHORT: &str = "the index is too short: it is truncated or no index";
        let (version, tables) = match bytes.strip_prefix(b"\xfftOc") {
            Some(rest) => {
                let (version, rest) = rest.split_first_chunk().ok_or(TOO_SHORT)?;
                (u32::from_be_bytes(*version), rest)
            }
            None => (1, bytes),
        };
        if version != 1 && version != 2 {
            return Err("the index has an unknown version");
        }
        let (fanout, tables) = tables.split_at_checked(4 * FANOUT).ok_or(TOO_SHORT)?;
        let fanout: Vec<u32> = words(fanout).collect();
        if !fanout.is_sorted() {
            return Err("the index is damaged: its numbers of objects decrease");
        }
        let n = fanout[FANOUT - 1] as usize;
        let algorithm = Self::algorithm(bytes, version, n).ok_or(TOO_SHORT)?;
        let id_len = algorithm.digest_len();
        let trailer_at = tables.len().checked_sub(2 * id_len).ok_or(TOO_SHORT)?;
        let (tables, trailer) = tables.split_at(trailer_at);
        let (ids, places) = if version == 1 {
            Self::tables_1(tables, n, id_len)
        } else {
            Self::tables_2(tables, n, id_len)
        }
        .ok_or("the index is damaged: its length does not fit its number of objects")?;
        let index = Self {
            algorithm,
            ids,
            places,
            pack_checksum: Id::of(&trailer[..id_len]),
            is_intact: is_intact(bytes, algorithm),
        };
        index.check_order(&fanout)?;
        Ok(index)
    }

    /// Returns the hash function whose checksum the index has, or else the one that fits its length.
    fn algorithm(bytes: &[u8], version: u32, n: usize) -> Option<Algorithm> {
        let both = [Algorithm::Sha1, Algorithm::Sha256];
        let fits = |algorithm: &Algorithm| {
            let id_len = algorithm.digest_len();
            let (header, entry) = if version == 1 {
                (0, id_len + 4)
            } else {
                (8, id_len + 8)
            };
            let least = n
                .checked_mul(entry)?
                .checked_add(header + 4 * FANOUT + 2 * id_len)?;
            let rest = bytes.len().checked_sub(least)?;
            // Version 2 has up to one offset of eight bytes for each object.
            let largest = if version == 1 { 0 } else { 8 * n };
            (rest.is_multiple_of(8) && rest <= largest).then_some(())
        };
        both.into_iter()
            .find(|algorithm| is_intact(bytes, *algorithm))
            .or_else(|| both.into_iter().find(|algorithm| fits(algorithm).is_some()))
            .or(Some(Algorithm::Sha1))
    }

    /// Version 1: an offset and an identifier for each object.
    fn tables_1(tables: &[u8], n: usize, id_len: usize) -> Option<(Vec<u8>, Vec<Place>)> {
        let len = n.checked_mul(4 + id_len)?;
        if tables.len() != len {
            return None;
        }
        let (mut ids, mut places) = (Vec::with_capacity(n * id_len), Vec::with_capacity(n));
        for entry in tables.chunks_exact(4 + id_len) {
            let (offset, id) = entry.split_at(4);
            places.push(Place {
                offset: words(offset).next()?.into(),
                crc: None,
            });
            ids.extend_from_slice(id);
        }
        Some((ids, places))
    }

    /// Version 2: tables of identifiers, CRC-32, offsets of 31 bits, and offsets of 64 bits.
    fn tables_2(tables: &[u8], n: usize, id_len: usize) -> Option<(Vec<u8>, Vec<Place>)> {
        let (ids, tables) = tables.split_at_checked(n.checked_mul(id_len)?)?;
        let (crcs, tables) = tables.split_at_checked(n.checked_mul(4)?)?;
        let (offsets, long) = tables.split_at_checked(n * 4)?;
        let (long, rest) = long.as_chunks::<8>();
        if !rest.is_empty() {
            return None;
        }
        let mut places = Vec::with_capacity(n);
        for (crc, offset) in words(crcs).zip(words(offsets)) {
            let offset = if offset & 1 << 31 == 0 {
                offset.into()
            } else {
                u64::from_be_bytes(*long.get((offset & !(1 << 31)) as usize)?)
            };
            let crc = Some(crc);
            places.push(Place { offset, crc });
        }
        Some((ids.to_vec(), places))
    }

    /// Checks that the identifiers are in order, and that the table by their first byte is right.
    fn check_order(&self, fanout: &[u32]) -> Result<(), &'static str> {
        let id_len = self.algorithm.digest_len();
        if !self.ids.chunks_exact(id_len).is_sorted_by(|a, b| a < b) {
            return Err("the index is damaged: its identifiers are not in order");
        }
        let mut counts = [0; FANOUT];
        for id in self.ids.chunks_exact(id_len) {
            counts[usize::from(id[0])] += 1;
        }
        let mut sum = 0;
        let sums = counts.iter().map(|n| {
            sum += n;
            sum
        });
        if sums.ne(fanout.iter().copied()) {
            return Err("the index is damaged: its numbers of objects are wrong");
        }
        Ok(())
    }

    /// Returns the identifier of the object with this number.
    pub(crate) fn id(&self, n: usize) -> Id {
        Id::of(self.id_bytes(n))
    }

    /// Returns the identifier of the object with this number.
    pub(crate) fn id_bytes(&self, n: usize) -> &[u8] {
        let id_len = self.algorithm.digest_len();
        &self.ids[n * id_len..][..id_len]
    }

    /// Returns the number of the object with this identifier.
    pub(crate) fn find(&self, id: &[u8]) -> Option<usize> {
        let mut range = 0..self.places.len();
        while !range.is_empty() {
            let middle = range.start + range.len() / 2;
            match self.id_bytes(middle).cmp(id) {
                std::cmp::Ordering::Less => range.start = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => range.end = middle,
            }
        }
        None
    }
}

/// Returns big-endian words.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|word| u32::from_be_bytes(*word))
}

/// Returns `true` if the bytes end with their digest.
fn is_intact(bytes: &[u8], algorithm: Algorithm) -> bool {
    let Some(at) = bytes.len().checked_sub(algorithm.digest_len()) else {
        return false;
    };
    let (bytes, checksum) = bytes.split_at(at);
    let mut hasher = Hasher::with_engine(Engine::detect(), algorithm);
    hasher.update(bytes);
    hasher.finalize().as_bytes() == checksum
}
