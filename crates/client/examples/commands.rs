//! Adds, pauses and ends torrents by commands from standard input, one per line.
//!
//! `commands FOLDER [PEER...]` downloads to FOLDER. If peers are given, no others are looked for. The commands:
//! `add TORRENT` (a .torrent file, a magnet link or an info-hash), `pause ID`, `resume ID`, `wait ID` (until the torrent is
//! complete), `end ID` and `list`. ID is an info-hash of a torrent, or its number.

use std::error::Error;
use std::net::SocketAddr;
use std::{env, io};

use hashlane_client::{
    AddOptions, Client, Config, InfoHash, Magnet, Settings, Source, TorrentHandle, TorrentKey,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut args = env::args().skip(1);
    let folder = args.next().ok_or("usage: commands FOLDER [PEER...]")?;
    let peers: Vec<SocketAddr> = args
        .map(|peer| peer.parse())
        .collect::<std::result::Result<_, _>>()?;
    let config = Config {
        session: Settings {
            network: hashlane_client::Network {
                port: 0,
                ..hashlane_client::Network::default()
            },
            dht: peers.is_empty(),
            local_discovery: peers.is_empty(),
            port_mapping: peers.is_empty(),
            ..Settings::default()
        },
        peers,
        ..Config::default()
    };
    let client = Client::builder().config(config).folder(folder).start()?;
    for line in io::stdin().lines() {
        match run(&client, &line?) {
            Ok(text) => println!("{text}"),
            Err(error) => println!("error: {error}"),
        }
    }
    client.stop()?;
    Ok(())
}

/// Runs a command, and returns its result as text.
fn run(client: &Client, line: &str) -> Result<String> {
    let (command, argument) = line.split_once(' ').unwrap_or((line, ""));
    match command {
        "add" => {
            let torrent = client.add(source(argument), AddOptions::default())?;
            return Ok(format!("{}: added", torrent.number()));
        }
        "list" => {
            let torrents = client.torrents();
            let lines: Vec<String> = torrents.iter().map(describe).collect();
            return Ok(lines.join("\n"));
        }
        _ => {}
    }
    let torrent = find(client, argument)?;
    match command {
        "pause" => torrent.pause()?,
        "resume" => torrent.resume()?,
        "end" => torrent.end()?,
        "wait" => torrent.wait_complete()?,
        _ => return Err("commands: add, pause, resume, wait, end, list".into()),
    }
    Ok(format!("{}: {command}", torrent.number()))
}

fn source(given: &str) -> Source {
    if let Ok(info_hash) = given.parse::<InfoHash>() {
        return Source::info_hash(info_hash);
    }
    match given.parse::<Magnet>() {
        Ok(magnet) => magnet.into(),
        Err(_) => Source::file(given),
    }
}

/// Returns the torrent of an info-hash or a number. A torrent that was just added has only a number.
fn find(client: &Client, given: &str) -> Result<TorrentHandle> {
    let key: TorrentKey = given.parse()?;
    let mut torrents = client.torrents().into_iter();
    let by_number = torrents.find(|one| TorrentKey::Number(one.number()) == key);
    Ok(by_number
        .or_else(|| client.get(key))
        .ok_or("no such torrent")?)
}

fn describe(torrent: &TorrentHandle) -> String {
    let snapshot = torrent.snapshot();
    let (number, activity) = (torrent.number(), snapshot.activity.name());
    let (done, wanted) = (snapshot.done_bytes, snapshot.wanted_bytes);
    let title = snapshot.title();
    format!("{number}: {title}: {activity}, {done} of {wanted} bytes")
}
