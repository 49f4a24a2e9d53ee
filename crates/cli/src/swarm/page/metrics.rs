//! Figures for Prometheus and whoever reads its format.

use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use super::Shared;
use crate::swarm::view::{Activity, Snapshot, TorrentView};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A figure of each torrent.
struct Figure {
    name: &'static str,
    help: &'static str,
    unit: Option<Unit>,
    /// Whether it only grows.
    is_counter: bool,
    of: fn(&TorrentView) -> u64,
}

const FIGURES: [Figure; 8] = [
    Figure {
        name: "torrent_wanted",
        help: "Bytes of the torrent that are wanted",
        unit: Some(Unit::Bytes),
        is_counter: false,
        of: |view| view.wanted_bytes,
    },
    Figure {
        name: "torrent_done",
        help: "Wanted bytes that are there, and right",
        unit: Some(Unit::Bytes),
        is_counter: false,
        of: |view| view.done_bytes,
    },
    Figure {
        name: "torrent_downloaded",
        help: "Bytes of payload received",
        unit: Some(Unit::Bytes),
        is_counter: true,
        of: |view| view.downloaded_bytes,
    },
    Figure {
        name: "torrent_uploaded",
        help: "Bytes of payload sent",
        unit: Some(Unit::Bytes),
        is_counter: true,
        of: |view| view.uploaded_bytes,
    },
    Figure {
        name: "torrent_wasted",
        help: "Bytes of payload received that were wrong, or there already",
        unit: Some(Unit::Bytes),
        is_counter: true,
        of: |view| view.wasted_bytes,
    },
    Figure {
        name: "torrent_pieces",
        help: "Pieces of the torrent",
        unit: None,
        is_counter: false,
        of: |view| view.pieces.into(),
    },
    Figure {
        name: "torrent_peers",
        help: "Peers that are connected",
        unit: None,
        is_counter: false,
        of: |view| view.peers.into(),
    },
    Figure {
        name: "torrent_seeds",
        help: "Peers that are connected and have everything",
        unit: None,
        is_counter: false,
        of: |view| view.seeds.into(),
    },
];

#[derive(Debug)]
struct Torrents(Arc<Snapshot>);

impl Collector for Torrents {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut states = encoder.encode_descriptor(
            "torrents",
            "Torrents by what they do",
            None,
            MetricType::Gauge,
        )?;
        for activity in Activity::ALL {
            let views = self.0.torrents.iter();
            let n = views.filter(|view| view.activity == activity).count();
            let labels = [("activity", activity.name())];
            let state = states.encode_family(&labels)?;
            ConstGauge::new((n as u64).cast_signed()).encode(state)?;
        }
        for figure in FIGURES {
            let kind = if figure.is_counter {
                MetricType::Counter
            } else {
                MetricType::Gauge
            };
            let unit = figure.unit.as_ref();
            let mut family = encoder.encode_descriptor(figure.name, figure.help, unit, kind)?;
            for view in &self.0.torrents {
                let number = view.number.to_string();
                let labels = [("number", number.as_str()), ("name", view.title())];
                let one = family.encode_family(&labels)?;
                let value = (figure.of)(view);
                if figure.is_counter {
                    ConstCounter::new(value).encode(one)?;
                } else {
                    ConstGauge::new(value.cast_signed()).encode(one)?;
                }
            }
        }
        Ok(())
    }
}

pub(super) async fn metrics(State(shared): State<Shared>) -> Response {
    let mut registry = Registry::with_prefix("hashlane");
    registry.register_collector(Box::new(Torrents(Arc::clone(&shared.snapshots.borrow()))));
    let mut text = String::new();
    match prometheus_client::encoding::text::encode(&mut text, &registry) {
        Ok(()) => ([(CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(fmt::Error) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
