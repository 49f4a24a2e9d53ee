//! Tests of the conditions in lanes: by direct evaluation, on random blocks and on blocks that are
//! made to meet all conditions of a vector or all but one, and by the published implementation.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::{CONDITIONS, FIRST_WORD};
use crate::kernels::rounds::Rounds as _;
use crate::kernels::sha1::Sha1Compression;
use crate::kernels::sha1_checked::Met;
use crate::kernels::sha1_vectors::{DIFFERENCES, FAMILIES, Family, SLOTS, is_equal_at_65};
use crate::not_run::not_run;
use crate::table::Kernel;
use crate::table::checked::{CheckedKernel, FusedKernel};
use crate::types::{Block, MAX_LANES, State};

/// Pseudo-random numbers (xorshift, Marsaglia 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn block(&mut self) -> Block {
        let mut block = [0; 64];
        for bytes in block.chunks_exact_mut(8) {
            bytes.copy_from_slice(&self.next().to_le_bytes());
        }
        block
    }
}

/// Returns the schedule of FIPS 180-4 section 6.1.2.
fn expand(words: [u32; 16]) -> [u32; 80] {
    let mut w = [0; 80];
    w[..16].copy_from_slice(&words);
    for t in 16..80 {
        w[t] = (w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotate_left(1_u32);
    }
    w
}

fn schedule(block: &Block) -> [u32; 80] {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes(bytes.try_into().expect("four bytes"));
    }
    expand(words)
}

/// Two bits of the schedule, by word and bit, and whether they are equal.
#[derive(Clone, Copy, Debug)]
struct Condition {
    bits: [(usize, usize); 2],
    equal: bool,
}

/// Returns the conditions of the vector in a slot.
fn conditions_of(slot: usize) -> Vec<Condition> {
    let mut found = Vec::new();
    for row in &CONDITIONS {
        for (family, offset, rounds) in row.of {
            for round in *rounds {
                if family.slot_of(*round) == slot {
                    let t = usize::from(*round).checked_add_signed(*offset).unwrap();
                    found.push(Condition {
                        bits: [(t, row.first), (t + row.apart, row.second)],
                        equal: row.equal,
                    });
                }
            }
        }
    }
    found
}

/// Returns the slots that have a vector.
fn slots() -> impl Iterator<Item = usize> {
    (0..64).filter(|slot| SLOTS >> slot & 1 == 1)
}

/// Returns the vectors that a block meets, condition by condition.
fn direct(block: &Block, conditions: &[(usize, Vec<Condition>)]) -> u64 {
    let w = schedule(block);
    let bit = |(t, bit): (usize, usize)| w[t] >> bit & 1;
    let mut met = 0;
    for (slot, conditions) in conditions {
        let is_met = |condition: &Condition| {
            let [one, two] = condition.bits;
            (bit(one) == bit(two)) == condition.equal
        };
        met |= u64::from(conditions.iter().all(is_met)) << slot;
    }
    met
}

/// Returns the vectors that each block meets by a kernel, and checks that the lanes are named.
fn by_kernel(kernel: CheckedKernel, blocks: &[Block]) -> Vec<u64> {
    let mut met = Met::NONE;
    let mut all = Vec::new();
    for blocks in blocks.chunks(kernel.lanes()) {
        let mut inputs: [&[Block]; MAX_LANES] = [&blocks[..1]; MAX_LANES];
        for lane in 0..blocks.len() {
            inputs[lane] = &blocks[lane..];
        }
        kernel.screen_blocks(&inputs, &mut met);
        for lane in 0..blocks.len() {
            assert_eq!(met.lanes >> lane & 1 == 1, met.slots(lane) != 0);
            all.push(met.slots(lane));
        }
    }
    all
}

/// A bit of the schedule as a sum of bits of the block.
type Sum = [u64; 8];

fn add(a: &mut Sum, b: &Sum) {
    for (a, b) in a.iter_mut().zip(b) {
        *a ^= b;
    }
}

/// Returns every bit of the schedule as a sum of bits of the block.
fn sums() -> Vec<[Sum; 32]> {
    let mut w = vec![[[0; 8]; 32]; 80];
    for (t, word) in w.iter_mut().enumerate().take(16) {
        for (bit, sum) in word.iter_mut().enumerate() {
            // Not `1 << (t % 2 * 32 + bit)`: Rust 1.95 compiles that wrongly for ARMv7 at level 3 of optimisation.
            let place = 32 * t + bit;
            sum[place / 64] = 1 << (place % 64);
        }
    }
    for t in 16..80 {
        for bit in 0..32 {
            let mut sum = w[t - 3][bit];
            for before in [8, 14, 16] {
                let other = w[t - before][bit];
                add(&mut sum, &other);
            }
            w[t][(bit + 1) % 32] = sum;
        }
    }
    w
}

