//! Values of options that need parsing.

use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::HEXLOWER_PERMISSIVE;
use hashlane_base58::{ADDRESS_HASH_LEN, AddressHash, Shard};
use hashlane_metainfo::{MAX_PIECE_LENGTH, MIN_PIECE_LENGTH, PeerAddress, is_url};

/// A piece length in bytes.
pub(crate) type PieceLength = u32;

/// Trackers of equal priority.
pub(crate) type Tier = Vec<String>;

/// The reason why a text is no size.
const NO_SIZE: &str = "not a whole number of bytes, for example 64KiB";

/// Reads `262144`, `256KiB`, `256K` or `256k`, which are equal, and `1MiB`, or `100GB`, in powers of 1,000.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        unit => {
            return Err(if digits.is_empty() {
                NO_SIZE.into()
            } else {
                format!("\"{unit}\" is not KiB, MiB, GiB or TiB, nor kB, MB, GB or TB")
            });
        }
    };
    let number: u64 = digits.parse().map_err(|_| NO_SIZE)?;
    Ok(number.checked_mul(unit).ok_or("too many")?)
}

/// Reads a share of at most 100 %: `5%` or `5`, which are equal, or `0.5%`.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    let percent: f64 = number
        .parse()
        .map_err(|_| "not a share, for example 5%".to_owned())?;
    if !(0.0..=100.0).contains(&percent) {
        return Err(format!("{text} is not from 0% to 100%"));
    }
    Ok(percent)
}

/// Reads an amount of recovery data in percent.
#[cfg(unix)]
pub(crate) fn redundancy(text: &str) -> Result<f64, String> {
    let percent = percent(text)?;
    if percent > 0.0 {
        Ok(percent)
    } else {
        Err("0% protects nothing".to_owned())
    }
}

/// Maximum number of threads.
const MAX_THREADS: u64 = 1024;

/// Reads a number of threads. Users of transmission-create give a tracker to `-t`.
pub(crate) fn threads(text: &str) -> Result<u16, String> {
    if text.contains("://") {
        return Err("expected a number of threads; trackers are given with -a".into());
    }
    let n: u64 = text.parse().map_err(|error| format!("{error}"))?;
    if !(1..=MAX_THREADS).contains(&n) {
        return Err(format!("{n} is not in 1..={MAX_THREADS}"));
    }
    Ok(n as u16)
}

/// Reads a size below 4 GiB.
pub(crate) fn bytes(text: &str) -> Result<u32, String> {
    let size = size(text)?;
    Ok(size.try_into().map_err(|_| "too many")?)
}

/// Reads a rate in bytes per second. Zero is an error, because it would stop all transfers.
pub(crate) fn rate(text: &str) -> Result<u32, String> {
    match bytes(text)? {
        0 => Err("the rate must not be 0".into()),
        rate => Ok(rate),
    }
}

/// Numbers without a unit up to this one are exponents, as in mktorrent. No piece is that short.
const MAX_EXPONENT: u32 = 64;

/// Reads a number of bytes that is a power of two, or the exponent of two alone: `18` is `256KiB`.
pub(crate) fn piece_length(text: &str) -> Result<PieceLength, String> {
    if let Ok(exponent) = text.parse::<u32>()
        && exponent < MAX_EXPONENT
    {
        let is_known = MIN_PIECE_LENGTH.ilog2()..=MAX_PIECE_LENGTH.ilog2();
        if !is_known.contains(&exponent) {
            let (min, max) = is_known.into_inner();
            return Err(format!(
                "2^{exponent} bytes: the exponent must be from {min} to {max}"
            ));
        }
        return Ok(1 << exponent);
    }
    let length = bytes(text)?;
    if !length.is_power_of_two() {
        return Err(format!("{length} bytes are not a power of two"));
    }
    Ok(length)
}

/// Checks that a URL has a scheme, and contains only characters that are allowed in URLs.
pub(crate) fn url(text: &str) -> Result<String, String> {
    if is_url(text) {
        return Ok(text.into());
    }
    Err("expected a URL such as https://host/path; write a space as %20 and a comma as %2C".into())
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

pub(crate) fn date(text: &str) -> Result<i64, String> {
    if text == "now" {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        return now
            .ok()
            .and_then(|now| now.as_secs().try_into().ok())
            .ok_or_else(|| "the clock is wrong".into());
    }
    text.parse()
        .map_err(|_| "neither \"now\" nor seconds since 1970".into())
}

/// Bytes that were given in hexadecimal.
pub(crate) type Bytes = Box<[u8]>;

pub(crate) fn hex_bytes(text: &str) -> Result<Bytes, String> {
    let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes());
    let bytes = bytes.map_err(|_| "not bytes of two hexadecimal digits each")?;
    Ok(bytes.into())
}

/// Reads a UUID, such as `f47ac10b-58cc-4372-a567-0e02b2c3d479`, with or without hyphens.
pub(crate) fn uuid(text: &str) -> Result<[u8; 16], String> {
    let bytes = hex_bytes(&text.replace('-', ""));
    let bytes = bytes.ok().and_then(|bytes| bytes[..].try_into().ok());
    bytes.ok_or_else(|| "not 32 hexadecimal digits".into())
}

