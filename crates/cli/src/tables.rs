//! The tables of the configuration that only the daemon has: categories, goals of labels, hooks, the schedule and rules. Their
//! keys are no options, because each table has any number of entries.

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv6Addr;
use std::num::NonZeroU32;
use std::time::Duration;

use hashlane_api::{Day, Goal, Rates, Rule, Target, TimeOfDay};
use hashlane_config::{Config, Error, FilePath};
use hashlane_files::Globs;
// The type of the fields of `Hooks`.
pub use hashlane_config::ShellCommand;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor};

use crate::values;

/// The tables of the daemon.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// The categories by their names: `[categories.NAME]`.
    pub categories: BTreeMap<String, CategoryTable>,
    /// The goals of labels by their names: `[labels.NAME]`.
    pub labels: BTreeMap<String, LabelTable>,
    /// The commands that run at events: `[hooks]`.
    pub hooks: Hooks,
    /// The rules of the schedule by their names: `[schedule.NAME]`.
    pub schedule: BTreeMap<String, RuleTable>,
    /// The rules for torrents in their order: `[[rules]]`.
    pub rules: Vec<TorrentRuleTable>,
}

impl Tables {
    /// Reads the tables.
    ///
    /// # Errors
    /// A key is unknown, a value is invalid, or another user can change a file with hooks. The error names the place.
    pub(crate) fn of(config: &Config) -> Result<Self, Error> {
        Ok(Self {
            categories: config.table("categories")?,
            labels: config.table("labels")?,
            hooks: config.table("hooks")?,
            schedule: config.table("schedule")?,
            rules: config.list("rules")?,
        })
    }
}

/// A category of the configuration.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CategoryTable {
    /// Folder for the content of torrents that are added to the category.
    pub dir: Option<FilePath>,
    /// The ratio; 0 for no limit.
    #[serde(deserialize_with = "ratio")]
    pub seed_ratio: Target<f64>,
    /// Time of serving; 0 for no limit.
    #[serde(deserialize_with = "time")]
    pub seed_time: Target<Duration>,
    /// Folders whose .torrent and .magnet files are added to the category.
    pub watch_dir: Vec<FilePath>,
}

impl CategoryTable {
    /// Returns the ratio and the time after which torrents of the category are paused.
    pub fn goal(&self) -> Goal {
        goal(self.seed_ratio, self.seed_time)
    }
}

/// A label of the configuration.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LabelTable {
    /// The ratio; 0 for no limit.
    #[serde(deserialize_with = "ratio")]
    pub seed_ratio: Target<f64>,
    /// Time of serving; 0 for no limit.
    #[serde(deserialize_with = "time")]
    pub seed_time: Target<Duration>,
}

impl LabelTable {
    /// Returns the ratio and the time after which torrents with the label are paused.
    pub fn goal(&self) -> Goal {
        goal(self.seed_ratio, self.seed_time)
    }
}

/// Returns the goal of these keys. No key limits the time without uploads.
fn goal(ratio: Target<f64>, time: Target<Duration>) -> Goal {
    Goal {
        ratio,
        time,
        idle: Target::Inherited,
    }
}

/// Shell commands that the daemon runs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hooks {
    /// Runs after a torrent was added.
    pub added: Option<ShellCommand>,
    /// Runs after all selected content of a torrent is present.
    pub complete: Option<ShellCommand>,
    /// Whether `complete` also runs for content that was complete when its torrent was added or imported.
    pub complete_present: bool,
    /// Runs after a torrent has failed.
    pub failed: Option<ShellCommand>,
    /// Runs after a torrent was removed.
    pub removed: Option<ShellCommand>,
    /// Time after which a command is killed.
    #[serde(deserialize_with = "hook_timeout")]
    pub timeout: Option<Duration>,
}

/// Limits at times of the week.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RuleTable {
    /// The days on which the rule begins; none for all.
    pub days: Vec<Day>,
    /// The time of the day when it begins, in local time.
    #[serde(deserialize_with = "time_of_day")]
    pub from: TimeOfDay,
    /// The time when it ends: on the next day, if it is not after the beginning.
    #[serde(deserialize_with = "time_of_day")]
    pub to: TimeOfDay,
    /// Download limit of all torrents in bytes per second.
    #[serde(deserialize_with = "rate")]
    pub max_down: Option<NonZeroU32>,
    /// Upload limit of all torrents in bytes per second.
    #[serde(deserialize_with = "rate")]
    pub max_up: Option<NonZeroU32>,
}

