//! The server of a page: the requests that it answers.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::middleware;
use hashlane_client::Config;
use hashlane_server::Listener;
use tokio::sync::watch;

use super::access::{self, Access};
use super::config::Http;
use super::credentials::Auth;
use super::operation::{JSON, Kind, Operation, Routes};
use super::service::Service;
use super::state::State;
use super::{
    about, add, api, assets, change, compress, content, metrics, player, playlist, problem, session,
};

/// Length limit in bytes of a command, which can list files or trackers.
const MAX_COMMAND_LEN: usize = 64 << 10;

/// Length limit in bytes of a request's body that lists torrents.
const MAX_BATCH_LEN: usize = 1 << 20;

/// The server of the page. A separate thread runs it until the value is dropped.
#[derive(Debug)]
pub struct Server {
    access: Arc<Access>,
    serving: hashlane_server::Server,
}

impl Server {
    /// Serves the page of a service at a socket that listens, in place of [`Http::endpoint`]. `config` has the settings of
    /// its client.
    ///
    /// # Errors
    /// The system refuses a thread, or [`Http::auth`] has no credentials.
    pub fn start(
        listener: Listener,
        http: &Http,
        config: &Config,
        service: Arc<dyn Service>,
    ) -> io::Result<Self> {
        let endpoint = listener.endpoint()?;
        let access = Arc::new(Access::new(http, &endpoint)?);
        let (end, ended) = watch::channel(());
        let state = State::new(service, config, http, &endpoint, ended)?;
        let router = router(state.clone(), Arc::clone(&access), config.max_metainfo_len);
        let ending = async move {
            end.send_replace(());
            state.streams_end().await;
        };
        let serving = hashlane_server::Server::start("http", listener, router, ending)?;
        http.links.add_server(&endpoint, &http.origins);
        tracing::info!(address = %serving.endpoint(), "serving the page");
        Ok(Self { access, serving })
    }

    /// Returns the address of the page: `http://127.0.0.1:8080/`, or `unix:PATH` for a Unix socket.
    pub fn url(&self) -> String {
        self.serving.endpoint().url()
    }

    /// Returns the token, if it is one of this start.
    pub fn new_token(&self, http: &Http) -> Option<String> {
        let token = self.access.token().map(|token| token.secret().to_owned());
        token.filter(|_| matches!(http.auth, Auth::NewToken))
    }
}

fn router(state: State, access: Arc<Access>, max_metainfo_len: u64) -> Router {
    let max_metainfo_len = usize::try_from(max_metainfo_len).unwrap_or(usize::MAX);
    let sessions = sessions().router.with_state(Arc::clone(&access));
    let content = contents().router.layer(middleware::from_fn_with_state(
        (Arc::clone(&access), state.clone()),
        player::check_token,
    ));
    let content = content.with_state(state.clone());
    requests(max_metainfo_len)
        .router
        .layer(middleware::from_fn_with_state(
            Arc::clone(&access),
            access::check_rights,
        ))
        .with_state(state)
        .merge(content)
        .merge(assets::router())
        .merge(sessions)
        .layer(middleware::from_fn_with_state(access, access::check_site))
        .layer(middleware::map_response(problem::describe))
        .layer(middleware::from_fn(compress::compress))
}

/// Returns the requests for logins, which everybody can make.
pub(super) fn sessions() -> Routes<Arc<Access>> {
    const PATH: &str = "/api/v1/session";
    Routes::new()
        .on(
            Operation::get(PATH, "What this program may do, and how it can log in.")
                .open()
                .json(200, "Session", "The session."),
            session::session,
        )
        .on(
            Operation::post(PATH, "Logs in, and starts a session with a cookie.")
                .open()
                .takes("Login")
                .json(201, "Session", "The session.")
                .header(201, "Set-Cookie", "The cookie of the session.")
                .error(401, "The token or the password is wrong.")
                .error(429, "There were too many wrong passwords."),
            session::login,
        )
        .on(
            Operation::delete(PATH, "Ends the session.").open().answer(
                204,
                None,
                "The session has ended, or there was none.",
            ),
            session::logout,
        )
}

/// Returns the requests that need the right to read or to change something.
pub(super) fn requests(max_metainfo_len: usize) -> Routes<State> {
    let routes = of_additions(of_torrents(Routes::new()), max_metainfo_len);
    of_rules(of_settings(of_program(of_files(of_torrent(routes)))))
}

