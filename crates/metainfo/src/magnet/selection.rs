//! Selections of the files to download (BEP 53).

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Maximum number of characters of an item that an error message quotes.
const QUOTED_CHARS: usize = 40;

/// A selection of files by index: the parameter `so` of a magnet link (BEP 53).
///
/// Indexes count from zero in the order of the torrent's files. They are stored as sorted ranges
/// with gaps between them, so `0-4294967295` takes no more memory than `0`. There is at least one
/// range.
///
/// ```
/// use hashlane_metainfo::FileSelection;
///
/// let selection: FileSelection = "6-8,4,0,2,7".parse()?;
/// assert_eq!(selection.ranges(), [0..=0, 2..=2, 4..=4, 6..=8]);
/// assert_eq!(selection.to_string(), "0,2,4,6-8");
/// assert!(selection.contains(7) && !selection.contains(5));
/// # Ok::<(), hashlane_metainfo::FileSelectionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileSelection(Vec<RangeInclusive<u32>>);

impl FileSelection {
    /// Merges ranges, which may be unsorted and overlap. Empty ranges are ignored.
    ///
    /// Returns `None` if no file is selected: a link cannot express that.
    pub fn from_ranges(ranges: impl IntoIterator<Item = RangeInclusive<u32>>) -> Option<Self> {
        let mut sorted: Vec<_> = ranges.into_iter().filter(|r| !r.is_empty()).collect();
        sorted.sort_unstable_by_key(|range| *range.start());
        let mut merged: Vec<RangeInclusive<u32>> = Vec::new();
        for range in sorted {
            match merged.last_mut() {
                // Saturating, because no range starts after the last index.
                Some(last) if *range.start() <= last.end().saturating_add(1) => {
                    *last = *last.start()..=*last.end().max(range.end());
                }
                _ => merged.push(range),
            }
        }
        (!merged.is_empty()).then_some(Self(merged))
    }

    /// Returns the ranges of indexes, from the lowest to the highest. Never empty.
    pub fn ranges(&self) -> &[RangeInclusive<u32>] {
        &self.0
    }

    /// Returns `true` if the file with this index is selected.
    pub fn contains(&self, index: u32) -> bool {
        let next = self.0.partition_point(|range| *range.end() < index);
        self.0.get(next).is_some_and(|range| range.contains(&index))
    }
}

impl FromStr for FileSelection {
    type Err = FileSelectionError;

    /// Parses indexes and inclusive ranges, separated by commas: `0,2,4,6-8`.
    fn from_str(list: &str) -> Result<Self, FileSelectionError> {
        let ranges = read_ranges(list).collect::<Result<Vec<_>, _>>()?;
        Self::from_ranges(ranges).ok_or_else(|| FileSelectionError::syntax(list))
    }
}

/// Parses the ranges of a list. There is at least one, and none is empty.
pub(super) fn read_ranges(
    list: &str,
) -> impl Iterator<Item = Result<RangeInclusive<u32>, FileSelectionError>> {
    list.split(',').map(|item| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (read_index(first, item)?, read_index(last, item)?);
        if first > last {
            return Err(FileSelectionError::Reversed { first, last });
        }
        Ok(first..=last)
    })
}

fn read_index(digits: &str, item: &str) -> Result<u32, FileSelectionError> {
    // parse() would also accept a sign.
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(FileSelectionError::syntax(item));
    }
    digits
        .parse()
        .map_err(|_| FileSelectionError::Overflow { item: quoted(item) })
}

impl fmt::Display for FileSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for range in &self.0 {
            let (first, last) = (range.start(), range.end());
            write!(f, "{separator}{first}")?;
            if first != last {
                write!(f, "-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

/// The reason why a text is not a [`FileSelection`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileSelectionError {
    /// An item of the list is neither an index nor a range. The item may be empty.
    #[error("{item:?} is neither an index nor a range of indexes")]
    Syntax {
        /// The item, truncated if it is long.
        item: String,
    },

    /// An index does not fit into 32 bits. No torrent has that many files.
    #[error("{item:?} exceeds the largest index, {}", u32::MAX)]
    Overflow {
        /// The item, truncated if it is long.
        item: String,
    },

    /// A range ends before it starts.
    #[error("the range {first}-{last} ends before it starts")]
    Reversed {
        /// The number before the dash.
        first: u32,
        /// The number after the dash.
        last: u32,
    },
}

impl FileSelectionError {
    fn syntax(item: &str) -> Self {
        Self::Syntax { item: quoted(item) }
    }
}

fn quoted(item: &str) -> String {
    item.chars().take(QUOTED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_form() {
        for (list, normal) in [
            // BEP 53.
            ("0,2,4,6-8", "0,2,4,6-8"),
            ("8,7,6,4,2,0", "0,2,4,6-8"),
            ("0,2-4,3-5", "0,2-5"),
            ("2-9,3-4", "2-9"),
            ("1,1,1", "1"),
            ("3-3", "3"),
            ("0-1,2-3", "0-3"),
            ("0-1,3-4", "0-1,3-4"),
            ("007", "7"),
            ("4294967295,0-4294967295", "0-4294967295"),
            ("4294967295,4294967294", "4294967294-4294967295"),
        ] {
            let selection: FileSelection = list.parse().unwrap();
            assert_eq!(selection.to_string(), normal, "{list}");
            assert_eq!(normal.parse(), Ok(selection));
        }
    }

    #[test]
    fn refusals() {
        for (list, message) in [
            ("", r#""" is neither an index nor a range of indexes"#),
            ("0,,2", r#""" is neither an index nor a range of indexes"#),
            ("1,", r#""" is neither an index nor a range of indexes"#),
            ("-4", r#""-4" is neither an index nor a range of indexes"#),
            ("3-", r#""3-" is neither an index nor a range of indexes"#),
            ("-", r#""-" is neither an index nor a range of indexes"#),
            (
                "1-2-3",
                r#""1-2-3" is neither an index nor a range of indexes"#,
            ),
            ("+1", r#""+1" is neither an index nor a range of indexes"#),
            ("1, 2", r#"" 2" is neither an index nor a range of indexes"#),
            ("a", r#""a" is neither an index nor a range of indexes"#),
            (
                "\u{661}",
                "\"\u{661}\" is neither an index nor a range of indexes",
            ),
            (
                "\u{1b}[2J\u{9b}\u{202e}",
                r#""\u{1b}[2J\u{9b}\u{202e}" is neither an index nor a range of indexes"#,
            ),
            (
                "4294967296",
                r#""4294967296" exceeds the largest index, 4294967295"#,
            ),
            ("7-4", "the range 7-4 ends before it starts"),
        ] {
            let error = list.parse::<FileSelection>().unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        let error = "x".repeat(10_000).parse::<FileSelection>().unwrap_err();
        assert!(error.to_string().len() < 100);
    }

    #[test]
    fn empty_ranges_select_nothing() {
        #[expect(clippy::reversed_empty_ranges)]
        let empty = 2..=1;
        assert_eq!(FileSelection::from_ranges([]), None);
        assert_eq!(FileSelection::from_ranges([empty.clone()]), None);
        let selection = FileSelection::from_ranges([empty, 7..=7]).unwrap();
        assert_eq!(selection.ranges(), [7..=7]);
    }

    #[test]
    fn membership() {
        let selection: FileSelection = "1-2,5,4294967295".parse().unwrap();
        let selected: Vec<u32> = (0..10).filter(|&index| selection.contains(index)).collect();
        assert_eq!(selected, [1, 2, 5]);
        assert!(selection.contains(u32::MAX) && !selection.contains(u32::MAX - 1));
    }
}
