//! Metrics in the `OpenMetrics` format of Prometheus.

use std::fmt;
use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use super::state::State;
use hashlane_client::{Activity, Snapshot, TorrentSnapshot};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A metric of each torrent.
struct Metric {
    name: &'static str,
    help: &'static str,
    unit: Option<Unit>,
    /// Whether the value only grows.
    is_counter: bool,
    of: fn(&TorrentSnapshot) -> u64,
}

const METRICS: [Metric; 8] = [
    Metric {
        name: "torrent_wanted",
        help: "Length of the selected files",
        unit: Some(Unit::Bytes),
        is_counter: false,
        of: |torrent| torrent.wanted_bytes,
    },
    Metric {
        name: "torrent_done",
        help: "Bytes of the selected files that are present and right",
        unit: Some(Unit::Bytes),
        is_counter: false,
        of: |torrent| torrent.done_bytes,
    },
    Metric {
        name: "torrent_downloaded",
        help: "Bytes of content received",
        unit: Some(Unit::Bytes),
        is_counter: true,
        of: |torrent| torrent.downloaded_bytes,
    },
    Metric {
        name: "torrent_uploaded",
        help: "Bytes of content sent",
        unit: Some(Unit::Bytes),
        is_counter: true,
        of: |torrent| torrent.uploaded_bytes,
    },
    Metric {
        name: "torrent_wasted",
        help: "Received bytes that were wrong or already present",
        unit: Some(Unit::Bytes),
        is_counter: true,
        of: |torrent| torrent.wasted_bytes,
    },
    Metric {
        name: "torrent_pieces",
        help: "Number of pieces",
        unit: None,
        is_counter: false,
        of: |torrent| torrent.pieces.into(),
    },
    Metric {
        name: "torrent_peers",
        help: "Connected peers",
        unit: None,
        is_counter: false,
        of: |torrent| torrent.peers.into(),
    },
    Metric {
        name: "torrent_seeds",
        help: "Connected peers that have everything",
        unit: None,
        is_counter: false,
        of: |torrent| torrent.seeds.into(),
    },
];

#[derive(Debug)]
struct Torrents(Arc<Snapshot>);

impl Collector for Torrents {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut states = encoder.encode_descriptor(
            "torrents",
            "Torrents by their activity",
            None,
            MetricType::Gauge,
        )?;
        for activity in Activity::ALL {
            let torrents = self.0.torrents.iter();
            let n = torrents
                .filter(|torrent| torrent.activity == activity)
                .count();
            let labels = [("activity", activity.name())];
            let state = states.encode_family(&labels)?;
            ConstGauge::new((n as u64).cast_signed()).encode(state)?;
        }
        for metric in METRICS {
            let kind = if metric.is_counter {
                MetricType::Counter
            } else {
                MetricType::Gauge
            };
            let unit = metric.unit.as_ref();
            let mut family = encoder.encode_descriptor(metric.name, metric.help, unit, kind)?;
            for torrent in &self.0.torrents {
                let number = torrent.identity.number.to_string();
                let info_hash = torrent.identity.info_hash();
                let info_hash = info_hash.map_or(String::new(), |info_hash| info_hash.to_string());
                let labels = [
                    ("number", number.as_str()),
                    ("info_hash", info_hash.as_str()),
                    ("name", torrent.title()),
                ];
                let one = family.encode_family(&labels)?;
                let value = (metric.of)(torrent);
                if metric.is_counter {
                    ConstCounter::new(value).encode(one)?;
                } else {
                    ConstGauge::new(value.cast_signed()).encode(one)?;
                }
            }
        }
        Ok(())
    }
}

pub(super) async fn metrics(Shared(state): Shared<State>) -> Response {
    let mut registry = Registry::with_prefix("hashlane");
    let snapshot = state.blocking(|state| state.service.snapshot()).await;
    registry.register_collector(Box::new(Torrents(snapshot)));
    let mut text = String::new();
    match prometheus_client::encoding::text::encode(&mut text, &registry) {
        Ok(()) => ([(CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(fmt::Error) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
