//! Settings of programs for all of their torrents, and whether torrents run.

use std::fs;
use std::path::Path;

use hashlane_import::{Imported, Options, Program, Start, read};

use crate::fixture::{copy, keys, made, session, torrents};

/// Returns the notes about a session whose settings get this text.
fn notes(program: Program, session_name: &str, file: &str, settings: &str) -> Vec<String> {
    let copied = tempfile::tempdir().unwrap();
    copy(&session(session_name), copied.path());
    fs::write(copied.path().join(file), settings).unwrap();
    let torrents = read(program, copied.path(), Options::default()).unwrap();
    torrents.notes().iter().map(ToString::to_string).collect()
}

/// Returns these texts as notes about what is not carried over.
fn not_carried(texts: &[&str]) -> Vec<String> {
    let notes = texts.iter();
    notes
        .map(|text| format!("not carried over: {text}"))
        .collect()
}

#[test]
fn settings_of_qbittorrent_for_all_torrents_are_notes() {
    let notes = |settings: &str| {
        let settings = format!("[BitTorrent]\n{settings}\n[Other]\nSession\\GlobalMaxRatio=9\n");
        let file = "config/qBittorrent.conf";
        notes(Program::QBittorrent, "qbittorrent", file, &settings)
    };
    let in_use = "Session\\GlobalDLSpeedLimit=1000\nSession\\GlobalUPSpeedLimit=50\n\
                  Session\\BandwidthSchedulerEnabled=true\nSession\\AlternativeGlobalUPSpeedLimit=20\n\
                  Session\\GlobalMaxRatio=1.5\nSession\\GlobalMaxSeedingMinutes=60\n\
                  Session\\GlobalMaxInactiveSeedingMinutes=0\n\
                  Session\\QueueingSystemEnabled=true\nSession\\MaxActiveUploads=7";
    let expected = [
        "download limit of all torrents: 1000 KiB/s",
        "upload limit of all torrents: 50 KiB/s",
        "alternative download limit of all torrents: 10 KiB/s",
        "alternative upload limit of all torrents: 20 KiB/s",
        "times of the alternative limits, which [schedule] sets here: those of its scheduler",
        "ratio goal of all torrents: 1.5",
        "seeding time goal of all torrents: 60 min",
        "time without uploads after which seeding ends, of all torrents: 0 min",
        "maximum number of active downloads: 3",
        "maximum number of active uploads: 7",
        "maximum number of active torrents: 5",
    ];
    assert_eq!(notes(in_use), not_carried(&expected));
    let unused = "Session\\GlobalDLSpeedLimit=0\nSession\\AlternativeGlobalUPSpeedLimit=20\n\
                  Session\\GlobalMaxRatio=-1\nSession\\QueueingSystemEnabled=false\nSession\\MaxActiveUploads=7";
    assert_eq!(notes(unused), not_carried(&[]));
}

/// The network interface of a VPN and similar settings are not carried over. A note names each.
#[test]
fn settings_of_the_network_are_notes() {
    let settings = "[BitTorrent]\nSession\\Interface=tun0\nSession\\InterfaceAddress=10.8.0.2\nSession\\Port=51413\n\
                    Session\\DHTEnabled=false\nSession\\LSDEnabled=false\nSession\\PeXEnabled=false\n\
                    Session\\AnonymousModeEnabled=true\nSession\\Encryption=1\nSession\\IPFilteringEnabled=true\n\
                    Session\\ShareLimitAction=Remove\nSession\\MaxRatioAction=1\n[Network]\nProxy\\Type=SOCKS5\n\
                    Proxy\\Password=secret\n[AutoRun]\nenabled=true\nprogram=/bin/x\n";
    let file = "config/qBittorrent.conf";
    let expected = [
        "what happens at the goals of all torrents: Remove",
        "network interface or address, which --bind sets here: tun0",
        "port for incoming connections, which --port sets here: 51413",
        "distributed hash table, which --no-dht turns off here: off",
        "discovery in the local network, which --no-discovery turns off here: off",
        "exchange of peers: off",
        "anonymous mode: on",
        "encryption of connections, which --encryption sets here: required",
        "proxy, which --proxy sets here: in use",
        "filter of addresses: in use",
        "program that runs for a torrent, which [hooks] sets here: in use",
    ];
    let of = |settings: &str| notes(Program::QBittorrent, "qbittorrent", file, settings);
    assert_eq!(of(settings), not_carried(&expected));
    // Settings with their default values have no note. A long name is not shown.
    let usual = format!(
        "[BitTorrent]\nSession\\DHTEnabled=true\nSession\\Encryption=0\nSession\\ShareLimitAction=Stop\n\
         Session\\Port=x\nSession\\Interface={}\n[Network]\nProxy\\Type=None\n",
        "x".repeat(1000)
    );
    let long = "network interface or address, which --bind sets here: in use";
    assert_eq!(of(&usual), not_carried(&[long]));
    let settings = r#"{"bind-address-ipv4": "10.8.0.2", "bind-address-ipv6": "::", "peer-port": 51413,
        "dht-enabled": false, "pex-enabled": true, "encryption": 2, "blocklist-enabled": true,
        "script-torrent-done-enabled": true}"#;
    let found = notes(
        Program::Transmission,
        "transmission",
        "settings.json",
        settings,
    );
    let expected = [
        "network interface or address, which --bind sets here: 10.8.0.2",
        "port for incoming connections, which --port sets here: 51413",
        "distributed hash table, which --no-dht turns off here: off",
        "encryption of connections, which --encryption sets here: required",
        "filter of addresses: in use",
        "program that runs for a torrent, which [hooks] sets here: in use",
    ];
    assert_eq!(found, not_carried(&expected));
    let core = r#"{"file": 1, "format": 1}{"listen_interface": "tun0", "listen_ports": [6881, 6891], "random_port": false,
        "dht": false, "lsd": true, "utpex": false, "proxy": {"type": 2, "password": "secret"}}"#;
    let found = notes(Program::Deluge, "deluge", "core.conf", core);
    let expected = [
        "network interface or address, which --bind sets here: tun0",
        "port for incoming connections, which --port sets here: 6881",
        "distributed hash table, which --no-dht turns off here: off",
        "exchange of peers: off",
        "proxy, which --proxy sets here: in use",
    ];
    assert_eq!(found[1..], not_carried(&expected));
}

