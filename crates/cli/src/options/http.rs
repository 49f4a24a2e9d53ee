//! The options of the page, which `get`, `seed` and `daemon` share.

use std::path::PathBuf;

use clap::Args;
use hashlane_config::ServerAddress;

use crate::values;

/// The options of the page.
#[derive(Debug, Args)]
#[command(next_help_heading = "Page")]
pub struct HttpOptions {
    /// Serve a web page, an API and metrics on this port of the local machine (0 for any), on the port of all addresses of a
    /// host, such as `localhost:8080`, or on a Unix socket: `unix:PATH`
    #[arg(long, value_name = "[HOST:]PORT|unix:PATH")]
    pub http: Option<ServerAddress>,

    /// Origin under which browsers reach the page, by a proxy or a name, such as `https://torrents.example` or
    /// `http://nas.local:8080`; repeatable
    #[arg(long = "http-origin", value_name = "URL", value_parser = values::origin, requires = "http")]
    pub http_origins: Vec<String>,

    /// File whose first line is the token that requests must have, for reading too [default for get and seed: a new token,
    /// which is printed; for daemon: `http-token` in the state folder, which is made]
    #[arg(long, value_name = "FILE")]
    pub http_token_file: Option<PathBuf>,

    /// User name for the login of the page, with the password of --http-password-file
    #[arg(long, value_name = "NAME")]
    pub http_user: Option<String>,

    /// File whose first line is the password, or its hash in the PHC format ($argon2id$...)
    #[arg(long, value_name = "FILE")]
    pub http_password_file: Option<PathBuf>,

    /// Let requests fetch .torrent files from this machine and the local network
    #[arg(long)]
    pub http_fetch_local: bool,
}
