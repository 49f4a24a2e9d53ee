//! Downloads a torrent with a progress bar.
//!
//! `download TORRENT FOLDER [PEER...]`: TORRENT is a .torrent file or a magnet link. If peers are given (`ADDRESS:PORT`),
//! no others are looked for.

use std::error::Error;
use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;
use std::{env, io, thread};

use hashlane_client::{AddOptions, Client, Config, Magnet, Settings, Source, TorrentSnapshot};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(torrent), Some(folder)) = (args.next(), args.next()) else {
        return Err("usage: download TORRENT FOLDER [PEER...]".into());
    };
    let peers: Vec<SocketAddr> = args.map(|peer| peer.parse()).collect::<Result<_, _>>()?;
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
    let source = match torrent.parse::<Magnet>() {
        Ok(magnet) => magnet.into(),
        Err(_) => Source::file(torrent),
    };
    let download = client.add(source, AddOptions::default())?;
    loop {
        let snapshot = download.snapshot();
        show(&snapshot)?;
        if snapshot.activity.is_over() {
            break;
        }
        thread::sleep(Duration::from_millis(200));
    }
    eprintln!();
    download.wait_complete()?;
    println!("{}: complete and verified", download.snapshot().title());
    Ok(())
}

/// Shows the progress of the verification before the download, or of the download.
fn show(torrent: &TorrentSnapshot) -> io::Result<()> {
    const CELLS: u64 = 40;
    let (done, all) = match torrent.verified_bytes {
        0 => (torrent.done_bytes, torrent.wanted_bytes),
        verified => (verified, torrent.total_bytes),
    };
    let full = (CELLS * done / all.max(1)) as usize;
    let bar = "#".repeat(full) + &".".repeat(CELLS as usize - full.min(CELLS as usize));
    let rate = torrent.down_bytes_per_second / 1024;
    let (activity, peers) = (torrent.activity.name(), torrent.peers);
    eprint!("\r[{bar}] {rate:6} KiB/s, {peers:3} peers, {activity:<12}");
    io::stderr().flush()
}
