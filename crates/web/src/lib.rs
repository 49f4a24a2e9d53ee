#![doc = include_str!("../README.md")]
//!
//! Snapshots flow from the client's loop to the browsers. Requests act on a [`Service`]: the
//! torrents of a session.
//!
//! # Modules
//!
//! | file | content |
//! |---|---|
//! | `server` | the server and its requests |
//! | `operation`, `openapi` | the description of requests, and the document that is generated from it |
//! | `assets` | the files of the page |
//! | `compress` | answers that are compressed |
//! | `config` | its settings |
//! | `service` | the trait of what requests act on, and a session as such |
//! | `access`, `credentials`, `session` | access control of requests, and logins of the page |
//! | `add`, `jobs` | torrents that requests add |
//! | `api` | requests and event streams |
//! | `delta` | the changes of all torrents since an earlier event |
//! | `change` | changes of torrents |
//! | `named` | torrents as people name them |
//! | `detail`, `files` | answers about one torrent |
//! | `content` | the content of a file, also while it is downloaded |
//! | `links` | the tokens of links to content for players |
//! | `player`, `playlist` | requests for links, and playlists of them |
//! | `about` | answers about the client itself |
//! | `metrics` | metrics of all torrents |
//! | `problem` | the bodies of errors |
//! | `state` | state shared by all requests |
//! | `page` | the page: HTML, style and scripts |
#![forbid(unsafe_code)]
#![cfg(all(unix, feature = "libtorrent"))]

mod about;
mod access;
mod add;
mod api;
mod assets;
mod change;
mod compress;
mod config;
mod content;
mod credentials;
mod delta;
mod detail;
mod files;
mod jobs;
mod links;
mod metrics;
mod named;
#[cfg(feature = "schema")]
mod openapi;
mod operation;
mod player;
mod playlist;
mod problem;
mod server;
mod service;
mod session;
mod state;

pub use config::Http;
pub use credentials::{Auth, Credentials, EVERYBODY, InvalidToken, Token};
pub use hashlane_server::{Endpoint, Listener};
pub use links::Links;
#[cfg(feature = "schema")]
pub use openapi::openapi;
pub use server::Server;
pub use service::{Found, Reload, Service, SessionService, Statistics, TryRules};
