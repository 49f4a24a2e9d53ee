//! Names that are not UTF-8, in the charset that a torrent states.

use encoding_rs::Encoding;
use hashlane_metainfo::{PathComponent, Torrent, TorrentPath};

use crate::output::text::Escaped;

/// The charset of names that are not UTF-8 (`encoding`). Only people need it: on the disk, names are the bytes of the torrent.
#[derive(Clone, Copy)]
pub(super) struct Charset(Option<&'static Encoding>);

impl Charset {
    /// Returns the charset that a torrent states, if the Encoding Standard of WHATWG has its name.
    pub(super) fn of(torrent: &Torrent) -> Self {
        // No name of a charset is longer.
        let stated = torrent.metadata_ref().encoding;
        let label = stated.map(|text| text.chars().take(20).collect::<String>());
        Self(label.and_then(|label| Encoding::for_label(label.as_bytes())))
    }

    /// Returns a name as text. Returns `None` for UTF-8, and for bytes that the charset does not have.
    pub(super) fn decoded(self, name: PathComponent<'_>) -> Option<String> {
        let bytes = name.as_bytes();
        let charset = self.0.filter(|_| str::from_utf8(bytes).is_err())?;
        let text = charset.decode_without_bom_handling_and_without_replacement(bytes)?;
        Some(text.into_owned())
    }

    /// Returns a path as text. Returns `None` if no name was decoded, or if one of them has bytes that the charset does not have.
    pub(super) fn decoded_path(self, path: TorrentPath<'_>) -> Option<String> {
        let mut is_decoded = false;
        let names = path.components().map(|name| match self.decoded(name) {
            Some(text) => {
                is_decoded = true;
                Some(text)
            }
            None => str::from_utf8(name.as_bytes()).ok().map(str::to_owned),
        });
        let names: Option<Vec<String>> = names.collect();
        names.filter(|_| is_decoded).map(|names| names.join("/"))
    }

    /// Returns a name for people.
    pub(super) fn shown(self, name: PathComponent<'_>) -> String {
        match self.decoded(name) {
            Some(text) => Escaped(text).to_string(),
            None => name.to_string(),
        }
    }

    /// Returns `true` if a name of the torrent is decoded.
    pub(super) fn is_used(self, torrent: &Torrent) -> bool {
        let mut files = torrent.files().iter();
        self.decoded(torrent.name()).is_some()
            || files.any(|file| {
                file.path()
                    .components()
                    .any(|name| self.decoded(name).is_some())
            })
    }
}
