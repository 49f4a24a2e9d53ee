//! Values of options that are more than a word.

use std::time::{SystemTime, UNIX_EPOCH};

use hashlane_metainfo::{FileSelection, PeerAddress, is_url};

/// A piece length in bytes.
pub(crate) type PieceLength = u32;

/// Trackers that are as good as each other.
pub(crate) type Tier = Vec<String>;

/// Reads `262144`, `256KiB`, `256K` or `256k`, all of which are the same, and `1MiB`.
pub(crate) fn piece_length(text: &str) -> Result<PieceLength, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        unit => return Err(format!("\"{unit}\" is none of KiB, MiB and GiB")),
    };
    let number: u32 = digits.parse().map_err(|_| "not a number of bytes")?;
    let length = number.checked_mul(1 << shift).ok_or("too long")?;
    if !length.is_power_of_two() {
        return Err(format!("{length} bytes are no power of two"));
    }
    Ok(length)
}

/// Checks that a URL has a scheme, and nothing in it that no URL has.
pub(crate) fn url(text: &str) -> Result<String, String> {
    if is_url(text) {
        return Ok(text.into());
    }
    Err(
        "a URL starts like https:// and has no spaces, which are written %20, and commas %2C"
            .into(),
    )
}

pub(crate) fn tier(text: &str) -> Result<Tier, String> {
    text.split(',').map(url).collect()
}

pub(crate) fn peer(text: &str) -> Result<PeerAddress, String> {
    text.parse().map_err(|error| format!("{error}"))
}

pub(crate) fn node(text: &str) -> Result<(String, u16), String> {
    let address = peer(text)?;
    Ok((address.host().into(), address.port()))
}

pub(crate) fn selection(text: &str) -> Result<FileSelection, String> {
    text.parse().map_err(|error| format!("{error}"))
}

pub(crate) fn date(text: &str) -> Result<i64, String> {
    if text == "now" {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        return now
            .ok()
            .and_then(|now| now.as_secs().try_into().ok())
            .ok_or_else(|| "the clock is wrong".into());
    }
    text.parse()
        .map_err(|_| "neither now nor seconds since 1970".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piece_lengths() {
        for text in ["262144", "256KiB", "256k", "256K", "256kib"] {
            assert_eq!(piece_length(text), Ok(262_144), "{text}");
        }
        assert_eq!(piece_length("1MiB"), Ok(1 << 20));
        assert_eq!(piece_length("1GiB"), Ok(1 << 30));
        for text in [
            "",
            "KiB",
            "3KiB",
            "0",
            "16 KB",
            "-1",
            "4GiB",
            "99999999999",
            "1.5MiB",
        ] {
            assert!(piece_length(text).is_err(), "{text}");
        }
    }

    #[test]
    fn urls() {
        for text in [
            "http://a",
            "udp://tracker.example:80/announce",
            "wss://x/?a=b",
        ] {
            assert_eq!(url(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "a",
            "://a",
            "1http://a",
            "http://",
            "http://a b",
            "http://a\n",
        ] {
            assert!(url(text).is_err(), "{text}");
        }
        let tiers = tier("http://a,udp://b:1").expect("two URLs");
        assert_eq!(tiers, ["http://a", "udp://b:1"]);
    }
}
