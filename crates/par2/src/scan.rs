//! Finds packets in bytes that may be damaged.

use std::io;

use hashlane_files::{CancelToken, SourceFile};
use hashlane_sha::Md5 as Lane;

use crate::packet::{EXPONENT_LEN, HASHED_FROM, HEADER_LEN, Header, MAGIC, MAX_LEN, Packet};
use crate::source::{finish, update};

/// Number of packets that are hashed side by side.
const CHAIN: usize = 32;

/// Number of bytes of a packet that are hashed before the next ones, and of bytes that are searched at once.
const WINDOW: usize = 64 << 10;

/// How many times the bytes of a file are hashed in vain, before the rest of the file is given up. Forged headers can claim
/// the same bytes again and again.
const PATIENCE: u64 = 8;

/// Bytes at positions.
pub trait ReadAt {
    /// Returns the number of bytes.
    fn len_bytes(&self) -> u64;

    /// Fills the buffer with the bytes from `offset` on.
    ///
    /// # Errors
    /// The system's error, also if the bytes end before.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl ReadAt for SourceFile {
    fn len_bytes(&self) -> u64 {
        self.len_bytes()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(buffer, offset)
    }
}

impl ReadAt for [u8] {
    fn len_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = self.get(start..).and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// An intact packet.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// Offset of its first byte.
    pub offset: u64,
    /// The header.
    pub header: Header,
    /// The content.
    pub packet: Packet,
}

impl Found {
    /// Returns the offset of the slice of a recovery packet.
    pub(crate) fn slice_offset(&self) -> u64 {
        self.offset + (HEADER_LEN + EXPONENT_LEN) as u64
    }

    /// Returns the length of the slice of a recovery packet.
    pub(crate) fn slice_len(&self) -> u64 {
        self.header.len - (HEADER_LEN + EXPONENT_LEN) as u64
    }
}

/// Finds the intact packets in bytes, in order. Only packets with recovery slices may be longer than 17 MiB.
///
/// # Errors
/// A read fails, or [`io::ErrorKind::Interrupted`] after a cancellation.
pub fn scan(
    bytes: &(impl ReadAt + ?Sized),
    cancel: &CancelToken,
    mut report: impl FnMut(Found),
) -> io::Result<()> {
    let len = bytes.len_bytes();
    let mut in_vain = len.saturating_mul(PATIENCE).saturating_add(1 << 20);
    let mut at = 0;
    loop {
        // Packets that follow each other are hashed side by side.
        let mut chain = Vec::new();
        let mut end = at;
        while chain.len() < CHAIN
            && let Some(header) = header_at(bytes, end, len)?
        {
            chain.push((end, header));
            end += header.len;
        }
        if chain.is_empty() {
            match next_magic(bytes, at, len, cancel)? {
                Some(next) => at = next,
                None => return Ok(()),
            }
            continue;
        }
        let is_intact = are_intact(bytes, &chain, cancel)?;
        at = end;
        for ((offset, header), is_intact) in chain.into_iter().zip(is_intact) {
            if !is_intact {
                match in_vain.checked_sub(end - offset) {
                    Some(left) => in_vain = left,
                    None => return Ok(()),
                }
                // Packets may start within the damaged one.
                at = offset + 1;
                break;
            }
            let mut body_len = header.len - HEADER_LEN as u64;
            if header.is_recovery() {
                body_len = body_len.min(EXPONENT_LEN as u64);
            }
            let mut body = vec![0; body_len as usize];
            bytes.read_exact_at(&mut body, offset + HEADER_LEN as u64)?;
            if let Some(packet) = Packet::read(&header, &body) {
                report(Found {
                    offset,
                    header,
                    packet,
                });
            }
        }
    }
}

/// Returns the header at an offset, if the packet fits the bytes.
fn header_at(bytes: &(impl ReadAt + ?Sized), at: u64, len: u64) -> io::Result<Option<Header>> {
    if len - at < HEADER_LEN as u64 {
        return Ok(None);
    }
    let mut header = [0; HEADER_LEN];
    bytes.read_exact_at(&mut header, at)?;
    let header = Header::read(&header);
    let fits =
        |header: &Header| header.len <= len - at && (header.is_recovery() || header.len <= MAX_LEN);
    Ok(header.filter(fits))
}

