//! Downloads a torrent, and keeps it: after an end in the middle, the same call continues, and complete content is served again.
//!
//! `resume STATE FOLDER TORRENT [PEER...]`: STATE is the state folder, FOLDER gets the content, TORRENT is a .torrent file or a
//! magnet link. If peers are given (`ADDRESS:PORT`), no others are looked for.

use std::error::Error;
use std::path::Path;
use std::time::Duration;
use std::{env, fs, thread};

use hashlane_api::{NewTorrent, Size, Source};
use hashlane_client::{Config as ClientConfig, Network, Settings, TorrentKey};
use hashlane_session::{Config, Session};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(state), Some(folder), Some(torrent)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: resume STATE FOLDER TORRENT [PEER...]".into());
    };
    let peers = args
        .map(|peer| peer.parse())
        .collect::<Result<Vec<_>, _>>()?;
    let finds_peers = peers.is_empty();
    let client = ClientConfig {
        session: Settings {
            network: Network {
                port: 0,
                ..Network::default()
            },
            dht: finds_peers,
            local_discovery: finds_peers,
            port_mapping: finds_peers,
            ..Settings::default()
        },
        peers,
        ..ClientConfig::default()
    };
    let config = Config {
        folder: Some(folder.into()),
        ..Config::default()
    };
    let (session, _events) = Session::open(Path::new(&state), client, config)?;
    let source = match Source::of_link(&torrent) {
        Ok(link) => link,
        Err(_) => Source::of_file(fs::read(&torrent)?)?,
    };
    // One that is present stays as it is.
    let added = session.add(source, &NewTorrent::default(), None)?;
    let key = TorrentKey::Number(added.torrent.identity.number);
    while let Some(torrent) = session.torrent(key)
        && !torrent.is_complete
    {
        let (done, all) = (Size(torrent.done_bytes), Size(torrent.wanted_bytes));
        eprint!("\r{}: {done} of {all} ", torrent.title());
        if let Some(error) = &torrent.error {
            return Err(error.clone().into());
        }
        thread::sleep(Duration::from_millis(100));
    }
    println!("{}: complete and verified", added.torrent.title);
    session.stop()?;
    Ok(())
}
