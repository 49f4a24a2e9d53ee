//! The schedule: limits of the session at times of the week.

use hashlane_api::{Rates, Rule, TimeOfDay};
use jiff::Zoned;

/// Number of days of a week.
const DAYS: usize = 7;

/// A time of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// The day, from 0 for Monday.
    pub(super) day: usize,
    pub(super) time: TimeOfDay,
}

impl Moment {
    /// Returns the current local time.
    pub(super) fn now() -> Self {
        let now = Zoned::now();
        let minutes = i32::from(now.hour()) * 60 + i32::from(now.minute());
        Self {
            day: usize::from(now.weekday().to_monday_zero_offset().unsigned_abs()),
            time: TimeOfDay(u16::try_from(minutes).unwrap_or_default()),
        }
    }
}

/// Returns the limits at a time: of several rules, the smallest. A direction that no rule limits has none.
pub(super) fn limits_at(rules: &[Rule], moment: Moment) -> Rates {
    let in_force = || rules.iter().filter(|rule| is_in_force(rule, moment));
    Rates {
        down: in_force().filter_map(|rule| rule.rates.down).min(),
        up: in_force().filter_map(|rule| rule.rates.up).min(),
    }
}

fn is_in_force(rule: &Rule, Moment { day, time }: Moment) -> bool {
    let begins_on = |day: usize| {
        let mut days = rule.days.iter();
        rule.days.is_empty() || days.any(|begin| *begin as usize == day)
    };
    if rule.from < rule.to {
        return begins_on(day) && (rule.from..rule.to).contains(&time);
    }
    let yesterday = (day + DAYS - 1) % DAYS;
    begins_on(day) && time >= rule.from || begins_on(yesterday) && time < rule.to
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use hashlane_api::Day;

    use super::*;

    fn at(day: Day, hour: u16, minute: u16) -> Moment {
        Moment {
            day: day as usize,
            time: TimeOfDay(hour * 60 + minute),
        }
    }

    fn rule(days: &[Day], from: u16, to: u16, max_down: Option<u32>, max_up: Option<u32>) -> Rule {
        Rule {
            days: days.to_vec(),
            from: TimeOfDay(from * 60),
            to: TimeOfDay(to * 60),
            rates: Rates {
                down: max_down.and_then(NonZeroU32::new),
                up: max_up.and_then(NonZeroU32::new),
            },
        }
    }

    fn limits(rules: &[Rule], moment: Moment) -> (Option<u32>, Option<u32>) {
        let Rates { down, up } = limits_at(rules, moment);
        (down.map(NonZeroU32::get), up.map(NonZeroU32::get))
    }

    #[test]
    fn a_rule_is_in_force_from_its_beginning_to_its_end() {
        let day = [rule(&[Day::Mon, Day::Fri], 8, 17, Some(1), None)];
        for (moment, down) in [
            (at(Day::Mon, 7, 59), None),
            (at(Day::Mon, 8, 0), Some(1)),
            (at(Day::Mon, 16, 59), Some(1)),
            (at(Day::Mon, 17, 0), None),
            (at(Day::Tue, 12, 0), None),
            (at(Day::Fri, 12, 0), Some(1)),
        ] {
            assert_eq!(limits(&day, moment), (down, None), "{moment:?}");
        }
    }

    #[test]
    fn a_rule_can_end_on_the_next_day() {
        // Sunday's night ends on Monday.
        let night = [rule(&[Day::Sun], 22, 6, None, Some(7))];
        for (moment, up) in [
            (at(Day::Sun, 21, 59), None),
            (at(Day::Sun, 22, 0), Some(7)),
            (at(Day::Mon, 5, 59), Some(7)),
            (at(Day::Mon, 6, 0), None),
            (at(Day::Mon, 23, 0), None),
            (at(Day::Sun, 3, 0), None),
        ] {
            assert_eq!(limits(&night, moment), (None, up), "{moment:?}");
        }
        // Without times, a rule is in force for whole days.
        let weekend = [rule(&[Day::Sat, Day::Sun], 0, 0, Some(3), None)];
        for (moment, down) in [
            (at(Day::Fri, 23, 59), None),
            (at(Day::Sat, 0, 0), Some(3)),
            (at(Day::Sun, 23, 59), Some(3)),
            (at(Day::Mon, 0, 0), None),
        ] {
            assert_eq!(limits(&weekend, moment), (down, None), "{moment:?}");
        }
    }

    #[test]
    fn of_several_rules_the_smallest_limit_applies() {
        let rules = [
            rule(&[], 0, 0, Some(9), Some(4)),
            rule(&[Day::Tue], 8, 9, Some(5), None),
            rule(&[Day::Tue], 8, 9, None, Some(6)),
        ];
        assert_eq!(limits(&rules, at(Day::Tue, 8, 30)), (Some(5), Some(4)));
        assert_eq!(limits(&rules, at(Day::Tue, 9, 0)), (Some(9), Some(4)));
        assert_eq!(limits(&[], at(Day::Tue, 9, 0)), (None, None));
    }
}
