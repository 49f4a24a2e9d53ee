//! Reads .torrent files from untrusted paths.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::input;
use crate::{Env, links};
use anyhow::{Context as _, anyhow, bail};
use hashlane_api::Size;
use hashlane_files::{Walked, walk_files};
use hashlane_metainfo::{Magnet, Torrent};

/// Returns an argument without the white space around it if it is a magnet link, or a bare info-hash that is
/// not the name of a file.
pub fn link<'a>(env: &Env, given: &'a str) -> Option<&'a str> {
    let text = given.trim();
    let is_hash = || Magnet::is_info_hash(text) && !env.resolve(given.as_ref()).exists();
    (Magnet::has_scheme(text) || is_hash()).then_some(text)
}

/// Returns `true` if an argument is the URL of a file that can be fetched.
pub fn is_url(given: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        let start = given.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// Describes what a path that does not exist looks like instead: a link or an info-hash.
fn described(path: &Path) -> Option<&'static str> {
    // The parameters of a link can contain slashes.
    let starts_link = |part: &OsStr| {
        part.to_str()
            .is_some_and(|text| Magnet::has_scheme(text.trim()))
    };
    if path.iter().any(starts_link) {
        return Some("a magnet link");
    }
    let name = path.file_name()?.to_str()?;
    Magnet::is_info_hash(name.trim()).then_some("an info-hash")
}

/// Length of the largest .torrent file that is read: half of the 64 MiB that a verification may use, because
/// the torrent stays in memory meanwhile. This is enough for the hashes of 1.6 million pieces of version 1,
/// 25 TiB at 16 MiB, and of 640,000 of a hybrid. The limit of libtorrent is 10 MB.
pub const MAX_LEN: u64 = 32 << 20;

/// Returns `true` if a path stands for the standard input or output stream.
pub fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses `-` as several inputs: the first one would read all of the standard input stream.
///
/// # Errors
/// Several paths are `-`.
pub fn check_inputs(paths: &[impl AsRef<Path>]) -> anyhow::Result<()> {
    let streams = paths.iter().filter(|path| is_stream(path.as_ref()));
    if streams.count() > 1 {
        bail!("-: the standard input stream can be given only once");
    }
    Ok(())
}

/// Returns `true` if a name ends like that of a .torrent file.
fn has_extension(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("torrent"))
}

/// A .torrent file by its path, or the path that hides .torrent files and the reason.
pub(crate) type Found = Result<PathBuf, (PathBuf, anyhow::Error)>;

/// Replaces each folder by the .torrent files below it, in the order of their names. Symbolic links in folders are not
/// followed. A folder without .torrent files and a folder that cannot be read are errors.
pub(crate) fn in_folders(env: &Env, paths: &[PathBuf]) -> Vec<Found> {
    let mut all = Vec::new();
    for path in paths {
        let root = env.resolve(path);
        if is_stream(path) || !root.is_dir() {
            all.push(Ok(path.clone()));
            continue;
        }
        // Paths start with the folder as it was given.
        let given = |found: &Path| path.join(found.strip_prefix(&root).unwrap_or(found));
        let before = all.len();
        for found in walk_files(&root, false) {
            match found {
                Walked::File(found) if has_extension(&found) => all.push(Ok(given(&found))),
                Walked::LeftOut(found, reason) if has_extension(&found) => {
                    let found = given(&found);
                    let error = anyhow!("{}: is {reason}", found.display());
                    all.push(Err((found, error)));
                }
                Walked::File(_) | Walked::LeftOut(..) => {}
                Walked::Failed(found, error) => {
                    let found = given(&found);
                    let error = anyhow!(error).context(found.display().to_string());
                    all.push(Err((found, error)));
                }
            }
        }
        if all.len() == before {
            let error = anyhow!("{}: has no .torrent files", path.display());
            all.push(Err((path.clone(), error)));
        }
    }
    all
}