#[test]
fn settings_of_transmission_for_all_torrents_are_notes() {
    let notes = |settings| {
        notes(
            Program::Transmission,
            "transmission",
            "settings.json",
            settings,
        )
    };
    let in_use = r#"{"speed-limit-down-enabled": true, "speed-limit-down": 500,
        "speed-limit-up-enabled": false, "speed-limit-up": 100,
        "alt_speed_time_enabled": true, "alt_speed_time_begin": 1350, "alt_speed_time_end": 360,
        "alt_speed_time_day": 67, "alt_speed_down": 50, "alt_speed_up": 40,
        "ratio-limit-enabled": true, "ratio-limit": 2.5,
        "idle-seeding-limit-enabled": true, "idle-seeding-limit": 30,
        "download-queue-enabled": true, "download-queue-size": 5,
        "seed-queue-enabled": true, "seed-queue-size": 10}"#;
    let expected = [
        "download limit of all torrents: 500 kB/s",
        "alternative download limit of all torrents: 50 kB/s",
        "alternative upload limit of all torrents: 40 kB/s",
        "times of the alternative limits, which [schedule] sets here: 22:30 to 06:00, sun mon sat",
        "ratio goal of all torrents: 2.5",
        "time without uploads after which seeding ends, of all torrents: 30 min",
        "maximum number of active downloads: 5",
        "maximum number of active uploads: 10",
    ];
    assert_eq!(notes(in_use), not_carried(&expected));
    let unused = r#"{"ratio-limit": 2, "download-queue-enabled": false, "download-queue-size": 5}"#;
    assert_eq!(notes(unused), not_carried(&[]));
}

#[test]
fn settings_of_deluge_and_rtorrent_for_all_torrents_are_notes() {
    let core = r#"{"file": 1, "format": 1}{"max_download_speed": 300.0, "max_upload_speed": -1.0,
        "stop_seed_at_ratio": true, "stop_seed_ratio": 2.0, "max_active_downloading": 3,
        "max_active_seeding": -1, "max_active_limit": 8}"#;
    let found = notes(Program::Deluge, "deluge", "core.conf", core);
    let expected = [
        "download limit of all torrents: 300.0 KiB/s",
        "ratio goal of all torrents: 2.0",
        "maximum number of active downloads: 3",
        "maximum number of active torrents: 8",
    ];
    assert_eq!(found[1..], not_carried(&expected));
    let found = read(Program::RTorrent, &session("rtorrent"), Options::default());
    let note = found.unwrap().notes()[0].to_string();
    assert!(note.contains("rate limits of all torrents"), "{note}");
}

/// Writes a torrent of qBittorrent, and returns whether it runs.
fn start_of(folder: &Path, managed: i64, paused: i64) -> Start {
    let (torrent, id) = made();
    let backup = folder.join("BT_backup");
    fs::create_dir_all(&backup).unwrap();
    fs::write(backup.join(format!("{id}.torrent")), torrent).unwrap();
    let resume = keys([
        ("auto_managed", managed.into()),
        ("paused", paused.into()),
        ("save_path", "/d".into()),
    ]);
    fs::write(backup.join(format!("{id}.fastresume")), resume.encoded()).unwrap();
    torrents(Program::QBittorrent, folder)["name"].start
}

#[test]
fn a_forced_torrent_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    for (managed, paused, start) in [
        (1, 0, Start::Queued),
        (1, 1, Start::Queued),
        (0, 0, Start::Forced),
        (0, 1, Start::Paused),
    ] {
        assert_eq!(start_of(folder.path(), managed, paused), start);
    }
}

/// The database has a column for this.
#[cfg(unix)]
#[test]
fn a_forced_torrent_of_the_database_stays_so() {
    let copied = tempfile::tempdir().unwrap();
    copy(&session("qbittorrent-sqlite"), copied.path());
    let database = rusqlite::Connection::open(copied.path().join("data/torrents.db")).unwrap();
    let changed = database
        .execute(
            "UPDATE torrents SET operating_mode = 'Forced' WHERE name = 'sent'",
            [],
        )
        .unwrap();
    assert_eq!(changed, 1);
    drop(database);
    let torrents = torrents(Program::QBittorrent, copied.path());
    let forced = torrents.values().filter(|it| it.start == Start::Forced);
    let forced: Vec<String> = forced.map(Imported::display_name).collect();
    assert_eq!(forced, ["sent"]);
}
