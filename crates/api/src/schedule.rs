//! Limits at times of the week.

use serde::Deserialize;

use crate::rates::Rates;

/// Rate limits at times of the week, in local time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The days on which the rule begins; none for all.
    pub days: Vec<Day>,
    /// The time of the day when it begins.
    pub from: TimeOfDay,
    /// The time when it ends: on the next day, if it is not after the beginning.
    pub to: TimeOfDay,
    /// The limits of all torrents together.
    pub rates: Rates,
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// A time of the day: minutes since midnight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay(pub u16);
