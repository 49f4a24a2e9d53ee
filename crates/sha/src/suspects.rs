//! Blocks that may be part of a collision attack on SHA-1: found while messages are compressed,
//! collected, and recomputed in lanes.

use crate::kernels::sha1::Sha1Compression;
use crate::kernels::sha1_checked::{Attacks, MAX_BLOCKS, Met, Screened};
use crate::kernels::sha1_vectors::LaneDifferences;
use crate::scheduler::{Bodies, Jobs, Lanes, run};
use crate::table::Kernel;
use crate::table::checked::{CheckedKernel, FusedKernel};
use crate::types::{BLOCK_LEN, Block, LaneStates, MAX_LANES, State};

/// The kernels that compress messages and detect attacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernels {
    /// For blocks of one message.
    pub(crate) one: Kernel,
    /// For many messages, and for the conditions.
    pub(crate) lanes: CheckedKernel,
}

impl Kernels {
    /// Returns the kernel that tests the conditions of this many blocks.
    fn screening(self, n_blocks: usize) -> CheckedKernel {
        if n_blocks <= FEW_BLOCKS {
            CheckedKernel::portable()
        } else {
            self.lanes
        }
    }

    /// Returns the number of lanes for this many messages. A few messages are faster one after the
    /// other, by the kernel for one message: up to four with the SHA instructions, where AVX-512
    /// takes the time of five messages, and up to two without (EPYC with AVX-512, 2026-11-26).
    fn lanes_for(self, n_messages: usize) -> usize {
        let few = if self.one.backend().has_sha_instructions() {
            4
        } else {
            2
        };
        if n_messages <= few {
            1
        } else {
            self.lanes.lanes()
        }
    }
}

/// Blocks that meet the conditions of a disturbance vector, one for each lane.
struct Collected {
    /// The message that the block in each lane belongs to.
    tags: [usize; MAX_LANES],
    before: LaneStates,
    blocks: [Block; MAX_LANES],
    differences: LaneDifferences,
}

impl Collected {
    const NONE: Self = Self {
        tags: [0; MAX_LANES],
        before: LaneStates([[0; MAX_LANES]; 8]),
        blocks: [[0; BLOCK_LEN]; MAX_LANES],
        differences: LaneDifferences::NONE,
    };
}

/// Suspicious blocks that are not recomputed yet. Attacks are reported to `report`, with the
/// message that contains them, once or several times for each message.
pub(crate) struct Suspects<F: FnMut(usize)> {
    kernel: CheckedKernel,
    /// Whether a block is also an attack if it belongs to a collision of SHA-1 with fewer rounds.
    with_equal_starts: bool,
    /// Made for the first block: most short messages have none.
    collected: Option<Collected>,
    n: usize,
    report: F,
}

impl<F: FnMut(usize)> Suspects<F> {
    pub(crate) fn new(kernel: CheckedKernel, with_equal_starts: bool, report: F) -> Self {
        Self {
            kernel,
            with_equal_starts,
            collected: None,
            n: 0,
            report,
        }
    }

    /// Adds a block of message `tag` that follows the state `before` and meets the conditions of
    /// the vectors in `slots`.
    pub(crate) fn add(&mut self, tag: usize, before: &State, block: &Block, mut slots: u64) {
        while slots != 0 {
            let collected = self.collected.get_or_insert(Collected::NONE);
            collected.tags[self.n] = tag;
            collected.before.set_lane(self.n, before);
            collected.blocks[self.n] = *block;
            let slot = slots.trailing_zeros() as usize;
            collected.differences.set_lane(self.n, slot);
            self.n += 1;
            if self.n == self.kernel.lanes() {
                self.recompute();
            }
            slots &= slots - 1;
        }
    }

    /// Recomputes the blocks that were added, and reports those that are part of an attack.
    pub(crate) fn recompute(&mut self) {
        let Some(collected) = &self.collected else {
            return;
        };
        // One block, as short messages have, takes two thirds of the time that sixteen lanes take.
        let kernel = if self.n == 1 {
            CheckedKernel::portable()
        } else {
            self.kernel
        };
        let mut inputs: [&[Block]; MAX_LANES] = [&collected.blocks[..1]; MAX_LANES];
        for lane in 0..self.n {
            inputs[lane] = &collected.blocks[lane..=lane];
        }
        let Attacks {
            collisions,
            equal_starts,
        } = kernel.attacks(&collected.before, &inputs, &collected.differences);
        let found = if self.with_equal_starts {
            collisions | equal_starts
        } else {
            collisions
        };
        for lane in 0..self.n {
            if found >> lane & 1 == 1 {
                (self.report)(collected.tags[lane]);
            }
        }
        self.n = 0;
    }
}

