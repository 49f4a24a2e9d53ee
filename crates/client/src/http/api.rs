//! The API of the page and of programs.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, RawQuery, State as Shared};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use data_encoding::BASE64;
use hashlane_swarm::Peer;
use serde::Serialize;
use tokio::time::{MissedTickBehavior, interval};
use tokio_stream::wrappers::IntervalStream;
use tokio_stream::{Stream, StreamExt as _};

use super::state::State;
use crate::command::{Command, Limits, TorrentCommand};
use crate::snapshot::{Snapshot, TorrentSnapshot};

/// Interval of the events of a stream.
const TICK: Duration = Duration::from_millis(500);

/// Number of peers in the detail of a torrent: those with the highest rates.
const MAX_PEERS: usize = 200;

/// A torrent with its pieces and peers.
#[derive(Serialize)]
pub(super) struct Detail {
    #[serde(flatten)]
    torrent: TorrentSnapshot,
    /// A bit for each piece that is present, in base 64: the first piece is the highest bit of the first byte.
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

impl Detail {
    fn of(state: &State, number: usize) -> Option<Self> {
        let torrent = state.snapshot().torrents.get(number)?.clone();
        let (have, mut peers) = state.pieces_and_peers(&torrent).unwrap_or_default();
        let rate = |peer: &Peer| peer.down_rate + peer.up_rate;
        peers.sort_by(|a, b| rate(b).cmp(&rate(a)).then(a.address.cmp(&b.address)));
        peers.truncate(MAX_PEERS);
        Some(Self {
            torrent,
            have: BASE64.encode(&bits(&have)),
            peer_list: peers.into_iter().map(PeerView::from).collect(),
        })
    }
}

/// All torrents, and the detail of one.
#[derive(Serialize)]
struct Overview<'s> {
    #[serde(flatten)]
    snapshot: &'s Snapshot,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<Detail>,
}

fn send(state: &State, command: Command) -> StatusCode {
    if state.send(command) {
        StatusCode::ACCEPTED
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}

fn send_to(state: &State, number: usize, command: TorrentCommand) -> StatusCode {
    match state.snapshot().torrents.get(number) {
        Some(torrent) if torrent.activity.is_over() => StatusCode::CONFLICT,
        Some(_) => send(state, Command::Torrent(number, command)),
        None => StatusCode::NOT_FOUND,
    }
}

/// Sends an event now and at each interval, until the browser disconnects or `event` returns `None`.
fn stream(state: State, event: impl Fn(&State) -> Option<Event> + Send + 'static) -> Response {
    let Some(permit) = state.stream_permit() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let events = IntervalStream::new(ticks).map_while(move |_| {
        let _permit = &permit;
        event(&state).map(Ok)
    });
    sse(events)
}

fn sse(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

fn json(value: &impl Serialize) -> Option<Event> {
    Event::default().json_data(value).ok()
}

/// Returns the bits as the bitfield message has them (BEP 3).
fn bits(have: &[bool]) -> Vec<u8> {
    let bytes = have.chunks(8).map(|pieces| {
        let bits = pieces.iter().enumerate();
        bits.fold(0, |byte, (i, have)| byte | u8::from(*have) << (7 - i))
    });
    bytes.collect()
}

pub(super) async fn torrents(Shared(state): Shared<State>) -> Response {
    Json(&*state.snapshot()).into_response()
}

/// Streams all torrents, and with the query `torrent=N` the detail of one of them.
pub(super) async fn events(Shared(state): Shared<State>, RawQuery(query): RawQuery) -> Response {
    let number = match query.as_deref().unwrap_or_default() {
        "" => None,
        query => match query.strip_prefix("torrent=").map(str::parse) {
            Some(Ok(number)) => Some(number),
            _ => return StatusCode::BAD_REQUEST.into_response(),
        },
    };
    if number.is_some_and(|number: usize| state.snapshot().torrents.get(number).is_none()) {
        return StatusCode::NOT_FOUND.into_response();
    }
    stream(state, move |state| {
        json(&Overview {
            snapshot: &state.snapshot(),
            detail: number.and_then(|number| Detail::of(state, number)),
        })
    })
}

pub(super) async fn torrent(Shared(state): Shared<State>, Path(number): Path<usize>) -> Response {
    match Detail::of(&state, number) {
        Some(detail) => Json(detail).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(super) async fn torrent_events(
    Shared(state): Shared<State>,
    Path(number): Path<usize>,
) -> Response {
    if state.snapshot().torrents.get(number).is_none() {
        return StatusCode::NOT_FOUND.into_response();
    }
    stream(state, move |state| json(&Detail::of(state, number)?))
}

pub(super) async fn pause(Shared(state): Shared<State>, Path(number): Path<usize>) -> StatusCode {
    send_to(&state, number, TorrentCommand::Pause)
}

pub(super) async fn resume(Shared(state): Shared<State>, Path(number): Path<usize>) -> StatusCode {
    send_to(&state, number, TorrentCommand::Resume)
}

pub(super) async fn end(Shared(state): Shared<State>, Path(number): Path<usize>) -> StatusCode {
    send_to(&state, number, TorrentCommand::End)
}

pub(super) async fn limits(Shared(state): Shared<State>, Json(limits): Json<Limits>) -> StatusCode {
    send(&state, Command::Limit(limits))
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
