//! The version, settings, rates and limits of the client.

use hashlane_client::Activity;
use hashlane_remote::model::{Encryption, Proxy, ProxyKind};
use serde_json::{Value, json};

use super::{Served, text_of};
use crate::transmission::listen;

#[test]
fn the_identity_is_that_of_version_5_0_5() {
    let served = Served::new(listen());
    assert_eq!(text_of(served.get("app/version")), "v5.0.5");
    assert_eq!(text_of(served.get("app/webapiVersion")), "2.11.2");
    assert_eq!(text_of(served.get("app/defaultSavePath")), "/downloads");
    assert_eq!(served.json("app/buildInfo")["bitness"], 64);
    let preferences = served.json("app/preferences");
    for (name, expected) in [
        ("save_path", json!("/downloads")),
        ("max_active_checking_torrents", json!(2)),
        ("max_ratio_enabled", json!(true)),
        ("max_ratio", json!(2.0)),
        ("max_ratio_act", json!(0)),
        ("max_seeding_time_enabled", json!(false)),
        ("max_seeding_time", json!(-1)),
        ("dht", json!(true)),
        ("queueing_enabled", json!(true)),
        ("up_limit", json!(500_000)),
        ("autorun_enabled", json!(false)),
    ] {
        assert_eq!(preferences[name], expected, "{name}");
    }
}

#[test]
fn preferences_change_together_or_not_at_all() {
    let served = Served::new(listen());
    let set = |settings: &Value| {
        served.send_form("app/setPreferences", &[("json", &settings.to_string())])
    };
    let all = served.json("app/preferences");
    assert_eq!(set(&all).status(), 200, "all settings as they are");
    assert_eq!(served.json("app/preferences"), all);
    let some = json!({
        "dl_limit": 1_000_000, "up_limit": 0, "max_ratio_enabled": false,
        "max_seeding_time_enabled": true, "max_seeding_time": 60,
        "max_inactive_seeding_time": 5, "save_path": "/new", "add_stopped_enabled": true,
        "queueing_enabled": true, "max_active_downloads": 7, "listen_port": 6999,
        "autorun_enabled": false, "autorun_program": "",
    });
    assert_eq!(set(&some).status(), 200);
    let now = served.json("app/preferences");
    for (name, expected) in [
        ("dl_limit", json!(1_000_000)),
        ("up_limit", json!(0)),
        ("max_ratio", json!(-1)),
        ("max_seeding_time", json!(60)),
        ("max_inactive_seeding_time_enabled", json!(false)),
        ("save_path", json!("/new")),
        ("add_stopped_enabled", json!(true)),
        ("max_active_downloads", json!(7)),
        ("listen_port", json!(6999)),
    ] {
        assert_eq!(now[name], expected, "{name}");
    }
    for (settings, status) in [
        (json!({ "autorun_enabled": true }), 403),
        (json!({ "autorun_program": "/bin/sh" }), 403),
        (
            json!({ "autorun_on_torrent_added_program": "/bin/sh" }),
            403,
        ),
        (json!({ "autorun_something_new": true }), 403),
        (json!({ "dht": false }), 409),
        (json!({ "web_ui_password": "x" }), 409),
        (json!({ "scan_dirs": { "/x": 1 } }), 409),
        (json!({ "listen_port": 65536 }), 400),
        (json!({ "save_path": "relative" }), 400),
        (json!({ "max_ratio_enabled": 1 }), 400),
        (json!({ "dl_limit": 5_000_000_000_u64 }), 400),
        (json!({ "max_active_downloads": "many" }), 400),
        (json!([]), 400),
    ] {
        let mut settings = settings;
        if settings.is_object() {
            settings["up_limit"] = json!(5);
        }
        assert_eq!(set(&settings).status(), status, "{settings}");
        assert_eq!(served.json("app/preferences"), now, "{settings}");
    }
    assert_eq!(served.refused("app/setPreferences", &[]).0, 400);
    assert_eq!(
        served.refused("app/setPreferences", &[("json", "{")]).0,
        400
    );
    assert_eq!(served.refused("app/shutdown", &[]).0, 403);
}

