//! The functions that C calls: pointers become references here.

#![allow(unsafe_code)]

use core::arch::asm;
use core::slice;

use hashlane_sha::{Algorithm, BLOCK_LEN, Backend, Engine, MAX_LANES, Sha1, Sha256, hazmat};

use crate::section;

/// Raises the exception of an invalid instruction, as `BUG()` in C does: the kernel reports it and ends the task.
pub(crate) fn abort() -> ! {
    // SAFETY: the instruction does not return, and touches nothing.
    unsafe { asm!("ud2", options(noreturn, nomem, nostack)) }
}

/// The memory in which C keeps an engine.
#[repr(C, align(16))]
pub struct EngineRoom([u8; 192]);

const _: () = assert!(size_of::<Engine>() <= size_of::<EngineRoom>());
const _: () = assert!(align_of::<Engine>() <= align_of::<EngineRoom>());

impl EngineRoom {
    /// Returns the engine that is kept here.
    ///
    /// # Safety
    /// [`hashlane_engine`] has filled `room`, and nothing changes it during `'a`.
    unsafe fn engine<'a>(room: *const Self) -> &'a Engine {
        // SAFETY: `hashlane_engine` has written an engine to `room`, and nothing changes it during `'a`. The assertions above
        // show that an engine fits.
        unsafe { &*room.cast() }
    }
}

/// `HASHLANE_SHA1` of `enum hashlane_algorithm`. Any other value means SHA-256.
const SHA1: u32 = 0;

/// The arguments of [`hashlane_engine`].
#[repr(C)]
pub struct EngineCall {
    room: *mut EngineRoom,
    /// One bit for each backend, at its [`number`].
    allowed: u32,
}

/// Fills `room` with the best engine of the allowed backends. `portable` is always allowed.
///
/// # Safety
/// `room` points to an [`EngineRoom`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_engine(call: &EngineCall) {
    let engine = Engine::among(|backend| call.allowed >> number(backend) & 1 != 0);
    // SAFETY: `room` points to memory of the length and alignment of an `EngineRoom`, in which an engine fits: the assertions
    // above show that.
    unsafe { call.room.cast::<Engine>().write(engine) }
}

/// Returns the number of a backend in `enum hashlane_backend`. C has no numbers for those of other architectures.
fn number(backend: Backend) -> u32 {
    match backend {
        Backend::Portable => 0,
        Backend::Sse2 => 1,
        Backend::Ssse3 => 2,
        Backend::Avx => 3,
        Backend::Avx2 => 4,
        Backend::Avx512Vl => 5,
        Backend::Avx512 => 6,
        Backend::ShaNi => 7,
        _ => u32::BITS - 1,
    }
}

/// The arguments of [`hashlane_kernel`], and its results.
#[repr(C)]
pub struct KernelCall {
    engine: *const EngineRoom,
    algorithm: u32,
    n: u32,
    lanes: u32,
    backend: u32,
}

/// Writes the lanes and the backend of the kernel that runs for `n` messages.
///
/// # Safety
/// `engine` points to a filled [`EngineRoom`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_kernel(call: &mut KernelCall) {
    // SAFETY: `hashlane_engine` has filled `engine`, and C does not change it during the call.
    let engine = unsafe { EngineRoom::engine(call.engine) };
    let name = match call.algorithm {
        SHA1 => engine.kernel::<Sha1>(call.n as usize),
        _ => engine.kernel::<Sha256>(call.n as usize),
    };
    call.lanes = name.lanes as u32;
    call.backend = number(name.backend);
}

/// The arguments of [`hashlane_blocks`].
#[repr(C)]
pub struct BlocksCall {
    engine: *const EngineRoom,
    algorithm: u32,
    /// Five words for SHA-1, eight for SHA-256.
    words: *mut u32,
    blocks: *const [u8; BLOCK_LEN],
    n_blocks: usize,
}

/// Compresses blocks of one message into its state.
///
/// # Safety
/// `engine` points to a filled [`EngineRoom`], `words` to as many words as the algorithm has, and `blocks` to
/// `n_blocks` blocks that nothing changes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_blocks(call: &BlocksCall) {
    // SAFETY: `words` has five words for SHA-1 and eight for SHA-256; `engine` and `blocks` are those of this function.
    unsafe {
        match call.algorithm {
            SHA1 => compress::<Sha1, 5>(call),
            _ => compress::<Sha256, 8>(call),
        }
    }
}

/// # Safety
/// As for [`hashlane_blocks`], with `N` words.
unsafe fn compress<A: Algorithm, const N: usize>(call: &BlocksCall) {
    // SAFETY: `engine` is filled, `words` points to `N` words that only this call uses, and `blocks` to `n_blocks` blocks that
    // nothing changes.
    let (engine, words, blocks) = unsafe {
        (
            EngineRoom::engine(call.engine),
            &mut *call.words.cast::<[u32; N]>(),
            slice::from_raw_parts(call.blocks, call.n_blocks),
        )
    };
    let mut state = [0; 8];
    state[..N].copy_from_slice(words);
    hazmat::compress::<A>(engine, &mut state, blocks);
    words.copy_from_slice(&state[..N]);
}

/// A message as C has it.
#[repr(C)]
pub struct Message {
    start: *const u8,
    len: u32,
}

/// The arguments of [`hashlane_section`].
#[repr(C)]
pub struct SectionCall {
    engine: *const EngineRoom,
    algorithm: u32,
    /// Number of messages, at most [`MAX_LANES`].
    n: u32,
    messages: *const Message,
    /// One state for each message. The section from 0 initialises the states.
    states: *mut [u32; 8],
    /// The section: `len` bytes from `from` on, both whole blocks.
    from: usize,
    len: usize,
}

/// Compresses one section of up to [`MAX_LANES`] messages, as [`section::compress`] says.
///
/// # Safety
/// `engine` points to a filled [`EngineRoom`], `messages` and `states` to `n` items each, and each message that is not
/// empty to memory that nothing changes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_section(call: &SectionCall) {
    let mut slices = [&[][..]; MAX_LANES];
    let n = (call.n as usize).min(MAX_LANES);
    // SAFETY: `engine` is filled, and `messages` and `states` point to `n` items each, which only this call uses.
    let (engine, messages, states) = unsafe {
        (
            EngineRoom::engine(call.engine),
            slice::from_raw_parts(call.messages, n),
            slice::from_raw_parts_mut(call.states, n),
        )
    };
    for (slice, message) in slices.iter_mut().zip(messages) {
        if message.len > 0 {
            // SAFETY: a message with bytes points to `len` of them, which nothing changes during the call. Only the pointer of
            // an empty message may be null.
            *slice = unsafe { slice::from_raw_parts(message.start, message.len as usize) };
        }
    }
    let messages = &slices[..n];
    match call.algorithm {
        SHA1 => section::compress::<Sha1>(engine, messages, call.from, call.len, states),
        _ => section::compress::<Sha256>(engine, messages, call.from, call.len, states),
    }
}
