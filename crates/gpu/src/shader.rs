//! The source of the kernel in WGSL: the double hash of one shape of messages, as straight-line code.
//!
//! A word is constant, or the same for all messages of a query, or different in each message. What
//! depends only on constants is computed here. What depends only on the query is computed before
//! the loop over the addends. Compilers do neither for all words of a schedule.

use std::fmt::Write as _;

use hashlane_base58::{MAX_MESSAGE_WORDS, Shape};
use hashlane_sha::{Sha256, hazmat};

/// Number of invocations in a workgroup, which hashes one query. A query has about two thousand
/// messages, so a wider workgroup would leave more of its last round idle.
pub(crate) const WORKGROUP: u32 = 64;

/// The maximum number of steps of a tail: five positions with six steps.
pub(crate) const MAX_STEPS: usize = 32;

/// What the kernel is compiled from besides the hashes. `$`-words are replaced.
const FRAME: &str = "
struct Params {
    stride: u32,
    message_bits: u32,
    n_steps: u32,
    greatest_tail: u32,
    steps: array<vec4<u32>, $STEPS>,
}
struct Query {
    words: array<u32, $WORDS>,
    low: u32,
    first: u32,
    len: u32,
    unused: u32,
}
struct Found {
    n: atomic<u32>,
    words: array<u32>,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> columns: array<u32>;
@group(0) @binding(2) var<storage, read> queries: array<Query>;
@group(0) @binding(3) var<storage, read_write> found: Found;

@compute @workgroup_size($WORKGROUP)
fn search(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = workgroup.x;
    let bits = params.message_bits;
    let low = queries[number].low;
    let end = queries[number].first + queries[number].len;
$QUERY
    for (var i = queries[number].first + lane; i < end; i += $WORKGROUPu) {
$MESSAGE
        let tail = $CHECKSUM - (low + columns[i]);
        if tail <= params.greatest_tail {
            var rest = tail;
            for (var n = 0u; n < params.n_steps; n++) {
                // The difference wraps if it is negative, so the minimum keeps `rest`.
                rest = min(rest, rest - params.steps[n / 4u][n % 4u]);
            }
            if rest == 0u {
                let n = atomicAdd(&found.n, 1u);
                if 3u * n + 2u < arrayLength(&found.words) {
                    found.words[3u * n] = number;
                    found.words[3u * n + 1u] = i;
                    found.words[3u * n + 2u] = tail;
                }
            }
        }
    }
}
";

/// Returns the source of the kernel for messages of this shape.
pub fn kernel_source(shape: Shape) -> String {
    let words = shape.words();
    let mut code = Code::default();
    let mut block: [Word; 16] = std::array::from_fn(|_| Word::constant(0));
    for (i, word) in block[..words.end].iter_mut().enumerate() {
        *word = code.query(&format!("queries[number].words[{i}]"));
    }
    let mut carry = None;
    for i in words.clone().rev() {
        let column = code.message(&format!(
            "columns[{}u * params.stride + i]",
            i - words.start + 1
        ));
        let mut terms = vec![&block[i], &column];
        terms.extend(&carry);
        let sum = code.sum(&terms);
        if i > words.start {
            // The carry is the majority of the highest bits of both summands and the carried-in
            // bit; see the kernels of the CPU.
            let (a, b, sum) = (&block[i].text, &column.text, &sum.text);
            carry = Some(code.message(&format!("(({a} & {b}) | (({a} | {b}) & ~{sum})) >> 31u")));
        }
        block[i] = sum;
    }
    block[15] = Word {
        text: "bits".into(),
        value: None,
        varies: false,
    };
    let first = code.digest(&block, 8);
    let mut block: [Word; 16] = std::array::from_fn(|_| Word::constant(0));
    block[..8].clone_from_slice(&first);
    block[8] = Word::constant(0x8000_0000);
    block[15] = Word::constant(256);
    let second = code.digest(&block, 1);
    FRAME
        .replace("$STEPS", &(MAX_STEPS / 4).to_string())
        .replace("$WORDS", &MAX_MESSAGE_WORDS.to_string())
        .replace("$WORKGROUP", &WORKGROUP.to_string())
        .replace("$QUERY", &code.query)
        .replace("$MESSAGE", &code.message)
        .replace("$CHECKSUM", &second[0].text)
}

/// A word of a state or of a schedule.
#[derive(Clone)]
struct Word {
    /// The expression for the word in WGSL.
    text: String,
    value: Option<u32>,
    /// Whether it differs between the messages of a query.
    varies: bool,
}

impl Word {
    fn constant(value: u32) -> Self {
        Self {
            text: format!("{value:#x}u"),
            value: Some(value),
            varies: false,
        }
    }
}

/// The statements before and in the loop over the messages of a query.
#[derive(Default)]
struct Code {
    query: String,
    message: String,
    n: usize,
}

impl Code {
    fn query(&mut self, expression: &str) -> Word {
        self.define(expression, false)
    }

