//! Compressed objects (RFC 1950).

use zlib_rs::{Inflate, InflateFlush, Status};

use crate::report::Wrong;

/// The largest ratio of lengths that the format can reach (zlib's technical details: 1032 to 1), and the length of the
/// shortest stream.
const MAX_RATIO: u64 = 1032;

/// A decompressor for one stream after the other.
pub(crate) struct Inflater(Inflate);

impl Inflater {
    pub(crate) fn new() -> Self {
        Self(Inflate::new(true, 15))
    }

    /// Returns an error if `compressed` is too short to hold `len` bytes, before memory is used for them.
    pub(crate) fn check_ratio(compressed: &[u8], len: u64) -> Result<(), Wrong> {
        if len / MAX_RATIO > compressed.len() as u64 {
            return Err(Wrong::Length);
        }
        Ok(())
    }

    /// Decompresses one stream that fills `compressed`, and passes its `len` bytes in parts to `part`.
    pub(crate) fn inflate_parts(
        &mut self,
        compressed: &[u8],
        len: u64,
        mut part: impl FnMut(&[u8]),
    ) -> Result<(), Wrong> {
        let mut buffer = vec![0; 1 << 16];
        self.0.reset(true);
        let mut done = 0;
        loop {
            let input = &compressed[self.consumed()..];
            let before = self.0.total_out();
            let status = self.0.decompress(input, &mut buffer, InflateFlush::NoFlush);
            let status = status.map_err(|_| Wrong::Compressed)?;
            let n = self.0.total_out() - before;
            done += n;
            if done > len {
                return Err(Wrong::Length);
            }
            part(&buffer[..usize::try_from(n).expect("at most the buffer")]);
            match status {
                Status::StreamEnd => break,
                _ if n == 0 => return Err(Wrong::Compressed),
                _ => {}
            }
        }
        if self.consumed() != compressed.len() {
            return Err(Wrong::Compressed);
        }
        if done == len {
            Ok(())
        } else {
            Err(Wrong::Length)
        }
    }

    /// Decompresses one stream that fills `compressed` into `bytes`.
    pub(crate) fn inflate(&mut self, compressed: &[u8], bytes: &mut [u8]) -> Result<(), Wrong> {
        self.0.reset(true);
        let mut filled = 0;
        loop {
            let input = &compressed[self.consumed()..];
            let status = self
                .0
                .decompress(input, &mut bytes[filled..], InflateFlush::Finish);
            let status = status.map_err(|_| Wrong::Compressed)?;
            let now = usize::try_from(self.0.total_out()).expect("at most the buffer");
            let is_stuck = now == filled;
            filled = now;
            match status {
                Status::StreamEnd => break,
                _ if is_stuck && filled == bytes.len() => {
                    return self.end_without_room(compressed);
                }
                _ if is_stuck => return Err(Wrong::Compressed),
                _ => {}
            }
        }
        if self.consumed() != compressed.len() {
            return Err(Wrong::Compressed);
        }
        if filled == bytes.len() {
            Ok(())
        } else {
            Err(Wrong::Length)
        }
    }

    /// Ends a stream whose bytes are all decompressed. More bytes are an error.
    fn end_without_room(&mut self, compressed: &[u8]) -> Result<(), Wrong> {
        let input = &compressed[self.consumed()..];
        let mut one_more = [0];
        let before = self.0.total_out();
        let status = self
            .0
            .decompress(input, &mut one_more, InflateFlush::Finish);
        let status = status.map_err(|_| Wrong::Compressed)?;
        if self.0.total_out() > before {
            return Err(Wrong::Length);
        }
        let is_end = status == Status::StreamEnd && self.consumed() == compressed.len();
        if is_end {
            Ok(())
        } else {
            Err(Wrong::Compressed)
        }
    }

    fn consumed(&self) -> usize {
        usize::try_from(self.0.total_in()).expect("at most the input")
    }
}
