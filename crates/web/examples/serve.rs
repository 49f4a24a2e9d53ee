//! Serves the page and the HTTP API of a session.
//!
//! `serve STATE FOLDER [ADDRESS:PORT]`: STATE is the state folder, FOLDER gets the content, the address is that of the page; without one, any
//! free port of this machine. Prints the address of the page, with the token that it asks for. Peers come from trackers alone. Ends with
//! the standard input.

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, io};

use hashlane_client::{Config as ClientConfig, Network, Rights, Settings};
use hashlane_session::{Config, Session};
use hashlane_web::{Auth, Endpoint, Http, Links, Server, SessionService};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(state), Some(folder)) = (args.next(), args.next()) else {
        return Err("usage: serve STATE FOLDER [ADDRESS:PORT]".into());
    };
    let address = args.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let address: SocketAddr = address.parse()?;
    let folder = PathBuf::from(folder);
    let client = ClientConfig {
        session: Settings {
            network: Network {
                port: 0,
                ..Network::default()
            },
            dht: false,
            local_discovery: false,
            port_mapping: false,
            ..Settings::default()
        },
        ..ClientConfig::default()
    };
    let config = Config {
        folder: Some(folder.clone()),
        ..Config::default()
    };
    let (session, _events) = Session::open(Path::new(&state), client.clone(), config)?;
    let http = Http {
        endpoint: Endpoint::Tcp(vec![address]),
        origins: Vec::new(),
        folders: vec![folder.clone()],
        auth: Auth::NewToken,
        fetches_local: false,
        links: Links::default(),
    };
    let service = SessionService {
        session: Arc::clone(&session),
        rights: Some(Rights {
            folders: vec![folder],
            ..Rights::default()
        }),
        reload: None,
        try_rules: None,
    };
    let listener = http.endpoint.bind()?;
    let server = Server::start(listener, &http, &client, Arc::new(service))?;
    let token = server.new_token(&http).unwrap_or_default();
    println!("{}#{token}", server.url());
    io::copy(&mut io::stdin(), &mut io::sink())?;
    drop(server);
    session.stop()?;
    Ok(())
}
