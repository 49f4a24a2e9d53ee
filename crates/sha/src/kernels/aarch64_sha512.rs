//! SHA-512 of one message with the instructions of `FEAT_SHA512`.
//!
//! Each step computes two rounds (Arm Architecture Reference Manual, DDI 0487, section C7.2). Tested in an emulator. The speed was never
//! measured on a CPU.

use hashlane_simd::{LongBlock, NeonSha3, Vectorize as _};

use super::rounds::unroll;

/// Compresses blocks of one message. `k` are the round constants.
pub(crate) fn compress(s: NeonSha3, state: &mut [u64; 8], blocks: &[LongBlock], k: &[u64; 80]) {
    s.vectorize(
        #[inline(always)]
        || {
            let (pairs, _) = state.as_chunks_mut::<2>();
            // The words a and b, c and d, e and f, g and h.
            let mut v = [0, 1, 2, 3].map(|i| s.load_long_words(&pairs[i]));
            let (k, _) = k.as_chunks::<2>();
            for block in blocks {
                let before = v;
                let (words, _) = block.as_chunks::<16>();
                let mut w = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| s.load_long_bytes(&words[i]));
                unroll!(T in 0..80 => {
                    if const { T < 40 } {
                        let i = T % 8;
                        if T / 8 != 0 {
                            let x = s.sha512su0(w[i], w[(i + 1) % 8]);
                            let w9 = s.ext(w[(i + 4) % 8], w[(i + 5) % 8]);
                            w[i] = s.sha512su1(x, w[(i + 7) % 8], w9);
                        }
                        let w_k = s.add_long(w[i], s.load_long_words(&k[T % 40]));
                        let [ab, cd, ef, gh] = v;
                        let sum = s.add_long(s.ext(w_k, w_k), gh);
                        let t = s.sha512h(sum, s.ext(ef, gh), s.ext(cd, ef));
                        v = [s.sha512h2(t, cd, ab), ab, s.add_long(cd, t), ef];
                    }
                });
                for i in 0..4 {
                    v[i] = s.add_long(v[i], before[i]);
                }
            }
            for i in 0..4 {
                pairs[i] = s.store_long_words(v[i]);
            }
        },
    );
}
