//! The disturbance vectors of SHA-1 that collision attacks can use, and the differences that they
//! make in a block.
//!
//! Source: M. Stevens and D. Shumow, "Speeding up detection of SHA-1 collision attacks using
//! unavoidable attack conditions", USENIX Security 2017, section 3; the classification into two
//! types is by S. Manuel, 2011.
//!
//! An attack cancels every disturbance by five corrections, so the difference of the words of two
//! blocks is the disturbance vector, six times. The vector is a schedule without rotations, so
//! sixteen of its words determine all.

use hashlane_simd::MAX_LANES;

/// A group of disturbance vectors with the same shape, at different rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// 1 or 2, by the words that are not zero among the sixteen words that determine the vector.
    pub(crate) kind: u8,
    /// By how many bits the vector is rotated to the left.
    pub(crate) rotated: u32,
    /// The first round of the sixteen words, K in the paper, of the first and the last vector.
    pub(crate) rounds: [u8; 2],
    /// The slot of the first vector.
    pub(crate) slot: usize,
}

pub(crate) const I_0: Family = Family {
    kind: 1,
    rotated: 0,
    rounds: [43, 52],
    slot: 0,
};
pub(crate) const II_0: Family = Family {
    kind: 2,
    rotated: 0,
    rounds: [45, 56],
    slot: 10,
};
pub(crate) const I_2: Family = Family {
    kind: 1,
    rotated: 2,
    rounds: [46, 51],
    slot: 32,
};
/// Without the rounds 47 and 48.
pub(crate) const II_2: Family = Family {
    kind: 2,
    rotated: 2,
    rounds: [46, 51],
    slot: 38,
};

/// The families, in the order of their slots.
pub(crate) const FAMILIES: [Family; 4] = [I_0, II_0, I_2, II_2];

/// Number of slots, in two words of 32 bits. A set of vectors is a number with a bit for each slot.
pub(crate) const N_SLOTS: usize = 44;

/// The slots that have a vector: 32 vectors.
pub(crate) const SLOTS: u64 = {
    let mut slots = 0;
    let mut n = 0;
    while n < FAMILIES.len() {
        let family = FAMILIES[n];
        let mut round = family.rounds[0];
        while round <= family.rounds[1] {
            if family.rotated == 0 || family.kind == 1 || (round != 47 && round != 48) {
                slots |= 1 << family.slot_of(round);
            }
            round += 1;
        }
        n += 1;
    }
    slots
};

/// The difference of two blocks that an attack with the vector in each slot uses: the exclusive or
/// of their sixteen words.
pub(crate) const DIFFERENCES: [[u32; 16]; N_SLOTS] = {
    let mut differences = [[0; 16]; N_SLOTS];
    let mut n = 0;
    while n < FAMILIES.len() {
        let family = FAMILIES[n];
        let mut round = family.rounds[0];
        while round <= family.rounds[1] {
            differences[family.slot_of(round)] = family.difference(round);
            round += 1;
        }
        n += 1;
    }
    differences
};

impl Family {
    /// Returns the slot of the vector whose sixteen words start at `round`.
    pub(crate) const fn slot_of(self, round: u8) -> usize {
        self.slot + (round - self.rounds[0]) as usize
    }

    /// Returns the words −5 to 15 of the disturbance vector, by the schedule run backwards
    /// (FIPS 180-4 section 6.1.2: W(t-16) = ROTR1(W(t)) ^ W(t-3) ^ W(t-8) ^ W(t-14)).
    const fn disturbances(self, round: u8) -> [u32; 21] {
        const BEFORE: usize = 5;
        let first = round as usize + BEFORE;
        let mut words = [0_u32; 80];
        words[first + 15] = 1 << self.rotated;
        if self.kind == 2 {
            words[first + 1] = (1_u32 << 31).rotate_left(self.rotated);
            words[first + 3] = (1_u32 << 31).rotate_left(self.rotated);
        }
        let mut t = first;
        while t > 0 {
            t -= 1;
            words[t] = words[t + 16].rotate_right(1) ^ words[t + 13] ^ words[t + 8] ^ words[t + 2];
        }
        let mut start = [0; 21];
        while t < start.len() {
            start[t] = words[t];
            t += 1;
        }
        start
    }

    /// Returns the difference of the words of two blocks. Each disturbance is cancelled by
    /// corrections in the five rounds after it, where the disturbed variable is rotated by 5, and
    /// then by 0 and three times by 30 bits.
    const fn difference(self, round: u8) -> [u32; 16] {
        let d = self.disturbances(round);
        let mut words = [0; 16];
        let mut t = 0;
        while t < 16 {
            words[t] = d[t + 5]
                ^ d[t + 4].rotate_left(5)
                ^ d[t + 3]
                ^ d[t + 2].rotate_left(30)
                ^ d[t + 1].rotate_left(30)
                ^ d[t].rotate_left(30);
            t += 1;
        }
        words
    }
}

/// The rounds before which both blocks of an attack have the same variables. A vector has one of
/// them: from the first one on, the compression of the second block can be computed in both
/// directions.
pub(crate) const EQUAL_AT: [usize; 2] = [58, 65];

/// The slots whose vector needs the second round in [`EQUAL_AT`].
const SLOTS_OF_65: u64 = {
    let mut slots = 0;
    let mut round = 50;
    while round <= 56 {
        slots |= 1 << II_0.slot_of(round);
        if round <= 51 {
            slots |= 1 << II_2.slot_of(round);
        }
        round += 1;
    }
    slots
};

/// Returns `true` if the variables are equal before round 65, and `false` if before round 58.
pub(crate) const fn is_equal_at_65(slot: usize) -> bool {
    SLOTS_OF_65 >> slot & 1 == 1
}

/// The words of a difference for each lane, and which lanes have equal variables before round 65:
/// all bits of their word are set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneDifferences {
    pub(crate) words: [[u32; MAX_LANES]; 16],
    pub(crate) is_equal_at_65: [u32; MAX_LANES],
}

impl LaneDifferences {
    pub(crate) const NONE: Self = Self {
        words: [[0; MAX_LANES]; 16],
        is_equal_at_65: [0; MAX_LANES],
    };

    /// Puts the difference of a vector into a lane.
    pub(crate) fn set_lane(&mut self, lane: usize, slot: usize) {
        for (words, word) in self.words.iter_mut().zip(&DIFFERENCES[slot]) {
            words[lane] = *word;
        }
        self.is_equal_at_65[lane] = if is_equal_at_65(slot) { !0 } else { 0 };
    }
}
