//! Columns of many slices, to which products of other slices are added by several threads.

use std::num::NonZeroUsize;
use std::thread;

use crate::kernels::{GROUP_LEN, Group, Kernel, TILE, Tiles, join, split};

/// Number of bytes of products below which threads cost more than they save.
const MIN_WORK: usize = 8 << 20;

/// Columns of slices, in tiles: see [`Tiles`].
#[expect(
    clippy::struct_field_names,
    reason = "the number of what the type is named after"
)]
pub(crate) struct Sums {
    kernel: Kernel,
    n_threads: NonZeroUsize,
    groups: Vec<Group>,
    n_sums: usize,
    /// Number of groups of a sum in a tile.
    width: usize,
}

/// Columns of slices that are added: slices that follow each other, all of the same length.
#[derive(Default)]
pub(crate) struct Planes {
    groups: Vec<Group>,
    n_groups: usize,
}

impl Planes {
    /// Makes room for slices of this length in bytes. Their contents are then unspecified.
    pub(crate) fn resize(&mut self, n_slices: usize, len: usize) {
        self.n_groups = len.div_ceil(GROUP_LEN);
        self.groups.resize(n_slices * self.n_groups, Group::ZERO);
    }

    /// Overwrites a slice. Missing bytes are zeros.
    pub(crate) fn set(&mut self, slice: usize, bytes: &[u8]) {
        let n_groups = self.n_groups;
        split(bytes, &mut self.groups[slice * n_groups..][..n_groups]);
    }

    fn rows(&self) -> Vec<&[Group]> {
        self.groups.chunks_exact(self.n_groups.max(1)).collect()
    }
}

impl Sums {
    /// Returns zeros: columns of `len` bytes of each sum.
    pub(crate) fn zero(kernel: Kernel, n_threads: NonZeroUsize, n_sums: usize, len: usize) -> Self {
        let n_groups = len.div_ceil(GROUP_LEN);
        let width = n_groups.clamp(1, TILE);
        let n_tiles = n_groups.div_ceil(width);
        Self {
            kernel,
            n_threads,
            groups: vec![Group::ZERO; n_tiles * width * n_sums],
            n_sums,
            width,
        }
    }

    /// Returns the number of bytes that columns of `len` bytes take in memory.
    pub(crate) fn memory(n_sums: usize, len: usize) -> u64 {
        let n_groups = len.div_ceil(GROUP_LEN);
        let width = n_groups.clamp(1, TILE);
        (n_groups.next_multiple_of(width) * GROUP_LEN) as u64 * n_sums as u64
    }

    /// Overwrites a sum from its first column. Missing bytes are zeros.
    pub(crate) fn set(&mut self, sum: usize, bytes: &[u8]) {
        let stride = self.stride();
        let parts = bytes
            .chunks(self.width * GROUP_LEN)
            .chain(std::iter::repeat(&[][..]));
        for (tile, bytes) in self.groups.chunks_exact_mut(stride).zip(parts) {
            split(bytes, &mut tile[sum * self.width..][..self.width]);
        }
    }

    /// Reads a sum from its first column.
    pub(crate) fn read(&self, sum: usize, bytes: &mut [u8]) {
        self.read_from(sum, 0, bytes);
    }

    /// Reads a sum from column `start` on.
    ///
    /// # Panics
    /// If `start` is not a multiple of the length of a tile.
    pub(crate) fn read_from(&self, sum: usize, start: usize, bytes: &mut [u8]) {
        let tile_len = self.width * GROUP_LEN;
        assert_eq!(start % tile_len, 0, "the part starts in a tile");
        let parts = bytes.chunks_mut(tile_len);
        let tiles = self
            .groups
            .chunks_exact(self.stride())
            .skip(start / tile_len);
        for (tile, bytes) in tiles.zip(parts) {
            join(&tile[sum * self.width..][..self.width], bytes);
        }
    }

