//! Changes of .torrent files.

use hashlane_metainfo::{Edit, InfoHashes, ListEdit, Magnet, UrlChanges, is_url, masked_url};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::torrent::Torrent;

/// The changes of `hashlane.Torrent.edit`. `None` keeps a value; a tuple holds a new value, or `None` to remove the old one.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Changes {
    trackers: List<Vec<String>>,
    web_seeds: List<String>,
    nodes: List<(String, u16)>,
    similar: List<String>,
    collections: List<String>,
    remove_trackers: Vec<String>,
    remove_web_seeds: Vec<String>,
    replace: Vec<(String, String)>,
    comment: Option<(Option<String>,)>,
    created_by: Option<(Option<String>,)>,
    creation_date: Option<(Option<i64>,)>,
    name: Option<String>,
    source: Option<(Option<String>,)>,
    private: Option<bool>,
}

/// A change of a list: the items that replace all others, and the items to append.
#[derive(FromPyObject)]
struct List<T>(Option<Vec<T>>, Vec<T>);

impl<T> List<T> {
    fn edit(self) -> Option<ListEdit<T>> {
        match self {
            Self(Some(mut items), added) => {
                items.extend(added);
                Some(ListEdit::Set(items))
            }
            Self(None, added) => (!added.is_empty()).then_some(ListEdit::Add(added)),
        }
    }

    fn items(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten().chain(&self.1)
    }
}

/// Checks that texts are URLs, in an option with this name.
pub(crate) fn check_urls<'u>(
    option: &str,
    mut urls: impl Iterator<Item = &'u String>,
) -> PyResult<()> {
    match urls.find(|url| !is_url(url)) {
        None => Ok(()),
        Some(text) => Err(PyValueError::new_err(format!(
            "{option}: {:?}: expected a URL such as https://host/path",
            masked_url(text)
        ))),
    }
}

/// Reads an info-hash of version 1, the only version in BEP 38.
fn info_hash(text: &String) -> PyResult<[u8; 20]> {
    let hashes = text.parse::<Magnet>().ok().map(|magnet| magnet.info_hashes);
    let hash = hashes.and_then(InfoHashes::v1).map(<[u8; 20]>::from);
    hash.ok_or_else(|| {
        let problem = "expected an info-hash of version 1, 40 hexadecimal digits";
        PyValueError::new_err(format!("similar: {text:?}: {problem}"))
    })
}

impl Changes {
    fn edit(self) -> PyResult<Edit> {
        check_urls("trackers", self.trackers.items().flatten())?;
        check_urls("web_seeds", self.web_seeds.items())?;
        if self.replace.iter().any(|(old, _)| old.is_empty()) {
            return Err(PyValueError::new_err(
                "replace: the text to replace is empty",
            ));
        }
        let List(similar, added) = self.similar;
        let hashes =
            |texts: Vec<String>| -> PyResult<Vec<_>> { texts.iter().map(info_hash).collect() };
        let similar = List(similar.map(hashes).transpose()?, hashes(added)?);
        Ok(Edit {
            urls: UrlChanges {
                removed_trackers: self.remove_trackers,
                removed_web_seeds: self.remove_web_seeds,
                replaced: self.replace,
            },
            trackers: self.trackers.edit(),
            web_seeds: self.web_seeds.edit(),
            nodes: self.nodes.edit(),
            similar: similar.edit(),
            collections: self.collections.edit(),
            comment: self.comment.map(|(text,)| text),
            created_by: self.created_by.map(|(text,)| text),
            creation_date: self.creation_date.map(|(seconds,)| seconds),
            name: self.name,
            source: self.source.map(|(text,)| text),
            is_private: self.private,
            piece_layers: None,
        })
    }
}

#[pyfunction]
pub(crate) fn edit(
    py: Python<'_>,
    torrent: &Bound<'_, Torrent>,
    changes: Changes,
) -> PyResult<Torrent> {
    let (before, edit) = (&torrent.get().0, changes.edit()?);
    let after = py.detach(|| edit.apply(before));
    after
        .map(Torrent)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
