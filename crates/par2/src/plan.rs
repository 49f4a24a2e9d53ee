//! The sizes of a new set: slices, recovery slices, and the files that hold them.

use crate::error::Error;
use crate::packet::{MAX_RECOVERY_SLICES, MAX_SLICES};

/// How files are cut into slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slices {
    /// Length of a slice in bytes: a multiple of 4.
    Len(u64),
    /// Number of slices, which is not exceeded.
    Count(usize),
}

/// The amount of recovery data.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Redundancy {
    /// Percent of the slices.
    Percent(f64),
    /// Number of recovery slices.
    Count(usize),
    /// Bytes of all recovery files, at most.
    Bytes(u64),
}

/// How recovery slices are distributed over files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Volumes {
    /// Each file has twice as many slices as the one before.
    Doubling,
    /// As doubling, but no recovery file is longer than the longest protected file.
    Limited,
    /// All files have the same number of slices.
    Uniform,
}

/// A recovery file: its first exponent, and the number of its slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Volume {
    pub(crate) first: usize,
    pub(crate) count: usize,
}

/// Returns the number of slices of files with these lengths.
pub(crate) fn n_slices(lens: &[u64], slice_len: u64) -> u64 {
    let slices = lens.iter().map(|len| len.div_ceil(slice_len));
    slices.fold(0, u64::saturating_add)
}

/// Returns the length of a slice.
pub(crate) fn slice_len(slices: Slices, lens: &[u64]) -> Result<u64, Error> {
    let len = match slices {
        Slices::Len(len) if len == 0 || !len.is_multiple_of(4) => {
            return Err(Error::Options(format!(
                "slices of {len} bytes: not a multiple of 4"
            )));
        }
        Slices::Len(len) => len,
        Slices::Count(count) if count > MAX_SLICES || count == 0 => {
            return Err(Error::Options(format!(
                "{count} slices: between 1 and {MAX_SLICES} are possible"
            )));
        }
        Slices::Count(count) => {
            let count = count as u64;
            let n_files = lens.iter().filter(|len| **len > 0).count();
            if count < n_files as u64 {
                let message =
                    format!("{count} slices for {n_files} files: each file needs a slice");
                return Err(Error::Options(message));
            }
            // The shortest slices that are no more than wanted.
            let longest = lens.iter().max().copied().unwrap_or(0).div_ceil(4).max(1);
            let (mut too_short, mut long_enough) = (0, longest);
            while long_enough - too_short > 1 {
                let middle = too_short.midpoint(long_enough);
                if n_slices(lens, 4 * middle) <= count {
                    long_enough = middle;
                } else {
                    too_short = middle;
                }
            }
            4 * long_enough
        }
    };
    let n_slices = n_slices(lens, len);
    if n_slices > MAX_SLICES as u64 {
        let message =
            format!("slices of {len} bytes: {n_slices} slices, and {MAX_SLICES} are possible");
        return Err(Error::Options(message));
    }
    Ok(len)
}

/// Returns the number of recovery slices.
pub(crate) fn n_recovery(
    redundancy: Redundancy,
    n_slices: usize,
    slice_len: u64,
    first: usize,
) -> Result<usize, Error> {
    let n = match redundancy {
        Redundancy::Percent(percent) if !(0.0..=100_000.0).contains(&percent) => {
            return Err(Error::Options(format!("{percent} %: not a redundancy")));
        }
        Redundancy::Percent(percent) => {
            // As par2cmdline: rounded, and at least one.
            rounded(n_slices, percent).max(usize::from(percent > 0.0))
        }
        Redundancy::Count(count) => count,
        Redundancy::Bytes(bytes) => {
            usize::try_from(bytes / slice_len.saturating_add(68)).unwrap_or(usize::MAX)
        }
    };
    if n.saturating_add(first) > MAX_RECOVERY_SLICES {
        let message =
            format!("{n} recovery slices after {first}: {MAX_RECOVERY_SLICES} are possible");
        return Err(Error::Options(message));
    }
    Ok(n)
}

/// Returns a share of a number of slices, in percent.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "there are at most 32,768 slices, and the share is not negative"
)]
fn rounded(n_slices: usize, percent: f64) -> usize {
    (n_slices as f64 * percent / 100.0).round() as usize
}

