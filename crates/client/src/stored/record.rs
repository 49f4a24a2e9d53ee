//! Records of verified content, outside the content: the pieces that were present, and the size and the time of
//! modification of each file. docs/reference/formats.md describes the format.
//!
//! A record ends with its SHA-256, so that damage is noticed. A record that other users could have written is not used.
//! The torrent determines the maximum length to read, and every value is checked. Its pieces are trusted only while the
//! torrent, the path and the files match, and while no program has the files open for writing.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hashlane_files::{AtomicFile, Overwrite, Stamp, Writers, read_limited};
use hashlane_metainfo::Torrent;
use hashlane_metainfo::bencode::{Value, Writer};
use hashlane_sha::Sha256;
use hashlane_swarm::Stamps;
use hashlane_verify::bitfield::{bitfield, flags};
use hashlane_verify::{HashVersions, Layout, files_of};

/// The version of the format.
const VERSION: i64 = 2;

/// Length limit of a record without its files and pieces: keys, info-hash and path.
const MAX_HEAD_LEN: u64 = 16 << 10;

/// Length of a file in a record: its size, and its time in seconds and nanoseconds.
const FILE_LEN: usize = 8 + 8 + 4;

/// Length of the SHA-256 at the end of a record.
const DIGEST_LEN: usize = 32;

/// The value in place of nanoseconds for a file without a time.
const NO_TIME: u32 = u32::MAX;

/// A file that was modified this recently can change again without a new time: file systems store times with a
/// resolution of up to 2 s (FAT).
const RESOLUTION: Duration = Duration::from_secs(2);

/// The record of one torrent and the path of its content.
#[derive(Debug)]
pub(super) struct RecordFile {
    path: PathBuf,
    info_hash: Vec<u8>,
    /// Absolute path of the content.
    content: PathBuf,
}

/// The reason why a record cannot be used or written.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub(crate) struct RecordProblem {
    path: PathBuf,
    reason: String,
}

/// Size and time of modification of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileTime {
    length: u64,
    seconds: u64,
    nanoseconds: u32,
}

/// A record whose values are valid for its torrent.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    /// `None` for a file that must be read again.
    files: Vec<Option<FileTime>>,
    /// An entry for each file: whether the system confirmed that no program had it open for writing.
    leased: Vec<bool>,
    have: Vec<bool>,
}

impl RecordFile {
    /// Returns the record in this folder. The record may not exist yet. Returns `None` if the content is absent.
    pub(super) fn new(folder: &Path, info_hash: String, content: &Path) -> Option<Self> {
        Some(Self {
            path: folder.join(&info_hash),
            info_hash: info_hash.into_bytes(),
            content: content.canonicalize().ok()?,
        })
    }

    pub(super) fn exists(&self) -> bool {
        self.path.is_file()
    }

    /// Returns the trusted pieces. The record has them as present, and all their files have the recorded size and
    /// modification time and are not open for writing. Returns no pieces if there is no record of this content.
    pub(super) fn trusted(
        &self,
        torrent: &Torrent,
        stamps: &Stamps,
        writers: &[Writers],
    ) -> Result<Vec<bool>, RecordProblem> {
        let record = self.read(torrent).map_err(|error| self.problem(&error))?;
        let trusted = record.map(|record| record.trusted(torrent, stamps, writers));
        Ok(trusted.unwrap_or_default())
    }

    /// Records the present pieces. `stamps` is the state of the files at `stamped`, before they were verified. A file that
    /// a program had open for writing gets no time: a write through a memory map can leave the time as it is.
    pub(super) fn write(
        &self,
        torrent: &Torrent,
        have: &[bool],
        stamps: &Stamps,
        writers: &[Writers],
        stamped: SystemTime,
    ) -> Result<(), RecordProblem> {
        let files = stamps.iter().zip(writers);
        let times = files.map(|(stamp, writers)| match writers {
            Writers::Some => None,
            Writers::None | Writers::Unknown => FileTime::of(stamp?, stamped),
        });
        let record = Record {
            files: times.collect(),
            leased: writers.iter().map(|it| *it == Writers::None).collect(),
            have: have.to_vec(),
        };
        debug_assert_eq!(record.files.len(), torrent.files().len());
        self.replace(&self.encode(&record))
            .map_err(|error| self.problem(&error))
    }

