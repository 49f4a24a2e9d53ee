//! The source of a torrent: a magnet link, a URL or a path.

use anyhow::bail;
use hashlane_client::Source;

use crate::{Env, torrent_file};

/// Returns the source of a torrent: a magnet link, a URL or a path.
pub(super) fn source(env: &Env, given: &str) -> Source {
    let has_scheme = |scheme: &str| {
        given
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if has_scheme("magnet:") {
        return match given.parse() {
            Ok(magnet) => Source::Magnet(Box::new(magnet)),
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
    let is_hash = [40, 64].contains(&given.len());
    if is_hash && given.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let kind = if given.len() == 40 {
            "btih:"
        } else {
            "btmh:1220"
        };
        bail!("pass an info-hash as a link: magnet:?xt=urn:{kind}{given}");
    }
    if let Some((scheme, _)) = given.split_once("://") {
        bail!("{scheme}: unsupported; pass a path, an http or https URL, or a magnet link");
    }
    Ok(())
}
