//! Strings in longer texts.

use super::{FOUND, LOST, recover};

#[test]
fn a_string_is_taken_out_of_a_longer_text() {
    for text in [
        "bitcoin:1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71?amount=0.1",
        "http://1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71.onion/",
        "https://example.com/address/1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71?page=2",
        "\"1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71\"",
        "1lbc fr7s ahtd 9cgd qo3h tmtk v8lk 4znx 71",
        "1LBC-FR7S-AHTD-9CGD-QO3H-TMTK-V8LK-4ZNX-71",
    ] {
        let ended = recover(&["-q", text]);
        let expected = (Some(0), format!("{FOUND}\n"));
        assert_eq!((ended.code, ended.stdout), expected, "{}", ended.stderr);
    }
    let bech32 = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
    let ended = recover(&["-q", &format!("bitcoin:{}", bech32.to_uppercase())]);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{bech32}\n")));
    let ended = recover(&[&format!("https://example.com/{FOUND}/{LOST}")]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    let message = "hashlane: found 2 strings in one text; pass only one of them\n";
    assert_eq!(ended.stderr, message);
}
