//! Renews the manifests of a bag whose files were changed on purpose.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use hashlane_files::{Overwrite, Stamp};
use hashlane_sums::{Algorithm, Digest};

use crate::contents::Contents;
use crate::declaration;
use crate::error::Error;
use crate::hash::{Run, ToHash};
use crate::info::{INFO, Info, Oxum};
use crate::manifest::{self, FETCH, Kind, Manifest, name_of};
use crate::path::{PAYLOAD, place};
use crate::tags::{self, Digests, digests_of};

/// What an update has changed in the manifests of the payload.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Updated {
    /// Files that no manifest listed, relative to the bag.
    pub added: Vec<String>,
    /// Files whose digests have changed.
    pub changed: Vec<String>,
    /// Files that were listed and no longer exist.
    pub removed: Vec<String>,
    /// Number of the payload files that exist.
    pub n_files: u64,
    /// Their length in bytes.
    pub n_bytes: u64,
}

/// Hashes all files of a bag, and writes its manifests, tag manifests and `Payload-Oxum` anew. `algorithms` are those of the
/// new manifests; if empty, those of the present ones are kept. Files that `fetch.txt` lists and that do not exist keep their
/// digests. The version and the other labels stay.
///
/// An update takes the files as they are, so damage becomes right: validate a bag before its files are changed.
///
/// # Errors
/// The folder is no bag, a tag file cannot be used, a file cannot be read or cannot be in a bag, or [`Error::NotFetched`]. The
/// manifests are written only after all files were hashed.
pub fn update(bag: &Path, algorithms: &[Algorithm], run: &mut Run<'_>) -> Result<Updated, Error> {
    let version = declaration::read(bag)?;
    let mut info = Info::read(bag)?.unwrap_or_default();
    let files = Contents::of(bag).check(bag)?;
    let manifests: Vec<Manifest> = files
        .keys()
        .filter_map(|name| Manifest::of_name(name))
        .collect();
    let of_payload = |manifest: &&Manifest| manifest.kind == Kind::Payload;
    let mut kept: Vec<Algorithm> = algorithms.to_vec();
    for manifest in manifests.iter().filter(of_payload) {
        let Some(algorithm) = manifest.algorithm else {
            let reason = "the algorithm is unknown: remove the manifest";
            return Err(Error::improper(&bag.join(&manifest.name), reason));
        };
        if algorithms.is_empty() {
            kept.push(algorithm);
        }
    }
    if kept.is_empty() {
        return Err(Error::improper(bag, "has no manifest: name an algorithm"));
    }
    let before = read_all(bag, &manifests, version)?;
    let payload: BTreeMap<&String, &Stamp> = files
        .iter()
        .filter(|(path, _)| path.starts_with(PAYLOAD))
        .collect();
    let shared: Arc<[Algorithm]> = kept.as_slice().into();
    let to_hash = payload.iter().map(|(path, stamp)| ToHash {
        path: place(bag, path),
        len_bytes: stamp.length(),
        algorithms: Arc::clone(&shared),
        tag: (*path).clone(),
    });
    let mut digests = digests_of(bag, to_hash.collect(), run)?;
    let mut updated = compare(&before, &kept, &digests);
    updated.n_files = payload.len() as u64;
    updated.n_bytes = payload.values().map(|stamp| stamp.length()).sum();
    add_fetched(bag, version, &before, &kept, &mut digests)?;
    updated.removed.retain(|path| !digests.contains_key(path));
    // A file that changed after it was hashed would have a wrong digest.
    let now = Contents::of(bag).check(bag)?;
    for (path, stamp) in &payload {
        if now.get(*path) != Some(*stamp) {
            return Err(Error::Changed(place(bag, path)));
        }
    }
    tags::write_manifests(bag, Kind::Payload, version, &kept, &digests)?;
    info.set_oxum(Oxum {
        n_bytes: updated.n_bytes,
        n_files: updated.n_files,
    });
    tags::write(bag, INFO, info.text().as_bytes(), Overwrite::Yes)?;
    let names = |kind| kept.iter().map(move |algorithm| name_of(kind, *algorithm));
    let names: Vec<String> = names(Kind::Payload).chain(names(Kind::Tags)).collect();
    for manifest in manifests
        .iter()
        .filter(|manifest| !names.contains(&manifest.name))
    {
        let path = bag.join(&manifest.name);
        fs::remove_file(&path).map_err(Error::io(&path))?;
    }
    tags::write_tag_manifests(bag, version, &kept, None, run)?;
    Ok(updated)
}

/// Digests that manifests have, by path and algorithm.
type Listed = BTreeMap<String, BTreeMap<Algorithm, Digest>>;

/// Reads the manifests of the payload.
fn read_all(bag: &Path, manifests: &[Manifest], version: crate::Version) -> Result<Listed, Error> {
    let mut listed = Listed::new();
    for manifest in manifests
        .iter()
        .filter(|manifest| manifest.kind == Kind::Payload)
    {
        let mut problem = None;
        manifest::read(bag, manifest, version, |line, entry| match entry {
            Ok((path, digest)) => {
                let of_path = listed.entry(path).or_default();
                of_path.extend(manifest.algorithm.map(|algorithm| (algorithm, digest)));
            }
            Err(found) => {
                problem.get_or_insert_with(|| format!("line {line}: {found}"));
            }
        })?;
        if let Some(problem) = problem {
            return Err(Error::improper(&bag.join(&manifest.name), problem));
        }
    }
    Ok(listed)
}

/// Compares the digests of before with the new ones.
fn compare(before: &Listed, algorithms: &[Algorithm], now: &Digests) -> Updated {
    let mut updated = Updated::default();
    for (path, digests) in now {
        let Some(known) = before.get(path) else {
            updated.added.push(path.clone());
            continue;
        };
        let is_changed = algorithms
            .iter()
            .zip(digests)
            .any(|(algorithm, digest)| known.get(algorithm).is_some_and(|known| known != digest));
        if is_changed {
            updated.changed.push(path.clone());
        }
    }
    let is_gone = |path: &&String| !now.contains_key(*path);
    updated.removed = before.keys().filter(is_gone).cloned().collect();
    updated
}

/// Adds the digests of files that are not in the bag yet.
fn add_fetched(
    bag: &Path,
    version: crate::Version,
    before: &Listed,
    algorithms: &[Algorithm],
    digests: &mut Digests,
) -> Result<(), Error> {
    let mut problem = None;
    manifest::read_fetch(bag, version, |line, path| match path {
        Ok(path) if digests.contains_key(&path) => {}
        Ok(path) => {
            let known = before.get(&path);
            let of_path = algorithms
                .iter()
                .map(|algorithm| known?.get(algorithm).copied());
            match of_path.collect::<Option<Vec<Digest>>>() {
                Some(of_path) => drop(digests.insert(path, of_path)),
                None => drop(problem.get_or_insert_with(|| Error::NotFetched(place(bag, &path)))),
            }
        }
        Err(found) => {
            let reason = format!("line {line}: {found}");
            problem.get_or_insert_with(|| Error::improper(&bag.join(FETCH), reason));
        }
    })?;
    problem.map_or(Ok(()), Err)
}
