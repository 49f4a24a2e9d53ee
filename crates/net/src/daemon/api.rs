//! The daemon as its page and its API see it: changes go to the state folder first.

use std::io::{self, ErrorKind, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use hashlane_api::{Refusal, SOCKET};
use hashlane_cli::options::network::secret_line;
use hashlane_cli::{Daemon, Env};
use hashlane_client::{Config, Rights};
use hashlane_files::{AtomicFile, Overwrite};
use hashlane_web::{
    Auth, Credentials, EVERYBODY, Endpoint, Http, Links, Listener, Server, SessionService, Token,
};

use super::reload::Reload;
use crate::config::{auth, endpoint, http};
use crate::log;
use crate::output::reporter::Reporter;

/// The file in the state folder with the token, if the options name no credentials.
const TOKEN: &str = "http-token";

/// Serves the page, if the options ask for it or systemd has opened a socket for it. Requests may do what
/// `rights` allow.
pub(super) fn serve(
    env: &mut Env,
    daemon: &Daemon,
    socket: Option<TcpListener>,
    reload: &Arc<Reload>,
    config: &Config,
    (rights, links): (&Rights, &Links),
) -> anyhow::Result<Option<Server>> {
    let listener: Listener = match (socket, &daemon.http.http) {
        (Some(socket), _) => socket.into(),
        (None, Some(address)) => endpoint(env, "--http", address)?
            .bind()
            .with_context(|| format!("--http {address}"))?,
        (None, None) => return Ok(None),
    };
    let address = listener.endpoint()?;
    let auth = match auth(env, &daemon.http, daemon.remote.insecure_no_auth)? {
        Some(auth) => auth,
        None => Auth::Credentials(Credentials {
            token: Some(token(env, &reload.state.join(TOKEN))?),
            login: None,
        }),
    };
    if matches!(auth, Auth::Off) {
        log::warn(env, &format!("--http {address}: {EVERYBODY}"));
    }
    let service = service(reload, Some(rights.clone()));
    let context = format!("--http {address}");
    let http = Http {
        links: links.clone(),
        ..http(&daemon.http, address, auth, rights.folders.clone())
    };
    let server = Server::start(listener, &http, config, service);
    let server = server.context(context)?;
    Ok(Some(server))
}

/// Serves the same at the socket in the state folder, whose lock this process holds. Who can open the socket may do everything.
/// `links` lead to the page, because players cannot open the socket.
pub(super) fn serve_socket(
    reload: &Arc<Reload>,
    config: &Config,
    links: Links,
) -> anyhow::Result<Server> {
    let endpoint = Endpoint::Unix(reload.state.join(SOCKET));
    let context = endpoint.to_string();
    let listener = endpoint.bind().with_context(|| context.clone())?;
    let http = Http {
        endpoint,
        origins: Vec::new(),
        folders: vec!["/".into()],
        auth: Auth::Off,
        fetches_local: true,
        links,
    };
    Server::start(listener, &http, config, service(reload, None)).context(context)
}

/// Reports the address of the page, and the file with the token if the options name no credentials.
pub(super) fn report(
    env: &mut Env,
    page: &Server,
    daemon: &Daemon,
    state: &Path,
    reporter: &mut Reporter,
) -> anyhow::Result<()> {
    reporter.page(env, &page.url(), None)?;
    let options = &daemon.http;
    let has_credentials = options.http_token_file.is_some() || options.http_user.is_some();
    if has_credentials || daemon.remote.insecure_no_auth {
        return Ok(());
    }
    let file = state.join(TOKEN);
    reporter.note(
        env,
        &format!("note: the page asks for the token in {}", file.display()),
    )
}

/// Returns the token of a file, which is made if it is absent. Only its user can read it.
fn token(env: &Env, path: &Path) -> anyhow::Result<Token> {
    let context = || path.display().to_string();
    match secret_line(env, path) {
        Ok(text) => Token::new(&text).with_context(context),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = Token::random()?;
            write_token(path, &token).with_context(context)?;
            Ok(token)
        }
        Err(error) => Err(error).with_context(context),
    }
}

/// Writes the file of a token as a whole: a kill leaves no part of it.
fn write_token(path: &Path, token: &Token) -> io::Result<()> {
    let file = AtomicFile::beside(path, 0o600)?;
    writeln!(file.as_file(), "{}", token.secret())?;
    file.put(path, Overwrite::No)
}

/// Returns the torrents of the daemon as requests see them. Without `rights`, everything is allowed.
fn service(reload: &Arc<Reload>, rights: Option<Rights>) -> Arc<SessionService> {
    let session = Arc::clone(&reload.session);
    let (reload, other) = (Arc::clone(reload), Arc::clone(reload));
    Arc::new(SessionService {
        session,
        rights,
        reload: Some(Box::new(move || reload.run().map_err(Refusal::Conflict))),
        try_rules: Some(Box::new(move || {
            other.try_rules().map_err(Refusal::Conflict)
        })),
    })
}
