//! What is asked for by the page, and by programs.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use data_encoding::BASE64;
use hashlane_swarm::Peer;
use serde::Serialize;
use tokio::time::{MissedTickBehavior, interval};
use tokio_stream::wrappers::IntervalStream;
use tokio_stream::{Stream, StreamExt as _};

use super::{Command, Limits, Shared};
use crate::swarm::view::{Activity, Snapshot, TorrentView};

/// How often browsers hear of something new.
const TICK: Duration = Duration::from_millis(500);

/// Peers that are shown of one torrent: those that move most.
const MAX_PEERS: usize = 200;

/// A torrent with all that is known of it.
#[derive(Serialize)]
pub(super) struct Detail {
    #[serde(flatten)]
    view: TorrentView,
    /// A bit for each piece that is there, the first piece highest in the first byte, in base 64.
    have: String,
    peer_list: Vec<PeerView>,
}

#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct PeerView {
    address: String,
    client: String,
    progress: f64,
    down_bytes_per_second: u64,
    up_bytes_per_second: u64,
    downloaded_bytes: u64,
    uploaded_bytes: u64,
    encrypted: bool,
    utp: bool,
    outgoing: bool,
    web_seed: bool,
}

impl From<Peer> for PeerView {
    fn from(peer: Peer) -> Self {
        Self {
            address: peer.address.to_string(),
            client: peer.client,
            progress: peer.progress,
            down_bytes_per_second: peer.down_rate,
            up_bytes_per_second: peer.up_rate,
            downloaded_bytes: peer.downloaded,
            uploaded_bytes: peer.uploaded,
            encrypted: peer.is_encrypted,
            utp: peer.is_utp,
            outgoing: peer.is_outgoing,
            web_seed: peer.is_web_seed,
        }
    }
}

impl Shared {
    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    fn detail(&self, number: usize) -> Option<Detail> {
        let view = self.snapshot().torrents.get(number)?.clone();
        // It can have left the session since.
        let of_session = |id| Some((self.session.have(id).ok()?, self.session.peers(id).ok()?));
        let (have, mut peers) = view.id.and_then(of_session).unwrap_or_default();
        let rate = |peer: &Peer| peer.down_rate + peer.up_rate;
        peers.sort_by(|a, b| rate(b).cmp(&rate(a)).then(a.address.cmp(&b.address)));
        peers.truncate(MAX_PEERS);
        Some(Detail {
            view,
            have: BASE64.encode(&bits(&have)),
            peer_list: peers.into_iter().map(PeerView::from).collect(),
        })
    }

    fn ask(&self, command: Command) -> StatusCode {
        // It is obeyed by and by; and whoever would is gone only if the process is about to end.
        match self.commands.send(command) {
            Ok(()) => StatusCode::ACCEPTED,
            Err(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn ask_of(&self, number: usize, command: fn(usize) -> Command) -> StatusCode {
        match self
            .snapshot()
            .torrents
            .get(number)
            .map(|view| view.activity)
        {
            Some(Activity::Ended | Activity::Failed) => StatusCode::CONFLICT,
            Some(_) => self.ask(command(number)),
            None => StatusCode::NOT_FOUND,
        }
    }

    /// What is seen now and from time to time, until the browser goes away or there is nothing to see.
    fn stream(&self, see: impl Fn(&Self) -> Option<Event> + Send + 'static) -> Response {
        let Ok(permit) = Arc::clone(&self.streams).try_acquire_owned() else {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        };
        let shared = self.clone();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let events = IntervalStream::new(ticks).map_while(move |_| {
            let _permit = &permit;
            see(&shared).map(Ok)
        });
        sse(events)
    }
}

fn sse(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

fn json(what: &impl Serialize) -> Option<Event> {
    Event::default().json_data(what).ok()
}

/// As BEP 3 has them.
fn bits(have: &[bool]) -> Vec<u8> {
    let bytes = have.chunks(8).map(|pieces| {
        let bits = pieces.iter().enumerate();
        bits.fold(0, |byte, (i, have)| byte | u8::from(*have) << (7 - i))
    });
    bytes.collect()
}

pub(super) async fn torrents(State(shared): State<Shared>) -> Response {
    Json(&*shared.snapshot()).into_response()
}

pub(super) async fn events(State(shared): State<Shared>) -> Response {
    shared.stream(|shared| json(&*shared.snapshot()))
}

pub(super) async fn torrent(State(shared): State<Shared>, Path(number): Path<usize>) -> Response {
    match shared.detail(number) {
        Some(detail) => Json(detail).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(super) async fn torrent_events(
    State(shared): State<Shared>,
    Path(number): Path<usize>,
) -> Response {
    if shared.snapshot().torrents.get(number).is_none() {
        return StatusCode::NOT_FOUND.into_response();
    }
    shared.stream(move |shared| json(&shared.detail(number)?))
}

pub(super) async fn pause(State(shared): State<Shared>, Path(number): Path<usize>) -> StatusCode {
    shared.ask_of(number, Command::Pause)
}

pub(super) async fn resume(State(shared): State<Shared>, Path(number): Path<usize>) -> StatusCode {
    shared.ask_of(number, Command::Resume)
}

pub(super) async fn end(State(shared): State<Shared>, Path(number): Path<usize>) -> StatusCode {
    shared.ask_of(number, Command::End)
}

pub(super) async fn limits(State(shared): State<Shared>, Json(limits): Json<Limits>) -> StatusCode {
    shared.ask(Command::Limit(limits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_piece_is_highest_in_the_first_byte() {
        let mut have = [false; 10];
        have[0] = true;
        have[9] = true;
        assert_eq!(bits(&have), [0b1000_0000, 0b0100_0000]);
        assert!(bits(&[]).is_empty());
    }
}