    fn message(&mut self, expression: &str) -> Word {
        self.define(expression, true)
    }

    fn define(&mut self, expression: &str, varies: bool) -> Word {
        let text = format!("v{}", self.n);
        self.n += 1;
        let statements = if varies {
            &mut self.message
        } else {
            &mut self.query
        };
        writeln!(statements, "    let {text} = {expression};").expect("a String accepts all text");
        Word {
            text,
            value: None,
            varies,
        }
    }

    /// Adds words modulo 2³²: constants first, then those of the query.
    fn sum(&mut self, words: &[&Word]) -> Word {
        let constant = words.iter().filter_map(|word| word.value);
        let constant = Word::constant(constant.fold(0, u32::wrapping_add));
        let mut sum = constant;
        for varies in [false, true] {
            let terms = words
                .iter()
                .filter(|word| word.value.is_none() && word.varies == varies);
            let mut terms: Vec<&str> = terms.map(|word| word.text.as_str()).collect();
            if terms.is_empty() {
                continue;
            }
            if sum.value != Some(0) {
                terms.push(&sum.text);
            }
            let expression = terms.join(" + ");
            sum = self.define(&expression, varies);
        }
        sum
    }

    /// Applies a function of bits to words.
    fn bits<const N: usize>(
        &mut self,
        words: [&Word; N],
        function: impl FnOnce([u32; N]) -> u32,
        expression: impl FnOnce([&str; N]) -> String,
    ) -> Word {
        if words.iter().all(|word| word.value.is_some()) {
            return Word::constant(function(words.map(|word| word.value.unwrap_or_default())));
        }
        let varies = words.iter().any(|word| word.varies);
        let expression = expression(words.map(|word| word.text.as_str()));
        self.define(&expression, varies)
    }

    /// Returns the exclusive or of a word rotated right by two distances, and rotated or shifted right
    /// by a third one.
    fn sigma(&mut self, word: &Word, [a, b, c]: [u32; 3], is_shift: bool) -> Word {
        let last = |x: u32| if is_shift { x >> c } else { x.rotate_right(c) };
        self.bits(
            [word],
            |[x]| x.rotate_right(a) ^ x.rotate_right(b) ^ last(x),
            |[x]| {
                let rotated = |n: u32| format!("(({x} >> {n}u) | ({x} << {}u))", 32 - n);
                let last = if is_shift {
                    format!("({x} >> {c}u)")
                } else {
                    rotated(c)
                };
                format!("{} ^ {} ^ {last}", rotated(a), rotated(b))
            },
        )
    }

    /// Returns the first `n_words` words of the digest of a message of one block (FIPS 180-4 section
    /// 6.2.2).
    fn digest(&mut self, block: &[Word; 16], n_words: usize) -> Vec<Word> {
        let initial = hazmat::initial_state::<Sha256>().map(Word::constant);
        let mut state = initial.clone();
        let mut w = block.to_vec();
        for (t, k) in ROUND_CONSTANTS.into_iter().enumerate() {
            if t >= 16 {
                let (s0, s1) = (
                    self.sigma(&w[t - 15].clone(), [7, 18, 3], true),
                    self.sigma(&w[t - 2].clone(), [17, 19, 10], true),
                );
                let word = self.sum(&[&s1, &w[t - 7], &s0, &w[t - 16]]);
                w.push(word);
            }
            let [a, b, c, d, e, f, g, h] = state;
            let s1 = self.sigma(&e, [6, 11, 25], false);
            let ch = self.bits(
                [&e, &f, &g],
                |[e, f, g]| g ^ (e & (f ^ g)),
                |[e, f, g]| format!("{g} ^ ({e} & ({f} ^ {g}))"),
            );
            let t1 = self.sum(&[&h, &s1, &ch, &Word::constant(k), &w[t]]);
            let s0 = self.sigma(&a, [2, 13, 22], false);
            let maj = self.bits(
                [&a, &b, &c],
                |[a, b, c]| (a & b) | (c & (a | b)),
                |[a, b, c]| format!("({a} & {b}) | ({c} & ({a} | {b}))"),
            );
            let next_a = self.sum(&[&t1, &s0, &maj]);
            let next_e = self.sum(&[&d, &t1]);
            state = [next_a, a, b, c, next_e, e, f, g];
        }
        let words = initial.iter().zip(&state).take(n_words);
        words
            .map(|(initial, word)| self.sum(&[initial, word]))
            .collect()
    }
}

/// SHA-256's constants (FIPS 180-4 section 4.2.2).
#[rustfmt::skip]
const ROUND_CONSTANTS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];