impl RuleTable {
    /// Returns the rule.
    pub fn rule(&self) -> Rule {
        Rule {
            days: self.days.clone(),
            from: self.from,
            to: self.to,
            rates: Rates {
                down: self.max_down,
                up: self.max_up,
            },
        }
    }
}

/// A rule for torrents.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorrentRuleTable {
    /// The name of the rule; `None` for its position.
    pub name: Option<String>,
    /// The torrents that the rule is for; without conditions, all of them.
    #[serde(rename = "if")]
    pub conditions: ConditionsTable,
    /// The ratio; 0 for no limit.
    #[serde(deserialize_with = "ratio")]
    pub seed_ratio: Target<f64>,
    /// Time of serving; 0 for no limit.
    #[serde(deserialize_with = "time")]
    pub seed_time: Target<Duration>,
    /// Time of serving without an upload; 0 for no limit.
    #[serde(deserialize_with = "time")]
    pub idle_time: Target<Duration>,
    /// Download limit of each torrent in bytes per second.
    #[serde(deserialize_with = "rate")]
    pub max_down: Option<NonZeroU32>,
    /// Upload limit of each torrent in bytes per second.
    #[serde(deserialize_with = "rate")]
    pub max_up: Option<NonZeroU32>,
    /// The category of torrents without one.
    pub category: Option<String>,
    /// Further labels.
    pub label: Vec<String>,
    /// Upload limit after the goal in bytes per second, in place of the pause.
    #[serde(deserialize_with = "rate")]
    pub throttle: Option<NonZeroU32>,
    /// Number of seeders below which the goal does not count.
    pub keep_seeders: Option<u32>,
}

impl TorrentRuleTable {
    /// Returns the ratio and the times after which the torrents are paused.
    pub fn goal(&self) -> Goal {
        Goal {
            ratio: self.seed_ratio,
            time: self.seed_time,
            idle: self.idle_time,
        }
    }
}

/// The conditions of a rule. A torrent has to meet each of them, and of a list, one item.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ConditionsTable {
    /// Hosts of trackers, or domains that contain them.
    #[serde(deserialize_with = "domains")]
    pub tracker: Vec<String>,
    /// Whether the torrent is private.
    pub private: Option<bool>,
    /// Categories.
    #[serde(deserialize_with = "some")]
    pub category: Vec<String>,
    /// Labels.
    #[serde(deserialize_with = "some")]
    pub label: Vec<String>,
    /// Folders with the content in or below them.
    #[serde(deserialize_with = "some")]
    pub folder: Vec<FilePath>,
    /// Least length of all files in bytes.
    #[serde(deserialize_with = "size")]
    pub min_size: Option<u64>,
    /// Greatest length of all files in bytes.
    #[serde(deserialize_with = "size")]
    pub max_size: Option<u64>,
    /// Patterns of names, in any letter case.
    #[serde(deserialize_with = "patterns")]
    pub name: Globs,
    /// Least time since the torrent was added.
    #[serde(deserialize_with = "age")]
    pub min_age: Option<Duration>,
    /// Greatest time since the torrent was added.
    #[serde(deserialize_with = "age")]
    pub max_age: Option<Duration>,
    /// Least number of seeders that a tracker reports.
    pub min_seeders: Option<u32>,
    /// Greatest number of seeders that a tracker reports.
    pub max_seeders: Option<u32>,
}

/// Reads a list that is not empty: an empty one would fit all torrents, or none.
fn some<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    let items = Vec::deserialize(from)?;
    if items.is_empty() {
        return Err(D::Error::custom("the list is empty"));
    }
    Ok(items)
}

fn domains<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let domains: Vec<String> = some(from)?;
    let domain = |text: String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let is_domain = !text.is_empty() && !text.starts_with('.') && text.chars().all(is_plain);
        if !is_domain && text.parse::<Ipv6Addr>().is_err() {
            let reason = "expected a host or a domain without a port, such as \"example.org\"";
            return Err(D::Error::custom(format!(
                "invalid value `{text}`: {reason}"
            )));
        }
        Ok(text.to_ascii_lowercase())
    };
    domains.into_iter().map(domain).collect()
}