#[test]
fn rates_and_limits_of_the_client() {
    let served = Served::new(listen()).with_two();
    served
        .client
        .edit(1, |torrent| torrent.down_bytes_per_second = 10);
    served
        .client
        .edit(2, |torrent| torrent.down_bytes_per_second = 20);
    let expected = json!({
        "connection_status": "connected", "dht_nodes": 7, "dl_info_data": 20, "dl_info_speed": 30,
        "dl_rate_limit": 0, "up_info_data": 10, "up_info_speed": 0, "up_rate_limit": 500_000,
    });
    assert_eq!(served.json("transfer/info"), expected);
    served.post("transfer/setDownloadLimit", &[("limit", "4096")]);
    served.post("transfer/setUploadLimit", &[("limit", "0")]);
    assert_eq!(served.post("transfer/downloadLimit", &[]), "4096");
    assert_eq!(served.post("transfer/uploadLimit", &[]), "0");
    assert_eq!(served.post("transfer/speedLimitsMode", &[]), "0");
    assert_eq!(served.refused("transfer/setUploadLimit", &[]).0, 400);
    let mode = || served.post("transfer/speedLimitsMode", &[]);
    served.post("transfer/toggleSpeedLimitsMode", &[]);
    assert_eq!(mode(), "1");
    served.post("transfer/setSpeedLimitsMode", &[("mode", "1")]);
    assert_eq!(mode(), "1");
    served.post("transfer/setSpeedLimitsMode", &[("mode", "0")]);
    assert_eq!(mode(), "0");
    for wrong in [&[][..], &[("mode", "2")], &[("mode", "on")]] {
        assert_eq!(served.refused("transfer/setSpeedLimitsMode", wrong).0, 400);
    }
    let alternative = [("json", "{\"alt_dl_limit\":2048,\"alt_up_limit\":0}")];
    served.post("app/setPreferences", &alternative);
    let preferences = served.json("app/preferences");
    assert_eq!(
        [&preferences["alt_dl_limit"], &preferences["alt_up_limit"]],
        [&json!(2048), &json!(0)]
    );
}

/// Settings that the client has, and how it can be reached.
#[test]
fn the_state_of_the_client_is_shown() {
    let served = Served::new(listen());
    let proxy = |kind| Proxy {
        kind,
        host: "proxy.example".into(),
        port: 1080,
        has_login: true,
    };
    for (kind, name) in [(ProxyKind::Http, "HTTP"), (ProxyKind::Socks5, "SOCKS5")] {
        served.client.edit_session(|session| {
            session.encryption = Encryption::Off;
            session.proxy = Some(proxy(kind));
        });
        let shown = served.json("app/preferences");
        let keys = [
            "encryption",
            "proxy_type",
            "proxy_ip",
            "proxy_port",
            "proxy_auth_enabled",
        ];
        let found = keys.map(|key| shown[key].clone());
        let expected = [
            json!(2),
            json!(name),
            json!("proxy.example"),
            json!(1080),
            json!(true),
        ];
        assert_eq!(found, expected);
    }
    for (is_listening, is_reachable, status) in [
        (true, true, "connected"),
        (true, false, "firewalled"),
        (false, true, "disconnected"),
    ] {
        served.client.edit_session(|session| {
            (session.is_listening, session.is_reachable) = (is_listening, is_reachable);
        });
        assert_eq!(served.json("transfer/info")["connection_status"], status);
    }
}

#[test]
fn a_move_is_a_state() {
    let served = Served::new(listen()).with_two();
    served
        .client
        .edit(1, |torrent| torrent.activity = Activity::Moving);
    let info = served.json("torrents/info?filter=moving");
    assert_eq!(info.as_array().unwrap().len(), 1);
    assert_eq!(info[0]["state"], "moving");
}