/// Adds the requests for many torrents.
fn of_torrents(routes: Routes<State>) -> Routes<State> {
    routes
        .on(
            Operation::get(
                "/api/v1/torrents",
                "All torrents, or those that the query names.",
            )
            .query(
                "torrent",
                Kind::Texts,
                "A torrent: its number, an info-hash, the first digits of an info-hash (at least 4), or the exact name; repeatable.",
            )
            .json(200, "Torrents", "The torrents.")
            .error(404, "There is no such torrent.")
            .error(409, "Several torrents fit a name."),
            api::torrents,
        )
        .on(
            Operation::post("/api/v1/batch", "Does what a command asks of many torrents.")
                .takes("Batch")
                .max_body_len(MAX_BATCH_LEN)
                .json(200, "Results", "A result for each torrent."),
            change::batch,
        )
        .on(
            Operation::get(
                "/api/v1/events",
                "Changes of all torrents, as server-sent events. Nothing is sent while nothing changes.",
            )
            .query(
                "torrent",
                Kind::Schema("TorrentId"),
                "The torrent that is described in `detail`.",
            )
            .query(
                "since",
                Kind::Text,
                "The `id` of an earlier event: only what changed since is sent.",
            )
            .request_header("Last-Event-ID", "The same, as browsers send it.")
            .events(
                "Changes",
                "The events. The first has all torrents, unless the request names an earlier event. The last has the type `end`.",
            )
            .error(404, "There is no such torrent."),
            api::events,
        )
}

/// Adds the requests that add torrents.
fn of_additions(routes: Routes<State>, max_metainfo_len: usize) -> Routes<State> {
    // In base 64, with options.
    let max_addition_len = (max_metainfo_len / 3 * 4).saturating_add(MAX_BATCH_LEN);
    routes
        .on(
            Operation::post(
                "/api/v1/torrents",
                "Adds a torrent: a link or a .torrent file in JSON, or a .torrent file with options in the query.",
            )
            .query(
                "options",
                Kind::Json("NewTorrent"),
                "For a .torrent file as the body: the choices for the torrent, as JSON.",
            )
            .body("application/x-bittorrent", Kind::Bytes)
            .takes("Addition")
            .max_body_len(max_addition_len)
            .json(
                200,
                "Added",
                "The program has the torrent, and the torrent has not ended. Nothing was added.",
            )
            .header(200, "Location", "The path of the torrent.")
            .json(201, "Added", "The torrent was added.")
            .header(201, "Location", "The path of the torrent.")
            .json(202, "Job", "The .torrent file of the URL is being fetched.")
            .header(202, "Location", "The path of the job.")
            .error(409, "No torrent can be added, or it cannot be added like this.")
            .error(422, "The body or the options have a value that cannot be used."),
            add::torrent,
        )
        .on(
            Operation::get(
                "/api/v1/jobs/{id}",
                "The state of a torrent that is added from a URL.",
            )
            .json(200, "Job", "The job.")
            .error(404, "There is no such job, or it ended long ago."),
            add::job,
        )
}

/// Adds the requests for one torrent.
fn of_torrent(routes: Routes<State>) -> Routes<State> {
    routes
        .on(
            Operation::get("/api/v1/torrents/{id}", "One torrent.").json(
                200,
                "TorrentDetail",
                "The torrent.",
            ),
            api::torrent,
        )
        .on(
            Operation::post(
                "/api/v1/torrents/{id}",
                "Does what a command asks of a torrent.",
            )
            .takes("Command")
            .max_body_len(MAX_COMMAND_LEN)
            .accepted("The command was accepted. Its effect appears in the next event.")
            .error(
                409,
                "The torrent has ended or failed, or the request does not suit it.",
            ),
            change::torrent,
        )
        .on(
            Operation::get(
                "/api/v1/torrents/{id}/events",
                "One torrent, when it changes, as server-sent events.",
            )
            .events("TorrentDetail", "The events."),
            api::torrent_events,
        )
        .on(
            Operation::get(
                "/api/v1/torrents/{id}/trackers",
                "Trackers of a torrent, at most 200.",
            )
            .json(200, "Trackers", "The trackers."),
            api::trackers,
        )
}

/// Returns the requests that a link permits, too.
pub(super) fn contents() -> Routes<State> {
    const TOKEN: &str = "The token of a link, in place of other credentials.";
    Routes::new()
        .on(
            Operation::get(
                "/api/v1/torrents/{id}/files/{number}/content",
                "The content of a file, or a range of it. Waits for what is not present yet, and downloads it first.",
            )
            .in_path("number", Kind::Number, "The number of the file.")
            .query("token", Kind::Text, TOKEN)
            .request_header("Range", "A range of bytes (RFC 9110 section 14.2).")
            .request_header("If-Range", "The `ETag` of the file for which the range is meant.")
            .answer(
                200,
                Some(("application/octet-stream", Kind::Bytes)),
                "The file. Only bytes are sent whose hashes were right. The answer ends before its length if a piece does not arrive in a minute.",
            )
            .header(200, "ETag", "The info-hash of the torrent and the number of the file.")
            .header(200, "Accept-Ranges", "`bytes`")
            .answer(
                206,
                Some(("application/octet-stream", Kind::Bytes)),
                "The range.",
            )
            .header(206, "Content-Range", "The range, and the length of the file.")
            .answer(304, None, "`If-None-Match` names this file.")
            .error(
                409,
                "The file is not selected, or cannot be read, or its torrent has ended or is being verified.",
            )
            .error(416, "The file has no such range.")
            .error(503, "64 files are being read already."),
            content::content,
        )
        .on(
            Operation::get(
                "/api/v1/torrents/{id}/playlist.m3u8",
                "The selected audio and video files of a torrent as a playlist, at most 10,000. Each URL has a token.",
            )
            .query("token", Kind::Text, TOKEN)
            .answer(
                200,
                Some(("audio/x-mpegurl", Kind::Text)),
                "The playlist.",
            )
            .error(409, "No player can reach the program."),
            playlist::playlist,
        )
}