pub(crate) fn address_hash(text: &str) -> Result<AddressHash, String> {
    let bytes = hex_bytes(text)?;
    let found = bytes.len();
    AddressHash::try_from(&bytes[..])
        .map_err(|_| format!("{found} bytes, where {ADDRESS_HASH_LEN} are expected"))
}

/// Reads a number above zero, such as `1e10`.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number")?;
    if number.is_finite() && number > 0.0 {
        Ok(number)
    } else {
        Err("not a number above zero".into())
    }
}

/// Reads a number as [`positive`] does, or 0 for no limit.
#[cfg(unix)]
pub(crate) fn positive_or_zero(text: &str) -> Result<f64, String> {
    if text == "0" {
        return Ok(0.0);
    }
    positive(text).map_err(|reason| format!("{reason}, and not 0"))
}

/// Reads a time as [`duration`] does, or 0 for no limit.
#[cfg(unix)]
pub(crate) fn duration_or_zero(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    duration(text)
}

/// Reads `90`, `90s`, `5m`, `1.5h`, `3days`, and sums such as `1d12h` and `1h 30min`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let mut seconds = 0.0;
    let mut rest = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    loop {
        // A number without a unit may have an exponent.
        if let Ok(number) = positive(rest) {
            if seconds > 0.0 {
                return Err(format!("{rest} has no unit"));
            }
            seconds = number;
            break;
        }
        let number = &rest[..rest.find(|c| !is_number(c)).unwrap_or(rest.len())];
        rest = rest[number.len()..].trim_start();
        let unit = &rest[..rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len())];
        rest = rest[unit.len()..].trim_start();
        let number = positive(number)?;
        let length = match unit {
            "ms" => 1e-3,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            "w" | "week" | "weeks" => 7.0 * 86_400.0,
            unit => return Err(format!("\"{unit}\" is not ms, s, min, h, d or w")),
        };
        seconds += number * length;
        if rest.is_empty() {
            break;
        }
    }
    // Capped at 31 years, so that every number fits into a duration.
    Ok(Duration::from_secs_f64(seconds.min(1e9)))
}

/// The URL of a proxy, taken apart: protocol, host, port and login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyUrl {
    /// Whether the proxy speaks HTTP, not SOCKS5.
    pub is_http: bool,
    /// The proxy itself.
    pub address: PeerAddress,
    /// User and password.
    pub login: Option<(String, String)>,
}

pub(crate) fn proxy(text: &str) -> Result<ProxyUrl, String> {
    let expected = "not of the form socks5://[USER:PASSWORD@]HOST:PORT, or http://";
    let (scheme, rest) = text.split_once("://").ok_or(expected)?;
    let is_http = match scheme {
        "http" => true,
        "socks5" => false,
        _ => return Err(expected.into()),
    };
    let (login, address) = match rest.rsplit_once('@') {
        Some((login, address)) => (Some(login.split_once(':').ok_or(expected)?), address),
        None => (None, rest),
    };
    Ok(ProxyUrl {
        is_http,
        address: peer(address.trim_end_matches('/'))?,
        login: login.map(|(user, password)| (user.into(), password.into())),
    })
}

/// Reads the origin of a page (RFC 6454), as browsers send it: in lower case, without a default port.
pub(crate) fn origin(text: &str) -> Result<String, String> {
    let expected = "not of the form https://HOST[:PORT] or http://HOST[:PORT], without a path";
    let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
    let (scheme, host) = text.split_once("://").ok_or(expected)?;
    let default_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return Err(expected.into()),
    };
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']').ok_or(expected)?;
            address.parse::<Ipv6Addr>().map_err(|_| expected)?;
            ("", port)
        }
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_label = |label: &str| {
        let mut characters = label.chars();
        !label.is_empty() && characters.all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    let is_host = host.starts_with('[') || name.split('.').all(is_label);
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    if !is_host || !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
        return Err(expected.into());
    }
    let host = host.strip_suffix(default_port).unwrap_or(host);
    Ok(format!("{scheme}://{host}"))
}

pub(crate) fn shard(text: &str) -> Result<Shard, String> {
    let parts = text
        .split_once('/')
        .and_then(|(i, n)| Shard::new(i.parse().ok()?, n.parse().ok()?));
    parts.ok_or_else(|| "not a part such as 1/4, 2/4, 3/4 or 4/4".into())
}

/// The local addresses of connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindArg {
    /// One address.
    Address(IpAddr),
    /// The network interface with this name.
    Interface(String),
}

/// The longest name of a network interface in bytes: `IFNAMSIZ` of Linux without its null byte.
const MAX_INTERFACE_LEN: usize = 15;

