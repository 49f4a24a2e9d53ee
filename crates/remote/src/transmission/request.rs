//! Arguments of requests.
//!
//! Names are those of the specification. Programs also send them with `_` in the place of `-`.

use hashlane_api::{Priority, Refusal};
use serde_json::Value;

/// Length limit in bytes of a text in a request, except links and .torrent files.
const MAX_TEXT_LEN: usize = 4096;

/// Maximum number of labels, trackers or similar texts in a request.
const MAX_TEXTS: usize = 1000;

/// The arguments of a request.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a>(pub(super) &'a Value);

fn invalid(name: &str, expected: &str) -> Refusal {
    Refusal::Invalid(format!("{name}: expected {expected}"))
}

impl<'a> Arguments<'a> {
    /// Returns the value of an argument. A null counts as absent.
    pub(super) fn get(self, name: &str) -> Option<&'a Value> {
        let given = self
            .0
            .get(name)
            .or_else(|| self.0.get(name.replace('-', "_")));
        given.filter(|value| !value.is_null())
    }

    fn read<T>(
        self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let value = self.get(name);
        value
            .map(|value| read(value).ok_or_else(|| invalid(name, expected)))
            .transpose()
    }

    pub(super) fn bool(self, name: &str) -> Result<Option<bool>, Refusal> {
        // Older programs send 0 and 1.
        let read = |value: &Value| value.as_bool().or_else(|| Some(value.as_i64()? != 0));
        self.read(name, "true or false", read)
    }

    pub(super) fn u32(self, name: &str) -> Result<Option<u32>, Refusal> {
        // Python's programs send 5.0 for 5.
        let whole = |number: f64| (number.fract() == 0.0).then_some(number as i64);
        let read = |value: &Value| {
            let number = value.as_i64().or_else(|| whole(value.as_f64()?))?;
            u32::try_from(number).ok()
        };
        self.read(name, "a number from 0 to 4294967295", read)
    }

    pub(super) fn ratio(self, name: &str) -> Result<Option<f64>, Refusal> {
        let read = |value: &Value| {
            value
                .as_f64()
                .filter(|ratio| ratio.is_finite() && *ratio >= 0.0)
        };
        self.read(name, "a number from 0", read)
    }

    pub(super) fn text(self, name: &str) -> Result<Option<&'a str>, Refusal> {
        let read = |value: &'a Value| value.as_str().filter(|text| text.len() <= MAX_TEXT_LEN);
        self.read(name, "a text of at most 4096 bytes", read)
    }

    /// Returns a text of any length that the server accepts: a link or a .torrent file.
    pub(super) fn long_text(self, name: &str) -> Result<Option<&'a str>, Refusal> {
        self.read(name, "a text", Value::as_str)
    }

    pub(super) fn texts(self, name: &str) -> Result<Option<Vec<String>>, Refusal> {
        let read = |value: &Value| {
            let texts = value.as_array().filter(|texts| texts.len() <= MAX_TEXTS)?;
            let texts = texts.iter().map(|text| {
                let text = text.as_str().filter(|text| text.len() <= MAX_TEXT_LEN);
                text.map(str::to_owned)
            });
            texts.collect()
        };
        self.read(name, "a list of at most 1000 texts", read)
    }

    /// Returns labels: without spaces around them, without empty and repeated ones. A comma separates labels in
    /// programs, so it cannot be part of one.
    pub(super) fn labels(self, name: &str) -> Result<Option<Vec<String>>, Refusal> {
        let Some(given) = self.texts(name)? else {
            return Ok(None);
        };
        let mut labels: Vec<String> = Vec::new();
        for label in given {
            let label = label.trim();
            if label.is_empty() {
                return Err(Refusal::Invalid("labels cannot be empty".to_owned()));
            }
            if label.contains(',') {
                return Err(Refusal::Invalid(
                    "labels cannot contain comma (,) character".to_owned(),
                ));
            }
            if !labels.iter().any(|known| known == label) {
                labels.push(label.to_owned());
            }
        }
        Ok(Some(labels))
    }

    /// Returns positions of files.
    pub(super) fn files(self, name: &str) -> Result<Option<Vec<u32>>, Refusal> {
        let read = |value: &Value| {
            let files = value.as_array()?.iter();
            let files = files.map(|file| u32::try_from(file.as_u64()?).ok());
            files.collect()
        };
        self.read(name, "a list of positions of files", read)
    }

    /// Returns pairs of a number and a text, which follow each other in a list or are lists themselves.
    pub(super) fn replacements(self, name: &str) -> Result<Option<Vec<(u32, String)>>, Refusal> {
        let read = |value: &Value| {
            let values = value
                .as_array()
                .filter(|values| values.len() <= MAX_TEXTS)?;
            let is_flat = !values.iter().all(Value::is_array);
            let pairs: Vec<&[Value]> = if is_flat {
                values.chunks(2).collect()
            } else {
                values
                    .iter()
                    .filter_map(Value::as_array)
                    .map(Vec::as_slice)
                    .collect()
            };
            let pairs = pairs.into_iter().map(|pair| match pair {
                [number, text] => {
                    let number = u32::try_from(number.as_u64()?).ok()?;
                    let text = text.as_str().filter(|text| text.len() <= MAX_TEXT_LEN)?;
                    Some((number, text.to_owned()))
                }
                _ => None,
            });
            pairs.collect()
        };
        self.read(name, "a list of at most 500 numbers, each with a URL", read)
    }

    /// Returns the lists of files with a priority.
    pub(super) fn priorities(self) -> Result<Vec<(Vec<u32>, Priority)>, Refusal> {
        let all = [
            ("priority-low", Priority::Low),
            ("priority-normal", Priority::Normal),
            ("priority-high", Priority::High),
        ];
        let mut lists = Vec::new();
        for (name, priority) in all {
            lists.extend(self.files(name)?.map(|files| (files, priority)));
        }
        Ok(lists)
    }

    /// Returns a rate in bytes per second. The rounded rate that programs were shown leaves the rate as it is, also if it is
    /// that of no limit.
    #[expect(clippy::option_option, reason = "absent and none differ")]
    pub(super) fn rate(
        self,
        name: &str,
        current: Option<u32>,
    ) -> Result<Option<Option<u32>>, Refusal> {
        let kilobytes = self.u32(name)?;
        Ok(kilobytes.map(|kilobytes| {
            let is_same = current.unwrap_or(0) / 1000 == kilobytes;
            if is_same {
                current
            } else {
                Some(kilobytes.saturating_mul(1000))
            }
        }))
    }

    /// Returns a limit in bytes per second, which a pair of arguments has: whether it applies, and its value in kilobytes
    /// per second. `current` is the limit that applies now; `None` is returned if neither argument is given.
    #[expect(clippy::option_option, reason = "absent and no limit differ")]
    pub(super) fn limit(
        self,
        limit: &str,
        is_limited: &str,
        current: Option<u32>,
    ) -> Result<Option<Option<u32>>, Refusal> {
        let bytes = self.rate(limit, current)?.map(Option::unwrap_or_default);
        Ok(match (self.bool(is_limited)?, bytes) {
            (None, None) => None,
            (Some(false), _) => Some(None),
            // The value alone changes a limit that applies.
            (None, Some(bytes)) => current.map(|_| Some(bytes)),
            (Some(true), bytes) => Some(Some(bytes.or(current).unwrap_or(0))),
        })
    }
}
