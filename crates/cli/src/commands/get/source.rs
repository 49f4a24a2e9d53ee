//! The source of a torrent: a magnet link or info-hash, a URL or a path.

use anyhow::bail;
use hashlane_client::Source;
use hashlane_metainfo::Magnet;

use crate::{Env, torrent_file};

/// Returns the source of a torrent: a magnet link or info-hash, a URL or a path. Prints which hints of a link are
/// ignored.
pub(super) fn source(env: &mut Env, given: &str) -> Source {
    let has_scheme = |scheme: &str| {
        given
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if let Some(link) = torrent_file::link(env, given) {
        return match Magnet::read(link) {
            Ok((magnet, ignored)) => {
                for hint in ignored {
                    env.error(&format!("{given}: ignored: {hint}"));
                }
                Source::Magnet(Box::new(magnet))
            }
            Err(error) => Source::Metainfo(Box::new(move || Err(Box::new(error) as _))),
        };
    }
    if has_scheme("http://") || has_scheme("https://") {
        return Source::Url(given.to_owned());
    }
    let (given, path) = (given.to_owned(), env.resolve(given.as_ref()));
    Source::Metainfo(Box::new(move || {
        refuse_other(&given)?;
        Ok(torrent_file::read(&path)?)
    }))
}

/// Refuses what is neither a path nor a supported URL.
fn refuse_other(given: &str) -> anyhow::Result<()> {
    if let Some((scheme, _)) = given.split_once("://") {
        bail!("{scheme}: unsupported; pass a path, an http or https URL, or a magnet link");
    }
    Ok(())
}
