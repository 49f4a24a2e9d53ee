//! The contexts of libmd. A program owns the memory of a context, and may pass a context to another
//! implementation in the middle of a message. All fields therefore have the same meaning as in
//! libmd.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::OnceLock;

use hashlane_sha::{Algorithm, BLOCK_LEN, Engine, Sha1, Sha256, hazmat};

/// Length of the message length at the end of the padding, in bytes (FIPS 180-4 section 5.1.1).
const LENGTH_LEN: u64 = 8;

/// `SHA1_CTX` of sha1.h.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sha1Context {
    state: [u32; 5],
    n_bits: u64,
    buffer: [u8; BLOCK_LEN],
}

/// `SHA2_CTX` of sha2.h. SHA-256 uses half of the state, half of the count and half of the buffer.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sha256Context {
    state: [u32; 8],
    state_of_sha512: [u32; 8],
    n_bits: u64,
    n_bits_of_sha512: u64,
    buffer: [u8; BLOCK_LEN],
    buffer_of_sha512: [u8; BLOCK_LEN],
}

/// Checks the layouts of 64-bit Debian.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Sha1Context>() == 96 && size_of::<Sha256Context>() == 208);
    assert!(offset_of!(Sha1Context, n_bits) == 24 && offset_of!(Sha1Context, buffer) == 32);
    assert!(offset_of!(Sha256Context, n_bits) == 64 && offset_of!(Sha256Context, buffer) == 80);
};

/// A message that is being hashed.
pub(crate) trait Context: Sized {
    type Hash: Algorithm;
    /// Words of the state, which are also the words of the digest.
    type State: AsMut<[u32]>;
    type Digest: AsRef<[u8]> + AsMut<[u8]> + Default;
    /// Whether `pad` counts the padding as a part of the message, as libmd's SHA-1 does and its
    /// SHA-256 does not.
    const COUNTS_PADDING: bool;
    /// Whether a null pointer in place of a new context is ignored, as by `SHA256Init` of libmd 1.0.4.
    const IGNORES_NULL: bool;

    /// Returns the context of an empty message.
    fn initial() -> Self;
    fn fields(&mut self) -> Fields<'_, Self::State>;

    /// Returns the state as a digest.
    fn digest(&mut self) -> Self::Digest {
        let mut digest = Self::Digest::default();
        let words = self.fields().state.as_mut();
        for (bytes, word) in digest.as_mut().as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_be_bytes();
        }
        digest
    }

    /// Adds `data` to the message.
    fn update(&mut self, data: &[u8]) {
        let Fields {
            state,
            n_bits,
            buffer,
        } = self.fields();
        let compress = |blocks: &[_]| compress::<Self::Hash>(state.as_mut(), blocks);
        let len_bytes = hazmat::update(buffer, *n_bits >> 3, data, compress);
        *n_bits = len_bytes << 3;
    }

    /// Adds the padding of FIPS 180-4 section 5.1.1. Afterwards the state is the digest.
    fn pad(&mut self) {
        let Fields {
            state,
            n_bits,
            buffer,
        } = self.fields();
        let len_bytes = *n_bits >> 3;
        hazmat::pad(buffer, len_bytes, |blocks| {
            compress::<Self::Hash>(state.as_mut(), blocks);
        });
        if Self::COUNTS_PADDING {
            // A one bit and the length follow the message, and fill the last block.
            let n_padded = (len_bytes + 1 + LENGTH_LEN).next_multiple_of(BLOCK_LEN as u64);
            *n_bits = n_padded << 3;
        }
    }
}

/// The fields of a context that both algorithms have.
pub(crate) struct Fields<'a, S> {
    state: &'a mut S,
    n_bits: &'a mut u64,
    buffer: &'a mut [u8; BLOCK_LEN],
}

/// Compresses `blocks` into the five or eight words of `state`.
pub(crate) fn compress<A: Algorithm>(state: &mut [u32], blocks: &[[u8; BLOCK_LEN]]) {
    // An engine is larger than a context, and copying one for each call would take as long as
    // hashing a block.
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    let mut words = [0; 8];
    words[..state.len()].copy_from_slice(state);
    hazmat::compress::<A>(ENGINE.get_or_init(Engine::detect), &mut words, blocks);
    state.copy_from_slice(&words[..state.len()]);
}

impl Context for Sha1Context {
    type Hash = Sha1;
    type State = [u32; 5];
    type Digest = [u8; 20];
    const COUNTS_PADDING: bool = true;
    const IGNORES_NULL: bool = false;

    fn initial() -> Self {
        let [a, b, c, d, e, ..] = hazmat::initial_state::<Sha1>();
        Self {
            state: [a, b, c, d, e],
            n_bits: 0,
            buffer: [0; BLOCK_LEN],
        }
    }

    fn fields(&mut self) -> Fields<'_, [u32; 5]> {
        Fields {
            state: &mut self.state,
            n_bits: &mut self.n_bits,
            buffer: &mut self.buffer,
        }
    }
}

impl Context for Sha256Context {
    type Hash = Sha256;
    type State = [u32; 8];
    type Digest = [u8; 32];
    const COUNTS_PADDING: bool = false;
    const IGNORES_NULL: bool = true;

    fn initial() -> Self {
        Self {
            state: hazmat::initial_state::<Sha256>(),
            state_of_sha512: [0; 8],
            n_bits: 0,
            n_bits_of_sha512: 0,
            buffer: [0; BLOCK_LEN],
            buffer_of_sha512: [0; BLOCK_LEN],
        }
    }

    fn fields(&mut self) -> Fields<'_, [u32; 8]> {
        Fields {
            state: &mut self.state,
            n_bits: &mut self.n_bits,
            buffer: &mut self.buffer,
        }
    }
}

/// Length of the buffer in bytes. It is on the stack, as in libmd, because the C functions cannot
/// report a lack of memory.
const BUFFER_LEN: usize = 16 * 1024;

/// Returns the context of `length` bytes of a file from `offset` on. The part ends at the end of
/// the file at the latest, and extends to it if `length` is 0 or negative. A negative offset counts
/// as 0.
pub(crate) fn read<C: Context>(
    name: &CStr,
    offset: libc::off_t,
    length: libc::off_t,
) -> io::Result<C> {
    let mut file = File::open(OsStr::from_bytes(name.to_bytes()))?;
    match u64::try_from(offset) {
        Ok(0) | Err(_) => {}
        Ok(offset) => _ = file.seek(SeekFrom::Start(offset))?,
    }
    let length = u64::try_from(length).ok().filter(|length| *length > 0);
    let mut file = file.take(length.unwrap_or(u64::MAX));
    let mut context = C::initial();
    let mut buffer = [0; BUFFER_LEN];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(context),
            Ok(n_read) => context.update(&buffer[..n_read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
