//! Methods that change torrents, categories and labels.

use crate::client::{DELETE, KEEP, patch};
use hashlane_api::{Command, Goal, Patch, Priority, QueueMove, RatesPatch, Target};
use hashlane_metainfo::ContentLayout;
use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::{Value, json};

use super::{LINKED, MAGNET, MAX_METAINFO_LEN, Served, demo, multipart, text_of};
use crate::transmission::{listen, metainfo};

#[test]
fn torrents_are_added_with_their_choices() {
    let served = Served::new(listen());
    let fields = [
        ("category", "tv/hd"),
        ("tags", " one ,two,one"),
        ("savepath", "/other"),
        ("stopped", "true"),
        ("contentLayout", "Subfolder"),
        ("ratioLimit", "1.5"),
        ("seedingTimeLimit", "60"),
        ("inactiveSeedingTimeLimit", "-1"),
        ("dlLimit", "1000"),
        ("upLimit", "-1"),
        ("sequentialDownload", "True"),
        ("firstLastPiecePrio", "true"),
        ("skip_checking", "true"),
        ("rename", "shown"),
        ("addToTopOfQueue", "true"),
        ("autoTMM", "false"),
        ("stopCondition", "None"),
    ];
    let (kind, body) = multipart(&fields, &[("a.torrent", &metainfo())]);
    let kind = [("content-type", kind.as_str())];
    let added = served.send("torrents/add", &kind, &body);
    assert_eq!(text_of(added), "Ok.");
    assert_eq!(
        served.client.changes(),
        [(1, Command::Queue { to: QueueMove::Top })]
    );
    let new = served.client.added();
    assert_eq!(new.layout, ContentLayout::Subfolder);
    let goal = Goal {
        ratio: Target::At(1.5),
        time: Target::At(Duration::from_secs(3_600)),
        idle: Target::Never,
    };
    assert_eq!(new.set.goal(Goal::default()), goal);
    let rates = RatesPatch {
        max_down: Some(NonZeroU32::new(1000)),
        max_up: Some(None),
    };
    assert_eq!(new.set.rates(), rates);
    for (field, expected) in [
        ("category", json!("tv/hd")),
        ("tags", json!("one, two")),
        ("save_path", json!("/other")),
        ("state", json!("stoppedDL")),
        ("ratio_limit", json!(1.5)),
        ("seeding_time_limit", json!(60)),
        ("inactive_seeding_time_limit", json!(-1)),
        ("dl_limit", json!(1000)),
        ("up_limit", json!(0)),
        ("seq_dl", json!(true)),
        ("name", json!("shown")),
        ("auto_tmm", json!(false)),
        ("max_ratio", json!(1.5)),
    ] {
        assert_eq!(served.field(&demo(), field), expected, "{field}");
    }
    assert!(served.json("torrents/categories")["tv/hd"].is_object());
    served.post("torrents/removeTags", &[("hashes", "all")]);
    assert_eq!(served.json("torrents/tags"), json!(["one", "two"]));
    // The same again, and a link that is not one, add nothing.
    let again = served.send("torrents/add", &kind, &body);
    assert_eq!(text_of(again), "Fails.");
    let many = format!("{MAGNET}\n\n  {MAGNET}\r\n{LINKED}\n");
    let paused = [
        ("urls", many.as_str()),
        ("paused", "true"),
        ("forced", "true"),
    ];
    assert_eq!(served.post("torrents/add", &paused), "Ok.");
    assert_eq!(served.field(LINKED, "state"), "stoppedDL");
    assert_eq!(served.hashes("").len(), 2);
    assert_eq!(served.post("torrents/add", &[("urls", MAGNET)]), "Fails.");
    assert_eq!(
        served.post("torrents/add", &[("urls", "magnet:?xt=x")]),
        "Fails."
    );
    assert_eq!(served.post("torrents/add", &[]), "Fails.");
    served.post(
        "torrents/delete",
        &[("hashes", LINKED), ("deleteFiles", "false")],
    );
    served.post(
        "torrents/add",
        &[
            ("urls", MAGNET),
            ("forced", "true"),
            ("autoTMM", "true"),
            ("savepath", "/x"),
        ],
    );
    assert_eq!(served.field(LINKED, "state"), "forcedMetaDL");
    assert_eq!(served.field(LINKED, "save_path"), "/downloads", "automatic");
}

