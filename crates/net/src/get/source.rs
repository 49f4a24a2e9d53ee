//! The source of a torrent: a magnet link or info-hash, a URL or a path.

use std::error::Error;

use anyhow::bail;
use hashlane_cli::{Env, links, torrent_file};
use hashlane_client::{Metainfo, Source};
use hashlane_metainfo::Magnet;

/// Returns the source of a torrent: a magnet link or info-hash, a URL, a path, or `-`. Prints the hints of a link that
/// are ignored.
pub(super) fn source(env: &mut Env, given: &str) -> Source {
    if let Some(link) = torrent_file::link(env, given) {
        return of_link(env, link);
    }
    if torrent_file::is_stream(given.as_ref()) {
        return of_stream(env, given);
    }
    if torrent_file::is_url(given) {
        return Source::Url(given.to_owned());
    }
    let (given, path) = (given.to_owned(), env.resolve(given.as_ref()));
    Source::Metainfo(Box::new(move || {
        refuse_other(&given)?;
        Ok(torrent_file::read(&path)?)
    }))
}

/// Returns the source of a magnet link or info-hash.
fn of_link(env: &mut Env, link: &str) -> Source {
    match Magnet::read(link) {
        Ok((magnet, ignored)) => {
            for hint in ignored {
                env.error(&format!(
                    "{}: ignored: {hint}",
                    links::without_secrets(link)
                ));
            }
            Source::Magnet(Box::new(magnet))
        }
        Err(error) => Source::Metainfo(Box::new(move || Err(Box::new(error) as _))),
    }
}

/// Returns the source of the standard input stream: a .torrent file, a magnet link or an info-hash.
fn of_stream(env: &mut Env, given: &str) -> Source {
    let bytes = torrent_file::read_given(env, given.as_ref());
    if let Ok(bytes) = &bytes
        && let Ok(text) = str::from_utf8(bytes)
        && let Some(link) = torrent_file::link(env, text)
    {
        return of_link(env, link);
    }
    of_bytes(bytes)
}

/// Returns the source of a .torrent file that was read, and cannot be read again. It is parsed at once, so that the torrent is known
/// before the client reads it.
pub(crate) fn of_bytes<E>(bytes: Result<Vec<u8>, E>) -> Source
where
    E: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
{
    match bytes {
        Ok(bytes) => match Metainfo::parse(bytes.clone()) {
            Ok(torrent) => torrent.into(),
            // The client reports the error.
            Err(_) => Source::bytes(bytes),
        },
        Err(error) => Source::Metainfo(Box::new(move || Err(error.into()))),
    }
}

/// Refuses an argument that is neither a path nor a supported URL.
fn refuse_other(given: &str) -> anyhow::Result<()> {
    if let Some((scheme, _)) = given.split_once("://") {
        bail!("{scheme}: unsupported; pass a path, an http or https URL, or a magnet link");
    }
    Ok(())
}