/// Adds the requests for the files of a torrent.
fn of_files(routes: Routes<State>) -> Routes<State> {
    routes
        .on(
            Operation::get(
                "/api/v1/torrents/{id}/files",
                "A page of the files of a torrent.",
            )
            .query("offset", Kind::Number, "Position of the first file.")
            .query(
                "limit",
                Kind::Number,
                "Number of files, at most 5000; 500 by default.",
            )
            .json(200, "Files", "The files."),
            api::files,
        )
        .on(
            Operation::post(
                "/api/v1/torrents/{id}/link",
                "Returns a URL of a file, or of the playlist, for players, which need no other credentials.",
            )
            .takes("LinkRequest")
            .json(200, "Link", "The link. Another request for the torrent extends its lifetime.")
            .error(
                409,
                "The torrent has no audio or video file, the file cannot be read, or no player can reach the program.",
            ),
            player::link,
        )
}

/// Adds the requests about the state of the program.
fn of_program(routes: Routes<State>) -> Routes<State> {
    routes
        .on(
            Operation::get("/metrics", "Metrics of OpenMetrics.").answer(
                200,
                Some(("application/openmetrics-text", Kind::Text)),
                "The metrics.",
            ),
            metrics::metrics,
        )
        .on(
            Operation::get("/api/v1/status", "The state of the program.").json(
                200,
                "Status",
                "The state.",
            ),
            about::status,
        )
        .on(
            Operation::get(
                "/api/v1/limits",
                "The limits of all torrents together, each with its origin.",
            )
            .answer(200, Some((JSON, Kind::List("Limit"))), "The limits."),
            about::limits,
        )
        .on(
            Operation::get(
                "/api/v1/statistics",
                "Transferred bytes, and whether peers can connect.",
            )
            .json(200, "Statistics", "The statistics."),
            about::statistics,
        )
        .on(
            Operation::get(
                "/api/v1/free-space",
                "Space of the file system of a folder.",
            )
            .query(
                "folder",
                Kind::Text,
                "A folder in which requests may place content.",
            )
            .required("folder")
            .json(200, "Space", "The space.")
            .error(409, "The space of the folder cannot be read."),
            about::space,
        )
}

/// Adds the requests for categories, labels and settings.
fn of_settings(routes: Routes<State>) -> Routes<State> {
    routes
        .on(
            Operation::get(
                "/api/v1/groups",
                "The categories and labels. `get` and `seed` have none.",
            )
            .json(200, "Groups", "The categories and labels."),
            about::groups,
        )
        .on(
            Operation::post(
                "/api/v1/groups",
                "Makes, changes and removes categories and labels of a daemon.",
            )
            .takes("GroupChange")
            .max_body_len(MAX_COMMAND_LEN)
            .accepted("The change is made, and lasts across restarts.")
            .error(
                403,
                "The request is from another site, the configuration has the category, or requests may not place content in the folder.",
            )
            .error(
                409,
                "The program is no daemon, or the state folder cannot be written.",
            ),
            about::change_groups,
        )
        .on(
            Operation::get("/api/v1/config", "The settings in force, without secrets.")
                .json(200, "Config", "The settings."),
            about::config,
        )
        .on(
            Operation::patch(
                "/api/v1/config",
                "Changes settings of all torrents together, and the local end of connections. An absent field changes nothing. A daemon keeps the settings across restarts, except `port` and `bind`. `get` and `seed` have `max_down`, `max_up`, `port` and `bind` alone.",
            )
            .takes("ConfigChange")
            .accepted("The command was accepted. Its effect appears in the next event.")
            .error(
                409,
                "The port is in use, or this machine does not have the address. Or the program is no daemon, and does not have the setting. Nothing changed.",
            ),
            about::change_config,
        )
        .on(
            Operation::post(
                "/api/v1/reload",
                "Reads the configuration of a daemon again, and applies what can change while it runs.",
            )
            .json(
                200,
                "Reloaded",
                "The configuration is in force, except for the options that need a restart.",
            )
            .error(
                409,
                "The configuration is invalid, and nothing changed; the answer has the file, the line and the reason. Or the program is no daemon.",
            )
            .error(503, "The program is ending."),
            about::reload,
        )
}

/// Adds the request about rules.
fn of_rules(routes: Routes<State>) -> Routes<State> {
    routes
        .on(
            Operation::get(
                "/api/v1/rules",
                "What the rules of the configuration set for torrents. `get` and `seed` have none.",
            )
            .query(
                "dry_run",
                Kind::Text,
                "`true` to read the configuration again, and show what its rules would set. Nothing changes.",
            )
            .json(200, "Rules", "The rules.")
            .error(
                409,
                "The configuration is invalid; the answer has the file, the line and the reason. Or the program is no daemon.",
            ),
            about::rules,
        )
}