#[test]
fn additions_that_are_refused() {
    let served = Served::new(listen());
    for (fields, status) in [
        (&[("urls", "/etc/passwd")][..], 403),
        (&[("urls", "file:///etc/passwd")], 403),
        (&[("urls", MAGNET), ("savepath", "relative")], 400),
        (&[("urls", MAGNET), ("category", "a//b")], 409),
        (&[("urls", MAGNET), ("category", "a\\b")], 409),
        (&[("urls", MAGNET), ("stopped", "maybe")], 400),
        (&[("urls", MAGNET), ("contentLayout", "Flat")], 400),
        (&[("urls", MAGNET), ("ratioLimit", "-3")], 400),
        (&[("urls", MAGNET), ("ratioLimit", "NaN")], 400),
        (&[("urls", MAGNET), ("ratioLimit", "inf")], 400),
        (&[("urls", MAGNET), ("seedingTimeLimit", "1.5")], 400),
        (&[("urls", MAGNET), ("seedingTimeLimit", "1e300")], 400),
        (&[("urls", MAGNET), ("dlLimit", "5000000000")], 400),
        (&[("urls", MAGNET), ("downloadPath", "/incomplete")], 409),
        (&[("urls", MAGNET), ("useDownloadPath", "true")], 409),
        (&[("urls", MAGNET), ("stopCondition", "FilesChecked")], 409),
        (&[("urls", MAGNET), ("cookie", "a=b")], 409),
    ] {
        assert_eq!(
            served.refused("torrents/add", fields).0,
            status,
            "{fields:?}"
        );
    }
    let too_long = vec![b'x'; MAX_METAINFO_LEN as usize + 1];
    for (file, status) in [(&b"d4:infoe"[..], 415), (b"", 415), (&too_long, 413)] {
        let (kind, body) = multipart(&[], &[("bad.torrent", file)]);
        let answer = served.send("torrents/add", &[("content-type", &kind)], &body);
        assert_eq!(answer.status(), status);
        assert!(text_of(answer).contains("bad.torrent"));
    }
    assert_eq!(served.hashes(""), [""; 0]);
    assert_eq!(served.json("torrents/categories"), json!({}));
}

#[test]
fn actions_reach_the_client() {
    let served = Served::new(listen()).with_two();
    for (path, field, expected) in [
        ("start", ("x", ""), Command::Resume { now: false }),
        ("resume", ("x", ""), Command::Resume { now: false }),
        ("stop", ("x", ""), Command::Pause),
        ("pause", ("x", ""), Command::Pause),
        (
            "setForceStart",
            ("value", "true"),
            Command::Resume { now: true },
        ),
        (
            "setForceStart",
            ("value", "false"),
            Command::Resume { now: false },
        ),
        (
            "setSuperSeeding",
            ("value", "true"),
            patch(Patch {
                super_seeding: Some(true),
                ..Patch::default()
            }),
        ),
        ("recheck", ("x", ""), Command::Verify),
        ("reannounce", ("x", ""), Command::Reannounce),
        ("topPrio", ("x", ""), Command::Queue { to: QueueMove::Top }),
        (
            "bottomPrio",
            ("x", ""),
            Command::Queue {
                to: QueueMove::Bottom,
            },
        ),
        (
            "increasePrio",
            ("x", ""),
            Command::Queue { to: QueueMove::Up },
        ),
        (
            "decreasePrio",
            ("x", ""),
            Command::Queue {
                to: QueueMove::Down,
            },
        ),
        (
            "toggleSequentialDownload",
            ("x", ""),
            patch(Patch {
                sequential: Some(true),
                ..Patch::default()
            }),
        ),
        (
            "toggleSequentialDownload",
            ("x", ""),
            patch(Patch {
                sequential: Some(false),
                ..Patch::default()
            }),
        ),
        (
            "setLocation",
            ("location", "/new"),
            Command::Relocate {
                folder: "/new".into(),
            },
        ),
        (
            "setCategory",
            ("category", ""),
            patch(Patch {
                category: Some(None),
                ..Patch::default()
            }),
        ),
        ("delete", ("deleteFiles", "false"), KEEP),
    ] {
        served.post(&format!("torrents/{path}"), &[("hashes", LINKED), field]);
        assert_eq!(served.client.changes(), [(2, expected)], "{path}");
    }
    served.post("torrents/stop", &[("hashes", "all")]);
    assert_eq!(served.client.changes(), [(1, Command::Pause)]);
    served.post(
        "torrents/delete",
        &[("hashes", &demo()), ("deleteFiles", "true")],
    );
    assert_eq!(served.client.changes(), [(1, DELETE)]);
    // Without a queue, nothing moves in it.
    let off = [("json", "{\"queueing_enabled\":false}")];
    served.post("app/setPreferences", &off);
    for path in ["topPrio", "bottomPrio", "increasePrio", "decreasePrio"] {
        let path = format!("torrents/{path}");
        assert_eq!(served.refused(&path, &[("hashes", "all")]).0, 409, "{path}");
    }
    let on = [("json", "{\"queueing_enabled\":true}")];
    served.post("app/setPreferences", &on);
    assert_eq!(served.json("app/preferences")["max_active_downloads"], 3);
    served.post("torrents/topPrio", &[("hashes", "all")]);
    // Unknown torrents are left out.
    served.post("torrents/stop", &[("hashes", &demo())]);
    assert_eq!(served.client.changes(), []);
}

