//! Tests of links, with every kind of parameter.

use super::*;

const V1: &str = "3ff6fe577e89feeb7c20674a06744c2f30efcd5f";
const V1_BASE32: &str = "H73P4V36RH7OW7BAM5FAM5CMF4YO7TK7";
const V2: &str = "597b180c1a170a585dfc5e85d834d69013ceda174b8f357d5bb1a0ca509faf0a";

fn read(link: &str) -> Magnet {
    link.parse()
        .unwrap_or_else(|error| panic!("{link}: {error}"))
}

#[test]
fn info_hashes() {
    let v1 = |text: &str| read(text).info_hashes.v1().map(|hash| hash.to_string());
    for link in [
        format!("magnet:?xt=urn:btih:{V1}"),
        format!("MAGNET:?DN=X&XT.1=URN:BTIH:{}", V1.to_uppercase()),
        format!("magnet:?xt=urn:btih:{V1_BASE32}"),
        format!("magnet:?xt=urn:btih:{}", V1_BASE32.to_lowercase()),
        format!("magnet:?xt=urn%3Abtih%3A{V1}&xt=urn:btih:{V1_BASE32}"),
        format!("magnet:?xt=urn:sha1:abc&xt=urn:btih:{V1}"),
    ] {
        assert_eq!(v1(&link).as_deref(), Some(V1), "{link}");
        assert_eq!(read(&link).info_hashes.v2(), None);
    }
    let both = read(&format!("magnet:?xt=urn:btmh:1220{V2}&xt=urn:btih:{V1}"));
    assert_eq!(
        both.info_hashes
            .v1()
            .map(|hash| hash.to_string())
            .as_deref(),
        Some(V1)
    );
    assert_eq!(
        both.info_hashes
            .v2()
            .map(|hash| hash.to_string())
            .as_deref(),
        Some(V2)
    );
    let expected = format!("magnet:?xt=urn:btih:{V1}&xt=urn:btmh:1220{V2}");
    assert_eq!(both.to_string(), expected);
    let v2 = read(&format!("magnet:?xt=urn:btmh:1220{V2}"));
    assert_eq!(v2.info_hashes.v1(), None);
    assert_eq!(v2.to_string(), format!("magnet:?xt=urn:btmh:1220{V2}"));
}

#[test]
fn hints() {
    let link = format!(
        "magnet:?xt=urn:btih:{V1}&dn=a+b%20c%26%ff&dn=second&xl=123&xl=4&tr=http%3A%2F%2Fa%2F%3Fb\
         &tr.1=udp://b:80&tr=nonsense&tr=http://a/?b&ws=http://w&ws=%ff&x.pe=1.2.3.4:5\
         &x.pe=[::1]:6&x.pe=nonsense&dht=router.example:6881&so=0,2,4,6-8&so=9&unknown=1&&x"
    );
    let magnet = read(&link);
    assert_eq!(magnet.name.as_deref(), Some("a b c&\u{fffd}"));
    assert_eq!(magnet.length, Some(123));
    assert_eq!(magnet.trackers, ["http://a/?b", "udp://b:80"]);
    assert_eq!(magnet.web_seeds, ["http://w"]);
    let peers: Vec<String> = magnet.peers.iter().map(ToString::to_string).collect();
    assert_eq!(peers, ["1.2.3.4:5", "[::1]:6"]);
    assert_eq!(magnet.dht_nodes[0].to_string(), "router.example:6881");
    let selection = magnet.select_only.as_ref().map(ToString::to_string);
    assert_eq!(selection.as_deref(), Some("0,2,4,6-9"));
    let text = magnet.to_string();
    let expected = format!(
        "magnet:?xt=urn:btih:{V1}&dn=a%20b%20c%26%EF%BF%BD&xl=123&tr=http%3A%2F%2Fa%2F%3Fb\
         &tr=udp%3A%2F%2Fb%3A80&ws=http%3A%2F%2Fw&x.pe=1.2.3.4:5&x.pe=[::1]:6\
         &dht=router.example:6881&so=0,2,4,6-9"
    );
    assert_eq!(text, expected);
    assert_eq!(read(&text), magnet);
}

#[test]
fn urls_with_white_space_are_escaped() {
    let link = format!(
        "magnet:?xt=urn:btih:{V1}&ws=http%3A%2F%2Fw%2Fa%20b%09c&ws=http://w/a%2520b%2509c\
         &tr=%20http://t/%0A&ws=no%20url"
    );
    let magnet = read(&link);
    assert_eq!(magnet.web_seeds, ["http://w/a%20b%09c"]);
    assert_eq!(magnet.trackers, ["http://t/"]);
    assert_eq!(read(&magnet.to_string()), magnet);
}

