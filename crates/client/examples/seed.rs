//! Serves the torrents of a folder until its standard input ends.
//!
//! `seed TORRENTS CONTENT [ADDRESS]`: TORRENTS is the folder of .torrent files, and CONTENT that of their content. If an
//! address is given (`127.0.0.1:0`), only peers that connect to it are served.

use std::error::Error;
use std::net::SocketAddr;
use std::{env, fs, io, thread};

use hashlane_client::{
    AddOptions, Client, Config, Event, Mode, Naming, Place, Seed, SeedLimits, Settings, Source,
    Subscription,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(torrents), Some(content)) = (args.next(), args.next()) else {
        return Err("usage: seed TORRENTS CONTENT [ADDRESS]".into());
    };
    let address: Option<SocketAddr> = args.next().map(|address| address.parse()).transpose()?;
    let defaults = Settings::default();
    let config = Config {
        session: Settings {
            dht: address.is_none(),
            local_discovery: address.is_none(),
            port_mapping: address.is_none(),
            network: address.map_or_else(Default::default, Into::into),
            ..defaults
        },
        ..Config::default()
    };
    let mode = Mode::Seed(Seed {
        place: Place::Folder(content.into()),
        super_seeding: false,
        limits: SeedLimits::default(),
        records: None,
        naming: Naming::default(),
    });
    let client = Client::builder().config(config).mode(mode).start()?;
    let events = client.subscribe();
    let printer = thread::spawn(move || print(&events));
    for entry in fs::read_dir(torrents)? {
        client.add(Source::file(entry?.path()), AddOptions::default())?;
    }
    io::copy(&mut io::stdin(), &mut io::sink())?;
    client.stop()?;
    printer.join().expect("the printer does not panic");
    Ok(())
}

/// Prints events until the client ends.
fn print(events: &Subscription) {
    for event in events.iter() {
        match &*event {
            Event::Listening(address) => println!("listening: {address}"),
            Event::Verified(content) => {
                let (name, have, pieces) = (&content.name, content.have, content.pieces);
                println!("{name}: serving {have} of {pieces} pieces");
            }
            Event::Absent { absence, .. } => println!("waiting: {absence}"),
            Event::Failed { error, .. } => println!("failed: {error}"),
            _ => {}
        }
    }
}
