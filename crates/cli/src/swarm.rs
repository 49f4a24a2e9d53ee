//! `get` and `seed`: torrents that are downloaded and served.
//!
//! Both verify what is there ([`local`]), add it to a session of libtorrent, and then do what happens: events come
//! in, and go out to whoever looks on ([`audience`]).

mod audience;
mod fetch;
mod get;
mod local;
mod log;
mod page;
mod report;
mod seed;
mod settings;
mod terminal;
mod view;

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use hashlane_swarm::Session;

/// How long the end may take.
const PARTING: Duration = Duration::from_millis(1500);

/// Ends a session that nobody else has: trackers are told, and not waited for longer than [`PARTING`].
fn part(session: Arc<Session>) {
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        drop(session);
        let _ = done.send(());
    });
    let _ = ended.recv_timeout(PARTING);
}

/// How many times a content has been sent.
#[expect(clippy::cast_precision_loss, reason = "nobody counts so exactly")]
fn ratio(uploaded: u64, length: u64) -> f64 {
    uploaded as f64 / length.max(1) as f64
}
