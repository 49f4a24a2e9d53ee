//! qBittorrent Web API v2, as version 5.0.5 speaks it (Web API 2.11.2).
//!
//! A program logs in with a form and gets a cookie, which all other requests must have. Without a configured login, every
//! request from this machine is answered, as if qBittorrent's option "Bypass authentication for clients on localhost" were set;
//! a login succeeds with any name.

mod access;
#[expect(clippy::unnecessary_wraps, reason = "methods share a type")]
mod app;
mod call;
mod changes;
mod client;
mod edit;
mod request;
mod sync;
mod torrent;
#[expect(clippy::unnecessary_wraps, reason = "methods share a type")]
mod torrents;
#[expect(clippy::unnecessary_wraps, reason = "methods share a type")]
mod transfer;

use std::cell::OnceCell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap, SET_COOKIE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use hashlane_server::{Server, Sessions, Verdict};

use crate::listen::{Listen, ListenError, UNKNOWN_HOST, discard, start};
use crate::model::Control;
use call::{Answer, Call};
use changes::Changes;
use request::{Failure, Form};

/// The path of all methods.
const ROOT: &str = "/api/v2/";

/// The name of the cookie of sessions.
const COOKIE: &str = "SID";

/// Length limit in bytes of the form of a login.
const MAX_LOGIN_LEN: usize = 1 << 16;

/// Length limit in bytes of a request besides a .torrent file in it.
const MAX_REQUEST_LEN: usize = 4 << 20;

/// What all requests share.
struct Service {
    listen: Arc<Listen>,
    control: Arc<dyn Control>,
    sessions: Sessions,
    changes: Mutex<Changes>,
    max_metainfo_len: usize,
}