/// Compresses `blocks` of message `tag` into `state`, and passes the blocks that meet conditions to
/// `found`, with the state before the block and the slots of the vectors. `found` may change the
/// state after the block, which it receives last, if it returns `true`.
///
/// Without a kernel that does both, the conditions are tested for consecutive blocks in lanes. The
/// blocks are then compressed by the kernel for one message, which stops at each suspicious block,
/// because its state is needed.
pub(crate) fn compress_one(
    kernels: Kernels,
    state: &mut State,
    blocks: &[Block],
    mut found: impl FnMut(&State, &Block, u64, &mut State) -> bool,
) {
    if let Some(kernel) = FusedKernel::of(kernels.one) {
        return kernel.compress(state, blocks, found);
    }
    let mut met = Met::NONE;
    let kernel = kernels.screening(blocks.len());
    for blocks in blocks.chunks(kernel.lanes()) {
        screen(kernel, blocks, &mut met);
        let mut done = 0;
        for lane in lanes_of(met.lanes, blocks.len()) {
            kernels
                .one
                .compress::<Sha1Compression>(state, &blocks[done..lane]);
            let before = *state;
            kernels
                .one
                .compress::<Sha1Compression>(state, &blocks[lane..=lane]);
            found(&before, &blocks[lane], met.slots(lane), state);
            done = lane + 1;
        }
        kernels
            .one
            .compress::<Sha1Compression>(state, &blocks[done..]);
    }
}

/// Returns the number of the last block that meets the conditions of a vector.
pub(crate) fn last_suspicious(kernels: Kernels, blocks: &[Block]) -> Option<usize> {
    let mut met = Met::NONE;
    let kernel = kernels.screening(blocks.len());
    let starts = (0..blocks.len()).step_by(kernel.lanes());
    starts.rev().find_map(|start| {
        let now = &blocks[start..blocks.len().min(start + kernel.lanes())];
        screen(kernel, now, &mut met);
        let last = lanes_of(met.lanes, now.len()).last()?;
        Some(start + last)
    })
}

/// Tests the conditions of consecutive blocks, one for each lane at most.
fn screen(kernel: CheckedKernel, blocks: &[Block], met: &mut Met) {
    // Lanes without a block repeat the last one.
    let last = blocks.len() - 1;
    let mut inputs = [&blocks[last..]; MAX_LANES];
    for lane in 0..last {
        inputs[lane] = &blocks[lane..];
    }
    kernel.screen_blocks(&inputs, met);
}

/// The largest number of blocks whose conditions are tested one by one.
const FEW_BLOCKS: usize = 3;

/// Returns the numbers of the bits that are set, up to `n`.
fn lanes_of(mut lanes: u32, n: usize) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes.wrapping_sub(1);
        (lane < n).then_some(lane)
    })
}

/// Runs every job, and adds suspicious blocks to `suspects`.
pub(crate) fn run_checked<'m, F: FnMut(usize)>(
    kernels: Kernels,
    work: &mut impl Jobs<'m>,
    suspects: &mut Suspects<F>,
) {
    let mut screened = Screened::NONE;
    run(
        kernels.lanes.lanes(),
        work,
        |lanes: &mut Lanes<1>, bodies: &mut Bodies<'m, 1>, work| {
            let n_lanes = kernels.lanes_for(lanes.tags().len());
            lanes.step_with(
                n_lanes,
                bodies,
                |[states], [inputs], n_blocks, tags| {
                    if n_lanes == 1 && kernels.lanes.lanes() > 1 {
                        let mut state = states.lane(0);
                        let blocks = &inputs[0][..n_blocks];
                        compress_one(kernels, &mut state, blocks, |before, block, slots, _| {
                            suspects.add(tags[0], before, block, slots);
                            false
                        });
                        states.set_lane(0, &state);
                    } else {
                        compress_many(
                            kernels.lanes,
                            states,
                            inputs,
                            n_blocks,
                            tags,
                            &mut screened,
                            suspects,
                        );
                    }
                },
                |tag, state| work.done(tag, state),
            );
        },
    );
    suspects.recompute();
}

/// Compresses `n_blocks` blocks of each message, and adds suspicious blocks to `suspects`.
fn compress_many<F: FnMut(usize)>(
    kernel: CheckedKernel,
    states: &mut LaneStates,
    inputs: &[&[Block]; MAX_LANES],
    n_blocks: usize,
    tags: &[usize],
    screened: &mut Screened,
    suspects: &mut Suspects<F>,
) {
    let mut inputs = *inputs;
    let mut left = n_blocks;
    while left > 0 {
        let now = left.min(MAX_BLOCKS);
        kernel.compress_lanes(states, &inputs, now, screened);
        for n in 0..now {
            for lane in lanes_of(screened.met[n].lanes, tags.len()) {
                let before = screened.before(n, lane);
                suspects.add(
                    tags[lane],
                    &before,
                    &inputs[lane][n],
                    screened.met[n].slots(lane),
                );
            }
        }
        for input in &mut inputs[..kernel.lanes()] {
            *input = &input[now..];
        }
        left -= now;
    }
}