/// Returns the files for recovery slices, as par2cmdline distributes them.
pub(crate) fn volumes(
    scheme: Volumes,
    n_volumes: Option<usize>,
    n_recovery: usize,
    first: usize,
    slices_of_longest: usize,
) -> Result<Vec<Volume>, Error> {
    if n_recovery == 0 {
        return Ok(Vec::new());
    }
    if n_volumes.is_some_and(|n| n > n_recovery) {
        let message = format!("{n_recovery} recovery slices for more recovery files");
        return Err(Error::Options(message));
    }
    let doubled = |left: usize| (usize::BITS - left.leading_zeros()) as usize;
    let counts: Vec<usize> = match scheme {
        Volumes::Limited => {
            let longest = slices_of_longest.max(1);
            // Files of full length, after doubling ones.
            let whole = (n_recovery / longest).saturating_sub(1);
            let mut left = n_recovery - whole * longest;
            let mut counts = Vec::new();
            while left > 0 {
                let count = (1 << counts.len()).min(longest).min(left);
                counts.push(count);
                left -= count;
            }
            counts.extend(vec![longest; whole]);
            counts
        }
        Volumes::Uniform => {
            let n_volumes = n_volumes.unwrap_or_else(|| doubled(n_recovery)).max(1);
            let (each, more) = (n_recovery / n_volumes, n_recovery % n_volumes);
            (0..n_volumes)
                .map(|i| each + usize::from(i < more))
                .collect()
        }
        Volumes::Doubling => {
            let n_volumes = n_volumes
                .unwrap_or_else(|| doubled(n_recovery))
                .clamp(1, 17);
            // The first file has the least power of two with which all fit.
            let mut count = 1;
            while ((1 << n_volumes) - 1) * count < n_recovery {
                count *= 2;
            }
            let mut left = n_recovery;
            let counts = (0..n_volumes).map(|_| {
                let now = count.min(left);
                left -= now;
                count *= 2;
                now
            });
            counts.collect()
        }
    };
    if counts.len() > MAX_VOLUMES {
        return Err(Error::Options(format!(
            "more than {MAX_VOLUMES} recovery files"
        )));
    }
    let mut first = first;
    let volumes = counts.into_iter().filter(|count| *count > 0).map(|count| {
        let volume = Volume { first, count };
        first += count;
        volume
    });
    Ok(volumes.collect())
}

/// Maximum number of recovery files, which are all open at the same time.
const MAX_VOLUMES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_as_short_as_their_number_allows() {
        for (lens, count, expected) in [
            (&[100_u64, 50][..], 10, 20),
            (&[1], 2000, 4),
            (&[1000, 1, 1], 3, 1000),
            (&[1001, 1], 2, 1004),
            (&[8000], 2000, 4),
        ] {
            let found = slice_len(Slices::Count(count), lens).unwrap();
            assert_eq!(found, expected, "{lens:?} {count}");
            assert!(n_slices(lens, found) <= count as u64);
            assert!(found == 4 || n_slices(lens, found - 4) > count as u64);
        }
        assert!(slice_len(Slices::Count(1), &[1, 1]).is_err());
        assert!(slice_len(Slices::Len(6), &[1]).is_err());
        assert!(slice_len(Slices::Len(4), &[1 << 30]).is_err());
        assert!(slice_len(Slices::Count(40000), &[1 << 30]).is_err());
    }

    #[test]
    fn recovery_slices_are_rounded_and_limited() {
        let n = |redundancy, n_slices| n_recovery(redundancy, n_slices, 100, 0).ok();
        assert_eq!(n(Redundancy::Percent(5.0), 2000), Some(100));
        assert_eq!(n(Redundancy::Percent(5.0), 3), Some(1));
        assert_eq!(n(Redundancy::Percent(50.0), 3), Some(2));
        assert_eq!(n(Redundancy::Percent(0.0), 3), Some(0));
        assert_eq!(n(Redundancy::Percent(f64::NAN), 3), None);
        assert_eq!(n(Redundancy::Bytes(1000), 3), Some(5));
        assert_eq!(n(Redundancy::Count(65535), 3), Some(65535));
        assert_eq!(n(Redundancy::Count(65536), 3), None);
    }

    #[test]
    fn volumes_double() {
        let counts = |scheme, n_volumes, n, longest| -> Vec<usize> {
            let volumes = volumes(scheme, n_volumes, n, 0, longest).unwrap();
            volumes.iter().map(|volume| volume.count).collect()
        };
        assert_eq!(
            counts(Volumes::Doubling, None, 100, 9),
            [1, 2, 4, 8, 16, 32, 37]
        );
        assert_eq!(counts(Volumes::Doubling, Some(2), 100, 9), [64, 36]);
        assert_eq!(counts(Volumes::Doubling, None, 1, 9), [1]);
        assert_eq!(counts(Volumes::Doubling, None, 0, 9), []);
        assert_eq!(counts(Volumes::Uniform, Some(3), 10, 9), [4, 3, 3]);
        assert_eq!(counts(Volumes::Limited, None, 30, 10), [1, 2, 4, 3, 10, 10]);
        assert!(volumes(Volumes::Uniform, Some(5), 4, 0, 9).is_err());
        assert!(volumes(Volumes::Limited, None, 1000, 0, 1).is_err());
    }
}
