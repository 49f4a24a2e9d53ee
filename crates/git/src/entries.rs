//! The headers of the objects in a pack, and the objects that deltas are based on.

use std::io;

use hashlane_files::SourceFile;

use crate::index::Index;
use crate::object::{Id, Kind};
use crate::report::Wrong;

/// The largest header of an object: ten bytes of length, and ten of an offset or an identifier.
const MAX_HEADER: usize = 10 + 32;

/// Number of bytes that are read at once to find headers.
const WINDOW: usize = 1 << 20;

/// An object as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// A whole object.
    Whole(Kind),
    /// A delta based on the object with this number.
    Delta(u32),
}

/// An object of a pack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) offset: u64,
    /// The number of the object in the index.
    pub(crate) in_index: u32,
    /// The length in the header: of the object, or of its delta.
    pub(crate) len: u64,
    /// The length of the header in bytes.
    pub(crate) header_len: u8,
    pub(crate) stored: Result<Stored, Wrong>,
}

/// The objects of a pack in the order of their places.
pub(crate) struct Entries {
    pub(crate) all: Vec<Entry>,
    /// The end of the last object: the checksum of the pack.
    end: u64,
    /// The deltas that are based on each object: `children[starts[n]..starts[n + 1]]`.
    children: Vec<u32>,
    starts: Vec<u32>,
}

impl Entries {
    /// Reads all headers. Fails with the reason if the index has impossible places.
    pub(crate) fn read(
        pack: &SourceFile,
        index: &Index,
        end: u64,
    ) -> io::Result<Result<Self, &'static str>> {
        let mut order: Vec<u32> = (0..index.places.len()).map(|n| n as u32).collect();
        let offset_of = |n: &u32| index.places[*n as usize].offset;
        order.sort_unstable_by_key(offset_of);
        let offsets: Vec<u64> = order.iter().map(offset_of).collect();
        if !offsets.is_sorted_by(|a, b| a < b) {
            return Ok(Err("the index is damaged: two objects have one place"));
        }
        let is_outside = |offset: &u64| *offset < 12 || *offset >= end;
        if offsets.first().is_some_and(is_outside) || offsets.last().is_some_and(is_outside) {
            return Ok(Err(
                "an object is outside the pack: the pack is truncated, or the index is damaged or of another pack",
            ));
        }
        if offsets.first().copied().unwrap_or(end) != 12 {
            return Ok(Err(
                "the index is damaged: no object is at the start of the pack",
            ));
        }
        let mut entries = Self {
            all: Vec::with_capacity(order.len()),
            end,
            children: Vec::new(),
            starts: Vec::new(),
        };
        // The number of each object of the index in the order of places.
        let mut place_of = vec![0; order.len()];
        for (place, n) in order.iter().enumerate() {
            place_of[*n as usize] = place as u32;
        }
        let mut window = Window::new(pack);
        for (place, n) in order.iter().enumerate() {
            let offset = offsets[place];
            let next = offsets.get(place + 1).copied().unwrap_or(end);
            let len = usize::try_from(next - offset)
                .unwrap_or(usize::MAX)
                .min(MAX_HEADER);
            let bytes = window.bytes(offset, len)?;
            let (header, header_len) = header(bytes, index.algorithm.digest_len());
            let (stored, len) = match header {
                Ok((Base::None(kind), len)) => (Ok(Stored::Whole(kind)), len),
                Ok((Base::Before(distance), len)) => {
                    let base = offset.checked_sub(distance);
                    let base = base.and_then(|base| offsets[..place].binary_search(&base).ok());
                    let base = base.ok_or(Wrong::NoBaseAtOffset);
                    (base.map(|base| Stored::Delta(base as u32)), len)
                }
                Ok((Base::Named(id), len)) => {
                    let base = index.find(id.as_bytes()).ok_or(Wrong::NoBase(id));
                    (base.map(|base| Stored::Delta(place_of[base])), len)
                }
                Err(wrong) => (Err(wrong), 0),
            };
            entries.all.push(Entry {
                offset,
                in_index: *n,
                len,
                header_len: header_len as u8,
                stored,
            });
        }
        entries.find_children();
        Ok(Ok(entries))
    }

    /// Sorts deltas by their bases.
    fn find_children(&mut self) {
        let bases = || {
            self.all
                .iter()
                .enumerate()
                .filter_map(|(n, entry)| match entry.stored {
                    Ok(Stored::Delta(base)) => Some((n as u32, base as usize)),
                    _ => None,
                })
        };
        let mut starts = vec![0_u32; self.all.len() + 1];
        for (_, base) in bases() {
            starts[base + 1] += 1;
        }
        for n in 0..self.all.len() {
            starts[n + 1] += starts[n];
        }
        let mut children = vec![0; starts[self.all.len()] as usize];
        let mut next = starts.clone();
        for (n, base) in bases() {
            children[next[base] as usize] = n;
            next[base] += 1;
        }
        (self.children, self.starts) = (children, starts);
    }

    /// Returns the deltas that are based on an object.
    pub(crate) fn children(&self, n: u32) -> &[u32] {
        let n = n as usize;
        &self.children[self.starts[n] as usize..self.starts[n + 1] as usize]
    }

    /// Returns the end of an object in the pack: the place of the next one.
    pub(crate) fn end_of(&self, n: u32) -> u64 {
        self.all
            .get(n as usize + 1)
            .map_or(self.end, |next| next.offset)
    }
}

