//! The plain types and constants that every other module uses.

pub(crate) use hashlane_simd::Block;
pub use hashlane_simd::{BLOCK_LEN, CpuFeature, MAX_LANES};

/// The chaining value between blocks. SHA-1 uses the first five words.
pub(crate) type State = [u32; 8];

/// A part of a message, for callers that keep the state of the message themselves.
#[derive(Clone, Copy, Debug)]
pub struct Part<'m> {
    /// The state before this part, and after [`compress_many`](crate::hazmat::compress_many) the state
    /// after it.
    pub state: [u32; 8],
    /// Bytes of the message before this part: whole blocks. Lengths count modulo 2^64.
    pub prefix_len: u64,
    /// The bytes of this part: whole blocks, unless the message ends here.
    pub bytes: &'m [u8],
    /// Whether the message ends here, so that the padding follows (FIPS 180-4 section 5.1.1).
    pub is_last: bool,
}
