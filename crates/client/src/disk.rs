//! Calls of file systems that may not answer: those of a server that is gone, or of a program.
//!
//! A call on such a disk runs on a thread of the disk, and the caller waits for a limited time. While a call is late, others on the
//! same disk fail at once, so that a disk delays its callers once, and never those of other disks. Local file systems fail instead
//! of waiting, and are called directly.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time for which a caller waits.
const LIMIT: Duration = Duration::from_secs(1);

/// Time for which the mounted file systems are known.
const FRESH: Duration = Duration::from_millis(100);

/// Maximum number of symbolic links on the way to a file, as Linux has it.
const MAX_LINKS: usize = 40;

/// The file systems that need no other machine and no other program.
const LOCAL: [&[u8]; 22] = [
    b"bcachefs",
    b"btrfs",
    b"devtmpfs",
    b"erofs",
    b"exfat",
    b"ext2",
    b"ext3",
    b"ext4",
    b"f2fs",
    b"hfsplus",
    b"iso9660",
    b"jfs",
    b"ntfs3",
    b"overlay",
    b"ramfs",
    b"rootfs",
    b"squashfs",
    b"tmpfs",
    b"udf",
    b"vfat",
    b"xfs",
    b"zfs",
];

/// A disk that does not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the disk of {} does not answer", .disk.display())]
pub struct Silent {
    /// The place where the disk is mounted.
    pub disk: PathBuf,
}

impl From<Silent> for io::Error {
    fn from(silent: Silent) -> Self {
        Self::new(io::ErrorKind::TimedOut, silent)
    }
}

/// The threads of all disks.
static THREADS: Mutex<Option<Threads>> = Mutex::new(None);

/// The mounted file systems, and when they were read.
static MOUNTS: Mutex<Option<(Instant, Arc<Mounts>)>> = Mutex::new(None);

/// Calls a function that asks the disk of a path for something.
///
/// # Errors
/// Returns [`Silent`] if the disk does not answer in time. The call may end later, without an effect on the caller.
pub fn on_disk<T: Send + 'static>(
    path: &Path,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Silent> {
    let Some(disk) = remote_disk(path) else {
        return Ok(call());
    };
    let thread = lock(&THREADS).get_or_insert_default().of(&disk);
    match thread {
        Ok(thread) => thread.ask(call).ok_or(Silent { disk }),
        // Without threads, nothing else works either.
        Err(_) => Ok(call()),
    }
}

/// Returns the disk of a path, unless it is a local file system.
pub(crate) fn remote_disk(path: &Path) -> Option<PathBuf> {
    disk_among(&mounts(), path)
}

/// Returns whether a disk does not answer. Not even the space of a file system is remembered by the system.
pub(crate) fn silence_of(disk: &Path) -> Option<Silent> {
    let asked = disk.to_owned();
    on_disk(disk, move || drop(rustix::fs::statvfs(&asked))).err()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that holds a lock leaves its state inconsistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Job = Box<dyn FnOnce() + Send>;

/// The threads of disks, by the places where these are mounted.
#[derive(Default)]
struct Threads(HashMap<PathBuf, DiskThread>);

impl Threads {
    fn of(&mut self, disk: &Path) -> io::Result<DiskThread> {
        if let Some(known) = self.0.get(disk) {
            return Ok(known.clone());
        }
        let new = DiskThread::start()?;
        self.0.insert(disk.to_owned(), new.clone());
        Ok(new)
    }
}

/// The thread of a disk. It lasts as long as the process: a call that does not return cannot be ended.
#[derive(Clone)]
struct DiskThread {
    jobs: mpsc::Sender<Job>,
    /// The start of the running call.
    started: Arc<Mutex<Option<Instant>>>,
}

impl DiskThread {
    fn start() -> io::Result<Self> {
        let (jobs, receiver) = mpsc::channel::<Job>();
        let run = move || receiver.into_iter().for_each(|job| job());
        thread::Builder::new().name("disk".into()).spawn(run)?;
        Ok(Self {
            jobs,
            started: Arc::default(),
        })
    }

    /// Returns the result of a call, unless it, or an earlier one, is late.
    fn ask<T: Send + 'static>(&self, call: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        if lock(&self.started).is_some_and(|started| started.elapsed() >= LIMIT) {
            return None;
        }
        let (answer, answered) = mpsc::sync_channel(1);
        let running = Arc::clone(&self.started);
        let job = move || {
            *lock(&running) = Some(Instant::now());
            let result = call();
            *lock(&running) = None;
            // The caller may have stopped waiting.
            let _ = answer.send(result);
        };
        self.jobs.send(Box::new(job)).ok()?;
        answered.recv_timeout(LIMIT).ok()
    }
}

/// The places of the mounted file systems that are not local; `None` if the system has no list of them.
type Mounts = Option<Vec<PathBuf>>;