/// A part of a pack in memory.
struct Window<'p> {
    pack: &'p SourceFile,
    start: u64,
    bytes: Vec<u8>,
}

impl<'p> Window<'p> {
    fn new(pack: &'p SourceFile) -> Self {
        Self {
            pack,
            start: 0,
            bytes: Vec::new(),
        }
    }

    /// Returns the bytes from `offset` on, at most [`WINDOW`], and fewer only at the end of the pack.
    fn bytes(&mut self, offset: u64, len: usize) -> io::Result<&[u8]> {
        let is_inside = |window: &Self| {
            let skipped = usize::try_from(offset.checked_sub(window.start)?).ok()?;
            window.bytes.get(skipped..)?.get(..len)?;
            Some(skipped)
        };
        let skipped = if let Some(skipped) = is_inside(self) {
            skipped
        } else {
            self.bytes.resize(WINDOW, 0);
            let n = self.pack.read_at(&mut self.bytes, offset)?;
            self.bytes.truncate(n);
            self.start = offset;
            0
        };
        let bytes = &self.bytes[skipped..];
        Ok(&bytes[..len.min(bytes.len())])
    }
}

/// The base of an object, by its header.
enum Base {
    None(Kind),
    /// At this distance before the object.
    Before(u64),
    Named(Id),
}

/// Reads the header of an object: its base, and its length. Also returns the length of the header.
fn header(bytes: &[u8], id_len: usize) -> (Result<(Base, u64), Wrong>, usize) {
    let mut rest = bytes;
    let header = read_header(&mut rest, id_len).ok_or(Wrong::Header);
    (header, bytes.len() - rest.len())
}

fn read_header(rest: &mut &[u8], id_len: usize) -> Option<(Base, u64)> {
    let mut next = || {
        let (first, after) = rest.split_first()?;
        *rest = after;
        Some(*first)
    };
    let first = next()?;
    let mut len = u64::from(first & 0x0f);
    let mut shift = 4;
    let mut byte = first;
    while byte & 0x80 != 0 {
        byte = next()?;
        let bits = u64::from(byte & 0x7f);
        if shift > 63 || bits << shift >> shift != bits {
            return None;
        }
        len |= bits << shift;
        shift += 7;
    }
    let base = match first >> 4 & 7 {
        1 => Base::None(Kind::Commit),
        2 => Base::None(Kind::Tree),
        3 => Base::None(Kind::Blob),
        4 => Base::None(Kind::Tag),
        6 => {
            // Seven bits per byte, the highest first, and 1 added before each shift.
            let mut byte = next()?;
            let mut distance = u64::from(byte & 0x7f);
            while byte & 0x80 != 0 {
                byte = next()?;
                let shifted = distance.checked_add(1)?.checked_mul(128)?;
                distance = shifted | u64::from(byte & 0x7f);
            }
            if distance == 0 {
                return None;
            }
            Base::Before(distance)
        }
        7 => {
            let (id, after) = rest.split_at_checked(id_len)?;
            *rest = after;
            Base::Named(Id::of(id))
        }
        _ => return None,
    };
    Some((base, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_all_types_are_read() {
        let read = |bytes: &[u8]| {
            let (header, len) = header(bytes, 20);
            header.map(|(base, object_len)| {
                let base = match base {
                    Base::None(kind) => kind.name().to_owned(),
                    Base::Before(distance) => distance.to_string(),
                    Base::Named(id) => id.to_string(),
                };
                (base, object_len, len)
            })
        };
        assert_eq!(read(&[0x1f, 9]), Ok(("commit".into(), 15, 1)));
        assert_eq!(
            read(&[0xb1, 0x81, 2]),
            Ok(("blob".into(), 1 + 16 + 4096, 3))
        );
        assert_eq!(read(&[0x60, 0x80, 0x05]), Ok(("133".into(), 0, 3)));
        let mut named = vec![0x71];
        named.extend([0xab; 20]);
        assert_eq!(read(&named), Ok(("ab".repeat(20), 1, 21)));
        for bytes in [
            &[][..],
            &[0x0f],
            &[0x50],
            &[0xb1],
            &[0x60, 0],
            &named[..20],
            &[0xff; 40],
            &[
                0x60, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,
            ],
        ] {
            assert_eq!(read(bytes), Err(Wrong::Header), "{bytes:?}");
        }
    }
}
