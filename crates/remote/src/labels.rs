//! Categories among labels, for programs that know labels only; see [`crate::model`].

use hashlane_api::Groups;
use hashlane_client::TorrentSnapshot;

/// Returns the category and the labels of a torrent as one list.
pub(crate) fn shown(torrent: &TorrentSnapshot) -> Vec<&str> {
    let category = torrent.category.as_deref();
    let labels = torrent.labels.iter().map(String::as_str);
    let labels = labels.filter(|label| Some(*label) != category);
    category.into_iter().chain(labels).collect()
}

/// Returns the category and the labels of a list. `current` is the category before.
pub(crate) fn split(
    mut labels: Vec<String>,
    current: Option<&str>,
    groups: &Groups,
) -> (Option<String>, Vec<String>) {
    let is_current = |label: &String| Some(label.as_str()) == current;
    let is_category = |label: &String| {
        let mut categories = groups.categories.iter();
        categories.any(|category| category.name == *label)
    };
    let position = labels
        .iter()
        .position(is_current)
        .or_else(|| labels.iter().position(is_category));
    let category = position.map(|position| labels.remove(position));
    (category, labels)
}