/// Returns a random block that meets the conditions, except for the one with number `broken`.
/// `None` if the others imply this condition.
fn block_with(
    conditions: &[Condition],
    broken: Option<usize>,
    sums: &[[Sum; 32]],
    random: &mut Random,
) -> Option<Block> {
    // Gaussian elimination: each equation has a bit that no other has.
    let mut solved: Vec<(Sum, bool, usize)> = Vec::new();
    for (n, condition) in conditions.iter().enumerate() {
        let [(t, bit), (u, other)] = condition.bits;
        let mut sum = sums[t][bit];
        add(&mut sum, &sums[u][other]);
        let mut value = !condition.equal ^ (Some(n) == broken);
        for (other, other_value, pivot) in &solved {
            if sum[pivot / 64] >> (pivot % 64) & 1 == 1 {
                add(&mut sum, other);
                value ^= other_value;
            }
        }
        let Some(pivot) = (0..512).find(|bit| sum[bit / 64] >> (bit % 64) & 1 == 1) else {
            if value {
                return None;
            }
            continue;
        };
        for (other, other_value, _) in &mut solved {
            if other[pivot / 64] >> (pivot % 64) & 1 == 1 {
                add(other, &sum);
                *other_value ^= value;
            }
        }
        solved.push((sum, value, pivot));
    }
    let mut bits: Sum = [0; 8];
    bits.fill_with(|| random.next());
    for (_, _, pivot) in &solved {
        bits[pivot / 64] &= !(1 << (pivot % 64));
    }
    let free = bits;
    for (sum, value, pivot) in &solved {
        let rest: u32 = sum
            .iter()
            .zip(&free)
            .map(|(a, b)| (a & b).count_ones())
            .sum();
        if (rest % 2 == 1) != *value {
            bits[pivot / 64] |= 1 << (pivot % 64);
        }
    }
    let mut block = [0; 64];
    for (t, bytes) in block.chunks_exact_mut(4).enumerate() {
        let word = (bits[t / 2] >> (t % 2 * 32)) as u32;
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    Some(block)
}

/// Returns blocks that meet all conditions of each vector, and all but each one.
fn made_blocks(random: &mut Random) -> Vec<Block> {
    let sums = sums();
    let mut blocks = Vec::new();
    for slot in slots() {
        let conditions = conditions_of(slot);
        let mut make = |broken| block_with(&conditions, broken, &sums, random);
        let all = make(None).expect("the conditions do not contradict each other");
        blocks.push(all);
        blocks.extend((0..conditions.len()).filter_map(|n| make(Some(n))));
    }
    blocks
}

#[test]
fn there_are_373_conditions_of_32_vectors_on_bits_that_differ() {
    let mut n = 0;
    for slot in slots() {
        let difference = expand(DIFFERENCES[slot]);
        let conditions = conditions_of(slot);
        n += conditions.len();
        for condition in conditions {
            for (t, bit) in condition.bits {
                assert_eq!(difference[t] >> bit & 1, 1, "slot {slot}: {condition:?}");
                assert!((FIRST_WORD..FIRST_WORD + super::N_WORDS).contains(&t));
            }
        }
    }
    assert_eq!((slots().count(), n), (32, 373));
}

#[test]
fn differences_are_zero_where_the_disturbances_have_ended() {
    for slot in slots() {
        let family = FAMILIES.iter().rfind(|family| family.slot <= slot);
        let family = family.expect("the first family has slot 0");
        let round = usize::from(family.rounds[0]) + slot - family.slot;
        let difference = expand(DIFFERENCES[slot]);
        let last_before = if family.kind == 1 { 5 } else { 9 };
        assert!(
            difference[round + last_before..round + 15]
                .iter()
                .all(|word| *word == 0)
        );
        assert_eq!(difference[round + 15], 1 << family.rotated);
        // No disturbance in the five rounds before which the variables are equal.
        let equal = if is_equal_at_65(slot) { 65 } else { 58 };
        assert!(
            (round + last_before..=round + 15).contains(&equal),
            "slot {slot}"
        );
    }
}

#[test]
fn kernels_find_the_vectors_that_direct_evaluation_finds() {
    let conditions: Vec<_> = slots().map(|slot| (slot, conditions_of(slot))).collect();
    let mut random = Random(0x5eed);
    let mut blocks = made_blocks(&mut random);
    let n_made = blocks.len();
    blocks.extend((0..20_000).map(|_| random.block()));
    let expected: Vec<u64> = blocks
        .iter()
        .map(|block| direct(block, &conditions))
        .collect();
    // Every vector is met, and every condition decides.
    let met = expected[..n_made].iter().fold(0, |all, met| all | met);
    assert_eq!(met, SLOTS);
    let n_suspicious = expected[n_made..].iter().filter(|met| **met != 0).count();
    assert!(
        (700..1200).contains(&n_suspicious),
        "{n_suspicious} of 20,000"
    );
    for kernel in CheckedKernel::available() {
        let found = by_kernel(kernel, &blocks);
        for (n, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "{}, block {n}", kernel.backend());
        }
    }
}