#[test]
fn limits_files_and_names_of_a_torrent() {
    let served = Served::new(listen()).with_two();
    let hash = &demo();
    let hashes = ("hashes", hash.as_str());
    served.post("torrents/setDownloadLimit", &[hashes, ("limit", "1000")]);
    served.post("torrents/setUploadLimit", &[hashes, ("limit", "2000")]);
    let limit = |path: &str| -> Value {
        serde_json::from_str(&served.post(path, &[("hashes", "all")])).unwrap()
    };
    assert_eq!(
        limit("torrents/downloadLimit"),
        json!({ hash: 1000, LINKED: 0 })
    );
    assert_eq!(
        limit("torrents/uploadLimit"),
        json!({ hash: 2000, LINKED: 0 })
    );
    served.post("torrents/setDownloadLimit", &[hashes, ("limit", "-1")]);
    assert_eq!(served.field(hash, "dl_limit"), 0);
    let goals = |ratio, time, idle| {
        served.post(
            "torrents/setShareLimits",
            &[
                hashes,
                ("ratioLimit", ratio),
                ("seedingTimeLimit", time),
                ("inactiveSeedingTimeLimit", idle),
            ],
        );
        [
            "ratio_limit",
            "seeding_time_limit",
            "inactive_seeding_time_limit",
        ]
        .map(|field| served.field(hash, field))
    };
    assert_eq!(goals("2.5", "90", "-1"), [json!(2.5), json!(90), json!(-1)]);
    assert_eq!(goals("-2.0", "-2", "7.0"), [json!(-2), json!(-2), json!(7)]);
    served.client.changes();
    let file = |priority| {
        served.post(
            "torrents/filePrio",
            &[("hash", hash), ("id", "0"), ("priority", priority)],
        );
        served.json(&format!("torrents/files?hash={hash}"))[0]["priority"].clone()
    };
    for (given, shown) in [("0", 0), ("1", 1), ("6", 6), ("7", 6)] {
        assert_eq!(file(given), shown);
    }
    let select = |priority| Command::Prioritize {
        files: vec![0],
        priority,
    };
    assert_eq!(
        served.client.changes(),
        [
            (1, select(Priority::Skip)),
            (1, select(Priority::Normal)),
            (1, select(Priority::High)),
            (1, select(Priority::High)),
        ]
    );
    served.post(
        "torrents/addTrackers",
        &[
            ("hash", hash),
            ("urls", "http://a.example/announce\n\nudp://b:1\n"),
        ],
    );
    let trackers = served.json(&format!("torrents/trackers?hash={hash}"));
    assert_eq!(trackers[6]["url"], "udp://b:1");
    served.post("torrents/rename", &[("hash", hash), ("name", "other name")]);
    assert_eq!(served.field(hash, "name"), "other name");
    for (given, name) in [("a name\n", "a name"), (" two\r\nlines\n\n", "two lines")] {
        served.post(
            "torrents/rename",
            &[("hash", hash.as_str()), ("name", given)],
        );
        assert_eq!(served.field(hash, "name"), name);
    }
    let blank = [("hash", hash.as_str()), ("name", " \n")];
    assert_eq!(served.refused("torrents/rename", &blank).0, 409);
    served.post(
        "torrents/renameFile",
        &[
            ("hash", hash),
            ("oldPath", "union-addresses"),
            ("newPath", "new"),
        ],
    );
    assert_eq!(
        served.json(&format!("torrents/files?hash={hash}"))[0]["name"],
        "new"
    );
    served
        .client
        .edit_files(1, |files| files[0].path = "a/b/new".into());
    served.client.changes();
    served.post(
        "torrents/renameFolder",
        &[("hash", hash), ("oldPath", "a/b"), ("newPath", "a/c")],
    );
    let renamed = Command::Rename {
        from: "a/b".into(),
        to: "a/c".into(),
    };
    assert_eq!(served.client.changes(), [(1, renamed)]);
    served
        .client
        .edit_files(1, |files| files[0].path = "new".into());
    served.post("torrents/setAutoManagement", &[hashes, ("enable", "false")]);
    // Accepted and ignored, as with a new torrent.
    served.post("torrents/toggleFirstLastPiecePrio", &[hashes]);
    for (path, fields, status) in [
        ("setAutoManagement", &[hashes, ("enable", "true")][..], 409),
        ("setDownloadLimit", &[hashes], 400),
        ("setDownloadLimit", &[hashes, ("limit", "fast")], 400),
        ("setUploadLimit", &[("limit", "1")], 400),
        ("setShareLimits", &[hashes, ("ratioLimit", "1")], 400),
        ("setLocation", &[hashes, ("location", "")], 400),
        ("setLocation", &[hashes, ("location", "relative")], 400),
        ("setLocation", &[hashes, ("location", "/a\0b")], 400),
        ("delete", &[hashes, ("deleteFiles", "perhaps")], 400),
        (
            "filePrio",
            &[("hash", hash), ("id", "0"), ("priority", "4")],
            400,
        ),
        (
            "filePrio",
            &[("hash", hash), ("id", "x"), ("priority", "1")],
            400,
        ),
        (
            "filePrio",
            &[("hash", hash), ("id", "1"), ("priority", "1")],
            409,
        ),
        (
            "filePrio",
            &[("hash", LINKED), ("id", "0"), ("priority", "1")],
            409,
        ),
        (
            "filePrio",
            &[("hash", "x"), ("id", "0"), ("priority", "1")],
            404,
        ),
        ("rename", &[("hash", hash), ("name", "")], 409),
        ("rename", &[("hash", "x"), ("name", "y")], 404),
        (
            "renameFile",
            &[("hash", hash), ("oldPath", "new"), ("newPath", "../new")],
            409,
        ),
        (
            "renameFile",
            &[("hash", hash), ("oldPath", "new"), ("newPath", "..")],
            409,
        ),
        (
            "renameFile",
            &[("hash", hash), ("oldPath", "new"), ("newPath", "a//new")],
            409,
        ),
        ("renameFile", &[("hash", hash), ("oldPath", "new")], 400),
        (
            "renameFile",
            &[("hash", hash), ("oldPath", "old"), ("newPath", "x")],
            409,
        ),
        (
            "renameFolder",
            &[("hash", hash), ("oldPath", "new"), ("newPath", "x")],
            409,
        ),
        (
            "renameFolder",
            &[("hash", hash), ("oldPath", "ne"), ("newPath", "x")],
            409,
        ),
        ("addTrackers", &[("hash", "x"), ("urls", "http://a/")], 404),
        ("addTrackers", &[("hash", hash), ("urls", "no url")], 400),
        (
            "editTracker",
            &[
                ("hash", hash),
                ("origUrl", "udp://absent"),
                ("newUrl", "udp://b"),
            ],
            409,
        ),
        (
            "editTracker",
            &[("hash", hash), ("origUrl", SECOND), ("newUrl", FIRST)],
            409,
        ),
        (
            "editTracker",
            &[("hash", hash), ("origUrl", SECOND), ("newUrl", "none")],
            400,
        ),
        ("editTracker", &[("hash", hash), ("origUrl", SECOND)], 400),
        (
            "removeTrackers",
            &[("hash", hash), ("urls", "udp://absent")],
            409,
        ),
        ("removeTrackers", &[("hash", hash)], 400),
        ("setForceStart", &[("value", "true")], 400),
    ] {
        let refused = served.refused(&format!("torrents/{path}"), fields);
        assert_eq!(refused.0, status, "{path} {fields:?}: {}", refused.1);
        assert_eq!(served.client.changes(), [], "{path} {fields:?}");
    }
}

