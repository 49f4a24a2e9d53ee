//! Methods that show torrents.

use hashlane_client::Activity;
use hashlane_remote::model::Tracker;
use serde_json::{Value, json};

use super::{LINKED, Served, demo};
use crate::client::{DOWNLOADED, TIME};
use crate::transmission::{listen, metainfo};

#[test]
fn lists_are_filtered_sorted_and_cut() {
    let served = Served::new(listen()).with_two();
    let (demo, linked) = (demo(), LINKED.to_owned());
    served.client.edit(1, |torrent| {
        torrent.activity = Activity::Serving;
        torrent.is_complete = true;
        torrent.done_bytes = torrent.wanted_bytes;
        torrent.category = Some("tv".into());
        torrent.labels = vec!["a".into(), "b".into()];
        torrent.up_bytes_per_second = 5;
        torrent.added_at = TIME + 1;
        torrent.is_private = true;
    });
    served
        .client
        .edit(2, |torrent| torrent.error = Some("no space".into()));
    let both = [demo.clone(), linked.clone()];
    let one = [demo.clone()];
    let two = [linked.clone()];
    for (query, expected) in [
        ("", &both[..]),
        ("filter=all", &both),
        ("filter=unknown", &both),
        ("filter=downloading", &two),
        ("filter=seeding", &one),
        ("filter=completed", &one),
        ("filter=stopped", &[]),
        ("filter=paused", &[]),
        ("filter=running", &both),
        ("filter=resumed", &both),
        ("filter=active", &one),
        ("filter=inactive", &two),
        ("filter=stalled", &two),
        ("filter=stalled_uploading", &[]),
        ("filter=stalled_downloading", &two),
        ("filter=checking", &[]),
        ("filter=moving", &[]),
        ("filter=errored", &two),
        ("category=tv", &one),
        ("category=", &two),
        ("category=other", &[]),
        ("tag=b", &one),
        ("tag=", &two),
        ("tag=a,%20b", &[]),
        ("private=true", &one),
        ("private=false", &two),
        ("hashes=all", &both),
        ("sort=added_on", &[linked.clone(), demo.clone()]),
        ("sort=name", &[linked.clone(), demo.clone()]),
        ("sort=name&reverse=true", &both),
        ("sort=has_metadata", &[linked.clone(), demo.clone()]),
        ("sort=nothing", &both),
        ("limit=1", &one),
        ("limit=0", &both),
        ("limit=-1", &both),
        ("limit=1&offset=1", &two),
        ("offset=1", &two),
        ("offset=-1", &two),
        ("offset=-9", &both),
        ("offset=9", &[]),
        (
            "offset=-9223372036854775808&limit=9223372036854775807",
            &both,
        ),
    ] {
        assert_eq!(served.hashes(query), expected, "{query}");
    }
    let by_hash = format!("hashes=x|{}|", linked.to_uppercase());
    assert_eq!(served.hashes(&by_hash.replace('|', "%7C")), two);
    assert_eq!(served.post("torrents/count", &[]), "2");
    for query in ["limit=many", "reverse=perhaps", "private=2", "offset=1.5"] {
        let answer = served.get(&format!("torrents/info?{query}"));
        assert_eq!(answer.status(), 400, "{query}");
    }
}

#[test]
fn states_have_the_names_of_qbittorrent() {
    let served = Served::new(listen()).with_two();
    let hash = demo();
    for (activity, is_complete, rate, is_forced, name) in [
        (Activity::Paused, false, 0, false, "stoppedDL"),
        (Activity::Paused, true, 0, false, "stoppedUP"),
        (Activity::Waiting, false, 0, false, "checkingDL"),
        (Activity::Verifying, true, 0, false, "checkingUP"),
        (Activity::Queued, false, 0, false, "queuedDL"),
        (Activity::Downloading, false, 0, false, "stalledDL"),
        (Activity::Downloading, false, 1, false, "downloading"),
        (Activity::Downloading, false, 1, true, "forcedDL"),
        (Activity::Queued, true, 0, false, "queuedUP"),
        (Activity::Serving, true, 0, false, "stalledUP"),
        (Activity::Serving, true, 1, false, "uploading"),
        (Activity::Serving, true, 1, true, "forcedUP"),
    ] {
        served.client.edit(1, |torrent| {
            (torrent.activity, torrent.is_complete) = (activity, is_complete);
            torrent.done_bytes = if is_complete { torrent.wanted_bytes } else { 0 };
            (torrent.down_bytes_per_second, torrent.up_bytes_per_second) = (rate, rate);
            torrent.is_forced = is_forced;
        });
        assert_eq!(served.field(&hash, "state"), name, "{activity:?}");
    }
    assert_eq!(served.field(LINKED, "state"), "metaDL");
    assert_eq!(served.field(LINKED, "progress"), 0.0);
    served
        .client
        .edit(1, |torrent| torrent.error = Some("no space".into()));
    assert_eq!(served.field(&hash, "state"), "error");
}

