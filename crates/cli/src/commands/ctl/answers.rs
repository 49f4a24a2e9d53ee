//! Lines of JSON.

use hashlane_api::Named;
use serde::Serialize;

/// A line of JSON.
#[derive(Serialize)]
pub(super) struct Line<'l, T: Serialize> {
    #[serde(rename = "type")]
    pub(super) kind: &'l str,
    #[serde(flatten)]
    pub(super) value: &'l T,
}

/// A torrent that was changed.
#[derive(Serialize)]
pub(super) struct Changed {
    pub(super) action: &'static str,
    #[serde(flatten)]
    pub(super) torrent: Named,
}
