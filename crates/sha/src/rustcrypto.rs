//! The traits of the `digest` crate for [`Sha1`] and [`Sha256`].
//!
//! There are two levels. The hashers take bytes. [`Core`] takes blocks and leaves buffering to the
//! `digest` crate. The `hmac` crate stores a `Core`, because a key is whole blocks. At any byte of
//! a message, a hasher can be split into its core and its buffer, and rebuilt from them.

use core::fmt;
use core::marker::PhantomData;

use digest::array::Array;
use digest::block_api::{
    AlgorithmName, Block, BlockSizeUser, Buffer, BufferKindUser, CoreProxy, Eager, FixedOutputCore,
    UpdateCore,
};
use digest::common::hazmat::{DeserializeStateError, SerializableState, SerializedState};
use digest::consts::{U20, U32, U64, U92, U104};
use digest::{FixedOutput, FixedOutputReset, HashMarker, Output, OutputSizeUser, Reset, Update};

use crate::algorithm::sealed::Entries as _;
use crate::algorithm::{Algorithm, kernel_alone, state_to_digest};
use crate::context::Context;
use crate::digests::{Sha1Digest, Sha256Digest};
use crate::hasher::{Sha1, Sha256};
use crate::kernels::rounds::Rounds as _;
use crate::scheduler::Tail;
use crate::sha1_checked::Sha1Checked;
use crate::table::Kernel;
use crate::types::{BLOCK_LEN, State};

/// A hasher without its buffer.
#[derive(Clone)]
pub struct Core<A: Algorithm> {
    state: State,
    /// Length of the message so far in bytes modulo 2^64, a multiple of [`BLOCK_LEN`].
    len_bytes: u64,
    kernel: Kernel,
    algorithm: PhantomData<A>,
}

impl<A: Algorithm> Default for Core<A> {
    fn default() -> Self {
        Self {
            state: A::Entries::IV,
            len_bytes: 0,
            kernel: kernel_alone::<A>(),
            algorithm: PhantomData,
        }
    }
}

/// Shows only the length of the message: its bytes may be secret.
impl<A: Algorithm> fmt::Debug for Core<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core")
            .field("algorithm", &A::NAME)
            .field("len_bytes", &self.len_bytes)
            .finish_non_exhaustive()
    }
}

impl<A: Algorithm> HashMarker for Core<A> {}

impl<A: Algorithm> BlockSizeUser for Core<A> {
    type BlockSize = U64;
}

impl<A: Algorithm> BufferKindUser for Core<A> {
    type BufferKind = Eager;
}

impl<A: Algorithm + OutputSizeUser> OutputSizeUser for Core<A> {
    type OutputSize = A::OutputSize;
}

impl<A: Algorithm + AlgorithmName> AlgorithmName for Core<A> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        A::write_alg_name(f)
    }
}

impl<A: Algorithm> UpdateCore for Core<A> {
    fn update_blocks(&mut self, blocks: &[Block<Self>]) {
        let blocks = Array::cast_slice_to_core(blocks);
        A::Entries::compress(self.kernel, &mut self.state, blocks);
        let n_bytes = blocks.as_flattened().len() as u64;
        self.len_bytes = self.len_bytes.wrapping_add(n_bytes);
    }
}

impl<A: Algorithm + OutputSizeUser> FixedOutputCore for Core<A> {
    fn finalize_fixed_core(&mut self, buffer: &mut Buffer<Self>, out: &mut Output<Self>) {
        let rest = buffer.get_data();
        let mut tail = Tail::NONE;
        tail.pad(rest, self.len_bytes + rest.len() as u64);
        A::Entries::compress(self.kernel, &mut self.state, tail.blocks());
        out.copy_from_slice(state_to_digest::<A>(&self.state).as_ref());
        buffer.reset();
    }
}

impl<A: Algorithm> Reset for Core<A> {
    fn reset(&mut self) {
        self.state = A::Entries::IV;
        self.len_bytes = 0;
    }
}

#[cfg(feature = "zeroize")]
impl<A: Algorithm> Drop for Core<A> {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.state);
    }
}

#[cfg(feature = "zeroize")]
impl<A: Algorithm> zeroize::ZeroizeOnDrop for Core<A> {}

