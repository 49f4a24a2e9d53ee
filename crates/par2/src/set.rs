//! A set, as its packets describe it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use hashlane_files::SourceFile;

use crate::error::Error;
use crate::name;
use crate::packet::{
    FileId, MAX_RECOVERY_SLICES, MAX_SLICES, Md5, Packet, SetId, Sha256, SliceChecksum,
};
use crate::run::Run;
use crate::scan::{Found, scan};

/// Maximum number of bytes of packets that are kept: far more than 32,768 files with long names need.
const MAX_KEPT: u64 = 256 << 20;

/// Number of zeros after a file that are hashed, if it has fewer bytes itself.
const MAX_ZEROS: u64 = 1 << 20;

/// A file that a set can recover.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProtectedFile {
    /// The identity.
    pub id: FileId,
    /// The path below the folder of the set.
    pub path: PathBuf,
    /// Length in bytes.
    pub len: u64,
    /// The digest.
    pub md5: Md5,
    /// The digest of the first 16 KiB.
    pub md5_16k: Md5,
    /// The SHA-256 digest, if the program that made the set has recorded it.
    pub sha256: Option<Sha256>,
    /// The checksums of the slices. `None` if no intact packet has them: then the file is either intact or missing.
    pub checksums: Option<Vec<SliceChecksum>>,
    /// The number of the first slice in the set.
    pub first_slice: usize,
    /// Number of slices.
    pub n_slices: usize,
}

/// A recovery slice in one of the files of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoverySlice {
    /// The exponent.
    pub exponent: u16,
    /// The number of the recovery file.
    pub volume: usize,
    /// Offset of the first byte in this file.
    pub offset: u64,
}

/// A set of recovery files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecoverySet {
    /// The identity.
    pub id: SetId,
    /// Length of a slice in bytes.
    pub slice_len: u64,
    /// The files, in the order of their slices.
    pub files: Vec<ProtectedFile>,
    /// Number of slices of all files.
    pub n_slices: usize,
    /// Number of files that the set names and cannot recover.
    pub n_other_files: usize,
    /// The recovery slices, by exponent.
    pub recovery: Vec<RecoverySlice>,
    /// The files that were read.
    pub volumes: Vec<PathBuf>,
    /// The program that made the set.
    pub creator: Option<String>,
    /// A comment.
    pub comment: Option<String>,
}

/// The intact packets of one set.
#[derive(Default)]
struct Packets {
    set: Option<SetId>,
    main: Option<Packet>,
    files: HashMap<FileId, Packet>,
    checksums: HashMap<FileId, Vec<SliceChecksum>>,
    unicode_names: HashMap<FileId, String>,
    sha256: HashMap<FileId, Sha256>,
    recovery: BTreeMap<u16, (RecoverySlice, u64)>,
    creator: Option<String>,
    comment: Option<String>,
    unicode_comment: Option<String>,
    n_kept: u64,
}

impl Packets {
    /// Keeps what is new in a packet. The first intact packet decides about the set.
    fn add(&mut self, volume: usize, found: Found) {
        if *self.set.get_or_insert(found.header.set) != found.header.set {
            return;
        }
        if !found.header.is_recovery() {
            if self.n_kept.saturating_add(found.header.len) > MAX_KEPT {
                return;
            }
            if self.keep(found.packet) {
                self.n_kept += found.header.len;
            }
            return;
        }
        if let Packet::Recovery { exponent } = found.packet
            && let Ok(exponent) = u16::try_from(exponent)
            && usize::from(exponent) < MAX_RECOVERY_SLICES
        {
            let offset = found.slice_offset();
            let slice = RecoverySlice {
                exponent,
                volume,
                offset,
            };
            let known = self.recovery.entry(exponent);
            // By place, so that the choice does not depend on the order of the threads.
            let new = (slice, found.slice_len());
            let known = known.or_insert(new);
            if (slice.volume, slice.offset) < (known.0.volume, known.0.offset) {
                *known = new;
            }
        }
    }

