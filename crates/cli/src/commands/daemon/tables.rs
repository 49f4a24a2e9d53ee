//! The tables of the configuration that only the daemon has: categories and goals of labels. Their keys
//! are no options, because each table has any number of entries.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hashlane_config::{Config, Error, FilePath};
use hashlane_store::{Goal, Target};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor};

use crate::values;

/// The names of the tables.
pub(crate) const TABLES: [&str; 2] = ["categories", "labels"];

/// The tables of the daemon.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// The categories by their names: `[categories.NAME]`.
    pub categories: BTreeMap<String, CategoryTable>,
    /// The goals of labels by their names: `[labels.NAME]`.
    pub labels: BTreeMap<String, LabelTable>,
}

impl Tables {
    /// Reads the tables.
    ///
    /// # Errors
    /// A key is unknown, or a value is invalid. The error names the place.
    pub(crate) fn of(config: &Config) -> Result<Self, Error> {
        Ok(Self {
            categories: config.table("categories")?,
            labels: config.table("labels")?,
        })
    }
}

/// A category of the configuration.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CategoryTable {
    /// Folder for the content of torrents that are added to the category.
    pub dir: Option<FilePath>,
    /// Sent bytes as a multiple of the content; 0 for no limit.
    #[serde(deserialize_with = "ratio")]
    pub seed_ratio: Target<f64>,
    /// Time of serving; 0 for no limit.
    #[serde(deserialize_with = "time")]
    pub seed_time: Target<Duration>,
}

impl CategoryTable {
    /// Returns the goal.
    pub fn goal(&self) -> Goal {
        Goal {
            ratio: self.seed_ratio,
            time: self.seed_time,
        }
    }
}

/// A label of the configuration.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LabelTable {
    /// Sent bytes as a multiple of the content; 0 for no limit.
    #[serde(deserialize_with = "ratio")]
    pub seed_ratio: Target<f64>,
    /// Time of serving; 0 for no limit.
    #[serde(deserialize_with = "time")]
    pub seed_time: Target<Duration>,
}

impl LabelTable {
    /// Returns the goal.
    pub fn goal(&self) -> Goal {
        Goal {
            ratio: self.seed_ratio,
            time: self.seed_time,
        }
    }
}

/// Reads a value as the command line reads the text of an option.
fn parsed<'de, D: Deserializer<'de>, T>(
    from: D,
    parse: fn(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    struct Text;

    impl Visitor<'_> for Text {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number or a text")
        }

        fn visit_str<E>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }

        fn visit_i64<E>(self, number: i64) -> Result<String, E> {
            Ok(number.to_string())
        }

        fn visit_f64<E>(self, number: f64) -> Result<String, E> {
            Ok(number.to_string())
        }
    }

    let text = from.deserialize_any(Text)?;
    parse(&text).map_err(|reason| D::Error::custom(format!("invalid value `{text}`: {reason}")))
}

fn ratio<'de, D: Deserializer<'de>>(from: D) -> Result<Target<f64>, D::Error> {
    let ratio = parsed(from, values::positive_or_zero)?;
    Ok(if ratio == 0.0 {
        Target::Never
    } else {
        Target::At(ratio)
    })
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Target<Duration>, D::Error> {
    let time = parsed(from, values::duration_or_zero)?;
    Ok(if time.is_zero() {
        Target::Never
    } else {
        Target::At(time)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Result<Tables, String> {
        let config = Config::parse(Path::new("config.toml"), text.into(), &TABLES);
        let tables = config.and_then(|config| Tables::of(&config));
        tables.map_err(|error| error.to_string())
    }

    #[test]
    fn tables_are_read() {
        let tables = read(
            "[categories.tv]\ndir = \"/srv/tv\"\nseed-ratio = 1.5\nseed-time = \"48h\"\n\
             [labels.linux]\nseed-ratio = 0\n",
        )
        .unwrap();
        let tv = &tables.categories["tv"];
        assert_eq!(
            tv.dir.as_ref().map(AsRef::as_ref),
            Some(Path::new("/srv/tv"))
        );
        assert_eq!(tv.goal().ratio, Target::At(1.5));
        assert_eq!(tv.goal().time, Target::At(Duration::from_secs(48 * 3600)));
        let linux = tables.labels["linux"].goal();
        assert_eq!(
            (linux.ratio, linux.time),
            (Target::Never, Target::Inherited)
        );
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            (
                "[categories.tv]\ndirs = \"/a\"",
                "config.toml: line 2: unknown key `dirs`; did you mean `dir`?",
            ),
            (
                "[labels.a]\nseed-ratio = 1\n\n[labels.b]\nseed-ratio = -1",
                "config.toml: line 5: seed-ratio: invalid value `-1`: not a number above zero",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), expected, "{text}");
        }
    }
}
