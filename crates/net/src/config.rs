//! The settings of the client from the options.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::num::{NonZeroU16, NonZeroU32};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use hashlane_api::Rates;
use hashlane_cli::options::client::ClientOptions;
use hashlane_cli::options::http::HttpOptions;
use hashlane_cli::options::network::secret_line;
use hashlane_cli::torrent_file::MAX_LEN;
use hashlane_cli::{Env, ServerAddress, Trust};
use hashlane_client::{Config, Mode, Place, Pulse};
use hashlane_server::Login;
use hashlane_session::{AddedFiles, Watched};
use hashlane_web::{Auth, Credentials, Endpoint, Http, Links, Token};

use crate::log::LogFile as _;
use crate::settings::{LocalEnd as _, SessionSettings as _, peer_addresses};

/// Returns the folder of the records of verified content.
pub(crate) fn records(trust: Trust, env: &Env) -> anyhow::Result<PathBuf> {
    match trust {
        Trust::SizeAndTime => {
            let state = env.state.as_ref().context(
                "--trust: no folder for the record: neither XDG_STATE_HOME nor HOME is an absolute path; \
                 name a folder with --state-dir",
            )?;
            Ok(state.join("trust"))
        }
    }
}

/// Returns the absolute paths of the folders of the command, which requests may move content to.
fn folders(env: &Env, mode: &Mode) -> anyhow::Result<Vec<PathBuf>> {
    let folders: Vec<&PathBuf> = match mode {
        Mode::Download(download) => {
            let move_to = download.move_to.iter();
            move_to.chain([&download.folder]).collect()
        }
        Mode::Seed(seed) => match &seed.place {
            Place::Folder(folder) => vec![folder],
            Place::Content(_) => Vec::new(),
        },
        Mode::Metadata { .. } => Vec::new(),
    };
    folders
        .into_iter()
        .map(|folder| absolute(env, folder))
        .collect()
}

/// Options that have the settings of a client.
pub(crate) trait ClientConfig {
    /// Makes the folder of `--state-dir` that of the process.
    fn use_state_dir(&self, env: &mut Env) -> anyhow::Result<()>;

    /// Returns the settings of the client.
    fn config(&self, env: &Env) -> anyhow::Result<Config>;

    /// Returns the settings of a session that keeps nothing, whose torrents have this mode and lie in this folder.
    fn session(&self, env: &Env, mode: Mode, folder: PathBuf) -> hashlane_session::Config;

    /// Returns the settings of the page, if there is one. Requests place content in the folder of `mode`.
    fn page(&self, env: &Env, mode: &Mode) -> anyhow::Result<Option<Http>>;
}

impl ClientConfig for ClientOptions {
    fn use_state_dir(&self, env: &mut Env) -> anyhow::Result<()> {
        if let Some(folder) = &self.state_dir {
            env.state = Some(absolute(env, folder)?);
        }
        Ok(())
    }

    fn config(&self, env: &Env) -> anyhow::Result<Config> {
        let event_detail = self.log.event_detail(self.output.is_json());
        Ok(Config {
            session: self.network.settings(env, event_detail)?,
            peers: peer_addresses(&self.peers)?,
            hashing: self.hashing.options(),
            max_verifications: NonZeroU16::MIN,
            cancel: env.cancel.clone(),
            pulse: Pulse::default(),
            max_metainfo_len: MAX_LEN,
            ..Config::default()
        })
    }

    fn session(&self, env: &Env, mode: Mode, folder: PathBuf) -> hashlane_session::Config {
        let watched = self.watch.iter().map(|folder| Watched {
            folder: env.resolve(folder),
            category: None,
        });
        let number = |limit: Option<u32>| limit.and_then(NonZeroU32::new);
        let port_file = self.network.port_file.as_deref();
        hashlane_session::Config {
            mode: Some(mode),
            folder: Some(folder),
            rates: Rates {
                down: number(self.network.max_down),
                up: number(self.network.max_up),
            },
            network: self.network.connections.network(),
            port_file: port_file.map(|file| env.resolve(file)),
            watched: watched.collect(),
            added_files: AddedFiles::Kept,
            ..hashlane_session::Config::default()
        }
    }

