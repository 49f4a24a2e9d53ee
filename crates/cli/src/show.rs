//! `hashlane show`: all that is in a .torrent or magnet link, for a person or as JSON lines.

mod human;
mod json;

use std::path::Path;

use anyhow::Context as _;
use hashlane_metainfo::{Magnet, Torrent};

use crate::args::Show;
use crate::text::{Size, count};
use crate::{Env, Exit, torrent_file};

impl Show {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        if let Some(link) = link(&self.what) {
            let magnet: Magnet = link.parse()?;
            if self.json {
                json::print_magnet(env, &magnet)?;
            } else {
                human::print_magnet(env, &magnet)?;
            }
            return Ok(Exit::Good);
        }
        let shown = self.what.display().to_string();
        let bytes = torrent_file::read(&env.resolve(&self.what));
        let bytes = bytes.with_context(|| shown.clone())?;
        let torrent = Torrent::parse(bytes).with_context(|| shown.clone())?;
        if self.json {
            json::print_torrent(env, &torrent)?;
        } else {
            human::print_torrent(env, &torrent)?;
        }
        Ok(Exit::Good)
    }
}

/// The argument, if it is a magnet link.
fn link(what: &Path) -> Option<&str> {
    let text = what.to_str()?.trim();
    let scheme = text.get(..7)?;
    scheme.eq_ignore_ascii_case("magnet:").then_some(text)
}

/// What is odd about a torrent, though it does no harm.
fn notes(torrent: &Torrent) -> Vec<String> {
    let renamed = torrent.files().iter().filter(|file| file.is_renamed());
    let renamed = renamed.count() as u64;
    let layers = torrent.files().iter().filter(|file| {
        let piece_length = u64::from(torrent.lengths().piece_length().get());
        file.pieces_root().is_some() && file.length() > piece_length && file.piece_layer().is_none()
    });
    let layers = layers.count() as u64;
    let trailing = torrent.trailing_bytes().len() as u64;
    let notes = [
        (renamed > 0).then(|| {
            let files = count(renamed, "file");
            format!("{files} of names that cannot be used, shown as libtorrent renames them")
        }),
        (layers > 0).then(|| {
            let files = count(layers, "file");
            format!("{files} without a piece layer: one hash for the whole file")
        }),
        torrent
            .unsorted_key()
            .map(|offset| format!("keys of the info dictionary are not sorted, at byte {offset}")),
        (trailing > 0).then(|| format!("{} after the end of the torrent", Size(trailing))),
    ];
    notes.into_iter().flatten().collect()
}
