//! The plain types and constants that every other module uses.

/// Length in bytes of a block, the unit of both compression functions (FIPS 180-4, figure 1).
pub const BLOCK_LEN: usize = 64;

/// One block of a message.
pub(crate) type Block = [u8; BLOCK_LEN];

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

/// The largest number of messages that a kernel compresses at once.
pub const MAX_LANES: usize = 16;

/// A CPU feature that a backend uses, or could use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuFeature {
    /// The name, as in the compiler's `target_feature`.
    pub name: &'static str,
    /// Whether this CPU and the operating system support the feature.
    pub is_available: bool,
}

/// The names of the algorithms, as in kernel names.
pub(crate) const SHA1: &str = "sha1";
pub(crate) const SHA256: &str = "sha256";

/// Proof that the caller is this crate: other crates cannot obtain a value.
#[derive(Clone, Copy, Debug)]
pub struct Seal(pub(crate) ());
