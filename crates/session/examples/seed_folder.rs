//! Serves the torrents of a folder, and those that are put there later.
//!
//! `seed_folder STATE TORRENTS CONTENT [ADDRESS:PORT]`: STATE is the state folder, TORRENTS has .torrent files, CONTENT their content. With
//! an address, which is printed with its port, no peers are looked for. Ends with the standard input.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::{env, io, thread};

use hashlane_client::{Config as ClientConfig, Event, Network, Settings};
use hashlane_session::{Config, Session, Watched};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(state), Some(torrents), Some(content)) = (args.next(), args.next(), args.next())
    else {
        return Err("usage: seed_folder STATE TORRENTS CONTENT [ADDRESS:PORT]".into());
    };
    let address: Option<SocketAddr> = args.next().map(|address| address.parse()).transpose()?;
    let network = address.map_or_else(Network::default, Network::from);
    let client = ClientConfig {
        session: Settings {
            network: network.clone(),
            dht: address.is_none(),
            local_discovery: address.is_none(),
            port_mapping: address.is_none(),
            ..Settings::default()
        },
        ..ClientConfig::default()
    };
    let config = Config {
        folder: Some(content.into()),
        watched: vec![Watched {
            folder: torrents.into(),
            category: None,
        }],
        network,
        ..Config::default()
    };
    let (session, events) = Session::open(Path::new(&state), client, config)?;
    thread::spawn(move || {
        for event in events.iter() {
            match &*event {
                Event::Listening(address) => println!("listening: {address}"),
                Event::Complete(content) => println!("serving: {}", content.name),
                _ => {}
            }
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink())?;
    session.stop()?;
    Ok(())
}
