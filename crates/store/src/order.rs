//! The numbers that give torrents their order.

/// Returns numbers that increase from one torrent to the next. `places` are the numbers that the torrents have now, in the
/// order that they are to have.
///
/// Few numbers change: torrents that go to an end get numbers beyond it, and those that change places get each other's.
pub(crate) fn numbers(places: &[Option<i64>]) -> Vec<i64> {
    let now: Option<Vec<i64>> = places.iter().copied().collect();
    let found = now.and_then(|now| {
        let mut sorted = now.clone();
        sorted.sort_unstable();
        // Equal numbers give no order.
        sorted
            .windows(2)
            .all(|pair| pair[0] < pair[1])
            .then_some(())?;
        let n_changed = |new: &[i64]| new.iter().zip(&now).filter(|(a, b)| a != b).count();
        let candidates = [Some(sorted), before(&now), after(&now)];
        let candidates = candidates.into_iter().flatten();
        candidates.min_by_key(|new| n_changed(new))
    });
    found.unwrap_or_else(|| (0..).take(places.len()).collect())
}

/// Returns numbers for torrents that go to the front. `None` if no number is left.
fn before(now: &[i64]) -> Option<Vec<i64>> {
    let unsorted = now.windows(2).rposition(|pair| pair[0] > pair[1]);
    let (front, kept) = now.split_at(unsorted.map_or(0, |last| last + 1));
    let least = kept
        .first()?
        .checked_sub(i64::try_from(front.len()).ok()?)?;
    let front = (least..).take(front.len());
    Some(front.chain(kept.iter().copied()).collect())
}

/// Returns numbers for torrents that go to the end. `None` if no number is left.
fn after(now: &[i64]) -> Option<Vec<i64>> {
    let unsorted = now.windows(2).position(|pair| pair[0] > pair[1]);
    let (kept, back) = now.split_at(unsorted.map_or(now.len(), |last| last + 1));
    let last = kept.last()?;
    last.checked_add(i64::try_from(back.len()).ok()?)?;
    let back = (last + 1..).take(back.len());
    Some(kept.iter().copied().chain(back).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(places: &[i64]) -> Vec<i64> {
        let places: Vec<_> = places.iter().copied().map(Some).collect();
        numbers(&places)
    }

    #[test]
    fn few_numbers_change() {
        assert_eq!(of(&[]), [0; 0]);
        assert_eq!(of(&[4]), [4]);
        assert_eq!(of(&[0, 1, 5]), [0, 1, 5]);
        // To the front, to the end, and one place up.
        assert_eq!(of(&[7, 9, 0, 1, 5]), [-2, -1, 0, 1, 5]);
        assert_eq!(of(&[1, 5, 9, 0]), [1, 5, 9, 10]);
        assert_eq!(of(&[0, 1, 5, 3, 7, 9]), [0, 1, 2, 3, 7, 9]);
        assert_eq!(of(&[0, 1, 3, 2, 4]), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn torrents_without_an_order_get_one() {
        assert_eq!(numbers(&[Some(3), None, Some(1)]), [0, 1, 2]);
        assert_eq!(of(&[3, 3, 4]), [0, 1, 2]);
        // No number is before the least, and none after the largest.
        assert_eq!(of(&[5, i64::MIN, 0]), [5, 6, 7]);
        assert_eq!(of(&[0, i64::MAX, -5]), [-7, -6, -5]);
        assert_eq!(of(&[i64::MAX, 0]), [-1, 0]);
    }
}