    fn page(&self, env: &Env, mode: &Mode) -> anyhow::Result<Option<Http>> {
        let Some(address) = &self.http.http else {
            return Ok(None);
        };
        let auth = auth(env, &self.http, self.insecure_no_auth)?;
        let auth = auth.unwrap_or(Auth::NewToken);
        let endpoint = endpoint(env, "--http", address)?;
        Ok(Some(http(&self.http, endpoint, auth, folders(env, mode)?)))
    }
}

/// Returns the settings of the page at an endpoint.
pub(crate) fn http(
    options: &HttpOptions,
    endpoint: Endpoint,
    auth: Auth,
    folders: Vec<PathBuf>,
) -> Http {
    let origins = options.http_origins.iter().cloned();
    let own = options.http.as_ref().and_then(own_origin);
    Http {
        endpoint,
        origins: origins.chain(own).collect(),
        folders,
        auth,
        fetches_local: options.http_fetch_local,
        links: Links::default(),
    }
}

/// Returns the endpoint of an option's address. Asks the system for the addresses of a name.
pub(crate) fn endpoint(
    env: &Env,
    option: &str,
    address: &ServerAddress,
) -> anyhow::Result<Endpoint> {
    let context = || format!("{option} {address}");
    Ok(match address {
        ServerAddress::Tcp(host, port) => {
            let mut addresses: Vec<SocketAddr> = (host.as_str(), *port)
                .to_socket_addrs()
                .with_context(context)?
                .collect();
            addresses.sort_unstable();
            addresses.dedup();
            Endpoint::Tcp(addresses)
        }
        ServerAddress::Unix(path) => Endpoint::Unix(env.resolve(path)),
    })
}

/// Returns the origin of a page at a name of its own.
fn own_origin(address: &ServerAddress) -> Option<String> {
    let ServerAddress::Tcp(_, port @ 1..) = address else {
        return None;
    };
    let host = address.own_name()?.to_ascii_lowercase();
    Some(match port {
        80 => format!("http://{host}"),
        port => format!("http://{host}:{port}"),
    })
}

/// Returns who may use the page; `None` if the options do not say it.
pub(crate) fn auth(
    env: &Env,
    options: &HttpOptions,
    is_open: bool,
) -> anyhow::Result<Option<Auth>> {
    let token = options.http_token_file.as_ref().map(|path| {
        let read = || anyhow::Ok(Token::new(&secret_line(env, path)?)?);
        read().with_context(|| format!("--http-token-file {}", path.display()))
    });
    let user = options.http_user.as_deref();
    let login = login(env, "--http", user, options.http_password_file.as_deref())?;
    let (token, login) = (token.transpose()?, login.map(Arc::new));
    let has_any = token.is_some() || login.is_some();
    Ok(match (is_open, has_any) {
        (true, true) => {
            anyhow::bail!("--insecure-no-auth: not together with --http-token-file and --http-user")
        }
        (true, false) => Some(Auth::Off),
        (false, true) => Some(Auth::Credentials(Credentials { token, login })),
        (false, false) => None,
    })
}

/// Returns the login with a name and the password of a file. `prefix` is that of both options.
pub(crate) fn login(
    env: &Env,
    prefix: &str,
    user: Option<&str>,
    path: Option<&Path>,
) -> anyhow::Result<Option<Login>> {
    match (user, path) {
        (Some(user), Some(path)) => {
            let context = || format!("{prefix}-password-file {}", path.display());
            let password = secret_line(env, path).with_context(context)?;
            let login = Login::new(user, &password).with_context(context)?;
            Ok(Some(login))
        }
        (None, None) => Ok(None),
        // Not only one of them: without a login, everybody on this machine could control the program.
        _ => anyhow::bail!("{prefix}-user and {prefix}-password-file must be given together"),
    }
}

/// Returns the absolute path of a folder: the state folder keeps it, and a later daemon starts elsewhere.
pub(crate) fn absolute(env: &Env, folder: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(env.resolve(folder));
    path.with_context(|| folder.display().to_string())
}
