//! Makes a bag of a folder.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_files::{Overwrite, Stamp, is_own_name};
use hashlane_sums::{Algorithm, Digest};

use crate::contents::Contents;
use crate::declaration::{self, DECLARATION};
use crate::error::Error;
use crate::hash::{Run, ToHash};
use crate::info::{INFO, Info, Oxum};
use crate::manifest::{Kind, Manifest};
use crate::path::{PAYLOAD, place};
use crate::tags::{self, Digests, digests_of};
use crate::validate::{Depth, Validation, Verdict, is_bag, validate};
use crate::version::Version;

/// The name of the payload while its entries are moved into it.
const UNFINISHED: &str = ".hashlane-payload";

/// The properties of a new bag.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewBag {
    /// The algorithms of the manifests, at least one.
    pub algorithms: Vec<Algorithm>,
    /// Labels and values of `bag-info.txt`, without `Payload-Oxum`.
    pub info: Vec<(String, String)>,
}

impl NewBag {
    /// Returns the properties with these algorithms, and without labels.
    pub fn new(algorithms: Vec<Algorithm>) -> Self {
        Self {
            algorithms,
            info: Vec::new(),
        }
    }
}

/// A new bag.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Created {
    /// Number of the payload files.
    pub n_files: u64,
    /// Their length in bytes.
    pub n_bytes: u64,
    /// Names of the files of Hashlane itself that stay where they are, such as the catalogue of an archive.
    pub left_out: Vec<String>,
}

/// Makes a bag of a folder: hashes all files, moves everything in the folder into a new folder `data` in it, and writes the
/// tag files. The declaration is written last. If an entry cannot be moved, all are moved back.
///
/// # Errors
/// Nothing was moved if the folder is a bag already, a file cannot be read or cannot be in a bag (a link, a device, a name
/// that is not UTF-8), or changed after it was hashed.
pub fn create_in_place(folder: &Path, new: &NewBag, run: &mut Run<'_>) -> Result<Created, Error> {
    check(folder)?;
    let (files, left_out) = contents(folder)?;
    let digests = hash_payload(folder, &files, new, run)?;
    check_unchanged(folder, &files)?;
    move_into_payload(folder)?;
    let created = write_tags(folder, &files, digests, new, run)?;
    Ok(Created {
        left_out,
        ..created
    })
}

/// Returns the files for the payload of a bag, and the names of those that are left out.
fn contents(folder: &Path) -> Result<(BTreeMap<String, Stamp>, Vec<String>), Error> {
    let contents = Contents::of(folder);
    let left_out = contents.own().map(str::to_owned).collect();
    Ok((contents.check(folder)?, left_out))
}

/// Makes a bag in a new folder with copies of all files of a folder, which stays as it is. The copies are read again and
/// compared at the end.
///
/// # Errors
/// As for [`create_in_place`]; [`Error::Exists`] if there is something at `to`. A bag that is not complete has no declaration.
pub fn create_copy(
    folder: &Path,
    to: &Path,
    new: &NewBag,
    run: &mut Run<'_>,
) -> Result<Created, Error> {
    check(folder)?;
    check_outside(to, folder)?;
    let (files, left_out) = contents(folder)?;
    let digests = hash_payload(folder, &files, new, run)?;
    match fs::create_dir(to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Error::Exists(to.to_owned()));
        }
        result => result.map_err(Error::io(to))?,
    }
    let payload = to.join("data");
    fs::create_dir(&payload).map_err(Error::io(&payload))?;
    for path in files.keys() {
        if run.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let copy = place(&payload, path);
        if let Some(parent) = copy.parent() {
            fs::create_dir_all(parent).map_err(Error::io(parent))?;
        }
        let original = place(folder, path);
        fs::copy(&original, &copy).map_err(Error::io(&original))?;
    }
    check_unchanged(folder, &files)?;
    let created = write_tags(to, &files, digests, new, run)?;
    let mut changed = None;
    let found: Validation = validate(to, Depth::Digests, run, &mut |problem| {
        changed.get_or_insert(problem.path);
    })?;
    if found.verdict() != Verdict::Valid {
        // What is no valid copy must not look like a bag.
        let declaration = to.join(DECLARATION);
        fs::remove_file(&declaration).map_err(Error::io(&declaration))?;
        return Err(Error::Changed(place(to, &changed.unwrap_or_default())));
    }
    Ok(Created {
        left_out,
        ..created
    })
}