    /// Returns `true` if the packet is kept.
    fn keep(&mut self, packet: Packet) -> bool {
        match packet {
            Packet::Main { .. } => {
                let is_new = self.main.is_none() && Some(packet.set_id()) == self.set;
                if is_new {
                    self.main = Some(packet);
                }
                is_new
            }
            Packet::File {
                id,
                md5_16k,
                len,
                ref name,
                ..
            } => {
                // The identity is a digest, so that a forged packet cannot stand for another file.
                let is_new = FileId::of(&md5_16k, len, name) == id && !self.files.contains_key(&id);
                if is_new {
                    self.files.insert(id, packet);
                }
                is_new
            }
            Packet::Slices { file, checksums } => match self.checksums.entry(file) {
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(checksums);
                    true
                }
                std::collections::hash_map::Entry::Occupied(_) => false,
            },
            Packet::Sha256 { file, sha256 } => self.sha256.insert(file, sha256).is_none(),
            Packet::UnicodeName { file, name } => self.unicode_names.insert(file, name).is_none(),
            Packet::Creator(text) => {
                let text = || String::from_utf8_lossy(&text).into_owned();
                self.creator
                    .is_none()
                    .then(|| self.creator = Some(text()))
                    .is_some()
            }
            Packet::Comment(text) => {
                let text = || String::from_utf8_lossy(&text).into_owned();
                self.comment
                    .is_none()
                    .then(|| self.comment = Some(text()))
                    .is_some()
            }
            Packet::UnicodeComment { text, .. } => {
                let is_new = self.unicode_comment.is_none();
                self.unicode_comment.get_or_insert(text);
                is_new
            }
            Packet::Recovery { .. } | Packet::Unknown => false,
        }
    }

    fn into_set(mut self, volumes: Vec<PathBuf>) -> Result<RecoverySet, Error> {
        let id = self
            .set
            .ok_or_else(|| Error::NoPackets(volumes.first().cloned().unwrap_or_default()))?;
        let Some(Packet::Main {
            slice_len,
            files: ids,
            other_files,
        }) = self.main.take()
        else {
            return Err(Error::Incomplete("the list of files"));
        };
        if slice_len == 0 || !slice_len.is_multiple_of(4) || slice_len > i64::MAX as u64 {
            return Err(Error::Impossible(format!("slices of {slice_len} bytes")));
        }
        // par2cmdline on Windows writes backslashes between folders, and reads them on Unix, too.
        let is_ours = |creator: &String| creator.starts_with("hashlane ");
        let has_backslashes = !self.creator.as_ref().is_some_and(is_ours);
        let mut files = Vec::new();
        let mut n_slices = 0_usize;
        let mut paths = BTreeSet::new();
        for id in ids {
            let Some(Packet::File {
                md5,
                md5_16k,
                len,
                name,
                ..
            }) = self.files.remove(&id)
            else {
                return Err(Error::Incomplete("the description of a file"));
            };
            let unicode = self.unicode_names.remove(&id);
            let path = path_of(&name, unicode, has_backslashes)?;
            if !paths.insert(path.clone()) {
                return Err(Error::Impossible(format!(
                    "{}: is listed twice",
                    path.display()
                )));
            }
            let of_file = usize::try_from(len.div_ceil(slice_len)).unwrap_or(usize::MAX);
            let first_slice = n_slices;
            n_slices = n_slices.saturating_add(of_file);
            if n_slices > MAX_SLICES {
                return Err(Error::Impossible(format!("more than {MAX_SLICES} slices")));
            }
            let checksums = self.checksums.remove(&id);
            files.push(ProtectedFile {
                id,
                path,
                len,
                md5,
                md5_16k,
                sha256: self.sha256.remove(&id),
                checksums: checksums.filter(|checksums| checksums.len() == of_file),
                first_slice,
                n_slices: of_file,
            });
        }
        let recovery = self.recovery.into_values();
        let recovery = recovery.filter(|(_, len)| *len == slice_len);
        Ok(RecoverySet {
            id,
            slice_len,
            files,
            n_slices,
            n_other_files: other_files.len(),
            recovery: recovery.map(|(slice, _)| slice).collect(),
            volumes,
            creator: self.creator,
            comment: self.unicode_comment.or(self.comment),
        })
    }
}

/// Returns the path of a file. A name in UTF-16 counts if the other one is not ASCII and not UTF-8.
fn path_of(name: &[u8], unicode: Option<String>, has_backslashes: bool) -> Result<PathBuf, Error> {
    let unicode = unicode.filter(|_| std::str::from_utf8(name).is_err());
    let mut name = unicode.map_or_else(|| name.to_vec(), String::into_bytes);
    if has_backslashes {
        let backslashes = name.iter_mut().filter(|byte| **byte == b'\\');
        backslashes.for_each(|byte| *byte = b'/');
    }
    name::to_path(&name).ok_or_else(|| {
        let name = String::from_utf8_lossy(&name);
        let shown: String = name
            .chars()
            .take(100)
            .flat_map(char::escape_default)
            .collect();
        Error::Impossible(format!("{shown}: the name leads out of the folder"))
    })
}