    fn problem(&self, error: &io::Error) -> RecordProblem {
        RecordProblem {
            path: self.path.clone(),
            reason: error.to_string(),
        }
    }

    /// Reads the record. Returns `None` if there is no record, or if it belongs to the same torrent in another place.
    fn read(&self, torrent: &Torrent) -> io::Result<Option<Record>> {
        let max_len = MAX_HEAD_LEN
            + (torrent.files().len() * (FILE_LEN + 1)) as u64
            + u64::from(torrent.lengths().piece_count().div_ceil(8));
        if let Some(folder) = self.path.parent()
            && let Ok(metadata) = fs::metadata(folder)
        {
            refuse_written_by_others(&metadata, folder)?;
        }
        let bytes = match read_file(&self.path, max_len) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes?,
        };
        self.decode(&bytes, torrent).map_err(|reason| {
            let reason = format!("not a record of this torrent: {reason}; all pieces are verified");
            io::Error::new(io::ErrorKind::InvalidData, reason)
        })
    }

    /// Writes the file unless it is the same, so that either the old or the new record survives a crash.
    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        refuse_written_by_others(&fs::metadata(folder)?, folder)?;
        // A daemon that starts finds thousands of records that are still right, and each write waits for the disk.
        if read_file(&self.path, bytes.len() as u64).is_ok_and(|old| old == bytes) {
            return Ok(());
        }
        let file = AtomicFile::beside(&self.path, 0o600)?;
        file.as_file().write_all(bytes)?;
        file.put(&self.path, Overwrite::Yes)
    }

    fn encode(&self, record: &Record) -> Vec<u8> {
        let mut files = Vec::with_capacity(record.files.len() * FILE_LEN);
        for file in &record.files {
            let unknown = FileTime {
                length: 0,
                seconds: 0,
                nanoseconds: NO_TIME,
            };
            let file = file.unwrap_or(unknown);
            files.extend(file.length.to_be_bytes());
            files.extend(file.seconds.to_be_bytes());
            files.extend(file.nanoseconds.to_be_bytes());
        }
        let mut writer = Writer::new();
        writer.begin_dictionary();
        writer
            .key("content")
            .bytes(self.content.as_os_str().as_bytes());
        writer.key("files").bytes(files);
        writer
            .key("have")
            .bytes(bitfield(record.have.iter().copied()));
        writer.key("info hash").bytes(&self.info_hash);
        writer
            .key("leased")
            .bytes(bitfield(record.leased.iter().copied()));
        writer.key("version").integer(VERSION);
        writer.end();
        let mut bytes = writer.finish();
        let digest = Sha256::digest(&bytes);
        bytes.extend(digest.as_ref());
        bytes
    }

    fn decode(&self, bytes: &[u8], torrent: &Torrent) -> Result<Option<Record>, String> {
        let (bytes, digest) = bytes.split_last_chunk::<DIGEST_LEN>().ok_or("too short")?;
        if Sha256::digest(bytes).as_ref() != digest {
            return Err("its SHA-256 is wrong, or an earlier version wrote it".to_owned());
        }
        let document = Value::parse(bytes).map_err(|error| error.to_string())?;
        let entries = document.as_dictionary().ok_or("not a dictionary")?;
        let get = |key: &str| {
            let found = entries.clone().find(|entry| entry.key == key.as_bytes());
            let value = found.map(|entry| entry.value);
            value.ok_or_else(|| format!("no key \"{key}\""))
        };
        let bytes_of = |key: &str| {
            let bytes = get(key)?.as_bytes();
            bytes.ok_or_else(|| format!("\"{key}\" is not a byte string"))
        };
        if get("version")?.as_integer() != Some(VERSION) {
            return Err("written by another version of hashlane".to_owned());
        }
        if bytes_of("info hash")? != self.info_hash {
            return Err("another info-hash".to_owned());
        }
        let files = bytes_of("files")?;
        if files.len() != torrent.files().len() * FILE_LEN {
            return Err("another number of files".to_owned());
        }
        let files: Result<Vec<_>, String> = files.chunks_exact(FILE_LEN).map(file_time).collect();
        let have = bytes_of("have")?;
        let n_pieces = torrent.lengths().piece_count() as usize;
        if have.len() != n_pieces.div_ceil(8) {
            return Err("another number of pieces".to_owned());
        }
        let leased = bytes_of("leased")?;
        if leased.len() != torrent.files().len().div_ceil(8) {
            return Err("another number of files".to_owned());
        }
        let record = Record {
            files: files?,
            leased: flags(leased, torrent.files().len()),
            have: flags(have, n_pieces),
        };
        let is_here = bytes_of("content")? == self.content.as_os_str().as_bytes();
        Ok(is_here.then_some(record))
    }
}