#[test]
fn categories_and_labels() {
    let served = Served::new(listen()).with_two();
    let hash = &demo();
    served.post(
        "torrents/createCategory",
        &[("category", "tv"), ("savePath", "/tv")],
    );
    served.post("torrents/createCategory", &[("category", "films")]);
    served.post(
        "torrents/editCategory",
        &[("category", "films"), ("savePath", "/films")],
    );
    let expected = json!({
        "tv": { "name": "tv", "savePath": "/tv" },
        "films": { "name": "films", "savePath": "/films" },
    });
    assert_eq!(served.json("torrents/categories"), expected);
    served.post(
        "torrents/setCategory",
        &[("hashes", hash), ("category", "tv")],
    );
    assert_eq!(served.field(hash, "category"), "tv");
    for (path, fields, status) in [
        ("createCategory", &[("category", "tv")][..], 409),
        ("createCategory", &[("category", "")], 400),
        ("createCategory", &[("category", "/tv")], 409),
        (
            "createCategory",
            &[("category", "x"), ("savePath", "relative")],
            400,
        ),
        ("createCategory", &[], 400),
        (
            "createCategory",
            &[("category", "x"), ("downloadPath", "/y")],
            409,
        ),
        (
            "editCategory",
            &[("category", "tv"), ("downloadPathEnabled", "true")],
            409,
        ),
        (
            "editCategory",
            &[("category", "none"), ("savePath", "/x")],
            409,
        ),
        (
            "setCategory",
            &[("hashes", hash), ("category", "none")],
            409,
        ),
        ("setCategory", &[("hashes", hash)], 400),
        ("removeCategories", &[], 400),
        ("createTags", &[], 400),
        ("addTags", &[("hashes", hash)], 400),
        ("addTags", &[("tags", "x")], 400),
    ] {
        let refused = served.refused(&format!("torrents/{path}"), fields);
        assert_eq!(refused.0, status, "{path} {fields:?}: {}", refused.1);
    }
    served.post("torrents/removeCategories", &[("categories", "tv\nnone")]);
    assert_eq!(served.field(hash, "category"), "");
    served.post("torrents/createTags", &[("tags", "unused, used")]);
    served.post("torrents/addTags", &[("hashes", "all"), ("tags", "used,b")]);
    served.post("torrents/addTags", &[("hashes", hash), ("tags", "b,c")]);
    assert_eq!(served.field(hash, "tags"), "b, c, used");
    assert_eq!(
        served.json("torrents/tags"),
        json!(["b", "c", "unused", "used"])
    );
    served.post(
        "torrents/removeTags",
        &[("hashes", hash), ("tags", "b,none")],
    );
    assert_eq!(served.field(hash, "tags"), "c, used");
    served.post("torrents/removeTags", &[("hashes", hash)]);
    assert_eq!(served.field(hash, "tags"), "");
    served.post("torrents/deleteTags", &[("tags", "used,unused")]);
    // The last torrent has lost this label.
    assert_eq!(served.json("torrents/tags"), json!(["b", "c"]));
    assert_eq!(served.field(LINKED, "tags"), "b");
}

