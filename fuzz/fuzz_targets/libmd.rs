//! Messages that libmd.so.0 of this workspace and libmd of the system hash together: each call may be made by either library,
//! on a context that the other one has changed. The contexts and digests are those of the system's libmd alone.
//!
//! Without the system's libmd (Debian: libmd0), the target prints that it does not run, and does nothing.

#![no_main]

#[path = "../../tests/not_run.rs"]
mod not_run;

use std::ffi::{CStr, c_char, c_void};
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use hashlane_md::exports as ours;
use libfuzzer_sys::fuzz_target;

/// Maximum number of calls for one input.
const MAX_CALLS: usize = 64;
const BLOCK_LEN: usize = 64;
/// The longest context, `SHA2_CTX`, in words of eight bytes.
const CONTEXT_WORDS: usize = 208 / 8;

/// A context in memory of the caller, and bytes behind it that no function may write to.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Memory {
    context: [u64; CONTEXT_WORDS],
    behind: [u64; 2],
}

const EMPTY: Memory = Memory {
    context: [0xa5a5_a5a5_a5a5_a5a5; CONTEXT_WORDS],
    behind: [0x5a5a_5a5a_5a5a_5a5a; 2],
};

/// The functions of an algorithm in one library.
#[derive(Clone, Copy)]
struct Functions {
    init: unsafe extern "C" fn(*mut c_void),
    update: unsafe extern "C" fn(*mut c_void, *const u8, usize),
    pad: unsafe extern "C" fn(*mut c_void),
    finish: unsafe extern "C" fn(*mut u8, *mut c_void),
    transform: unsafe extern "C" fn(*mut c_void, *const u8),
    end: unsafe extern "C" fn(*mut c_void, *mut c_char) -> *mut c_char,
}

/// An algorithm in both libraries.
struct Pair {
    ours: Functions,
    theirs: Functions,
    digest_len: usize,
    /// The position of the number of bits and of the buffer in the context.
    n_bits_at: usize,
    buffer_at: usize,
}

/// Loads a function of the system's libmd.
///
/// # Safety
/// `F` is the type of the function.
unsafe fn symbol<F>(library: *mut c_void, name: &CStr) -> Option<F> {
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
}

macro_rules! functions_of_system {
    ($library:expr, $init:literal, $update:literal, $pad:literal, $finish:literal, $transform:literal, $end:literal) => {
        Functions {
            init: symbol($library, $init)?,
            update: symbol($library, $update)?,
            pad: symbol($library, $pad)?,
            finish: symbol($library, $finish)?,
            transform: symbol($library, $transform)?,
            end: symbol($library, $end)?,
        }
    };
}

macro_rules! own_functions {
    ($context:ty, $digest_words:literal, $init:ident, $update:ident, $pad:ident, $finish:ident, $transform:ident, $end:ident) => {{
        // Functions with typed contexts, behind the same types as those of the system.
        unsafe extern "C" fn init(context: *mut c_void) {
            unsafe { ours::$init(context.cast()) }
        }
        unsafe extern "C" fn update(context: *mut c_void, data: *const u8, len: usize) {
            unsafe { ours::$update(context.cast(), data, len) }
        }
        unsafe extern "C" fn pad(context: *mut c_void) {
            unsafe { ours::$pad(context.cast()) }
        }
        unsafe extern "C" fn finish(digest: *mut u8, context: *mut c_void) {
            unsafe { ours::$finish(digest, context.cast()) }
        }
        unsafe extern "C" fn transform(state: *mut c_void, block: *const u8) {
            unsafe { ours::$transform(state.cast(), block) }
        }
        unsafe extern "C" fn end(context: *mut c_void, text: *mut c_char) -> *mut c_char {
            unsafe { ours::$end(context.cast(), text) }
        }
        Functions {
            init,
            update,
            pad,
            finish,
            transform,
            end,
        }
    }};
}

