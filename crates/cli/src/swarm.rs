//! `get` and `seed`: torrents that are downloaded and served.
//!
//! Both verify what is there ([`local`]), add it to a session of libtorrent, and then do what happens: events come
//! in, and go out to whoever looks on ([`audience`]).

#[cfg(not(feature = "libtorrent"))]
mod absent;
#[cfg(feature = "libtorrent")]
mod audience;
#[cfg(feature = "libtorrent")]
mod fetch;
#[cfg(feature = "libtorrent")]
mod get;
#[cfg(feature = "libtorrent")]
mod local;
#[cfg(feature = "libtorrent")]
mod log;
#[cfg(feature = "libtorrent")]
mod page;
#[cfg(feature = "libtorrent")]
mod report;
#[cfg(feature = "libtorrent")]
mod seed;
#[cfg(feature = "libtorrent")]
mod settings;
#[cfg(feature = "libtorrent")]
mod terminal;
#[cfg(feature = "libtorrent")]
mod view;

#[cfg(feature = "libtorrent")]
use std::{sync::Arc, sync::mpsc, thread, time::Duration};

#[cfg(feature = "libtorrent")]
use hashlane_swarm::Session;

/// How long the end may take.
#[cfg(feature = "libtorrent")]
const PARTING: Duration = Duration::from_millis(1500);

/// Ends a session that nobody else has: trackers are told, and not waited for longer than [`PARTING`].
#[cfg(feature = "libtorrent")]
fn part(session: Arc<Session>) {
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        drop(session);
        let _ = done.send(());
    });
    let _ = ended.recv_timeout(PARTING);
}

/// How many times a content has been sent.
#[cfg(feature = "libtorrent")]
#[expect(clippy::cast_precision_loss, reason = "nobody counts so exactly")]
fn ratio(uploaded: u64, length: u64) -> f64 {
    uploaded as f64 / length.max(1) as f64
}
