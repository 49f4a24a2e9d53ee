//! Trackers in metadata and links.

use hashlane_client::Metainfo;
use hashlane_metainfo::{Edit, EditError, ListEdit, Magnet};

/// Returns metadata with these trackers.
pub(super) fn with_trackers(
    metainfo: &Metainfo,
    tiers: Vec<Vec<String>>,
) -> Result<Metainfo, EditError> {
    let edit = Edit {
        trackers: Some(ListEdit::Set(tiers)),
        ..Edit::default()
    };
    edit.apply(metainfo)
}

/// Returns the trackers of a link. Each has a tier of its own, because a link has no tiers.
pub(super) fn of_magnet(magnet: &Magnet) -> Vec<Vec<String>> {
    magnet
        .trackers
        .iter()
        .map(|url| vec![url.clone()])
        .collect()
}

/// Returns the trackers in metadata.
pub(super) fn of_metainfo(metainfo: &Metainfo) -> Vec<Vec<String>> {
    let keys = metainfo.metadata_ref();
    let tiers = keys.trackers();
    let tiers = tiers.map(|tier| tier.urls().map(|url| url.to_string()).collect());
    tiers.collect()
}