impl RecoverySet {
    /// Reads the packets of a set from recovery files. The first intact packet of the first file decides about the set;
    /// packets of other sets are ignored.
    ///
    /// # Errors
    /// A file cannot be read, no packet is intact, or the intact packets do not describe a possible set.
    pub fn read(volumes: Vec<PathBuf>, run: &mut Run<'_>) -> Result<Self, Error> {
        let packets = Mutex::new(Packets::default());
        let cancel = run.cancel;
        let read = |number: usize| -> Result<(), Error> {
            let path: &Path = &volumes[number];
            let file = SourceFile::open(path).map_err(Error::io(path))?;
            let add = |found| {
                let mut packets = packets
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                packets.add(number, found);
            };
            scan(&file, cancel, add).map_err(Error::io(path))
        };
        if let Some(first) = volumes.first() {
            read(0)?;
            let packets = packets
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            if packets.set.is_none() && volumes.len() == 1 {
                return Err(Error::NoPackets(first.clone()));
            }
        }
        let next = AtomicUsize::new(1);
        let work = || -> Result<(), Error> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= volumes.len() {
                    return Ok(());
                }
                read(number)?;
            }
        };
        thread::scope(|scope| {
            let n_threads = run.n_threads.get().min(volumes.len());
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
            let results = threads.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            results.collect::<Result<Vec<()>, Error>>()
        })?;
        let packets = packets
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        packets.into_set(volumes)
    }

    /// Returns the checksum of a slice, if it is known.
    pub(crate) fn checksum(&self, file: usize, slice: usize) -> Option<SliceChecksum> {
        self.files[file]
            .checksums
            .as_ref()
            .map(|checksums| checksums[slice])
    }

    /// Returns `true` if a file is compared by its own digest: the checksums of its slices are not known, or would be those of
    /// many zeros and few bytes. A set can claim that a slice has 2⁶³ bytes.
    pub(crate) fn is_compared_whole(&self, file: usize) -> bool {
        let file = &self.files[file];
        let enough = file.len.saturating_mul(2).saturating_add(MAX_ZEROS);
        file.checksums.is_none() || self.slice_len > enough
    }

    /// Returns the number of bytes of a file in one of its slices.
    pub(crate) fn data_len(&self, file: usize, slice: usize) -> u64 {
        let rest = self.files[file].len - slice as u64 * self.slice_len;
        rest.min(self.slice_len)
    }

    /// Returns the file that a slice of the set belongs to, and its number in the file.
    pub(crate) fn place_of(&self, slice: usize) -> (usize, usize) {
        // Files without slices have the first slice of the next file.
        let file = self
            .files
            .partition_point(|file| file.first_slice + file.n_slices <= slice);
        (file, slice - self.files[file].first_slice)
    }
}

/// Returns the recovery files of the set that a file belongs to: the file itself, and those of the same folder with the same
/// name before `.vol` and the numbers of slices.
///
/// # Errors
/// The folder cannot be read.
pub fn volumes_of(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let base = base_of(path);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut others = Vec::new();
    let listing = std::fs::read_dir(folder).map_err(Error::io(folder))?;
    for entry in listing {
        let entry: io::Result<_> = entry;
        let name = entry.map_err(Error::io(folder))?.file_name();
        let is_other = Some(name.as_os_str()) != path.file_name();
        if is_other && is_par2(&name) && base_of(Path::new(&name)) == base {
            others.push(path.with_file_name(name));
        }
    }
    others.sort();
    let mut volumes = vec![path.to_owned()];
    volumes.extend(others);
    Ok(volumes)
}

fn is_par2(name: &std::ffi::OsStr) -> bool {
    let extension = Path::new(name).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("par2"))
}

/// Returns the name of a recovery file without `.par2`, and without `.vol0+1` before it.
pub(crate) fn base_of(path: &Path) -> OsString {
    let name = path.file_name().unwrap_or_default();
    if !is_par2(name) {
        return name.to_owned();
    }
    let stem = Path::new(name).file_stem().unwrap_or_default();
    let volume = Path::new(stem)
        .extension()
        .and_then(|volume| volume.to_str());
    let is_volume = volume.is_some_and(|volume| {
        let volume = volume.to_ascii_lowercase();
        let numbers = volume
            .strip_prefix("vol")
            .and_then(|numbers| numbers.split_once(['+', '-']));
        numbers.is_some_and(|(first, count)| {
            let is_number =
                |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
            is_number(first) && is_number(count)
        })
    });
    match Path::new(stem).file_stem() {
        Some(base) if is_volume => base.to_owned(),
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_belong_to_their_base() {
        for (name, base) in [
            ("a.par2", "a"),
            ("a.vol0+1.par2", "a"),
            ("a.b.vol003+04.PAR2", "a.b"),
            ("a.vol3-7.par2", "a"),
            ("a.volx+1.par2", "a.volx+1"),
            ("a.vol1.par2", "a.vol1"),
            ("a.txt", "a.txt"),
        ] {
            assert_eq!(base_of(Path::new(name)), *base, "{name}");
        }
    }
}