fn patterns<'de, D: Deserializer<'de>>(from: D) -> Result<Globs, D::Error> {
    let mut globs = Globs::ignoring_case();
    for pattern in some::<D, String>(from)? {
        let added = globs.add(&pattern);
        added.map_err(|error| D::Error::custom(format!("invalid value `{pattern}`: {error}")))?;
    }
    Ok(globs)
}

fn size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    parsed(from, values::size).map(Some)
}

fn age<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    parsed(from, values::duration).map(Some)
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

fn hook_timeout<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    parsed(from, values::duration).map(Some)
}

fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<NonZeroU32>, D::Error> {
    parsed(from, values::rate).map(NonZeroU32::new)
}

fn time_of_day<'de, D: Deserializer<'de>>(from: D) -> Result<TimeOfDay, D::Error> {
    parsed(from, |text| {
        // TOML writes a time with seconds.
        let text = text
            .strip_suffix(":00")
            .filter(|rest| rest.contains(':'))
            .unwrap_or(text);
        let time = text.split_once(':').and_then(|(hours, minutes)| {
            let number = |digits: &str| {
                let is_plain = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
                is_plain.then(|| digits.parse::<u16>().ok())?
            };
            let (hours, minutes) = (number(hours)?, number(minutes)?);
            (hours < 24 && minutes < 60).then_some(TimeOfDay(hours * 60 + minutes))
        });
        time.ok_or_else(|| "expected a time such as \"08:30\"".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    const NAMES: [&str; 5] = ["categories", "labels", "hooks", "schedule", "[rules]"];

    fn read(text: &str) -> Result<Tables, String> {
        let config = Config::parse(Path::new("config.toml"), text.into(), &NAMES);
        let tables = config.and_then(|config| Tables::of(&config));
        tables.map_err(|error| error.to_string())
    }

    #[test]
    fn tables_are_read() {
        let tables = read(
            "[categories.tv]\ndir = \"/srv/tv\"\nseed-ratio = 1.5\nseed-time = \"48h\"\nwatch-dir = [\"/a\", \"/b\"]\n\
             [categories.books]\nwatch-dir = \"/c\"\n\
             [labels.linux]\nseed-ratio = 0\n\
             [hooks]\ntimeout = 30\n\
             [schedule.sunday]\ndays = \"sun\"\n\
             [schedule.day]\ndays = [\"mon\", \"fri\"]\nfrom = 08:00:00\nto = \"17:30\"\nmax-up = \"1MiB\"\n",
        )
        .unwrap();
        let tv = &tables.categories["tv"];
        assert_eq!(
            tv.dir.as_ref().map(AsRef::as_ref),
            Some(Path::new("/srv/tv"))
        );
        let watched = |name: &str| tables.categories[name].watch_dir.clone();
        let watched = |name| watched(name).into_iter().map(PathBuf::from);
        assert!(watched("tv").eq(["/a", "/b"].map(PathBuf::from)));
        assert!(watched("books").eq(["/c"].map(PathBuf::from)));
        assert_eq!(tv.goal().ratio, Target::At(1.5));
        assert_eq!(tv.goal().time, Target::At(Duration::from_secs(48 * 3600)));
        let linux = tables.labels["linux"].goal();
        assert_eq!(
            (linux.ratio, linux.time),
            (Target::Never, Target::Inherited)
        );
        assert_eq!(tables.hooks.timeout, Some(Duration::from_secs(30)));
        assert_eq!(tables.schedule["sunday"].days, [Day::Sun]);
        let day = &tables.schedule["day"];
        assert_eq!(day.days, [Day::Mon, Day::Fri]);
        assert_eq!((day.from, day.to), (TimeOfDay(480), TimeOfDay(1050)));
        assert_eq!((day.max_down, day.max_up), (None, NonZeroU32::new(1 << 20)));
    }

    #[test]
    fn rules_are_read_in_their_order() {
        let tables = read(
            "[[rules]]\nname = \"z\"\nif.tracker = \"T.example\"\nif.private = true\nseed-time = \"10d\"\n\
             [[rules]]\nseed-ratio = 0\nidle-time = 60\nmax-up = \"1MiB\"\ncategory = \"a\"\nlabel = \"b\"\n\
             [rules.if]\nname = [\"*.iso\", \"linux*\"]\nmin-size = \"1GiB\"\nmax-age = \"1d\"\nmin-seeders = 3\n\
             folder = [\"/srv/a\", \"/srv/b\"]\ncategory = \"c\"\nlabel = [\"d\", \"e\"]\n",
        )
        .unwrap();
        let [first, second] = &tables.rules[..] else {
            panic!("{:?}", tables.rules);
        };
        assert_eq!(first.name.as_deref(), Some("z"));
        assert_eq!(first.conditions.tracker, ["t.example"]);
        assert_eq!(first.conditions.private, Some(true));
        assert_eq!(
            first.goal().time,
            Target::At(Duration::from_secs(10 * 86_400))
        );
        assert_eq!(second.name, None);
        let goal = second.goal();
        assert_eq!(
            (goal.ratio, goal.idle),
            (Target::Never, Target::At(Duration::from_secs(60)))
        );
        assert_eq!(second.max_up, NonZeroU32::new(1 << 20));
        assert_eq!(second.label, ["b"]);
        let conditions = &second.conditions;
        assert!(conditions.name.is_match("Linux 1") && !conditions.name.is_match("x"));
        assert_eq!(conditions.min_size, Some(1 << 30));
        assert_eq!(conditions.max_age, Some(Duration::from_secs(86_400)));
        assert_eq!(conditions.min_seeders, Some(3));
        assert_eq!((conditions.folder.len(), conditions.label.len()), (2, 2));
    }

    #[test]
    fn errors_of_rules_name_the_line() {
        let list = "`rules` is a list of tables: write [[rules]] before each";
        for (text, expected) in [
            ("[rules]\nname = \"a\"", format!("line 1: {list}")),
            ("rules = 1", format!("line 1: {list}")),
            ("rules = [1]", format!("line 1: {list}")),
            (
                "[[rules]]\nseed-tim = 1",
                "line 2: unknown key `seed-tim`; did you mean `seed-time`?".into(),
            ),
            (
                "[[rules]]\n[[rules]]\nif.max-sizes = 1",
                "line 3: unknown key `max-sizes`; did you mean `max-size`?".into(),
            ),
            (
                "[[rules]]\nif.tracker = \"http://a/\"",
                "line 2: tracker: invalid value `http://a/`: expected a host or a domain without a port, such as \"example.org\"".into(),
            ),
            (
                "[[rules]]\nif.tracker = [\"::1\", \"a.example:443\"]",
                "line 2: tracker: invalid value `a.example:443`: expected a host".into(),
            ),
            (
                "[[rules]]\nif.label = []",
                "line 2: label: the list is empty".into(),
            ),
            (
                "[[rules]]\nif.name = \"[\"",
                "line 2: name: invalid value `[`: ".into(),
            ),
        ] {
            let error = read(text).unwrap_err();
            let expected = format!("config.toml: {expected}");
            assert!(error.starts_with(&expected), "{text}: {error}");
        }
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
                "config.toml: line 5: seed-ratio: invalid value `-1`: not a number above zero, and not 0",
            ),
            (
                "[schedule.night]\nfrom = \"8:00\"",
                "config.toml: line 2: from: invalid value `8:00`: expected a time such as \"08:30\"",
            ),
            (
                "[schedule.night]\nfrom = \"24:00\"",
                "config.toml: line 2: from: invalid value `24:00`: expected a time such as \"08:30\"",
            ),
            (
                "[schedule.night]\ndays = [\n\"mon\",\n\"tues\"]",
                "config.toml: line 4: unknown value `tues`; did you mean `tue`?",
            ),
            (
                "[schedule.night]\nmax-down = 0",
                "config.toml: line 2: max-down: invalid value `0`: the rate must not be 0",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), expected, "{text}");
        }
        // The file has no owner.
        let refused = read("[hooks]\nadded = \"true\"").unwrap_err();
        assert!(
            refused.starts_with("config.toml: line 2: added: commands are accepted only from"),
            "{refused}"
        );
    }
}