/// Writes a message in progress into `bytes`: the words of the state that fit, the length and the
/// buffer.
fn serialize(context: &Context, bytes: &mut [u8]) {
    let (state, rest) = bytes.split_at_mut(bytes.len() - 8 - BLOCK_LEN);
    for (bytes, word) in state.chunks_exact_mut(4).zip(context.state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    let (len_bytes, buffer) = rest.split_at_mut(8);
    len_bytes.copy_from_slice(&context.len_bytes.to_be_bytes());
    buffer[..context.buffered()].copy_from_slice(&context.buffer[..context.buffered()]);
}

/// Reads the output of [`serialize`].
fn deserialize(bytes: &[u8], kernel: Kernel) -> Result<Context, DeserializeStateError> {
    let mut state = State::default();
    let (words, rest) = bytes.split_at(bytes.len() - 8 - BLOCK_LEN);
    for (word, bytes) in state.iter_mut().zip(words.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    let Some((len_bytes, buffer)) = rest.split_first_chunk() else {
        return Err(DeserializeStateError);
    };
    let len_bytes = u64::from_be_bytes(*len_bytes);
    let buffered = (len_bytes % BLOCK_LEN as u64) as usize;
    if buffer[buffered..].iter().any(|byte| *byte != 0) {
        return Err(DeserializeStateError);
    }
    let mut context = Context::after(state, len_bytes - buffered as u64, kernel);
    context.buffer_bytes(&buffer[..buffered]);
    Ok(context)
}

/// A macro, because Rust allows no blanket implementation of traits from other crates.
macro_rules! traits {
    ($name:ident, $digest:ident, $len:ident, state: $state_len:ident, $display:literal, oid: $oid:literal) => {
        impl HashMarker for $name {}

        impl BlockSizeUser for $name {
            type BlockSize = U64;
        }

        impl OutputSizeUser for $name {
            type OutputSize = $len;
        }

        impl AlgorithmName for $name {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($display)
            }
        }

        impl Update for $name {
            fn update(&mut self, bytes: &[u8]) {
                self.update(bytes);
            }
        }

        impl FixedOutput for $name {
            fn finalize_into(self, out: &mut Output<Self>) {
                *out = self.finalize().into();
            }
        }

        impl Reset for $name {
            fn reset(&mut self) {
                self.reset();
            }
        }

        impl FixedOutputReset for $name {
            fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
                *out = self.0.finalize::<Self>().into();
                self.reset();
            }
        }

        impl CoreProxy for $name {
            type Core = Core<Self>;

            fn compose(core: Core<Self>, buffer: Buffer<Core<Self>>) -> Self {
                let mut context = Context::after(core.state, core.len_bytes, core.kernel);
                context.update::<Self>(buffer.get_data());
                Self(context)
            }

            fn decompose(self) -> (Core<Self>, Buffer<Core<Self>>) {
                let rest = &self.0.buffer[..self.0.buffered()];
                let core = Core {
                    state: self.0.state,
                    len_bytes: self.0.len_bytes - rest.len() as u64,
                    kernel: self.0.kernel,
                    algorithm: PhantomData,
                };
                (core, Buffer::<Core<Self>>::new(rest))
            }
        }

        /// The state, the length in bytes, and the bytes that do not fill a block yet, padded with
        /// zeros. Numbers are big-endian.
        impl SerializableState for $name {
            type SerializedStateSize = $state_len;

            fn serialize(&self) -> SerializedState<Self> {
                let mut serialized = SerializedState::<Self>::default();
                serialize(&self.0, &mut serialized);
                serialized
            }

            /// Fails if a byte of the padding is not zero.
            fn deserialize(
                serialized: &SerializedState<Self>,
            ) -> Result<Self, DeserializeStateError> {
                deserialize(serialized, kernel_alone::<Self>()).map(Self)
            }
        }

        #[cfg(feature = "oid")]
        impl digest::const_oid::AssociatedOid for $name {
            const OID: digest::const_oid::ObjectIdentifier =
                digest::const_oid::ObjectIdentifier::new_unwrap($oid);
        }

        impl From<$digest> for Array<u8, $len> {
            fn from(digest: $digest) -> Self {
                Self(digest.into())
            }
        }

        impl From<Array<u8, $len>> for $digest {
            fn from(bytes: Array<u8, $len>) -> Self {
                Self::from(bytes.0)
            }
        }
    };
}

// Object identifiers from RFC 8017 appendix B.1.
traits!(Sha1, Sha1Digest, U20, state: U92, "Sha1", oid: "1.3.14.3.2.26");
traits!(Sha256, Sha256Digest, U32, state: U104, "Sha256", oid: "2.16.840.1.101.3.4.2.1");

// Without `FixedOutput`: its digest cannot fail, so an attack would stay unnoticed.

impl HashMarker for Sha1Checked {}

impl BlockSizeUser for Sha1Checked {
    type BlockSize = U64;
}

impl OutputSizeUser for Sha1Checked {
    type OutputSize = U20;
}

impl AlgorithmName for Sha1Checked {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sha1Checked")
    }
}

impl Update for Sha1Checked {
    fn update(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

impl Reset for Sha1Checked {
    fn reset(&mut self) {
        self.reset();
    }
}
