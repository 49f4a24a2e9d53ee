//! The files of `docs/guides/monitoring`: they use metrics that exist, and Prometheus accepts them.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::page::{Page, torrent_is};
use super::peers::{Content, Peer};
use crate::not_run::is_installed;
use crate::pages::{blocks, text_of, workspace};

const FOLDER: &str = "docs/guides/monitoring";

/// Returns the names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("hashlane_")).collect()
}

#[test]
fn alerts_and_dashboard_use_metrics_that_exist() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let page = Page::of(Peer::seed_with(
        &[&torrent],
        content.path(),
        &["--http", "0"],
    ));
    page.wait_for(torrent_is("serving"));
    let response = page.get("/metrics");
    let served = metrics(&response.body);
    let [alerts, dashboard] =
        ["alerts.yml", "dashboard.json"].map(|name| text_of(&format!("{FOLDER}/{name}")));
    serde_json::from_str::<serde_json::Value>(&dashboard).unwrap();
    for (text, n_least) in [(&alerts, 4), (&dashboard, 6)] {
        let used = metrics(text);
        assert!(used.len() >= n_least, "{used:?}");
        assert!(used.is_subset(&served), "{used:?}\n{served:?}");
    }
    for activity in alerts.split("activity=\"").skip(1) {
        let (activity, _) = activity.split_once('"').unwrap();
        let label = format!("hashlane_torrents{{activity=\"{activity}\"}}");
        assert!(response.body.contains(&label), "{activity}");
    }
}

#[test]
fn prometheus_accepts_the_files() {
    let page = text_of("docs/guides/monitoring.md");
    let configuration = text_of(&format!("{FOLDER}/prometheus.yml"));
    assert!(configuration.contains(blocks(&page, "yaml")[0]), "{FOLDER}");
    if !is_installed("PROMTOOL", "promtool", "prometheus") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["alerts.yml", "alerts.test.yml", "prometheus.yml"] {
        let from = workspace().join(FOLDER).join(name);
        fs::copy(from, folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("token"), "token").unwrap();
    for args in [
        ["check", "rules", "alerts.yml"],
        ["test", "rules", "alerts.test.yml"],
        ["check", "config", "prometheus.yml"],
    ] {
        let mut command = Command::new("promtool");
        let output = command.args(args).current_dir(folder.path()).output();
        let output = output.unwrap();
        let errors = [output.stdout, output.stderr].concat();
        let errors = String::from_utf8_lossy(&errors);
        assert!(output.status.success(), "{args:?}: {errors}");
    }
}