/// A method: its path, whether it changes something, and its function. Reads accept GET and POST, others POST only.
type MethodEntry = (&'static str, bool, Function);

type Function = fn(&Call<'_>) -> Result<Answer, Failure>;

/// A request that is answered.
enum Admitted {
    Login,
    Logout,
    Method(Function),
}

const READS: bool = false;
const WRITES: bool = true;

const METHODS: &[MethodEntry] = &[
    ("app/buildInfo", READS, app::build_info),
    ("app/defaultSavePath", READS, app::default_save_path),
    ("app/preferences", READS, app::preferences),
    ("app/setPreferences", WRITES, app::set_preferences),
    ("app/shutdown", WRITES, app::shutdown),
    ("app/version", READS, app::version),
    ("app/webapiVersion", READS, app::webapi_version),
    ("sync/maindata", READS, sync::maindata),
    ("sync/torrentPeers", READS, sync::torrent_peers),
    ("torrents/add", WRITES, edit::add),
    ("torrents/addTags", WRITES, edit::add_tags),
    ("torrents/addTrackers", WRITES, edit::add_trackers),
    ("torrents/bottomPrio", WRITES, edit::bottom_prio),
    ("torrents/categories", READS, torrents::categories),
    ("torrents/count", READS, torrents::count),
    ("torrents/createCategory", WRITES, edit::create_category),
    ("torrents/createTags", WRITES, edit::create_tags),
    ("torrents/decreasePrio", WRITES, edit::decrease_prio),
    ("torrents/delete", WRITES, edit::delete),
    ("torrents/deleteTags", WRITES, edit::delete_tags),
    ("torrents/downloadLimit", READS, torrents::download_limit),
    ("torrents/editCategory", WRITES, edit::edit_category),
    ("torrents/editTracker", WRITES, edit::edit_tracker),
    ("torrents/export", READS, torrents::export),
    ("torrents/filePrio", WRITES, edit::file_prio),
    ("torrents/files", READS, torrents::files),
    ("torrents/increasePrio", WRITES, edit::increase_prio),
    ("torrents/info", READS, torrents::info),
    ("torrents/pause", WRITES, edit::stop),
    ("torrents/pieceHashes", READS, torrents::piece_hashes),
    ("torrents/pieceStates", READS, torrents::piece_states),
    ("torrents/properties", READS, torrents::properties),
    ("torrents/reannounce", WRITES, edit::reannounce),
    ("torrents/recheck", WRITES, edit::recheck),
    ("torrents/removeCategories", WRITES, edit::remove_categories),
    ("torrents/removeTags", WRITES, edit::remove_tags),
    ("torrents/removeTrackers", WRITES, edit::remove_trackers),
    ("torrents/rename", WRITES, edit::rename),
    ("torrents/renameFile", WRITES, edit::rename_file),
    ("torrents/renameFolder", WRITES, edit::rename_folder),
    ("torrents/resume", WRITES, edit::start),
    (
        "torrents/setAutoManagement",
        WRITES,
        edit::set_auto_management,
    ),
    ("torrents/setCategory", WRITES, edit::set_category),
    (
        "torrents/setDownloadLimit",
        WRITES,
        edit::set_download_limit,
    ),
    ("torrents/setForceStart", WRITES, edit::set_force_start),
    ("torrents/setLocation", WRITES, edit::set_location),
    ("torrents/setShareLimits", WRITES, edit::set_share_limits),
    ("torrents/setSuperSeeding", WRITES, edit::set_super_seeding),
    ("torrents/setUploadLimit", WRITES, edit::set_upload_limit),
    ("torrents/start", WRITES, edit::start),
    ("torrents/stop", WRITES, edit::stop),
    ("torrents/tags", READS, torrents::tags),
    (
        "torrents/toggleFirstLastPiecePrio",
        WRITES,
        edit::toggle_first_last,
    ),
    (
        "torrents/toggleSequentialDownload",
        WRITES,
        edit::toggle_sequential,
    ),
    ("torrents/topPrio", WRITES, edit::top_prio),
    ("torrents/trackers", READS, torrents::trackers),
    ("torrents/uploadLimit", READS, torrents::upload_limit),
    ("torrents/webseeds", READS, torrents::webseeds),
    ("transfer/downloadLimit", READS, transfer::download_limit),
    ("transfer/info", READS, transfer::info),
    (
        "transfer/setDownloadLimit",
        WRITES,
        transfer::set_download_limit,
    ),
    (
        "transfer/setSpeedLimitsMode",
        WRITES,
        transfer::set_speed_limits_mode,
    ),
    (
        "transfer/setUploadLimit",
        WRITES,
        transfer::set_upload_limit,
    ),
    (
        "transfer/speedLimitsMode",
        READS,
        transfer::speed_limits_mode,
    ),
    (
        "transfer/toggleSpeedLimitsMode",
        WRITES,
        transfer::toggle_speed_limits_mode,
    ),
    ("transfer/uploadLimit", READS, transfer::upload_limit),
];

/// Serves the qBittorrent Web API on a thread of its own, until the result is dropped. `max_metainfo_len` limits the length
/// of an added .torrent file in bytes.
///
/// # Errors
/// Returns the reason why nothing is served; see [`ListenError`].
pub fn serve(
    mut listen: Listen,
    control: Arc<dyn Control>,
    max_metainfo_len: u64,
) -> Result<Server, ListenError> {
    listen.check()?;
    let socket = listen.listener.take();
    let listen = Arc::new(listen);
    let random = |error: io::Error| ListenError::Random(error.to_string());
    let sessions = Sessions::new(COOKIE).map_err(random)?;
    let changes = Changes::new().map_err(|error| ListenError::Random(error.to_string()))?;
    let max_metainfo_len = usize::try_from(max_metainfo_len).unwrap_or(usize::MAX);
    let service = Arc::new(Service {
        listen: Arc::clone(&listen),
        control,
        sessions,
        changes: Mutex::new(changes),
        max_metainfo_len,
    });
    let max_len = max_metainfo_len.saturating_add(MAX_REQUEST_LEN);
    let router = Router::new()
        .route("/api/v2/{scope}/{action}", any(answer))
        .route(
            "/api/v2/auth/login",
            any(answer).layer(DefaultBodyLimit::max(MAX_LOGIN_LEN)),
        )
        .layer(DefaultBodyLimit::max(max_len))
        .with_state(service);
    start(
        &listen,
        socket,
        "qbittorrent",
        "the qBittorrent Web API",
        router,
    )
}

async fn answer(
    State(service): State<Arc<Service>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let answered = service.answer(client.ip(), request).await;
    answered.unwrap_or_else(Failure::into_response)
}

impl Service {
    /// Returns the method that a request calls, if it may. Nothing of its body is read before.
    fn admit(&self, request: &Request) -> Result<Admitted, Failure> {
        let headers = request.headers();
        if !self.listen.has_host(headers) {
            return Err(Failure::new(StatusCode::UNAUTHORIZED, UNKNOWN_HOST));
        }
        if access::is_cross_site(headers) {
            let reason = "a page of another site sent this request";
            return Err(Failure::new(StatusCode::UNAUTHORIZED, reason));
        }
        let path = request.uri().path();
        let path = path.strip_prefix(ROOT).unwrap_or(path);
        let is_login = path == "auth/login";
        if !is_login && self.listen.login.is_some() && self.sessions.of(headers).is_none() {
            return Err(Failure::new(StatusCode::FORBIDDEN, "Forbidden"));
        }
        let (admitted, changes) = match path {
            "auth/login" => (Admitted::Login, WRITES),
            "auth/logout" => (Admitted::Logout, WRITES),
            _ => {
                let method = METHODS.iter().find(|method| method.0 == path);
                let Some((_, changes, function)) = method else {
                    return Err(Failure::new(StatusCode::NOT_FOUND, "Not Found"));
                };
                (Admitted::Method(*function), *changes)
            }
        };
        let method = request.method();
        if method != Method::POST && (changes || method != Method::GET) {
            let reason = "this method needs POST";
            return Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, reason));
        }
        Ok(admitted)
    }

    async fn answer(
        self: Arc<Self>,
        client: IpAddr,
        request: Request,
    ) -> Result<Response, Failure> {
        let admitted = match self.admit(&request) {
            Ok(admitted) => admitted,
            Err(failure) => {
                discard(request).await;
                return Err(failure);
            }
        };
        let headers = request.headers().clone();
        let form = if request.method() == Method::POST {
            Form::of_body(request).await?
        } else {
            Form::of_query(request.uri().query().unwrap_or(""))?
        };
        match admitted {
            Admitted::Login => blocking(move || self.login(client, &headers, &form)).await,
            Admitted::Logout => {
                let ended = self.sessions.end(&headers);
                Ok([(SET_COOKIE, ended)].into_response())
            }
            Admitted::Method(function) => blocking(move || self.call(function, form)).await,
        }
    }

    fn call(&self, function: Function, form: Form) -> Result<Response, Failure> {
        let answer = function(&Call {
            control: &*self.control,
            snapshot: OnceCell::new(),
            form,
            changes: &self.changes,
            max_metainfo_len: self.max_metainfo_len,
        })?;
        Ok(response(answer))
    }

    /// Starts a session if the name and the password are right.
    fn login(&self, client: IpAddr, headers: &HeaderMap, form: &Form) -> Result<Response, Failure> {
        if self.sessions.of(headers).is_some() {
            return Ok("Ok.".into_response());
        }
        if let Some(login) = &self.listen.login {
            let text = |name| form.given(name).unwrap_or("");
            match login.check(client, Some((text("username"), text("password")))) {
                Verdict::Right => {}
                Verdict::Wrong => return Ok("Fails.".into_response()),
                Verdict::TooMany => {
                    let reason = "too many wrong passwords: try again in a minute";
                    return Err(Failure::new(StatusCode::FORBIDDEN, reason));
                }
            }
        }
        let session = self.sessions.start().map_err(|error| {
            let reason = format!("random numbers: {error}");
            Failure::new(StatusCode::INTERNAL_SERVER_ERROR, reason)
        })?;
        Ok(([(SET_COOKIE, session.cookie)], "Ok.").into_response())
    }
}

/// Runs a function on a thread for those that wait: a password takes long to check, and a method may wait for the disk.
async fn blocking(
    function: impl FnOnce() -> Result<Response, Failure> + Send + 'static,
) -> Result<Response, Failure> {
    let answered = tokio::task::spawn_blocking(function).await;
    answered.unwrap_or_else(|error| {
        tracing::error!(%error, "a request was not answered");
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Err(Failure::new(status, "the request was not answered"))
    })
}

fn response(answer: Answer) -> Response {
    match answer {
        Answer::Text(text) => text.into_response(),
        Answer::Json(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        Answer::Torrent(bytes) => {
            let kind = (CONTENT_TYPE, "application/x-bittorrent");
            // The name is for browsers, and a program knows the torrent's.
            let name = (
                CONTENT_DISPOSITION,
                "attachment; filename=\"export.torrent\"",
            );
            ([kind, name], bytes).into_response()
        }
    }
}
