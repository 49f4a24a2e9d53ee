//! Damaged texts as places, and the edits that may have damaged them.

use std::collections::HashMap;

/// The possible values of one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// The values, as bits.
    pub(crate) values: u64,
    /// The case of a letter, if it is known.
    pub(crate) is_upper: Option<bool>,
    /// `true` for a character that no intact text contains.
    pub(crate) is_wrong: bool,
}

impl Place {
    /// Returns a character with any of the first `n` values.
    pub(crate) fn any(n: usize) -> Self {
        Self {
            values: u64::MAX >> (64 - n),
            is_upper: None,
            is_wrong: false,
        }
    }

    /// Returns `true` if more than one value is possible.
    pub(crate) fn is_open(&self) -> bool {
        self.values.count_ones() > 1
    }
}

/// Reads a text in an alphabet of lower-case characters: in any letter case, with `?` for an unknown character and `[abc]` for one
/// of several. Fails with the position of a set that has no end or no member.
pub(crate) fn read(text: &str, alphabet: &str) -> Result<Vec<Place>, usize> {
    read_as(text, alphabet, false)
}

/// As [`read`], in an alphabet of any characters. With `has_case`, the case of a letter is known. Without, a letter can be both.
pub(crate) fn read_as(text: &str, alphabet: &str, has_case: bool) -> Result<Vec<Place>, usize> {
    let values = |c: char| {
        let is_same = |other: char| {
            if has_case {
                other == c
            } else {
                other.eq_ignore_ascii_case(&c)
            }
        };
        let all = alphabet.chars().zip(0..);
        let same = all.filter(|(other, _)| is_same(*other));
        same.fold(0_u64, |values, (_, value)| values | 1 << value)
    };
    let any = Place::any(alphabet.len());
    let mut places = Vec::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        places.push(match (c, values(c)) {
            ('[', _) => {
                let (set, after) = rest.as_str().split_once(']').ok_or(places.len())?;
                rest = after.chars();
                let values = set.chars().fold(0, |set, c| set | values(c));
                if values == 0 {
                    return Err(places.len());
                }
                Place { values, ..any }
            }
            ('?', _) => any,
            (_, 0) => Place {
                is_wrong: true,
                ..any
            },
            (_, values) => Place {
                values,
                is_upper: c.is_ascii_alphabetic().then(|| c.is_ascii_uppercase()),
                is_wrong: false,
            },
        });
    }
    Ok(places)
}

/// Returns the texts of `len` characters that edits can have turned into these places, each with its number of edits: wrong,
/// missing, extra and exchanged characters. There are at most `errors` edits.
pub(crate) fn edited(
    places: Vec<Place>,
    errors: u8,
    len: usize,
    n_values: usize,
) -> Vec<(Vec<Place>, u32)> {
    let n_wrong = places.iter().filter(|place| place.is_wrong).count();
    let Some(left) = usize::from(errors).checked_sub(n_wrong) else {
        return Vec::new();
    };
    let mut fewest: HashMap<Vec<Place>, usize> = HashMap::new();
    let mut last = vec![places];
    for n in 0..=left {
        last.retain(|places| !fewest.contains_key(places));
        last.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| key(a).cmp(key(b))));
        last.dedup();
        let mut next = Vec::new();
        if n < left {
            let edited = last.iter().flat_map(|places| once(places, n_values));
            // The edits that are left can reach the length.
            next.extend(edited.filter(|places| places.len().abs_diff(len) < left - n));
        }
        fewest.extend(last.into_iter().map(|places| (places, n_wrong + n)));
        last = next;
    }
    fewest.retain(|places, _| places.len() == len);
    let mut all: Vec<_> = fewest.into_iter().map(|(p, n)| (p, n as u32)).collect();
    all.sort_unstable_by(|a, b| a.1.cmp(&b.1).then_with(|| key(&a.0).cmp(key(&b.0))));
    all
}

fn key(places: &[Place]) -> impl Iterator<Item = (u64, Option<bool>, bool)> + '_ {
    places
        .iter()
        .map(|place| (place.values, place.is_upper, place.is_wrong))
}

/// Returns the texts that one edit can have turned into these places.
fn once(places: &[Place], n_values: usize) -> Vec<Vec<Place>> {
    let any = Place::any(n_values);
    let mut all = Vec::new();
    for position in 0..=places.len() {
        let changed = |change: &dyn Fn(&mut Vec<Place>)| {
            let mut places = places.to_vec();
            change(&mut places);
            places
        };
        all.push(changed(&|places| places.insert(position, any)));
        if position == places.len() {
            break;
        }
        all.push(changed(&|places| {
            places.remove(position);
        }));
        if !places[position].is_open() {
            all.push(changed(&|places| places[position] = any));
        }
        if position > 0 {
            all.push(changed(&|places| places.swap(position - 1, position)));
        }
    }
    all
}

/// Calls a function with the values of each text that the places allow.
pub(crate) fn for_each(places: &[Place], mut with: impl FnMut(&[u8])) {
    let first = |place: &Place| place.values.trailing_zeros() as u8;
    let mut values: Vec<u8> = places.iter().map(first).collect();
    loop {
        with(&values);
        // The next text: the last open place that has a next value takes it, and those after it begin again.
        let mut open = (0..places.len()).rev().filter(|i| places[*i].is_open());
        let next = open.find_map(|position| {
            let place = &places[position];
            let after = place.values & (u64::MAX << 1 << values[position]);
            values[position] = if after == 0 {
                first(place)
            } else {
                after.trailing_zeros() as u8
            };
            (after != 0).then_some(())
        });
        if next.is_none() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(places: &[Place]) -> Vec<String> {
        let mut all = Vec::new();
        for_each(places, |values| {
            all.push(
                values
                    .iter()
                    .map(|value| char::from(b'a' + value))
                    .collect(),
            );
        });
        all
    }

    #[test]
    fn sets_and_unknown_characters() {
        let places = read("a[bC]?x", "abc").unwrap();
        assert_eq!(places.len(), 4);
        assert!(places[3].is_wrong);
        assert_eq!(texts(&places[..2]), ["ab", "ac"]);
        assert_eq!(texts(&places).len(), 18);
        assert_eq!(read("a[b", "abc"), Err(1));
        assert_eq!(read("a[x]", "abc"), Err(1));
    }

    /// Compares with all texts of three characters, each damaged in every way.
    #[test]
    fn every_edit_is_found() {
        let n = 3;
        let all = texts(&read("???", "abc").unwrap());
        for original in &all {
            let mut damaged: Vec<String> = Vec::new();
            let chars: Vec<char> = original.chars().collect();
            for i in 0..3 {
                let mut shorter = chars.clone();
                shorter.remove(i);
                damaged.push(shorter.into_iter().collect());
                for c in 'a'..='c' {
                    let mut other = chars.clone();
                    other[i] = c;
                    damaged.push(other.iter().collect());
                    other = chars.clone();
                    other.insert(i, c);
                    damaged.push(other.iter().collect());
                }
            }
            damaged.push([chars[1], chars[0], chars[2]].iter().collect());
            for damaged in damaged {
                let places = read(&damaged, "abc").unwrap();
                let found = edited(places, 1, 3, n);
                let mut found = found.iter().flat_map(|(places, _)| texts(places));
                assert!(
                    found.any(|text| text == *original),
                    "{damaged} of {original}"
                );
            }
        }
    }
}