/// Describes the option for content that lies beside its .torrent file instead of at `expected`, if it does.
pub fn content_beside(env: &Env, torrent: &Path, expected: &Path) -> Option<String> {
    let beside = torrent.parent()?;
    let found = env.resolve(beside).join(expected.file_name()?);
    let is_elsewhere = found.exists() && found.canonicalize().ok() != expected.canonicalize().ok();
    let beside = Some(beside).filter(|beside| *beside != Path::new(""));
    let beside = beside.unwrap_or(Path::new(".")).display();
    is_elsewhere.then(|| format!("the content lies beside the .torrent: use -d {beside}"))
}

/// Reads and parses the .torrent file that the user gave, `-` for the standard input stream. Errors name it.
pub(crate) fn open(env: &mut Env, path: &Path) -> anyhow::Result<Torrent> {
    parse(path, read_given(env, path))
}

/// Parses what was read from a path. Errors name it.
fn parse(path: &Path, bytes: anyhow::Result<Vec<u8>>) -> anyhow::Result<Torrent> {
    let path_text = || links::without_secrets(path.display());
    let bytes = bytes.with_context(path_text)?;
    Torrent::parse(bytes).with_context(path_text)
}

/// Does the same for many paths, on all processors. Returns the results in the order of the paths.
pub(crate) fn open_all(env: &mut Env, paths: &[PathBuf]) -> Vec<anyhow::Result<Torrent>> {
    // At most one path is the standard input stream.
    let stream = paths.iter().position(|path| is_stream(path));
    let stream = stream.map(|i| (i, open(env, &paths[i])));
    let places: Vec<PathBuf> = paths.iter().map(|path| env.resolve(path)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let taken = std::iter::from_fn(|| {
            let i = next.fetch_add(1, Ordering::Relaxed);
            Some((i, paths.get(i)?))
        });
        let files = taken.filter(|(_, path)| !is_stream(path));
        let opened = files.map(|(i, path)| (i, parse(path, read(&places[i]))));
        opened.collect::<Vec<_>>()
    };
    let n_threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut opened: Vec<_> = thread::scope(|scope| {
        let others = (1..n_threads.min(paths.len()))
            // This thread does the work of those that the system refuses.
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect::<Vec<_>>();
        let mut opened = work();
        for other in others {
            opened.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        opened
    });
    opened.extend(stream);
    opened.sort_unstable_by_key(|(i, _)| *i);
    opened.into_iter().map(|(_, opened)| opened).collect()
}

/// Reads the bytes of the .torrent file that the user gave, `-` for the standard input stream.
///
/// # Errors
/// The file cannot be read, or is too long.
pub fn read_given(env: &mut Env, path: &Path) -> anyhow::Result<Vec<u8>> {
    if is_stream(path) {
        read_limited(&mut env.stdin, Vec::new())
    } else {
        read(&env.resolve(path))
    }
}

/// Reads the bytes of a .torrent file.
///
/// # Errors
/// The file cannot be read, or is too long.
pub fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let file = match input::open_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match described(path) {
            Some(what) => bail!("is {what}, but a .torrent file is needed"),
            None => return Err(error.into()),
        },
        result => result?,
    };
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut names = entries.map(|entry| PathBuf::from(entry.file_name()));
        if names.any(|name| has_extension(&name)) {
            let files = path.join("*.torrent");
            bail!(
                "is a directory: name its .torrent files, for example {}",
                files.display()
            );
        }
        bail!("is a directory, not a .torrent file");
    }
    // The limit also holds for files without a length, such as pipes.
    let mut bytes = Vec::with_capacity(metadata.len().min(MAX_LEN) as usize);
    if !metadata.is_file() {
        bytes = input::wait_for_writer(&file)?;
    }
    read_limited(file, bytes)
}

/// Appends the rest of a stream to the bytes that were already read from it.
fn read_limited(stream: impl Read, mut bytes: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    if !hashlane_files::read_limited(stream, MAX_LEN, &mut bytes)? {
        bail!(
            "is longer than {}, the limit for .torrent files",
            Size(MAX_LEN)
        );
    }
    Ok(bytes)
}
