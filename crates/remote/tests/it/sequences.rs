//! The requests of programs that are not run here, in the order in which their sources send them, with the conditions by
//! which each program decides that an answer is right.

use crate::client::{DELETE, KEEP};
use data_encoding::BASE64;
use hashlane_api::{Command, QueueMove, Target};
use std::time::Duration;

use hashlane_remote::{Listen, Login};
use serde_json::{Value, json};

use crate::transmission::{listen, metainfo};
use crate::{qbittorrent, transmission};

fn with_login(hosts: &[&str]) -> Listen {
    Listen {
        login: Some(Login::new("user", "password").unwrap().into()),
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        ..listen()
    }
}

/// Logs in as programs do: they need the text, and the cookie with its name.
fn log_in(served: &mut qbittorrent::Served) {
    let login = [("username", "user"), ("password", "password")];
    let answer = served.send_form("auth/login", &login);
    assert_eq!(answer.status(), 200);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    let pair = cookie.split(';').next().unwrap();
    pair.clone_into(&mut served.cookie);
    assert!(served.cookie.starts_with("SID="), "{}", served.cookie);
    assert_eq!(qbittorrent::text_of(answer), "Ok.");
}

fn add_file(served: &qbittorrent::Served, fields: &[(&str, &str)]) {
    let (kind, body) = qbittorrent::multipart(fields, &[("release.torrent", &metainfo())]);
    let added = served.send("torrents/add", &[("content-type", &kind)], &body);
    assert_eq!(added.status(), 200);
    // Sonarr and autobrr accept every text but this one.
    assert_ne!(qbittorrent::text_of(added), "Fails.");
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Sonarr, Radarr, Lidarr and Readarr: `QBittorrentProxyV2` and `QBittorrent.GetItems`.
#[test]
fn sonarr_with_qbittorrent() {
    let mut served = qbittorrent::Served::new(with_login(&[]));
    // "Test": any status but 404 means that this version of the API is spoken.
    assert_eq!(served.get("app/webapiVersion").status(), 403);
    log_in(&mut served);
    let version = served.post("app/version", &[]);
    let version: Vec<u32> = version
        .trim_start_matches('v')
        .split('.')
        .map(|part| part.parse().unwrap())
        .collect();
    assert!(version >= vec![4, 1], "Sonarr knows labels from 4.1");
    let api = qbittorrent::text_of(served.get("app/webapiVersion"));
    let api: Vec<u32> = api.split('.').map(|part| part.parse().unwrap()).collect();
    assert!(api >= vec![2, 11, 0], "Sonarr sends stopped, not paused");
    let preferences = served.json("app/preferences");
    assert_eq!(
        preferences["max_ratio_act"], 0,
        "Sonarr warns if torrents are removed at a goal"
    );
    assert!(preferences["queueing_enabled"].as_bool().unwrap());
    assert!(preferences["dht"].as_bool().unwrap());
    assert_eq!(served.json("torrents/categories"), json!({}));
    served.post("torrents/createCategory", &[("category", "tv-sonarr")]);
    assert!(served.json("torrents/categories")["tv-sonarr"].is_object());
    // "Grab", with a goal of the indexer, and first in the queue.
    let fields = [
        ("category", "tv-sonarr"),
        ("stopped", "false"),
        ("sequentialDownload", "true"),
        ("firstLastPiecePrio", "true"),
        ("contentLayout", "Original"),
        ("ratioLimit", "1.5"),
        ("seedingTimeLimit", "2880"),
    ];
    add_file(&served, &fields);
    let hash = qbittorrent::demo();
    served.post("torrents/topPrio", &[("hashes", &hash)]);
    served.post(
        "torrents/setForceStart",
        &[("hashes", &hash), ("value", "true")],
    );
    assert_eq!(
        served.client.changes(),
        [
            (1, Command::Queue { to: QueueMove::Top }),
            (1, Command::Resume { now: true }),
        ]
    );
    // "Refresh", every minute.
    let items = served.json("torrents/info?category=tv-sonarr");
    assert_eq!(items.as_array().unwrap().len(), 1);
    let item = &items[0];
    assert!(item["hash"].as_str().unwrap().eq_ignore_ascii_case(&hash));
    for number in [
        "size",
        "progress",
        "eta",
        "ratio",
        "ratio_limit",
        "seeding_time",
        "seeding_time_limit",
        "inactive_seeding_time_limit",
        "last_activity",
        "completion_on",
    ] {
        assert!(item[number].is_number(), "{number}");
    }
    assert_eq!(item["state"], "forcedDL");
    assert_eq!(item["category"], "tv-sonarr");
    assert_eq!(
        (&item["ratio_limit"], &item["seeding_time_limit"]),
        (&json!(1.5), &json!(2880))
    );
    // A path that is not the folder alone is taken as it is.
    assert_ne!(item["content_path"], item["save_path"]);
    let files = served.json(&format!("torrents/files?hash={hash}"));
    assert_eq!(files[0]["name"], "union-addresses");
    let properties = served.json(&format!("torrents/properties?hash={hash}"));
    assert!(properties["save_path"].is_string() && properties["seeding_time"].is_number());
    // "Imported": another category, which is created if the first request fails.
    let imported = [("hashes", hash.as_str()), ("category", "tv-imported")];
    assert_eq!(served.refused("torrents/setCategory", &imported).0, 409);
    served.post("torrents/createCategory", &[("category", "tv-imported")]);
    served.post("torrents/setCategory", &imported);
    assert_eq!(served.field(&hash, "category"), "tv-imported");
    // "Remove completed": without deleteFiles, the files stay.
    served.client.changes();
    served.post("torrents/delete", &[("hashes", &hash)]);
    assert_eq!(served.client.changes(), [(1, KEEP)]);
    let gone = served.get(&format!("torrents/properties?hash={hash}"));
    assert_eq!(gone.status(), 404, "IsTorrentLoaded");
}

/// cross-seed: `clients/QBittorrent.ts`. All of its requests are POST.
#[test]
fn cross_seed_with_qbittorrent() {
    let mut served = qbittorrent::Served::new(with_login(&[]));
    log_in(&mut served);
    assert!(served.post("app/version", &[]).starts_with("v5."));
    let preferences = json_of(&served.post("app/preferences", &[]));
    assert_eq!(preferences["torrent_content_layout"], "Original");
    assert_eq!(json_of(&served.post("torrents/info", &[])), json!([]));
    assert_eq!(json_of(&served.post("torrents/categories", &[])), json!({}));
    let fields = [
        ("skip_checking", "true"),
        ("contentLayout", "Original"),
        ("category", "tv.cross-seed"),
        ("tags", "cross-seed"),
        ("savepath", "/links/tracker"),
        ("autoTMM", "false"),
        ("paused", "true"),
        ("stopped", "true"),
    ];
    add_file(&served, &fields);
    let hash = qbittorrent::demo();
    let by_hash = [("hashes", hash.as_str())];
    let added = json_of(&served.post("torrents/info", &by_hash))[0].clone();
    assert_eq!(
        (&added["save_path"], &added["auto_tmm"], &added["state"]),
        (&json!("/links/tracker"), &json!(false), &json!("stoppedDL"))
    );
    assert_eq!(added["infohash_v1"], hash);
    served.post("torrents/recheck", &by_hash);
    let checking = json_of(&served.post("torrents/info", &by_hash));
    assert_eq!(checking[0]["state"], "checkingDL");
    served.post("torrents/start", &by_hash);
    for (method, first) in [("files", "name"), ("trackers", "url")] {
        let rows = json_of(&served.post(&format!("torrents/{method}"), &[("hash", &hash)]));
        assert!(rows[0][first].is_string(), "{method}");
    }
    let export = [("hash", hash.as_str())];
    let mut exported = served.send_form("torrents/export", &export);
    assert_eq!(exported.body_mut().read_to_vec().unwrap(), metainfo());
}

/// autobrr and qui: go-qbittorrent. Reads are GET.
#[test]
fn autobrr_with_qbittorrent() {
    let mut served = qbittorrent::Served::new(with_login(&[]));
    log_in(&mut served);
    assert_eq!(
        qbittorrent::text_of(served.get("app/webapiVersion")),
        "2.11.2"
    );
    let active = served.json("torrents/info?filter=downloading");
    assert_eq!(
        active,
        json!([]),
        "the number of downloads decides about a rule"
    );
    let fields = [
        ("autoTMM", "false"),
        ("category", "films"),
        ("contentLayout", "Original"),
        ("dlLimit", "102400"),
        ("firstLastPiecePrio", "true"),
        ("paused", "false"),
        ("ratioLimit", "2.00"),
        ("savepath", "/films"),
        ("seedingTimeLimit", "60"),
        ("skip_checking", "true"),
        ("stopped", "false"),
        ("tags", "a,b"),
        ("upLimit", "51200"),
    ];
    add_file(&served, &fields);
    let hash = qbittorrent::demo();
    // It announces again until a tracker works.
    let trackers = served.json(&format!("torrents/trackers?hash={hash}"));
    let trackers = trackers.as_array().unwrap().iter();
    let mut working = trackers.filter(|tracker| {
        let url = tracker["url"].as_str().unwrap();
        !url.starts_with("**") && tracker["status"] == 2
    });
    assert!(working.next().is_some());
    served.post("torrents/reannounce", &[("hashes", &hash)]);
    assert_eq!(served.client.changes(), [(1, Command::Reannounce)]);
    let info = served.json("transfer/info");
    assert!(info["dl_info_speed"].is_number() && info["connection_status"].is_string());
    let all = served.json("sync/maindata?rid=0");
    assert!(all["server_state"]["free_space_on_disk"].as_u64().unwrap() > 0);
    let delta = served.json(&format!("sync/maindata?rid={}", all["rid"]));
    assert!(delta["torrents"].is_null());
}

/// Home Assistant: the integration `qbittorrent`, which asks for everything twice a minute.
#[test]
fn home_assistant_with_qbittorrent() {
    let mut served = qbittorrent::Served::new(with_login(&[]));
    log_in(&mut served);
    add_file(&served, &[]);
    let data = json_of(&served.post("sync/maindata", &[("rid", "0")]));
    let state = &data["server_state"];
    for name in ["dl_info_speed", "up_info_speed", "alltime_dl", "alltime_ul"] {
        assert!(state[name].is_number(), "{name}");
    }
    assert_eq!(state["connection_status"], "connected");
    for torrent in data["torrents"].as_object().unwrap().values() {
        assert!(torrent["state"].is_string() && torrent["eta"].is_number());
    }
}

/// Sonarr and relatives: `TransmissionProxy` and `TransmissionBase.GetItems`, with the name of a container.
#[test]
fn sonarr_with_transmission() {
    let listen = with_login(&["hashlane"]);
    let served = transmission::Served::with_password(listen, "user:password");
    let request = br#"{"method":"session-get"}"#;
    let mut answer = served.post(&[("host", "hashlane:9091")], request);
    let session = json_of(&answer.body_mut().read_to_string().unwrap())["arguments"].clone();
    let version = session["version"].as_str().unwrap();
    let (version, _) = version.split_once(" (").unwrap();
    let version: Vec<u32> = version
        .split('.')
        .map(|part| part.parse().unwrap())
        .collect();
    assert!(version >= vec![4, 0], "labels are sent from 4.0");
    assert!(session["download-dir"].is_string());
    assert_eq!(session["seedRatioLimited"], true);
    let arguments = json!({
        "metainfo": BASE64.encode(&metainfo()),
        "paused": false,
        "download-dir": "/downloads/tv-sonarr",
        "labels": ["tv-sonarr"],
    });
    let added = served.done("torrent-add", &arguments)["torrent-added"].clone();
    let hash = added["hashString"].as_str().unwrap();
    served.done(
        "torrent-set",
        &json!({ "ids": [hash], "seedRatioLimit": 1.5, "seedRatioMode": 1, "seedIdleLimit": 30, "seedIdleMode": 1 }),
    );
    served.done("queue-move-top", &json!({ "ids": [hash] }));
    let changes = served.client.changes();
    let [
        (1, Command::Set(limits)),
        (1, Command::Queue { to: QueueMove::Top }),
    ] = &changes[..]
    else {
        panic!("{changes:?}");
    };
    assert_eq!(
        (limits.ratio, limits.idle),
        (
            Some(Target::At(1.5)),
            Some(Target::At(Duration::from_secs(1_800)))
        )
    );
    let fields = "id hashString name downloadDir totalSize leftUntilDone isFinished eta status \
                  secondsDownloading secondsSeeding errorString uploadedEver downloadedEver \
                  seedRatioLimit seedRatioMode seedIdleLimit seedIdleMode fileCount file-count labels";
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let torrents = served.done("torrent-get", &json!({ "fields": fields }))["torrents"].clone();
    for field in fields {
        assert!(!torrents[0][field].is_null(), "{field}");
    }
    assert_eq!(torrents[0]["labels"], json!(["tv-sonarr"]));
    assert_ne!(
        torrents[0]["totalSize"], 0,
        "0 is a torrent without metadata"
    );
    served.done(
        "torrent-set",
        &json!({ "ids": [hash], "labels": ["tv-imported"] }),
    );
    assert_eq!(served.get(1, "labels"), json!(["tv-imported"]));
    served.client.changes();
    served.done(
        "torrent-remove",
        &json!({ "ids": [hash], "delete-local-data": true }),
    );
    assert_eq!(served.client.changes(), [(1, DELETE)]);
}

/// cross-seed: `clients/Transmission.ts`.
#[test]
fn cross_seed_with_transmission() {
    let served = transmission::Served::with_password(with_login(&[]), "user:password");
    served.done("session-get", &json!({}));
    let arguments = json!({
        "metainfo": BASE64.encode(&metainfo()),
        "download-dir": "/links",
        "paused": true,
        "labels": ["cross-seed"],
    });
    let added = served.done("torrent-add", &arguments);
    let hash = added["torrent-added"]["hashString"].clone();
    let again = served.done("torrent-add", &arguments);
    assert_eq!(again["torrent-duplicate"]["hashString"], hash);
    let fields = [
        "downloadDir",
        "percentDone",
        "hashString",
        "status",
        "labels",
        "leftUntilDone",
        "name",
        "files",
        "trackers",
        "totalSize",
    ];
    let get = json!({ "fields": fields, "ids": [hash] });
    let torrent = served.done("torrent-get", &get)["torrents"][0].clone();
    for field in fields {
        assert!(!torrent[field].is_null(), "{field}");
    }
    assert_eq!(
        (&torrent["status"], &torrent["percentDone"]),
        (&json!(0), &json!(0.5))
    );
    for method in ["torrent-verify", "torrent-start", "torrent-stop"] {
        served.done(method, &json!({ "ids": [hash] }));
    }
    let changes = served.client.changes();
    let expected = [
        Command::Verify,
        Command::Resume { now: false },
        Command::Pause,
    ];
    assert_eq!(changes, expected.map(|change| (1, change)));
}

/// autobrr: hekmon/transmissionrpc, which needs rpc-version 17 at most, and announces until a tracker works.
#[test]
fn autobrr_with_transmission() {
    let served = transmission::Served::with_password(with_login(&[]), "user:password");
    let session = served.done("session-get", &json!({}));
    assert_eq!(
        (&session["rpc-version"], &session["rpc-version-minimum"]),
        (&json!(17), &json!(14))
    );
    let arguments = json!({ "metainfo": BASE64.encode(&metainfo()), "paused": false });
    let id = served.done("torrent-add", &arguments)["torrent-added"]["id"].clone();
    let set = json!({ "ids": [id], "seedRatioLimit": 2.0, "seedRatioMode": 1, "uploadLimit": 100, "uploadLimited": true });
    served.done("torrent-set", &set);
    served.done("torrent-reannounce", &json!({ "ids": [id] }));
    let get = json!({ "ids": [id], "fields": ["id", "trackerStats"] });
    let stats = served.done("torrent-get", &get)["torrents"][0]["trackerStats"][0].clone();
    assert_eq!(
        (&stats["lastAnnounceSucceeded"], &stats["seederCount"]),
        (&json!(true), &json!(3))
    );
    served.done(
        "torrent-remove",
        &json!({ "ids": [id], "delete-local-data": false }),
    );
    assert_eq!(served.client.changes().last(), Some(&(1, KEEP)));
}

/// Home Assistant: the integration `transmission`, by transmission-rpc.
#[test]
fn home_assistant_with_transmission() {
    let served = transmission::Served::with_password(with_login(&[]), "user:password");
    let session = served.done("session-get", &json!({}));
    assert!(session["alt-speed-enabled"].is_boolean());
    let stats = served.done("session-stats", &json!({}));
    for name in [
        "downloadSpeed",
        "uploadSpeed",
        "activeTorrentCount",
        "pausedTorrentCount",
        "torrentCount",
    ] {
        assert!(stats[name].is_number(), "{name}");
    }
    let link = json!({ "filename": transmission::MAGNET });
    let id = served.done("torrent-add", &link)["torrent-added"]["id"].clone();
    let fields = [
        "id",
        "name",
        "status",
        "percentDone",
        "addedDate",
        "eta",
        "doneDate",
    ];
    let torrents = served.done("torrent-get", &json!({ "fields": fields }))["torrents"].clone();
    assert_eq!(
        (&torrents[0]["id"], &torrents[0]["status"]),
        (&id, &json!(4))
    );
    for method in ["torrent-stop", "torrent-start", "torrent-remove"] {
        served.done(method, &json!({ "ids": [id] }));
    }
    let expected = [Command::Pause, Command::Resume { now: false }, KEEP];
    assert_eq!(served.client.changes(), expected.map(|change| (1, change)));
}