/// Returns the offset of the first possible header after `at`, which is none itself.
fn next_magic(
    bytes: &(impl ReadAt + ?Sized),
    at: u64,
    len: u64,
    cancel: &CancelToken,
) -> io::Result<Option<u64>> {
    let mut start = at + 1;
    let mut window = vec![0; WINDOW];
    while start.saturating_add(HEADER_LEN as u64) <= len {
        cancel.check()?;
        let window_len = (len - start).min(WINDOW as u64) as usize;
        let window = &mut window[..window_len];
        bytes.read_exact_at(window, start)?;
        let places = window.windows(MAGIC.len()).enumerate();
        let mut places = places.filter(|(_, place)| *place == MAGIC);
        if let Some((place, _)) = places.find(|(place, _)| {
            let at = start + *place as u64;
            header_at(bytes, at, len).is_ok_and(|header| header.is_some())
        }) {
            return Ok(Some(start + place as u64));
        }
        start += (window_len - MAGIC.len() + 1) as u64;
    }
    Ok(None)
}

/// Compares the digests of packets.
fn are_intact(
    bytes: &(impl ReadAt + ?Sized),
    chain: &[(u64, Header)],
    cancel: &CancelToken,
) -> io::Result<Vec<bool>> {
    let mut lanes = vec![Lane::default(); chain.len()];
    let hashed_len = |header: &Header| header.len - HASHED_FROM as u64;
    let longest = chain
        .iter()
        .map(|(_, header)| hashed_len(header))
        .max()
        .unwrap_or(0);
    let mut buffers = vec![Vec::new(); chain.len()];
    for start in (0..longest).step_by(WINDOW) {
        cancel.check()?;
        for ((offset, header), buffer) in chain.iter().zip(&mut buffers) {
            let len = hashed_len(header).saturating_sub(start).min(WINDOW as u64);
            buffer.resize(len as usize, 0);
            if len > 0 {
                bytes.read_exact_at(buffer, offset + HASHED_FROM as u64 + start)?;
            }
        }
        update(&mut lanes, &buffers);
    }
    let digests = finish(&mut lanes).into_iter().zip(chain);
    Ok(digests
        .map(|(md5, (_, header))| md5 == header.md5)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::SetId;

    const SET: SetId = SetId([7; 16]);

    fn found(bytes: &[u8]) -> Vec<(u64, Packet)> {
        let mut found = Vec::new();
        scan(bytes, &CancelToken::default(), |it| {
            found.push((it.offset, it.packet));
        })
        .unwrap();
        found
    }

    #[test]
    fn packets_are_found_among_damage() {
        let packet = |text: &str| Packet::Creator(text.into()).write(SET);
        let mut bytes = b"PAR2\0PK junk".to_vec();
        let mut expected = Vec::new();
        for i in 0..50 {
            if i % 3 > 0 {
                expected.push((
                    bytes.len() as u64,
                    Packet::Creator(format!("number {i}").into()),
                ));
            }
            bytes.extend(packet(&format!("number {i}")));
            if i % 3 == 0 {
                let last = bytes.len() - 6;
                bytes[last] ^= 1;
            }
            bytes.extend(vec![b'P'; i]);
        }
        assert_eq!(found(&bytes), expected);
        for len in 0..200 {
            found(&bytes[..len]);
        }
    }

    /// A forged length that covers intact packets does not hide them, and a cut recovery packet is none.
    #[test]
    fn forged_lengths_hide_nothing() {
        let inner = Packet::Creator(b"inner".into()).write(SET);
        let mut bytes = Packet::Creator(b"outer".into()).write(SET);
        let len = bytes.len() + inner.len();
        bytes[8..16].copy_from_slice(&(len as u64).to_le_bytes());
        bytes.extend(inner);
        let expected = [(72, Packet::Creator(b"inner".into()))];
        assert_eq!(found(&bytes), expected);
        bytes[8..16].copy_from_slice(&(u64::MAX - 3).to_le_bytes());
        assert_eq!(found(&bytes), expected);
    }

    /// Headers that all claim the rest of the file are given up after some time.
    #[test]
    fn overlapping_claims_end() {
        let len = 4 << 20;
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let mut packet = Packet::Recovery { exponent: 1 }.write(SET);
            packet[8..16].copy_from_slice(&((len - bytes.len()) as u64 & !3).to_le_bytes());
            bytes.extend(packet);
        }
        bytes.truncate(len);
        assert_eq!(found(&bytes), []);
    }
}