    /// Adds the products of slices and factors, from column `start` on. `factor` gets the number of the sum and of the slice.
    /// Runs `meanwhile` on the calling thread, and returns its result.
    ///
    /// # Panics
    /// If `start` is not a multiple of the length of a tile.
    pub(crate) fn add<R>(
        &mut self,
        start: usize,
        slices: &Planes,
        factor: impl Fn(usize, usize) -> u16 + Sync,
        meanwhile: impl FnOnce() -> R,
    ) -> R {
        let rows = slices.rows();
        let (kernel, width, n_sums, stride) = (self.kernel, self.width, self.n_sums, self.stride());
        assert_eq!(
            start % (width * GROUP_LEN),
            0,
            "the window starts in a tile"
        );
        let first = start / (width * GROUP_LEN);
        let n_tiles = slices.n_groups.div_ceil(width);
        if rows.is_empty() || n_sums == 0 || n_tiles == 0 {
            return meanwhile();
        }
        let region = &mut self.groups[first * stride..][..n_tiles * stride];
        let work = size_of_val(region).saturating_mul(rows.len());
        let n_threads = if work < MIN_WORK {
            1
        } else {
            self.n_threads.get()
        };
        let (rows, factor) = (&rows, &factor);
        let add = |tiles: Tiles<'_>, first: usize, first_sum: usize| {
            let rows: Vec<&[Group]> = rows.iter().map(|row| &row[first * width..]).collect();
            kernel.add_products(tiles, &rows, |sum, slice| factor(first_sum + sum, slice));
        };
        let add = &add;
        thread::scope(|scope| {
            if n_tiles >= n_threads || n_sums < n_threads {
                let per_thread = n_tiles.div_ceil(n_threads);
                for (n, groups) in region.chunks_mut(per_thread * stride).enumerate() {
                    scope.spawn(move || {
                        let tiles = Tiles {
                            groups,
                            width,
                            n_sums,
                        };
                        add(tiles, n * per_thread, 0);
                    });
                }
            } else {
                // Few columns: each thread takes some of the sums.
                let per_thread = n_sums.div_ceil(n_threads);
                let mut jobs: Vec<Vec<_>> = Vec::new();
                jobs.resize_with(n_threads, Vec::new);
                for (tile, groups) in region.chunks_exact_mut(stride).enumerate() {
                    let parts = groups.chunks_mut(per_thread * width);
                    for (n, (groups, jobs)) in parts.zip(&mut jobs).enumerate() {
                        jobs.push((tile, n * per_thread, groups));
                    }
                }
                for jobs in jobs {
                    scope.spawn(move || {
                        for (tile, first_sum, groups) in jobs {
                            let n_sums = groups.len() / width;
                            let tiles = Tiles {
                                groups,
                                width,
                                n_sums,
                            };
                            add(tiles, tile, first_sum);
                        }
                    });
                }
            }
            meanwhile()
        })
    }

    /// Returns as many sums of products of these sums. `factor` gets the number of the new and of the old sum.
    pub(crate) fn transformed(&self, factor: impl Fn(usize, usize) -> u16 + Sync) -> Self {
        let mut new = Self {
            groups: vec![Group::ZERO; self.groups.len()],
            ..*self
        };
        let stride = self.stride();
        let n_tiles = self.groups.len() / stride.max(1);
        let per_thread = n_tiles.div_ceil(self.n_threads.get()).max(1);
        let (width, n_sums, kernel) = (self.width, self.n_sums, self.kernel);
        let factor = &factor;
        thread::scope(|scope| {
            let to = new.groups.chunks_mut((per_thread * stride).max(1));
            for (to, from) in to.zip(self.groups.chunks((per_thread * stride).max(1))) {
                scope.spawn(move || {
                    let tiles = to.chunks_exact_mut(stride).zip(from.chunks_exact(stride));
                    for (groups, from) in tiles {
                        // A batch of inputs that fits the second cache.
                        for first in (0..n_sums).step_by(BATCH) {
                            let rows = from.chunks_exact(width).skip(first).take(BATCH);
                            let rows: Vec<&[Group]> = rows.collect();
                            let tiles = Tiles {
                                groups: &mut *groups,
                                width,
                                n_sums,
                            };
                            kernel.add_products(tiles, &rows, |to, from| factor(to, first + from));
                        }
                    }
                });
            }
        });
        new
    }

    /// Returns a word of a sum.
    pub(crate) fn word(&self, sum: usize, word: usize) -> u16 {
        let (group, at) = self.place_of(sum, word);
        self.groups[group].word(at)
    }

    /// Overwrites a word of a sum.
    pub(crate) fn set_word(&mut self, sum: usize, word: usize, value: u16) {
        let (group, at) = self.place_of(sum, word);
        self.groups[group].set_word(at, value);
    }

    /// Swaps two sums.
    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let (width, stride) = (self.width, self.stride());
        for tile in self.groups.chunks_exact_mut(stride) {
            for column in 0..width {
                tile.swap(a * width + column, b * width + column);
            }
        }
    }

    /// Returns the group of a word, and the position in the group.
    fn place_of(&self, sum: usize, word: usize) -> (usize, usize) {
        let per_group = GROUP_LEN / 2;
        let (group, at) = (word / per_group, word % per_group);
        let (tile, column) = (group / self.width, group % self.width);
        (tile * self.stride() + sum * self.width + column, at)
    }

    fn stride(&self) -> usize {
        self.width * self.n_sums
    }
}

/// Number of slices that are added at once.
pub(crate) const BATCH: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gf;

    /// Several threads, by tiles and by sums, give the same sums as one.
    #[test]
    fn threads_and_windows_do_not_change_sums() {
        let byte = |i: usize| (i * i / 7 + i) as u8;
        let factor = |sum: usize, slice: usize| (sum * 769 + slice * 31 + 5) as u16;
        for (len, n_sums, n_slices) in [
            (4, 3000, 3),
            (300_000, 4, 9),
            (4096, 900, 5),
            (20_000, 1, 2),
        ] {
            let columns = |n_threads: usize, step: usize| {
                let n_threads = NonZeroUsize::new(n_threads).unwrap();
                let mut sums = Sums::zero(Kernel::detect(), n_threads, n_sums, len);
                sums.set(0, &vec![3; len]);
                for start in (0..len).step_by(step) {
                    let part = step.min(len - start);
                    let mut planes = Planes::default();
                    planes.resize(n_slices, part);
                    for slice in 0..n_slices {
                        let bytes: Vec<u8> = (start..start + part)
                            .map(|i| byte(i + slice * 100))
                            .collect();
                        planes.set(slice, &bytes);
                    }
                    assert_eq!(sums.add(start, &planes, factor, || 5), 5);
                }
                let read = (0..n_sums).map(|sum| {
                    let mut bytes = vec![0; len];
                    sums.read(sum, &mut bytes);
                    bytes
                });
                read.collect::<Vec<_>>()
            };
            let expected = columns(1, len);
            let mut first = 3 ^ 3 << 8;
            for slice in 0..n_slices {
                let word = u16::from_le_bytes([byte(slice * 100), byte(slice * 100 + 1)]);
                first ^= gf::product(word, factor(0, slice));
            }
            assert_eq!(expected[0][..2], first.to_le_bytes());
            for n_threads in [2, 3, 5] {
                assert!(columns(n_threads, len) == expected, "{len} {n_threads}");
                assert!(columns(n_threads, 8192) == expected, "{len} {n_threads}");
            }
        }
    }
}
