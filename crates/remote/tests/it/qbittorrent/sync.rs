//! Changes since an earlier answer.

use serde_json::{Value, json};

use super::{LINKED, MAGNET, Served, demo};
use crate::transmission::listen;

#[test]
fn only_changes_are_sent() {
    let served = Served::new(listen()).with_two();
    let hash = &demo();
    let after = |rid: &Value| served.json(&format!("sync/maindata?rid={rid}"));
    let all = after(&json!(0));
    assert_eq!(all["full_update"], true);
    assert_eq!(all["torrents"].as_object().unwrap().len(), 2);
    assert_eq!(all["torrents"][hash]["progress"], 0.5);
    assert_eq!(all["server_state"]["queueing"], true);
    assert_eq!(all["server_state"]["global_ratio"], "0.50");
    assert_eq!((&all["categories"], &all["tags"]), (&json!({}), &json!([])));
    let first = &all["rid"];
    assert_eq!(after(first), json!({ "rid": first }), "nothing changed");
    served
        .client
        .edit(1, |torrent| torrent.up_bytes_per_second = 7);
    let second = after(first);
    let expected = json!({
        "rid": second["rid"],
        "torrents": { hash: { "upspeed": 7 } },
        "server_state": { "up_info_speed": 7 },
    });
    assert_eq!(second, expected);
    // An answer that was lost is sent again, with all changes since the number.
    served.post("torrents/createCategory", &[("category", "tv")]);
    served.post(
        "torrents/setCategory",
        &[("hashes", LINKED), ("category", "tv")],
    );
    served.post("torrents/addTags", &[("hashes", LINKED), ("tags", "new")]);
    let third = after(first);
    let expected = json!({
        "rid": third["rid"],
        "torrents": { hash: { "upspeed": 7 }, LINKED: { "category": "tv", "tags": "new" } },
        "categories": { "tv": { "name": "tv", "savePath": "" } },
        "tags": ["new"],
        "server_state": { "up_info_speed": 7 },
    });
    assert_eq!(third, expected);
    assert_eq!(after(first), third);
    served.post(
        "torrents/delete",
        &[("hashes", LINKED), ("deleteFiles", "false")],
    );
    served.post("torrents/removeCategories", &[("categories", "tv")]);
    served.post("torrents/deleteTags", &[("tags", "new")]);
    let fourth = after(&third["rid"]);
    let expected = json!({
        "rid": fourth["rid"],
        "torrents_removed": [LINKED],
        "categories_removed": ["tv"],
        "tags_removed": ["new"],
        "server_state": { "total_peer_connections": 1 },
    });
    assert_eq!(fourth, expected);
    served.post("torrents/add", &[("urls", MAGNET)]);
    let fifth = after(&third["rid"]);
    assert!(fifth["torrents_removed"].is_null(), "it is present again");
    assert_eq!(fifth["torrents"][LINKED]["name"], "linked");
    // The goals of the client are those of its torrents.
    served.post("app/setPreferences", &[("json", "{\"max_ratio\":3.5}")]);
    let sixth = after(&fifth["rid"]);
    let expected = json!({
        "rid": sixth["rid"],
        "torrents": { hash: { "max_ratio": 3.5 }, LINKED: { "max_ratio": 3.5 } },
    });
    assert_eq!(sixth, expected);
    let unknown = [0, 1, 4_294_967_295_u64, 1 << 40];
    for rid in unknown {
        assert_eq!(after(&json!(rid))["full_update"], true, "{rid}");
    }
    assert_eq!(served.json("sync/maindata")["full_update"], true);
    assert_eq!(served.get("sync/maindata?rid=x").status(), 400);
}

#[test]
fn many_removals_are_not_remembered_for_ever() {
    let served = Served::new(listen());
    let tags = |range: std::ops::Range<usize>| {
        let names: Vec<String> = range.map(|number| format!("tag{number}")).collect();
        names.join(",")
    };
    let mut rid = served.json("sync/maindata")["rid"].clone();
    let first = rid.clone();
    for round in 0..11 {
        let names = tags(round * 1000..(round + 1) * 1000);
        served.post("torrents/createTags", &[("tags", &names)]);
        let created = served.json(&format!("sync/maindata?rid={rid}"));
        assert_eq!(created["tags"].as_array().unwrap().len(), 1000);
        served.post("torrents/deleteTags", &[("tags", &names)]);
        let removed = served.json(&format!("sync/maindata?rid={}", created["rid"]));
        assert_eq!(removed["tags_removed"].as_array().unwrap().len(), 1000);
        rid = removed["rid"].clone();
    }
    let old = served.json(&format!("sync/maindata?rid={first}"));
    assert_eq!(old["full_update"], true);
}