#[test]
fn refusals() {
    let length = |urn, expected, found| MagnetError::InfoHashLength {
        offset: 11,
        urn,
        expected,
        found,
    };
    let digit = |urn, encoding| MagnetError::InfoHashDigit {
        offset: 11,
        urn,
        encoding,
    };
    let btih = "40 (hexadecimal) or 32 (base 32)";
    for (link, expected) in [
        (String::new(), MagnetError::NotMagnet),
        ("http://a".into(), MagnetError::NotMagnet),
        ("magne\u{fc}".into(), MagnetError::NotMagnet),
        ("magnet:".into(), MagnetError::NoParameters { offset: 7 }),
        (
            "magnet:xt=a".into(),
            MagnetError::NoParameters { offset: 7 },
        ),
        ("magnet:?".into(), MagnetError::NoInfoHash),
        ("magnet:?xt=urn:sha1:a".into(), MagnetError::NoInfoHash),
        ("magnet:?xt=urn:btih:".into(), length(BTIH, btih, 0)),
        (format!("magnet:?xt=urn:btih:{V1}0"), length(BTIH, btih, 41)),
        (
            format!("magnet:?xt=urn:btih:{}g", &V1[1..]),
            digit(BTIH, "hexadecimal"),
        ),
        (
            format!("magnet:?xt=urn:btih:{}1", &V1_BASE32[1..]),
            digit(BTIH, "base 32"),
        ),
        (
            format!("magnet:?xt=urn:btmh:1220{V2}00"),
            length(BTMH, "68 (hexadecimal)", 70),
        ),
        (
            format!("magnet:?xt=urn:btmh:1220{}g", &V2[1..]),
            digit(BTMH, "hexadecimal"),
        ),
        (
            format!("magnet:?xt=urn:btmh:1114{V1}"),
            MagnetError::UnknownMultihash { offset: 11 },
        ),
        (
            format!("magnet:?xt=urn:btih:{V1}&xt=urn:btih:{}", "0".repeat(40)),
            MagnetError::ConflictingInfoHashes {
                offset: 64,
                urn: BTIH,
            },
        ),
    ] {
        assert_eq!(link.parse::<Magnet>(), Err(expected), "{link}");
    }
}

#[test]
fn ignored_hints() {
    let link = |hints: &str| format!("magnet:?xt=urn:btih:{V1}&{hints}");
    let ignored = |hints: &str| {
        let (magnet, ignored) = Magnet::read(&link(hints)).unwrap();
        let ignored: Vec<_> = ignored.iter().map(ToString::to_string).collect();
        (magnet, ignored)
    };
    let (magnet, notes) = ignored("so=1,x&so=3&so=");
    assert_eq!(
        notes,
        [
            "byte 64: \"x\" is neither an index nor a range of indexes",
            "byte 76: \"\" is neither an index nor a range of indexes",
        ]
    );
    let selection = magnet.select_only.map(|files| files.to_string());
    assert_eq!(selection.as_deref(), Some("3"));
    for hint in ["so=5-2", "so=7,5-2"] {
        let (magnet, notes) = ignored(hint);
        assert_eq!(notes, ["byte 64: the range 5-2 ends before it starts"]);
        assert_eq!(magnet.select_only, None);
    }
    let (magnet, notes) = ignored("tr=a&ws=%ff&x.pe=a&dht=:1&xl=x&unknown=");
    assert_eq!(magnet, Magnet::new(magnet.info_hashes));
    assert_eq!(
        notes,
        [
            "byte 64: not a URL",
            "byte 69: not a URL",
            "byte 78: not a host and port",
            "byte 84: not a host and port",
            "byte 90: not a number of bytes",
        ]
    );
}

#[test]
fn other_forms() {
    let v1 = read(&format!("magnet:?xt=urn:btih:{V1}"));
    for text in [
        V1.to_owned(),
        V1.to_uppercase(),
        V1_BASE32.to_owned(),
        V1_BASE32.to_lowercase(),
        format!("magnet:///?xt=urn:btih:{V1}"),
        format!("magnet://?xt=urn:btih:{V1}"),
        format!("stream-magnet:?xt=urn:btih:{V1}"),
        format!("Stream-Magnet:///?xt=urn:btih:{V1}"),
        format!("magnet%3A%3Fxt%3Durn%3Abtih%3A{V1}"),
        format!("Magnet%3a?xt=urn:btih:{V1}"),
    ] {
        assert_eq!(read(&text), v1, "{text}");
    }
    assert_eq!(read(V2), read(&format!("magnet:?xt=urn:btmh:1220{V2}")));
    for text in [
        &V1[1..],
        &V2[1..],
        &format!("{}g", &V1[1..]),
        &"1".repeat(32),
    ] {
        assert_eq!(
            text.parse::<Magnet>(),
            Err(MagnetError::NotMagnet),
            "{text}"
        );
    }
    let twice = read(&format!(
        "magnet%3A%3Fxt%3Durn%3Abtih%3A{V1}%26dn%3Da%2526b"
    ));
    assert_eq!(twice, read(&format!("magnet:?xt=urn:btih:{V1}&dn=a%26b")));
    let error = "stream-magnet://x".parse::<Magnet>();
    assert_eq!(error, Err(MagnetError::NoParameters { offset: 16 }));
}
