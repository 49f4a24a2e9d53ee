//! One client by both protocols: categories and labels.

use hashlane_api::{CategoryPatch, Command, GroupChange, Patch, Target};
use std::sync::Arc;
use std::time::Duration;

use hashlane_client::Activity;
use hashlane_remote::{Control as _, serve_qbittorrent};
use serde_json::{Value, json};

use crate::client::{Client, patch};
use crate::transmission::{MAGNET, Served, listen};

fn set(served: &Served, labels: &Value) {
    let arguments = json!({ "ids": [1], "labels": labels });
    served.done("torrent-set", &arguments);
}

/// Returns the category and the labels of the torrent, and what Transmission shows.
fn shown(served: &Served) -> (Option<String>, Vec<String>, Value) {
    let torrent = served.client.snapshot().torrents[0].as_ref().clone();
    (torrent.category, torrent.labels, served.get(1, "labels"))
}

#[test]
fn a_category_is_the_first_label_of_transmission() {
    let served = Served::new(listen());
    for name in ["tv", "films"] {
        let change = GroupChange::SetCategory(CategoryPatch {
            name: name.to_owned(),
            ..CategoryPatch::default()
        });
        served.client.change_groups(&change).unwrap();
    }
    // As Sonarr adds a torrent.
    let arguments = json!({ "filename": MAGNET, "labels": ["hd", "tv"] });
    served.done("torrent-add", &arguments);
    let tv = (Some("tv".to_owned()), vec!["hd".to_owned()]);
    let (category, labels, list) = shown(&served);
    assert_eq!((category, labels), tv);
    assert_eq!(list, json!(["tv", "hd"]));
    // The list as it was shown changes nothing, and another category in it is a label.
    set(&served, &list);
    assert_eq!(shown(&served).0.as_deref(), Some("tv"));
    let changes = served.client.changes();
    assert_eq!(
        changes,
        [(
            1,
            patch(Patch {
                labels: Some(["hd".to_owned()].into()),
                ..Patch::default()
            })
        )]
    );
    set(&served, &json!(["films", "tv"]));
    let (category, labels, list) = shown(&served);
    assert_eq!(category.as_deref(), Some("tv"));
    assert_eq!(labels, ["films"]);
    assert_eq!(list, json!(["tv", "films"]));
    // As Sonarr marks an import: another category replaces its own.
    set(&served, &json!(["imported", "films"]));
    let (category, labels, list) = shown(&served);
    assert_eq!(category.as_deref(), Some("films"));
    assert_eq!(labels, ["imported"]);
    assert_eq!(list, json!(["films", "imported"]));
    set(&served, &json!(["unknown"]));
    assert_eq!(shown(&served).0, None);
    assert_eq!(shown(&served).1, ["unknown"]);
    set(&served, &json!([]));
    assert_eq!(shown(&served), (None, Vec::new(), json!([])));
}

#[test]
fn both_protocols_show_the_same_torrent() {
    let served = Served::new(listen());
    let control: Arc<Client> = Arc::clone(&served.client);
    let other = serve_qbittorrent(listen(), control, 1 << 20).unwrap();
    served.done("torrent-add", &json!({ "filename": MAGNET }));
    let url = |path: &str| {
        format!(
            "http://{}/api/v2/{path}",
            other.endpoint().address().unwrap()
        )
    };
    let hashes = "hashes=all&category=tv&tags=a,b";
    for (path, form) in [
        ("torrents/createCategory", "category=tv"),
        ("torrents/setCategory", hashes),
        ("torrents/addTags", hashes),
    ] {
        let request = ureq::post(url(path));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        request.send(form).unwrap();
    }
    assert_eq!(served.get(1, "labels"), json!(["tv", "a", "b"]));
    // Without metadata, nothing is there.
    assert_eq!(served.get(1, "percentDone"), 0.0);
    served.done(
        "torrent-set",
        &json!({ "ids": [1], "sequential_download": true }),
    );
    assert_eq!(served.get(1, "sequentialDownload"), true);
    let rows = ureq::get(url("torrents/info")).call().unwrap();
    let rows = rows.into_body().read_to_string().unwrap();
    let rows: Value = serde_json::from_str(&rows).unwrap();
    assert_eq!(rows[0]["seq_dl"], true);
    assert_eq!(rows[0]["tags"], "a, b");
}

/// Sonarr removes a torrent that has reached the limits that programs see, its own or those of its category.
#[test]
fn goals_of_a_category_are_shown_as_those_of_its_torrents() {
    let served = Served::new(listen());
    let control: Arc<Client> = Arc::clone(&served.client);
    let other = serve_qbittorrent(listen(), control, 1 << 20).unwrap();
    served.done("torrent-add", &json!({ "filename": MAGNET }));
    served.client.edit(1, |torrent| {
        torrent.activity = Activity::Paused;
        torrent.files = 1;
        (torrent.wanted_bytes, torrent.done_bytes) = (10, 10);
        torrent.inherited.ratio = Target::At(1.5);
        torrent.inherited.idle = Target::Never;
        torrent.inherited.time = Target::At(Duration::from_secs(5_400));
    });
    let of_transmission = |field| served.get(1, field);
    let of_qbittorrent = |field: &str| {
        let url = format!(
            "http://{}/api/v2/torrents/info",
            other.endpoint().address().unwrap()
        );
        let rows = ureq::get(url).call().unwrap();
        let rows = rows.into_body().read_to_string().unwrap();
        let rows: Value = serde_json::from_str(&rows).unwrap();
        rows[0][field].clone()
    };
    assert_eq!(of_transmission("seedRatioMode"), 1);
    assert_eq!(of_transmission("seedRatioLimit"), 1.5);
    assert_eq!(of_transmission("seedIdleMode"), 2);
    assert_eq!(of_transmission("isFinished"), true);
    assert_eq!(of_qbittorrent("ratio_limit"), 1.5);
    assert_eq!(of_qbittorrent("max_ratio"), 1.5);
    assert_eq!(of_qbittorrent("seeding_time_limit"), 90);
    assert_eq!(of_qbittorrent("inactive_seeding_time_limit"), -1);
    // A change of something else makes none of them the torrent's own.
    served.client.changes();
    served.done(
        "torrent-set",
        &json!({ "ids": [1], "downloadLimit": 5, "downloadLimited": true }),
    );
    let changes = served.client.changes();
    let [(1, Command::Set(limits))] = &changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!((limits.ratio, limits.time, limits.idle), (None, None, None));
    // The torrent's own goal wins.
    served
        .client
        .edit(1, |torrent| torrent.goal.ratio = Target::Never);
    assert_eq!(of_transmission("seedRatioMode"), 2);
    assert_eq!(of_qbittorrent("ratio_limit"), -1);
}