/// The trackers of the first torrent.
const FIRST: &str = "http://tracker.example.com:80/announce?passkey=1";
const SECOND: &str = "udp://192.0.2.1:6969";

#[test]
fn trackers_are_added_replaced_and_removed() {
    let served = Served::new(listen()).with_two();
    let torrent = demo();
    let hash = ("hash", torrent.as_str());
    served.client.changes();
    let expect = |tiers: &[&[&str]]| {
        let tiers = tiers
            .iter()
            .map(|urls| urls.iter().map(|url| (*url).to_owned()).collect());
        let change = Command::SetTrackers {
            trackers: tiers.collect(),
        };
        assert_eq!(served.client.changes(), [(1, change)]);
    };
    let added = "http://a.example/announce\n\nudp://b.example";
    served.post("torrents/addTrackers", &[hash, ("urls", added)]);
    let (a, b) = ("http://a.example/announce", "udp://b.example");
    expect(&[&[FIRST], &[SECOND], &[a], &[b]]);
    let edit = [hash, ("origUrl", SECOND), ("newUrl", "udp://c.example")];
    served.post("torrents/editTracker", &edit);
    expect(&[&[FIRST], &["udp://c.example"], &[a], &[b]]);
    let urls = format!("{FIRST}|{b}|udp://absent");
    served.post("torrents/removeTrackers", &[hash, ("urls", &urls)]);
    expect(&[&["udp://c.example"], &[a]]);
}