fn check(folder: &Path) -> Result<(), Error> {
    let metadata = folder.metadata().map_err(Error::io(folder))?;
    if !metadata.is_dir() {
        return Err(Error::io(folder)(io::ErrorKind::NotADirectory.into()));
    }
    if is_bag(folder) {
        return Err(Error::AlreadyABag(folder.to_owned()));
    }
    let unfinished = folder.join(UNFINISHED);
    if unfinished.symlink_metadata().is_ok() {
        let reason = "is left from an earlier run: move its entries up, and remove it";
        return Err(Error::NotBaggable {
            path: unfinished,
            reason,
        });
    }
    // A run that was ended after the files moved.
    let entries = fs::read_dir(folder).map_err(Error::io(folder))?;
    let mut names = entries.flatten().map(|entry| entry.file_name());
    let is_manifest = |name: &std::ffi::OsString| {
        let manifest = name.to_str().and_then(Manifest::of_name);
        manifest.is_some_and(|manifest| manifest.kind == Kind::Payload)
    };
    if folder.join("data").is_dir()
        && let Some(name) = names.find(is_manifest)
    {
        let reason = "is of a bag that is not finished: move the entries of data up, and remove the tag files";
        return Err(Error::NotBaggable {
            path: folder.join(name),
            reason,
        });
    }
    Ok(())
}

/// Fails if a new folder would be copied into itself.
fn check_outside(to: &Path, folder: &Path) -> Result<(), Error> {
    let parent = match to.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let parent = parent.canonicalize().map_err(Error::io(to))?;
    if parent.starts_with(folder.canonicalize().map_err(Error::io(folder))?) {
        return Err(Error::NotBaggable {
            path: to.to_owned(),
            reason: "lies in the folder that is copied: choose another place",
        });
    }
    Ok(())
}

fn hash_payload(
    folder: &Path,
    files: &BTreeMap<String, Stamp>,
    new: &NewBag,
    run: &mut Run<'_>,
) -> Result<Digests, Error> {
    let algorithms: Arc<[Algorithm]> = new.algorithms.as_slice().into();
    let files = files.iter().map(|(path, stamp)| ToHash {
        path: place(folder, path),
        len_bytes: stamp.length(),
        algorithms: Arc::clone(&algorithms),
        tag: path.clone(),
    });
    digests_of(folder, files.collect(), run)
}

/// Fails if a file has changed, is new, or is gone.
fn check_unchanged(folder: &Path, before: &BTreeMap<String, Stamp>) -> Result<(), Error> {
    let now = Contents::of(folder).check(folder)?;
    let changed = before
        .iter()
        .find(|(path, stamp)| now.get(*path) != Some(stamp))
        .or_else(|| now.iter().find(|(path, _)| !before.contains_key(*path)));
    changed.map_or(Ok(()), |(path, _)| Err(Error::Changed(place(folder, path))))
}

/// Moves all entries of a folder except the files of Hashlane itself into the new folder `data` in it.
fn move_into_payload(folder: &Path) -> Result<(), Error> {
    let entries: io::Result<Vec<PathBuf>> =
        fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut entries = entries.map_err(Error::io(folder))?;
    entries.retain(|path| path.is_dir() || !path.file_name().is_some_and(is_own_name));
    let unfinished = folder.join(UNFINISHED);
    fs::create_dir(&unfinished).map_err(Error::io(&unfinished))?;
    let mut moved: Vec<(PathBuf, PathBuf)> = Vec::new();
    let result = entries.into_iter().try_for_each(|from| {
        let to = unfinished.join(from.file_name().unwrap_or_default());
        fs::rename(&from, &to).map_err(Error::io(&from))?;
        moved.push((from, to));
        Ok(())
    });
    let payload = folder.join("data");
    let result =
        result.and_then(|()| fs::rename(&unfinished, &payload).map_err(Error::io(&payload)));
    if result.is_err() {
        for (from, to) in moved.iter().rev() {
            fs::rename(to, from).map_err(Error::io(to))?;
        }
        fs::remove_dir(&unfinished).map_err(Error::io(&unfinished))?;
    }
    result
}

/// Writes the tag files of a bag whose payload is in its place.
fn write_tags(
    bag: &Path,
    files: &BTreeMap<String, Stamp>,
    digests: Digests,
    new: &NewBag,
    run: &mut Run<'_>,
) -> Result<Created, Error> {
    let version = Version::V1_0;
    let digests: BTreeMap<String, Vec<Digest>> = digests
        .into_iter()
        .map(|(path, digests)| (format!("{PAYLOAD}{path}"), digests))
        .collect();
    tags::write_manifests(bag, Kind::Payload, version, &new.algorithms, &digests)?;
    let created = Created {
        n_files: files.len() as u64,
        n_bytes: files.values().map(Stamp::length).sum(),
        left_out: Vec::new(),
    };
    let mut info = Info::default();
    for (label, value) in &new.info {
        info.add(label, value);
    }
    info.set_oxum(Oxum {
        n_bytes: created.n_bytes,
        n_files: created.n_files,
    });
    tags::write(bag, INFO, info.text().as_bytes(), Overwrite::Yes)?;
    let text = declaration::text(version);
    tags::write_tag_manifests(bag, version, &new.algorithms, Some(&text), run)?;
    // Without its declaration, an unfinished bag is no bag.
    tags::write(bag, DECLARATION, text.as_bytes(), Overwrite::No)?;
    Ok(created)
}