impl Record {
    fn trusted(self, torrent: &Torrent, stamps: &Stamps, writers: &[Writers]) -> Vec<bool> {
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        let mut trusted = self.have;
        let files = self.files.iter().zip(stamps.iter()).zip(writers);
        for ((index, _), ((recorded, now), writers)) in files_of(torrent).zip(files) {
            let is_same = match (recorded, now, writers) {
                (_, _, Writers::Some) => false,
                (Some(recorded), Some(now), _) => recorded.is_of(now),
                _ => false,
            };
            if !is_same {
                let pieces = layout.pieces_of(index);
                trusted[pieces.start as usize..pieces.end as usize].fill(false);
            }
        }
        trusted
    }
}

impl FileTime {
    /// Returns the size and time of a file. Returns `None` if the file has no time, or if its time is so recent that a
    /// later change may not change it.
    fn of(stamp: &Stamp, stamped: SystemTime) -> Option<Self> {
        let modified = stamp.modified()?;
        let age = stamped.duration_since(modified).ok()?;
        (age > RESOLUTION).then(|| Self::at(stamp.length(), modified))?
    }

    /// Returns this size and time, or `None` for a time before 1970.
    fn at(length: u64, modified: SystemTime) -> Option<Self> {
        let modified = modified.duration_since(UNIX_EPOCH).ok()?;
        Some(Self {
            length,
            seconds: modified.as_secs(),
            nanoseconds: modified.subsec_nanos(),
        })
    }

    fn is_of(&self, stamp: &Stamp) -> bool {
        let now = stamp
            .modified()
            .and_then(|modified| Self::at(stamp.length(), modified));
        now.as_ref() == Some(self)
    }
}