/// A suspicious block: the state before it, the block, its vectors, and the state after it.
type Found = (State, Block, u64, State);

/// Returns the suspicious blocks by direct evaluation, and the last state. `change` is added to the
/// first word after each of them.
fn suspicious(blocks: &[Block], met: &[u64], change: u32) -> (Vec<Found>, State) {
    let kernel = Kernel::available().next().expect("portable");
    let mut state = Sha1Compression::IV;
    let mut found = Vec::new();
    for (block, met) in blocks.iter().zip(met) {
        let before = state;
        kernel.compress::<Sha1Compression>(&mut state, &[*block]);
        if *met != 0 {
            found.push((before, *block, *met, state));
            state[0] = state[0].wrapping_add(change);
        }
    }
    (found, state)
}

#[test]
fn the_fused_kernel_finds_what_direct_evaluation_finds() {
    let Some(kernel) = Kernel::available().find_map(FusedKernel::of) else {
        return not_run(
            "the fused kernel of detection",
            "this CPU lacks a kernel that compresses one message and tests conditions",
            "use a CPU with the SHA instructions and AVX2",
        );
    };
    let conditions: Vec<_> = slots().map(|slot| (slot, conditions_of(slot))).collect();
    let mut random = Random(0xf05e);
    let mut blocks = made_blocks(&mut random);
    blocks.extend((0..20_000).map(|_| random.block()));
    let met: Vec<u64> = blocks
        .iter()
        .map(|block| direct(block, &conditions))
        .collect();
    for (start, len) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 3), (0, blocks.len())] {
        for change in [0, 1] {
            let (blocks, met) = (&blocks[start..start + len], &met[start..start + len]);
            let (expected, last) = suspicious(blocks, met, change);
            let mut state = Sha1Compression::IV;
            let mut found: Vec<Found> = Vec::new();
            kernel.compress(&mut state, blocks, |before, block, slots, after| {
                found.push((*before, *block, slots, *after));
                after[0] = after[0].wrapping_add(change);
                change != 0
            });
            assert!(found == expected, "{len} blocks, change {change}");
            assert_eq!(state, last, "{len} blocks, change {change}");
        }
    }
}

/// Prints the vectors of the published implementation: type, K, b, bit of the mask, difference. Then
/// reads blocks, and writes the mask of each.
const DRIVER: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include "ubc_check.h"
int main(void) {
    for (int i = 0; sha1_dvs[i].dvType; i++) {
        printf("%d %d %d %d", sha1_dvs[i].dvType, sha1_dvs[i].dvK, sha1_dvs[i].dvB, sha1_dvs[i].maskb);
        for (int t = 0; t < 16; t++) printf(" %u", (unsigned)sha1_dvs[i].dm[t]);
        puts("");
    }
    puts("end");
    fflush(stdout);
    static unsigned char in[1024][64];
    static uint32_t out[1024];
    while (fread(in, sizeof in, 1, stdin) == 1) {
        for (int n = 0; n < 1024; n++) {
            uint32_t w[80];
            for (int t = 0; t < 16; t++)
                w[t] = (uint32_t)in[n][4*t] << 24 | in[n][4*t+1] << 16 | in[n][4*t+2] << 8 | in[n][4*t+3];
            for (int t = 16; t < 80; t++) {
                uint32_t x = w[t-3] ^ w[t-8] ^ w[t-14] ^ w[t-16];
                w[t] = x << 1 | x >> 31;
            }
            ubc_check(w, &out[n]);
        }
        fwrite(out, sizeof out, 1, stdout);
        fflush(stdout);
    }
}
"#;