/// Parses an address, or else the name of a network interface, which need not exist. A name without letters is probably a
/// mistyped address.
pub(crate) fn bind(text: &str) -> Result<BindArg, String> {
    if let Ok(address) = text.parse() {
        return Ok(BindArg::Address(address));
    }
    let is_usual = |c: char| c.is_ascii_alphanumeric() || "-_.@+".contains(c);
    let is_name = (1..=MAX_INTERFACE_LEN).contains(&text.len())
        && text.chars().all(is_usual)
        && text.contains(|c: char| c.is_ascii_alphabetic());
    if is_name {
        Ok(BindArg::Interface(text.to_owned()))
    } else {
        Err("neither an IP address nor the name of a network interface".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_interfaces() {
        for text in ["10.0.0.1", "::1"] {
            assert_eq!(bind(text), Ok(BindArg::Address(text.parse().unwrap())));
        }
        for text in ["tun0", "wg-vpn.1", "eth0@if5"] {
            assert_eq!(bind(text), Ok(BindArg::Interface(text.to_owned())));
        }
        for text in [
            "",
            "10.0.0.",
            "10.0.0.256",
            "eth0,eth1",
            "eth0:1",
            "::g",
            "a/b",
            "a b",
            "a-name-of-16-byt",
        ] {
            assert!(bind(text).is_err(), "{text}");
        }
    }

    #[test]
    fn piece_lengths() {
        for text in ["262144", "256KiB", "256k", "256K", "256kib"] {
            assert_eq!(piece_length(text), Ok(262_144), "{text}");
        }
        assert_eq!(piece_length("1MiB"), Ok(1 << 20));
        assert_eq!(piece_length("1GiB"), Ok(1 << 30));
        for exponent in 10..=28 {
            assert_eq!(piece_length(&exponent.to_string()), Ok(1 << exponent));
        }
        assert_eq!(piece_length("64"), Ok(64));
        let error = piece_length("29").expect_err("libtorrent refuses it");
        assert_eq!(error, "2^29 bytes: the exponent must be from 10 to 28");
        assert_eq!(size("3TiB"), Ok(3 << 40));
        assert_eq!(size("100GB"), Ok(100_000_000_000));
        assert!(size("1XB").is_err());
        assert!(size("18446744073709551615KiB").is_err());
        for text in [
            "",
            "KiB",
            "3KiB",
            "0",
            "9",
            "63",
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
    fn times_and_numbers() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(2 * 3600)));
        let hours = |n: u64| Ok(Duration::from_secs(n * 3600));
        for (text, expected) in [
            ("7d", 168),
            ("2days", 48),
            ("1w", 168),
            ("1d12h", 36),
            ("1d 12hours", 36),
            ("1h 3600s", 2),
            ("1 day", 24),
            ("1.5d", 36),
        ] {
            assert_eq!(duration(text), hours(expected), "{text}");
        }
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1e3"), Ok(Duration::from_secs(1000)));
        for text in [
            "", "s", "-1", "0", "1x", "nan", "inf", "1h30", "1h -2m", "1h,2m", "0d", "1d\u{fc}",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
        let error = duration("5 moons").expect_err("no unit");
        assert_eq!(error, "\"moons\" is not ms, s, min, h, d or w");
        assert_eq!(positive("1e10"), Ok(1e10));
    }

    #[test]
    fn hexadecimal() {
        assert_eq!(hex_bytes("00fF").as_deref(), Ok(&[0, 255][..]));
        for text in ["0", "0g", "\u{fc}\u{fc}"] {
            assert!(hex_bytes(text).is_err(), "{text}");
        }
        assert!(address_hash("00").is_err());
        assert_eq!(uuid("5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5A"), Ok([0x5a; 16]));
        assert!(uuid("5a5a5a5a").is_err());
        assert_eq!(address_hash(&"01".repeat(20)), Ok([1; 20]));
    }

    #[test]
    fn shards() {
        assert_eq!(shard("2/4"), Ok(Shard::new(2, 4).expect("it is one")));
        for text in ["0/4", "5/4", "1", "a/b", "1/0", "-1/2"] {
            assert!(shard(text).is_err(), "{text}");
        }
    }

    #[test]
    fn proxies() {
        let proxy =
            |text| proxy(text).map(|proxy| (proxy.is_http, proxy.address.to_string(), proxy.login));
        assert_eq!(
            proxy("socks5://[::1]:1080"),
            Ok((false, "[::1]:1080".into(), None))
        );
        let login = Some(("a".into(), "b:c".into()));
        assert_eq!(proxy("http://a:b:c@h:1/"), Ok((true, "h:1".into(), login)));
        for text in ["", "h:1", "socks4://h:1", "http://h", "http://a@h:1"] {
            assert!(proxy(text).is_err(), "{text}");
        }
    }

    #[test]
    fn origins() {
        for (text, expected) in [
            ("https://Torrents.example", "https://torrents.example"),
            ("https://torrents.example:443/", "https://torrents.example"),
            ("http://nas.local:8080", "http://nas.local:8080"),
            ("http://[::1]:80", "http://[::1]"),
            ("http://h:443", "http://h:443"),
        ] {
            assert_eq!(origin(text).as_deref(), Ok(expected));
        }
        for text in [
            "",
            "h",
            "ftp://h",
            "https://",
            "https://h/path",
            "https://user@h",
            "https://h?x",
            "https://h:99999",
            "https://h:",
            "https://h:443:1",
            "https://a..b",
            "https://[zz",
            "https://[zz]",
        ] {
            assert!(origin(text).is_err(), "{text}");
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