/// Refuses a file or folder that another user could have written: a forged record would replace the verification.
fn refuse_written_by_others(metadata: &Metadata, path: &Path) -> io::Result<()> {
    let is_own = [rustix::process::geteuid().as_raw(), 0].contains(&metadata.uid());
    // Group and others.
    if is_own && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    let path = path.display();
    let reason = format!(
        "not used: other users can write to {path}, which should belong to you with at most mode 755"
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

/// Reads a file of a record. Returns `None` for a file that must be read again.
fn file_time(bytes: &[u8]) -> Result<Option<FileTime>, String> {
    let mut bytes = bytes.iter().copied();
    let mut number = |n_bytes| {
        bytes
            .by_ref()
            .take(n_bytes)
            .fold(0, |number, byte| number << 8 | u64::from(byte))
    };
    let (length, seconds, nanoseconds) = (number(8), number(8), number(4));
    match nanoseconds as u32 {
        NO_TIME => Ok(None),
        nanoseconds @ 0..1_000_000_000 => Ok(Some(FileTime {
            length,
            seconds,
            nanoseconds,
        })),
        _ => Err("a time of modification is invalid".to_owned()),
    }
}

/// Reads a regular file of limited length.
fn read_file(path: &Path, max_len: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe without a writer would block.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let file = File::open(path)?;
    refuse_written_by_others(&file.metadata()?, path)?;
    let mut bytes = Vec::new();
    if !read_limited(file, max_len, &mut bytes)? {
        let reason = format!("longer than {max_len} bytes, the limit for this torrent");
        return Err(io::Error::other(reason));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use hashlane_files::SourceFile;

    use super::*;

    /// Two files in three pieces.
    const TORRENT: &[u8] = b"d4:infod5:filesld6:lengthi20000e4:pathl1:aeed6:lengthi20000e4:pathl1:beee4:name1:n\
        12:piece lengthi16384e6:pieces60:000000000000000000001111111111111111111122222222222222222222ee";

    fn torrent() -> Torrent {
        Torrent::parse(TORRENT.to_vec()).expect("the torrent is valid")
    }

    fn record_file(folder: &Path) -> RecordFile {
        let info_hash = torrent().info_hashes().v1().expect("version 1").to_string();
        RecordFile::new(folder, info_hash, folder).expect("the content exists")
    }

    fn record() -> Record {
        let file = FileTime {
            length: 20_000,
            seconds: 1_700_000_000,
            nanoseconds: 999_999_999,
        };
        Record {
            files: vec![Some(file), None],
            leased: vec![true, false],
            have: vec![true, false, true],
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = record_file(folder.path());
        assert_eq!(file.read(&torrent()).expect("it is absent"), None);
        let bytes = file.encode(&record());
        file.replace(&bytes).expect("the folder takes a file");
        assert_eq!(file.read(&torrent()).expect("it is valid"), Some(record()));
        // The same torrent in another place.
        let elsewhere = RecordFile {
            content: folder.path().join("elsewhere"),
            ..record_file(folder.path())
        };
        assert_eq!(elsewhere.read(&torrent()).expect("it is valid"), None);
    }

    #[test]
    fn the_file_of_a_killed_process_is_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let left = folder.path().join(".hashlane-abc123.tmp");
        fs::write(&left, "half").expect("the folder takes a file");
        let file = record_file(folder.path());
        file.replace(&file.encode(&record()))
            .expect("the folder takes a file");
        assert!(!left.exists());
        assert_eq!(fs::read_dir(folder.path()).into_iter().flatten().count(), 1);
    }

    #[test]
    fn a_damaged_record_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = record_file(folder.path());
        let good = file.encode(&record());
        for len in 0..good.len() {
            assert!(file.decode(&good[..len], &torrent()).is_err(), "{len}");
        }
        for bit in 0..good.len() * 8 {
            let mut flipped = good.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(file.decode(&flipped, &torrent()).is_err(), "{bit}");
        }
        let text = String::from_utf8_lossy(&good);
        for (key, value, reason) in [
            ("version", "i3e", "another version of hashlane"),
            ("version", "1:1", "another version of hashlane"),
            ("info hash", "2:ab", "another info-hash"),
            ("files", "0:", "another number of files"),
            ("leased", "2:ab", "another number of files"),
            ("have", "2:ab", "another number of pieces"),
            ("have", "i1e", "\"have\" is not a byte string"),
            ("content", "le", "\"content\" is not a byte string"),
        ] {
            let bytes = with(&good, key, value);
            let found = file.decode(&bytes, &torrent()).expect_err(&text);
            assert!(found.contains(reason), "{found}");
        }
        let mut invalid_time = good.clone();
        let nanoseconds = 999_999_999_u32.to_be_bytes();
        let at = good.windows(4).position(|bytes| bytes == nanoseconds);
        let at = at.expect("the record has the time");
        invalid_time[at..at + 4].copy_from_slice(&1_000_000_000_u32.to_be_bytes());
        invalid_time.truncate(good.len() - DIGEST_LEN);
        let invalid_time = signed(invalid_time);
        assert!(file.decode(&invalid_time, &torrent()).is_err());
    }

    /// Appends the digest of a record.
    fn signed(mut record: Vec<u8>) -> Vec<u8> {
        let digest = Sha256::digest(&record);
        record.extend(digest.as_ref());
        record
    }

    /// Returns the record with another value of a key.
    fn with(record: &[u8], key: &str, value: &str) -> Vec<u8> {
        let record = &record[..record.len() - DIGEST_LEN];
        let document = Value::parse(record).expect("the record is valid");
        let mut writer = b"d".to_vec();
        for entry in document.as_dictionary().expect("it is a dictionary") {
            writer.extend(format!("{}:", entry.key.len()).as_bytes());
            writer.extend(entry.key);
            let is_changed = entry.key == key.as_bytes();
            writer.extend(if is_changed {
                value.as_bytes()
            } else {
                entry.value.encoded()
            });
        }
        writer.push(b'e');
        signed(writer)
    }

    /// Another user could forge a record in such a file or folder.
    #[test]
    fn a_record_that_others_can_write_is_not_used() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = record_file(folder.path());
        let bytes = file.encode(&record());
        let allow = |path: &Path, mode| {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(path, mode).expect("the path exists");
        };
        file.replace(&bytes).expect("the folder takes a file");
        assert!(file.read(&torrent()).expect("it is valid").is_some());
        for mode in [0o602, 0o620, 0o666] {
            allow(&file.path, mode);
            let error = file.read(&torrent()).expect_err("others can write to it");
            assert!(
                error.to_string().contains("other users can write"),
                "{error}"
            );
        }
        // A new record replaces the file.
        file.replace(&bytes).expect("the folder takes a file");
        assert!(file.read(&torrent()).expect("it is valid").is_some());
        for mode in [0o777, 0o1777, 0o770] {
            allow(folder.path(), mode);
            let error = file.read(&torrent()).expect_err("others can write to it");
            assert!(
                error.to_string().contains("other users can write"),
                "{error}"
            );
            file.replace(&bytes).expect_err("others can write to it");
        }
        allow(folder.path(), 0o755);
        assert!(file.read(&torrent()).expect("it is valid").is_some());
        // Only root can give a file to another user.
        if std::os::unix::fs::chown(&file.path, Some(65534), None).is_ok() {
            let error = file.read(&torrent()).expect_err("another user owns it");
            assert!(
                error.to_string().contains("other users can write"),
                "{error}"
            );
        }
    }

    #[test]
    fn only_another_record_is_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = record_file(folder.path());
        let inode = || fs::metadata(&file.path).expect("the record exists").ino();
        let mut record = record();
        let put = |record: &Record| file.replace(&file.encode(record)).expect("it is written");
        put(&record);
        let first = inode();
        put(&record);
        assert_eq!(inode(), first);
        record.have[0] = !record.have[0];
        // Another file has the number of the old one otherwise.
        let _old = File::open(&file.path).expect("the record exists");
        put(&record);
        assert_ne!(inode(), first);
        let read = file.read(&torrent()).expect("it is valid");
        assert_eq!(read.expect("it is here"), record);
    }

    /// A change within the resolution of the file system can leave the time as it is.
    #[test]
    fn a_recent_time_is_not_recorded() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        let modified = UNIX_EPOCH + Duration::new(1_000_000_000, 5);
        let file = File::create(&path).expect("the folder takes a file");
        file.set_modified(modified).expect("the file has a time");
        let source = SourceFile::open(&path).expect("the file exists");
        let stamp = source.stamp().expect("the file has properties");
        let of = |stamped| FileTime::of(&stamp, stamped);
        assert_eq!(of(modified - Duration::from_secs(1)), None);
        assert_eq!(of(modified + RESOLUTION), None);
        let recorded = of(modified + RESOLUTION + Duration::from_nanos(1));
        let recorded = recorded.expect("the time is old enough");
        assert_eq!((recorded.seconds, recorded.nanoseconds), (1_000_000_000, 5));
        assert!(recorded.is_of(&stamp));
        for other in [
            FileTime {
                length: 1,
                ..recorded
            },
            FileTime {
                seconds: 0,
                ..recorded
            },
            FileTime {
                nanoseconds: 6,
                ..recorded
            },
        ] {
            assert!(!other.is_of(&stamp), "{other:?}");
        }
    }

    #[test]
    fn what_is_no_short_file_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = record_file(folder.path());
        fs::create_dir(&file.path).expect("the folder takes a folder");
        let error = file.read(&torrent()).expect_err("it is a folder");
        assert!(error.to_string().contains("not a regular file"), "{error}");
        fs::remove_dir(&file.path).expect("the folder is empty");
        fs::write(&file.path, vec![b'0'; 100_000]).expect("the folder takes a file");
        let error = file.read(&torrent()).expect_err("it is too long");
        assert!(
            error.to_string().contains("the limit for this torrent"),
            "{error}"
        );
    }
}