/// Returns the mounted file systems, those of a moment ago.
fn mounts() -> Arc<Mounts> {
    let mut known = lock(&MOUNTS);
    if let Some((read, mounts)) = &*known
        && read.elapsed() < FRESH
    {
        return Arc::clone(mounts);
    }
    let list = fs::read("/proc/self/mountinfo").ok();
    let mounts = Arc::new(list.map(|text| remote_mounts(&text)));
    *known = Some((Instant::now(), Arc::clone(&mounts)));
    mounts
}

/// Returns the places of file systems that are not local, from a list as proc(5) describes it. Of several at one place, the last one
/// covers the others.
fn remote_mounts(text: &[u8]) -> Vec<PathBuf> {
    let mut remote: Vec<PathBuf> = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let mut fields = line.split(|byte| *byte == b' ');
        let place = fields.nth(4).map(unescaped);
        let kind = fields.skip_while(|field| *field != b"-").nth(1);
        if let (Some(place), Some(kind)) = (place, kind) {
            let place = PathBuf::from(OsString::from_vec(place));
            remote.retain(|known| *known != place);
            if !LOCAL.contains(&kind) {
                remote.push(place);
            }
        }
    }
    remote
}

/// Returns a path without the octal forms of white space and backslashes.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| byte == b'\\');
        let octal = octal.and_then(|digits| str::from_utf8(digits).ok());
        let escaped = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(escaped.unwrap_or(byte));
        rest = &after[if escaped.is_some() { 3 } else { 0 }..];
    }
    bytes
}

/// Returns the first disk on the way to a path that is not local. Links are followed up to it, and nothing on it is looked at.
fn disk_among(mounts: &Mounts, path: &Path) -> Option<PathBuf> {
    let Some(remote) = mounts else {
        return Some("/".into());
    };
    let mut way = PathBuf::new();
    let mut rest = parts(&std::path::absolute(path).ok()?);
    let mut n_links = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            way.pop();
            continue;
        }
        way.push(part);
        if remote.contains(&way) {
            return Some(way);
        }
        if let Ok(link) = fs::read_link(&way)
            && n_links < MAX_LINKS
        {
            n_links += 1;
            way.pop();
            rest.extend(parts(&link));
        }
    }
    None
}

/// Returns the parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev();
    let parts = parts.filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn mounted_file_systems_are_read() {
        let text = b"22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
            30 22 0:26 / /mnt/a\\040b\\134 rw shared:2 master:3 - nfs4 host:/x rw,addr=1\n\
            31 22 0:27 / /mnt/c rw - fuse.sshfs host: rw\n\
            32 22 0:28 / /mnt/covered rw - nfs host: rw\n\
            33 22 0:29 / /mnt/covered rw - tmpfs tmpfs rw\nnot a line\n\n";
        let mounts = remote_mounts(text);
        let places: Vec<_> = mounts.iter().map(|it| it.to_str().unwrap()).collect();
        assert_eq!(places, ["/mnt/a b\\", "/mnt/c"]);
        let mounts = Some(mounts);
        let disk = |path| disk_among(&mounts, Path::new(path));
        assert_eq!(disk("/mnt/a b\\/c"), Some("/mnt/a b\\".into()));
        assert_eq!(disk("/mnt/c/../../usr"), Some("/mnt/c".into()));
        for local in ["/mnt/a", "/mnt/cc", "/mnt/covered/x", "relative"] {
            assert_eq!(disk(local), None, "{local}");
        }
        assert_eq!(disk_among(&None, Path::new("/usr")), Some("/".into()));
    }

    #[test]
    fn links_lead_to_disks() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let mounts = Some(vec![folder.join("remote")]);
        fs::create_dir(folder.join("local")).unwrap();
        symlink("../remote/x", folder.join("local/relative")).unwrap();
        symlink(folder.join("local/relative"), folder.join("absolute")).unwrap();
        symlink("circle", folder.join("circle")).unwrap();
        let disk = |path: &str| disk_among(&mounts, &folder.join(path));
        for path in ["local/relative", "absolute/y", "remote"] {
            assert_eq!(disk(path), Some(folder.join("remote")), "{path}");
        }
        for path in ["local", "circle/x", "absent/y"] {
            assert_eq!(disk(path), None, "{path}");
        }
    }

    /// A disk that does not answer delays one caller, for a limited time, and none of another disk.
    #[test]
    fn a_silent_disk_delays_one_caller() {
        let (silent, lively) = (DiskThread::start().unwrap(), DiskThread::start().unwrap());
        let (answer, waits) = mpsc::channel::<()>();
        let (begins, began) = mpsc::channel();
        let call = move || {
            begins.send(()).unwrap();
            waits.recv().unwrap();
        };
        assert_eq!(silent.ask(call), None);
        began.recv().unwrap();
        // These would wait for ever.
        for _ in 0..1000 {
            assert_eq!(silent.ask(|| ()), None);
        }
        assert_eq!(lively.ask(|| 7), Some(7));
        answer.send(()).unwrap();
        while silent.ask(|| ()).is_none() {
            thread::yield_now();
        }
        assert_eq!(silent.ask(|| 8), Some(8));
        let text = Silent {
            disk: "/mnt/a".into(),
        };
        assert_eq!(text.to_string(), "the disk of /mnt/a does not answer");
    }
}