#[test]
fn one_torrent_in_detail() {
    let served = Served::new(listen()).with_two();
    let hash = demo();
    let len = hashlane_metainfo::Torrent::parse(metainfo())
        .unwrap()
        .content_length();
    for (field, expected) in [
        ("infohash_v1", json!(hash)),
        ("infohash_v2", json!("")),
        ("size", json!(len)),
        ("total_size", json!(len)),
        ("completed", json!(len / 2)),
        ("amount_left", json!(len - len / 2)),
        ("progress", json!(0.5)),
        ("eta", json!(90)),
        ("ratio", json!(1.5)),
        ("priority", json!(1)),
        ("content_path", json!("/downloads/union-addresses")),
        ("root_path", json!("")),
        ("completion_on", json!(-1)),
        ("added_on", json!(TIME)),
        ("ratio_limit", json!(-2)),
        ("max_ratio", json!(2.0)),
        ("max_seeding_time", json!(-1)),
        ("time_active", json!(11)),
        ("seeding_time", json!(6)),
        (
            "tracker",
            json!("http://tracker.example.com:80/announce?passkey=1"),
        ),
        ("trackers_count", json!(2)),
        ("tags", json!("")),
        ("category", json!("")),
    ] {
        assert_eq!(served.field(&hash, field), expected, "{field}");
    }
    let properties = served.json(&format!("torrents/properties?hash={hash}"));
    for (field, expected) in [
        ("save_path", json!("/downloads")),
        ("pieces_have", json!(5)),
        ("pieces_num", json!(10)),
        ("piece_size", json!(16384)),
        ("creation_date", json!(TIME)),
        ("comment", json!("a comment")),
        ("share_ratio", json!(1.5)),
        ("nb_connections_limit", json!(200)),
        ("dl_limit", json!(-1)),
        ("dl_speed_avg", json!(DOWNLOADED / 5)),
        ("total_uploaded", json!(DOWNLOADED / 2 * 3)),
        ("isPrivate", json!(false)),
        ("hash", json!(hash)),
    ] {
        assert_eq!(properties[field], expected, "{field}");
    }
    let files = served.json(&format!("torrents/files?hash={hash}"));
    let expected = json!([{
        "availability": 1.0, "index": 0, "name": "union-addresses", "piece_range": [0, 9],
        "priority": 1, "progress": 0.5, "size": len, "is_seed": false,
    }]);
    assert_eq!(files, expected);
    let one = served.json(&format!("torrents/files?hash={hash}&indexes=0"));
    assert_eq!(one, expected);
    assert_eq!(
        served.json(&format!("torrents/files?hash={LINKED}")),
        json!([])
    );
    let trackers = served.json(&format!("torrents/trackers?hash={hash}"));
    assert_eq!(trackers[0]["url"], "** [DHT] **");
    assert_eq!(
        (&trackers[0]["status"], &trackers[2]["status"]),
        (&json!(2), &json!(0))
    );
    let expected = json!({
        "url": "http://tracker.example.com:80/announce?passkey=1", "status": 2, "tier": 0, "msg": "",
        "num_peers": 7, "num_seeds": 3, "num_leeches": 4, "num_downloaded": -1,
    });
    assert_eq!(trackers[3], expected);
    assert_eq!(
        (&trackers[4]["status"], &trackers[4]["num_seeds"]),
        (&json!(1), &json!(-1))
    );
    served
        .client
        .edit_trackers(1, |trackers: &mut Vec<Tracker>| {
            trackers[0].announced = Some(Err("unregistered torrent".into()));
            trackers[1].is_announcing = true;
        });
    let trackers = served.json(&format!("torrents/trackers?hash={hash}"));
    assert_eq!(
        (&trackers[3]["status"], &trackers[3]["msg"]),
        (&json!(4), &json!("unregistered torrent"))
    );
    assert_eq!(trackers[4]["status"], 3);
    let states = served.json(&format!("torrents/pieceStates?hash={hash}"));
    assert_eq!(states, json!([2, 2, 2, 2, 2, 0, 0, 0, 0, 0]));
    let hashes = served.json(&format!("torrents/pieceHashes?hash={hash}"));
    let expected = hashlane_metainfo::Torrent::parse(metainfo()).unwrap();
    assert_eq!(
        hashes.as_array().unwrap().len(),
        expected.piece_hashes().unwrap().len()
    );
    let first = data_encoding::HEXLOWER.encode(&expected.piece_hashes().unwrap()[0]);
    assert_eq!(hashes[0], first);
    assert_eq!(
        served.json(&format!("torrents/pieceHashes?hash={LINKED}")),
        json!([])
    );
    let seeds = served.json(&format!("torrents/webseeds?hash={hash}"));
    let expected: Vec<Value> = expected
        .metadata()
        .web_seeds
        .iter()
        .map(|url| json!({ "url": url }))
        .collect();
    assert_eq!(seeds, json!(expected));
    let mut exported = served.get(&format!("torrents/export?hash={hash}"));
    assert_eq!(
        exported.headers()["content-type"],
        "application/x-bittorrent"
    );
    assert_eq!(exported.body_mut().read_to_vec().unwrap(), metainfo());
    assert_eq!(
        served
            .get(&format!("torrents/export?hash={LINKED}"))
            .status(),
        409
    );
    let peers = served.json(&format!("sync/torrentPeers?hash={hash}&rid=3"));
    assert_eq!(peers["full_update"], true);
    assert_eq!(peers["rid"], 4);
    let peer = &peers["peers"]["192.0.2.7:6881"];
    assert_eq!(
        (&peer["client"], &peer["flags"], &peer["downloaded"]),
        (&json!("Peer 1.0"), &json!("D E"), &json!(5000))
    );
    let bad = served.get(&format!("torrents/files?hash={hash}&indexes=1"));
    assert_eq!(bad.status(), 400);
    for method in [
        "properties",
        "files",
        "trackers",
        "pieceStates",
        "pieceHashes",
        "webseeds",
        "export",
    ] {
        let unknown = served.get(&format!("torrents/{method}?hash={}", "0".repeat(40)));
        assert_eq!(unknown.status(), 404, "{method}");
        assert_eq!(
            served.get(&format!("torrents/{method}")).status(),
            400,
            "{method}"
        );
    }
    assert_eq!(served.get("sync/torrentPeers?hash=x").status(), 404);
}
