//! .torrent files with the trackers in use, and magnet links.

use hashlane_metainfo::bencode::Value;
use hashlane_metainfo::{
    Edit, InfoHashV1, InfoHashV2, InfoHashes, ListEdit, Magnet, Torrent, is_url,
};

use crate::dictionary::{Dictionary, text_of};
use crate::{Note, Reason};

/// The trackers and web seeds that a program used. `None` if it used those of the .torrent file.
#[derive(Default)]
pub(crate) struct Sources {
    pub(crate) trackers: Option<Vec<Vec<String>>>,
    pub(crate) web_seeds: Option<Vec<String>>,
}

impl Sources {
    /// Reads the keys of libtorrent.
    pub(crate) fn read(resume: &Dictionary<'_>, notes: &mut Vec<Note>) -> Self {
        let mut urls = |key: &str, items: Value<'_>| {
            let items = items.as_list().into_iter().flatten();
            let texts: Vec<String> = items
                .filter_map(Value::as_bytes)
                .map(|text| text_of(key, text, notes))
                .collect();
            let all = texts.len();
            let urls: Vec<String> = texts.into_iter().filter(|text| is_url(text)).collect();
            if urls.len() < all {
                notes.push(Note::NoUrl);
            }
            urls
        };
        let tiers = resume.value("trackers").and_then(Value::as_list);
        let trackers = tiers.map(|tiers| {
            let tiers = tiers.map(|tier| urls("trackers", tier));
            tiers.filter(|tier| !tier.is_empty()).collect()
        });
        let web_seeds = resume.value("url-list").map(|list| urls("url-list", list));
        Self {
            trackers,
            web_seeds,
        }
    }

    /// Returns the torrent with these trackers and web seeds.
    pub(crate) fn apply(self, torrent: &Torrent) -> Result<Torrent, Reason> {
        let metadata = torrent.metadata_ref();
        let tiers = metadata.trackers().map(|tier| {
            let urls = tier.urls().map(|url| url.to_string());
            urls.collect::<Vec<String>>()
        });
        let has_trackers = |wanted: &Vec<Vec<String>>| tiers.clone().eq(wanted.iter().cloned());
        let seeds = metadata.web_seeds().map(|url| url.to_string());
        let has_seeds = |wanted: &Vec<String>| seeds.clone().eq(wanted.iter().cloned());
        let edit = Edit {
            trackers: self
                .trackers
                .filter(|wanted| !has_trackers(wanted))
                .map(ListEdit::Set),
            web_seeds: self
                .web_seeds
                .filter(|wanted| !has_seeds(wanted))
                .map(ListEdit::Set),
            ..Edit::default()
        };
        if edit == Edit::default() {
            return Ok(torrent.clone());
        }
        Ok(edit.apply(torrent)?)
    }
}

/// Returns the link for a torrent without metadata, from the keys of libtorrent.
pub(crate) fn magnet(resume: &Dictionary<'_>, notes: &mut Vec<Note>) -> Result<Magnet, Reason> {
    let v1 = hash(resume.bytes("info-hash")?).map(<InfoHashV1 as From<[u8; 20]>>::from);
    let v2 = hash(resume.bytes("info-hash2")?).map(<InfoHashV2 as From<[u8; 32]>>::from);
    let mut magnet = Magnet::new(match (v1, v2) {
        (Some(v1), Some(v2)) => InfoHashes::Hybrid(v1, v2),
        (Some(v1), None) => InfoHashes::V1(v1),
        (None, Some(v2)) => InfoHashes::V2(v2),
        (None, None) => return Err(Reason::NoSource),
    });
    magnet.name = resume.text("name", notes);
    let sources = Sources::read(resume, notes);
    magnet.trackers = sources.trackers.unwrap_or_default().concat();
    magnet.web_seeds = sources.web_seeds.unwrap_or_default();
    Ok(magnet)
}

/// Returns a digest, or `None` if it is absent or all zeros, as libtorrent writes it for a version that is absent.
fn hash<const N: usize>(bytes: Option<&[u8]>) -> Option<[u8; N]> {
    let hash = <[u8; N]>::try_from(bytes?).ok()?;
    (hash != [0; N]).then_some(hash)
}

/// Checks that a torrent has the identity that the session gives it: an info-hash in hexadecimal. Version 2 has
/// only the first 40 digits.
pub(crate) fn check_identity(info_hashes: InfoHashes, expected: &str) -> Result<(), Reason> {
    let v1 = info_hashes.v1().map(|hash| hash.to_string());
    let v2 = info_hashes
        .v2()
        .map(|hash| hash.to_string()[..40].to_owned());
    let mut found = v1.into_iter().chain(v2);
    if found
        .clone()
        .any(|hash| hash.eq_ignore_ascii_case(expected))
    {
        return Ok(());
    }
    Err(Reason::OtherTorrent {
        expected: expected.into(),
        found: found.next().unwrap_or_default(),
    })
}
