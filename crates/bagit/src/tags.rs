//! Writes the tag files of a bag.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use hashlane_files::{AtomicFile, Overwrite};
use hashlane_sums::{Algorithm, Digest, Hasher};

use crate::contents::Contents;
use crate::declaration::DECLARATION;
use crate::error::Error;
use crate::hash::{Run, ToHash};
use crate::manifest::{Kind, Manifest, name_of, write_line};
use crate::path::{PAYLOAD, place};
use crate::version::Version;

/// The digests of files by their paths, each in the order of the algorithms.
pub(crate) type Digests = BTreeMap<String, Vec<Digest>>;

/// Writes a tag file whole or not at all.
pub(crate) fn write(
    bag: &Path,
    name: &str,
    bytes: &[u8],
    overwrite: Overwrite,
) -> Result<(), Error> {
    let path = bag.join(name);
    let file = AtomicFile::beside(&path, 0o666).map_err(Error::io(&path))?;
    let written = file.as_file().write_all(bytes);
    written
        .and_then(|()| file.put(&path, overwrite))
        .map_err(Error::io(&path))
}

/// Writes a manifest for each algorithm. Paths are relative to the bag.
pub(crate) fn write_manifests(
    bag: &Path,
    kind: Kind,
    version: Version,
    algorithms: &[Algorithm],
    digests: &Digests,
) -> Result<(), Error> {
    for (i, algorithm) in algorithms.iter().enumerate() {
        let name = name_of(kind, *algorithm);
        let mut text = Vec::new();
        for (path, digests) in digests {
            write_line(&mut text, version, path, digests[i])
                .map_err(Error::io(&bag.join(&name)))?;
        }
        write(bag, &name, &text, Overwrite::Yes)?;
    }
    Ok(())
}

/// Hashes all tag files but the tag manifests, and writes the tag manifests. `declaration` is the text of `bagit.txt` if it is
/// not written yet.
pub(crate) fn write_tag_manifests(
    bag: &Path,
    version: Version,
    algorithms: &[Algorithm],
    declaration: Option<&str>,
    run: &mut Run<'_>,
) -> Result<(), Error> {
    let shared: Arc<[Algorithm]> = algorithms.into();
    let is_of_tags = |path: &str| {
        let is_manifest = Manifest::of_name(path).is_some_and(|it| it.kind == Kind::Tags);
        !path.starts_with(PAYLOAD) && !is_manifest
    };
    let files = Contents::of(bag).check(bag)?;
    let tags = files.into_iter().filter(|(path, _)| is_of_tags(path));
    let tags = tags.map(|(path, stamp)| ToHash {
        path: place(bag, &path),
        len_bytes: stamp.length(),
        algorithms: Arc::clone(&shared),
        tag: path,
    });
    let mut digests = digests_of(bag, tags.collect(), run)?;
    if let Some(text) = declaration {
        let digest = |algorithm: &Algorithm| {
            let mut stream = Hasher::with_engine(run.options.engine, *algorithm);
            stream.update(text.as_bytes());
            stream.finalize()
        };
        digests.insert(
            DECLARATION.to_owned(),
            algorithms.iter().map(digest).collect(),
        );
    }
    write_manifests(bag, Kind::Tags, version, algorithms, &digests)
}

/// Hashes files, which must all be readable.
pub(crate) fn digests_of(
    folder: &Path,
    files: Vec<ToHash<String>>,
    run: &mut Run<'_>,
) -> Result<Digests, Error> {
    let mut digests = Digests::new();
    let mut failed = None;
    run.hash(files, |path, outcome| match outcome {
        Ok((found, _)) => {
            digests.insert(path.clone(), found);
        }
        Err(error) => {
            failed.get_or_insert_with(|| Error::io(&place(folder, path))(error));
        }
    })?;
    failed.map_or(Ok(digests), Err)
}
