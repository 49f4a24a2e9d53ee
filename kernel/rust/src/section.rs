//! One section of several messages.

use hashlane_sha::hazmat::{self, Part};
use hashlane_sha::{Algorithm, Engine, MAX_LANES};

const NOTHING: Part<'_> = Part {
    state: [0; 8],
    prefix_len: 0,
    bytes: &[],
    is_last: false,
};

/// Compresses `len` bytes from `from` on of each message into its state. Both are whole blocks. A message that ends there
/// gets its padding, and its state is then the digest. A message that ended before is left alone.
pub(crate) fn compress<A: Algorithm>(
    engine: &Engine,
    messages: &[&[u8]],
    from: usize,
    len: usize,
    states: &mut [[u32; 8]],
) {
    if from == 0 {
        states.fill(hazmat::initial_state::<A>());
    }
    let mut parts = [NOTHING; MAX_LANES];
    for ((part, message), state) in parts.iter_mut().zip(messages).zip(states.iter()) {
        part.state = *state;
        // An empty message ends in the first section.
        if from < message.len() || from == 0 {
            let left = &message[from..];
            part.prefix_len = from as u64;
            part.bytes = &left[..left.len().min(len)];
            part.is_last = left.len() <= len;
        }
    }
    hazmat::compress_many::<A>(engine, &mut parts[..messages.len()]);
    for (state, part) in states.iter_mut().zip(&parts) {
        *state = part.state;
    }
}
