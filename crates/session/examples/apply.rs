//! Applies a command to all torrents of a state folder, and shows what became of them.
//!
//! `apply STATE COMMAND`: COMMAND is JSON, as in the HTTP API: `{"action":"pause"}`, `{"action":"set","labels":["linux"],"ratio":2}`,
//! `{"action":"remove"}`. No peers are looked for.

use std::env;
use std::error::Error;
use std::path::Path;

use hashlane_api::Command;
use hashlane_client::{Config as ClientConfig, Network, Settings};
use hashlane_session::{Config, Session};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(state), Some(command)) = (args.next(), args.next()) else {
        return Err("usage: apply STATE COMMAND".into());
    };
    let command: Command = serde_json::from_str(&command)?;
    let network = Network {
        port: 0,
        ..Network::default()
    };
    let client = ClientConfig {
        session: Settings {
            network: network.clone(),
            dht: false,
            local_discovery: false,
            port_mapping: false,
            ..Settings::default()
        },
        ..ClientConfig::default()
    };
    let config = Config {
        network,
        ..Config::default()
    };
    let (session, _events) = Session::open(Path::new(&state), client, config)?;
    let all = &session.snapshot().torrents;
    let numbers: Vec<usize> = all.iter().map(|it| it.identity.number).collect();
    // One write to the folder, and a result for each.
    let results = session.apply(&numbers, &command, None);
    for (torrent, result) in all.iter().zip(results) {
        let title = torrent.title();
        match (result, session.torrent(torrent.identity.number.into())) {
            (Err(refusal), _) => println!("{title}: {refusal}"),
            (Ok(()), None) => println!("{title}: removed"),
            (Ok(()), Some(now)) => {
                let state = if now.is_paused { "paused" } else { "running" };
                println!("{title}: {state}, labels {:?}", now.labels);
            }
        }
    }
    session.stop()?;
    Ok(())
}
