//! The choice of reads past the page cache.

use hashlane_files::SourceFile;

use crate::messages::{MessageLen, Messages};
use crate::open_files::FileSet;

/// Shorter content is read through the page cache, where other programs find it soon afterwards.
const MIN_TOTAL_LEN: u64 = 256 << 20;

/// A message should have at least this many bytes of one file on average.
const MIN_PART_LEN: u64 = 128 << 10;

/// Number of messages that are looked at.
const N_SAMPLES: u32 = 16;

/// At most this many bytes of a message are looked up in the page cache.
const SAMPLE_LEN: u64 = 1 << 20;

/// The properties of the first part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Number of bytes that were looked at.
    pub(crate) len_bytes: u64,
    /// Number of these bytes in the page cache; `None` if the system does not report it.
    pub(crate) cached_bytes: Option<u64>,
    /// Whether the file lies on a local disk.
    pub(crate) is_on_disk: bool,
}

/// Returns `true` if content of this length is read past the page cache: if it is long, and the samples lie on local disks, are
/// long enough, and hardly cached. Content in the cache is hashed faster from there.
pub(crate) fn is_read_directly(total_len: u64, samples: &[Sample]) -> bool {
    let len_bytes: u64 = samples.iter().map(|sample| sample.len_bytes).sum();
    let cached: Option<u64> = samples.iter().map(|sample| sample.cached_bytes).sum();
    total_len >= MIN_TOTAL_LEN
        && len_bytes >= MIN_PART_LEN * (samples.len() as u64).max(1)
        && samples.iter().all(|sample| sample.is_on_disk)
        && cached.is_some_and(|cached| cached <= len_bytes / 16)
}

/// Returns `true` if these messages are read past the page cache, although the caller has not chosen this.
pub(crate) fn is_chosen(messages: &impl Messages, files: &dyn FileSet) -> bool {
    let count = messages.count();
    let total_len = messages
        .usual_len()
        .map_or(0, |len| len.saturating_mul(count.into()));
    if total_len < MIN_TOTAL_LEN {
        return false;
    }
    let n_samples = count.min(N_SAMPLES);
    let numbers =
        (0..n_samples).map(|i| (u64::from(count) * u64::from(i) / u64::from(n_samples)) as u32);
    let samples: Vec<Sample> = numbers
        .filter_map(|message| sample(messages, files, message))
        .collect();
    is_read_directly(total_len, &samples)
}

/// Looks at the first part of a message. Returns `None` for padding, and for files that are absent or have no path.
fn sample(messages: &impl Messages, files: &dyn FileSet, message: u32) -> Option<Sample> {
    let MessageLen::Bytes(len_bytes) = messages.len(message) else {
        return None;
    };
    let mut extents = messages.extents(message, 0..len_bytes);
    let extent = extents.find(|extent| extent.file.is_some())?;
    let file = SourceFile::open(&files.path_of(extent.file?).ok()?).ok()?;
    let end = (extent.offset + extent.len_bytes.min(SAMPLE_LEN)).min(file.len_bytes());
    let range = extent.offset.min(end)..end;
    Some(Sample {
        len_bytes: range.end - range.start,
        cached_bytes: file.cached_bytes(range).ok(),
        is_on_disk: file.is_on_disk(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLD: Sample = Sample {
        len_bytes: SAMPLE_LEN,
        cached_bytes: Some(0),
        is_on_disk: true,
    };

    #[test]
    fn only_long_content_of_local_disks_that_is_not_cached_is_read_directly() {
        let cached = |cached_bytes| Sample {
            cached_bytes,
            ..COLD
        };
        let elsewhere = Sample {
            is_on_disk: false,
            ..COLD
        };
        let short = Sample {
            len_bytes: 16 << 10,
            ..COLD
        };
        let long = MIN_TOTAL_LEN;
        for (total_len, samples, expected) in [
            (long, &[COLD][..], true),
            (long, &[COLD; 16], true),
            (long - 1, &[COLD; 16], false),
            (long, &[], false),
            (long, &[COLD, elsewhere], false),
            (long, &[COLD, cached(None)], false),
            (long, &[COLD, cached(Some(SAMPLE_LEN))], false),
            (long, &[COLD, cached(Some(SAMPLE_LEN / 8))], true),
            (long, &[cached(Some(SAMPLE_LEN / 8))], false),
            (long, &[short; 16], false),
            (long, &[COLD, short], true),
        ] {
            let found = is_read_directly(total_len, samples);
            assert_eq!(found, expected, "{total_len} {samples:?}");
        }
    }
}