fn load() -> Option<[Pair; 2]> {
    // SAFETY: the names and types are those of libmd's headers.
    unsafe {
        let library = libc::dlopen(c"libmd.so.0".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if library.is_null() {
            return None;
        }
        let sha1 = Pair {
            ours: own_functions!(
                Sha1Context,
                5,
                SHA1Init,
                SHA1Update,
                SHA1Pad,
                SHA1Final,
                SHA1Transform,
                SHA1End
            ),
            theirs: functions_of_system!(
                library,
                c"SHA1Init",
                c"SHA1Update",
                c"SHA1Pad",
                c"SHA1Final",
                c"SHA1Transform",
                c"SHA1End"
            ),
            digest_len: 20,
            n_bits_at: 24,
            buffer_at: 32,
        };
        let sha256 = Pair {
            ours: own_functions!(
                Sha256Context,
                8,
                SHA256Init,
                SHA256Update,
                SHA256Pad,
                SHA256Final,
                SHA256Transform,
                SHA256End
            ),
            theirs: functions_of_system!(
                library,
                c"SHA256Init",
                c"SHA256Update",
                c"SHA256Pad",
                c"SHA256Final",
                c"SHA256Transform",
                c"SHA256End"
            ),
            digest_len: 32,
            n_bits_at: 64,
            buffer_at: 80,
        };
        // The system's functions must not call ours, nor be ours.
        for pair in [&sha1, &sha256] {
            assert_ne!(pair.ours.transform as usize, pair.theirs.transform as usize);
        }
        Some([sha1, sha256])
    }
}

static PAIRS: LazyLock<Option<[Pair; 2]>> = LazyLock::new(|| {
    let pairs = load();
    if pairs.is_none() {
        not_run::not_run(
            "all inputs of libmd",
            "libmd.so.0 is not installed",
            "apt-get install libmd0",
        );
    }
    pairs
});

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Init,
    Update(&'a [u8]),
    /// A message that repeats a byte, so that a short input reaches several blocks.
    Repeat(u8, u16),
    Pad,
    Transform([u8; BLOCK_LEN]),
    Final,
    End,
    /// `Final` without a digest, which only pads.
    FinalOfNull,
}

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    is_sha256: bool,
    /// Each call, and whether the system's libmd makes it.
    steps: Vec<(Step<'a>, bool)>,
}

/// Calls a function, and returns what it writes apart from the context.
///
/// # Safety
/// The context in `memory` is one that `Init` of either library has made.
unsafe fn call(functions: &Functions, memory: &mut Memory, step: &Step<'_>) -> [u8; 65] {
    let context = (&raw mut memory.context).cast::<c_void>();
    let mut output = [0xa5; 65];
    unsafe {
        match step {
            Step::Init => (functions.init)(context),
            Step::Update(data) => (functions.update)(context, data.as_ptr(), data.len()),
            Step::Repeat(byte, len) => {
                let data = vec![*byte; usize::from(*len)];
                (functions.update)(context, data.as_ptr(), data.len());
            }
            Step::Pad => (functions.pad)(context),
            // The state is the beginning of the context.
            Step::Transform(block) => (functions.transform)(context, block.as_ptr()),
            Step::Final => (functions.finish)(output.as_mut_ptr(), context),
            Step::End => {
                let text = output.as_mut_ptr().cast();
                assert_eq!((functions.end)(context, text), text);
            }
            Step::FinalOfNull => (functions.finish)(std::ptr::null_mut(), context),
        }
    }
    output
}

/// Compares the parts of two contexts that have a meaning: state, number of bits, and the bytes in the buffer.
fn compare(pair: &Pair, found: &Memory, expected: &Memory, what: &str) {
    let bytes = |memory: &Memory| memory.context.map(u64::to_ne_bytes).as_flattened().to_vec();
    let (found_bytes, expected_bytes) = (bytes(found), bytes(expected));
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes[pair.n_bits_at..][..8].try_into().unwrap());
    assert_eq!(
        found_bytes[..pair.digest_len],
        expected_bytes[..pair.digest_len],
        "{what}: state"
    );
    assert_eq!(
        word(&found_bytes),
        word(&expected_bytes),
        "{what}: number of bits"
    );
    let used = (word(&expected_bytes) / 8) as usize % BLOCK_LEN;
    let buffer = |bytes: &[u8]| bytes[pair.buffer_at..][..used].to_vec();
    assert_eq!(
        buffer(&found_bytes),
        buffer(&expected_bytes),
        "{what}: buffer"
    );
    assert_eq!(
        found.behind, EMPTY.behind,
        "{what}: bytes behind the context"
    );
}

fuzz_target!(|input: Input<'_>| {
    let Some(pairs) = &*PAIRS else { return };
    let pair = &pairs[usize::from(input.is_sha256)];
    let (mut own, mut mixed, mut system) = (EMPTY, EMPTY, EMPTY);
    let steps = input.steps.iter().take(MAX_CALLS);
    let first = (Step::Init, false);
    for (step, by_system) in std::iter::once(&first).chain(steps) {
        // SAFETY: the first step makes a context, and a context of zeros, which `Final` leaves, is one without meaning
        // that both libraries continue alike.
        unsafe {
            let expected = call(&pair.theirs, &mut system, step);
            let by = if *by_system { &pair.theirs } else { &pair.ours };
            assert_eq!(
                call(by, &mut mixed, step),
                expected,
                "{step:?} on a shared context"
            );
            assert_eq!(call(&pair.ours, &mut own, step), expected, "{step:?}");
        }
        compare(pair, &own, &system, "own context");
        compare(pair, &mixed, &system, "shared context");
    }
});