/// The published implementation in a process of its own.
struct Published {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The slot of each bit of its masks.
    slot_of_bit: [usize; 32],
}

impl Published {
    /// Compiles the implementation in `folder` with the driver, in the folder `work`.
    fn compile(folder: &Path, work: &Path) -> Self {
        let (driver, program) = (work.join("driver.c"), work.join("driver"));
        std::fs::write(&driver, DRIVER).expect("write the driver");
        let status = Command::new("cc")
            .args(["-O2", "-I"])
            .arg(folder)
            .arg(&driver)
            .arg(folder.join("ubc_check.c"))
            .arg("-o")
            .arg(&program)
            .status();
        assert!(status.expect("run the C compiler").success());
        let mut child = Command::new(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("run the driver");
        let mut published = Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("a pipe")),
            child,
            slot_of_bit: [0; 32],
        };
        published.read_vectors();
        published
    }

    /// Reads the vectors, and compares their differences.
    fn read_vectors(&mut self) {
        let mut line = String::new();
        loop {
            line.clear();
            self.output.read_line(&mut line).expect("a line");
            if line == "end\n" {
                return;
            }
            let mut numbers = line.split_whitespace().map(str::parse::<u32>);
            let mut next = || numbers.next().expect("a number").expect("a number");
            let (kind, round, rotated, bit) = (next(), next(), next(), next());
            let is_family =
                |family: &&Family| u32::from(family.kind) == kind && family.rotated == rotated;
            let family = FAMILIES.iter().find(is_family).expect("a known family");
            let slot = family.slot_of(u8::try_from(round).expect("a round"));
            assert_eq!(DIFFERENCES[slot], [0; 16].map(|_| next()), "slot {slot}");
            self.slot_of_bit[bit as usize] = slot;
        }
    }

    /// Returns the vectors that each of 1024 blocks meets.
    fn met(&mut self, blocks: &[Block]) -> [u64; 1024] {
        let input = self.input.as_mut().expect("a pipe");
        input
            .write_all(blocks.as_flattened())
            .expect("write the blocks");
        let mut masks = [[0; 4]; 1024];
        self.output
            .read_exact(masks.as_flattened_mut())
            .expect("read the masks");
        masks.map(|mask| {
            let mask = u32::from_ne_bytes(mask);
            let slot = |bit: usize| u64::from(mask >> bit & 1) << self.slot_of_bit[bit];
            (0..32).map(slot).fold(0, |all, slot| all | slot)
        })
    }
}

/// Compares differences and conditions with those of the published implementation, if
/// `HASHLANE_SHA1DC` names the folder of its `ubc_check.c`. `HASHLANE_SHA1DC_BLOCKS` is the number of
/// random blocks, a million by default.
#[test]
fn the_published_implementation_agrees() {
    let Some(folder) = std::env::var_os("HASHLANE_SHA1DC") else {
        return not_run(
            "the comparison with the published conditions of SHA-1",
            "HASHLANE_SHA1DC names no folder",
            "set it to the folder `lib` of sha1collisiondetection",
        );
    };
    let n_blocks = std::env::var("HASHLANE_SHA1DC_BLOCKS");
    let n_blocks = n_blocks.map_or(1_000_000, |n| n.parse().expect("a number of blocks"));
    let work = std::env::temp_dir().join(format!("hashlane-sha1dc-{}", std::process::id()));
    std::fs::create_dir_all(&work).expect("a temporary folder");
    let mut published = Published::compile(Path::new(&folder), &work);
    let named = published.slot_of_bit.iter();
    assert_eq!(named.fold(0_u64, |all, slot| all | 1 << slot), SLOTS);

    let mut random = Random(0xd15c);
    let mut made = made_blocks(&mut random).into_iter();
    let kernel = CheckedKernel::available().next().expect("portable");
    for n_before in (0..n_blocks).step_by(1024) {
        let mut blocks: Vec<Block> = made.by_ref().take(1024).collect();
        while blocks.len() < 1024 {
            blocks.push(random.block());
        }
        let expected = published.met(&blocks);
        assert_eq!(
            by_kernel(kernel, &blocks),
            expected,
            "after {n_before} blocks"
        );
    }
    drop(published.input.take());
    assert!(published.child.wait().expect("the driver").success());
    std::fs::remove_dir_all(&work).expect("remove the temporary folder");
}
