//! Settings of the session.

use hashlane_remote::model::Control as _;
use serde_json::{Value, json};

use super::{Served, listen};

#[test]
fn settings_change_together_or_not_at_all() {
    let served = Served::new(listen());
    let get = |name: &str| served.done("session-get", &json!({ "fields": [name] }))[name].clone();
    served.done(
        "session-set",
        &json!({
            "speed-limit-down": 1000, "speed-limit-down-enabled": true, "speed-limit-up-enabled": false,
            "seedRatioLimited": false, "idle-seeding-limit": 30, "idle-seeding-limit-enabled": true,
            "download-dir": "/new", "download_queue_size": 3, "start-added-torrents": false, "peer-port": 6881,
            "dht-enabled": true, "encryption": "preferred", "script-torrent-done-enabled": false,
        }),
    );
    for (name, expected) in [
        ("speed-limit-down", json!(1000)),
        ("speed-limit-down-enabled", json!(true)),
        ("speed-limit-up-enabled", json!(false)),
        ("seedRatioLimited", json!(false)),
        ("idle-seeding-limit", json!(30)),
        ("download-dir", json!("/new")),
        ("download-queue-size", json!(3)),
        ("start-added-torrents", json!(false)),
        ("peer-port", json!(6881)),
    ] {
        assert_eq!(get(name), expected, "{name}");
    }
    for (arguments, reason) in [
        (
            json!({ "script-torrent-done-filename": "/bin/sh" }),
            "configuration file only",
        ),
        (
            json!({ "script-torrent-added-enabled": true }),
            "configuration file only",
        ),
        (
            json!({ "script_torrent_done_filename": "/bin/sh" }),
            "configuration file only",
        ),
        (json!({ "dht-enabled": false }), "cannot be changed"),
        (
            json!({ "incomplete-dir-enabled": true }),
            "cannot be changed",
        ),
        (json!({ "peer-port": 65536 }), "expected a port"),
        (
            json!({ "speed-limit-up": "fast" }),
            "speed-limit-up: expected",
        ),
    ] {
        let mut arguments = arguments;
        arguments["speed-limit-down"] = json!(5);
        let result = served.refused("session-set", &arguments);
        assert!(result.contains(reason), "{arguments}: {result}");
        assert_eq!(get("speed-limit-down"), 1000, "{arguments}");
    }
}

#[test]
fn alternative_limits_are_shown_and_switched() {
    let served = Served::new(listen());
    let get = |name: &str| served.done("session-get", &json!({ "fields": [name] }))[name].clone();
    assert_eq!(get("alt-speed-enabled"), json!(false));
    assert_eq!(
        [get("alt-speed-down"), get("alt-speed-up")],
        [json!(40), json!(0)]
    );
    let set = |arguments: Value| served.done("session-set", &arguments);
    set(json!({ "alt-speed-enabled": true, "alt-speed-down": 40, "alt-speed-up": 0 }));
    assert_eq!(get("alt-speed-enabled"), json!(true));
    // What was shown rounded, and is sent back, changes nothing.
    let session = served.client.session();
    assert_eq!(
        (session.alt_max_down, session.alt_max_up),
        (Some(40_500), None)
    );
    set(json!({ "alt_speed_up": 7 }));
    assert_eq!(served.client.session().alt_max_up, Some(7_000));
    set(json!({ "alt-speed-enabled": false }));
    assert_eq!(get("alt-speed-enabled"), json!(false));
    let refused = served.refused("session-set", &json!({ "alt-speed-time-enabled": true }));
    assert!(refused.contains("cannot be changed"), "{refused}");
}
