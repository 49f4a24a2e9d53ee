//! A disk that does not answer delays its own torrents alone.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use hashlane_api::{Command, Content, NewTorrent, Source};
use hashlane_client::{Activity, Rights, TorrentKey, TorrentSnapshot};
use hashlane_session::Session;

use super::Shared;
use super::not_run::not_run;
use super::restart::{PATIENCE, open};

/// A mounted file system whose program answers nothing.
struct Silent<'f> {
    folder: &'f Path,
    /// Ends all calls when it is closed.
    device: Option<File>,
}

impl<'f> Silent<'f> {
    fn mount(folder: &'f Path) -> io::Result<Self> {
        let device = File::options().read(true).write(true).open("/dev/fuse")?;
        let mounted = Process::new("mount")
            .args(["-i", "-t", "fuse", "silent"])
            .arg(folder)
            .args(["-o", "fd=0,rootmode=40000,user_id=0,group_id=0"])
            .stdin(device.try_clone()?)
            .stdout(Stdio::null())
            .output()?;
        if !mounted.status.success() {
            let reason = String::from_utf8_lossy(&mounted.stderr).into_owned();
            return Err(io::Error::other(reason));
        }
        // Another test of this process may have looked at the mounted file systems a moment ago.
        thread::sleep(Duration::from_millis(300));
        Ok(Self {
            folder,
            device: Some(device),
        })
    }
}

impl Drop for Silent<'_> {
    fn drop(&mut self) {
        drop(self.device.take());
        let _ = Process::new("umount").arg("-l").arg(self.folder).status();
    }
}

/// Waits until a torrent has a property.
fn wait(
    session: &Session,
    number: usize,
    is_so: impl Fn(&TorrentSnapshot) -> bool,
) -> Arc<TorrentSnapshot> {
    let began = Instant::now();
    loop {
        let torrent = session.torrent(TorrentKey::Number(number)).unwrap();
        if is_so(&torrent) {
            return torrent;
        }
        assert!(began.elapsed() < PATIENCE, "{torrent:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a test follows one session")]
fn a_silent_disk_delays_its_own_torrents_alone() {
    let state = tempfile::tempdir().unwrap();
    // Other tests look at the folders beside theirs, and would wait for this one.
    let silent = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mounted = match Silent::mount(silent.path()) {
        Ok(mounted) => mounted,
        Err(error) => {
            let how = "run the tests as root on Linux with FUSE";
            let what = "a test with a file system that does not answer";
            return not_run(what, &format!("it cannot be mounted: {error}"), how);
        }
    };
    let shared = Shared::new();
    let session = open(state.path(), shared.folder.path());
    let add = |shared: &Shared, folder: &Path| {
        let new = NewTorrent {
            folder: Some(folder.to_owned()),
            ..NewTorrent::default()
        };
        let source = Source::Torrent(shared.torrent.clone());
        session
            .add(source, &new, None)
            .unwrap()
            .torrent
            .identity
            .number
    };
    let hung = ["one", "two"].map(|name| add(&Shared::named(name), &silent.path().join("content")));
    let served = add(&shared, shared.folder.path());
    wait(&session, served, |it| it.activity == Activity::Serving);
    let expected = format!("the disk of {} does not answer", silent.path().display());
    wait(&session, hung[0], |it| {
        it.error.as_deref() == Some(&*expected)
    });

    // A request that has to look at the disk is refused with the reason. All others go through.
    let rights = Rights {
        folders: vec![silent.path().to_owned()],
        may_delete: true,
        ..Rights::default()
    };
    let place = Command::Place {
        folder: silent.path().join("other"),
    };
    let refused = session.apply(&[hung[0]], &place, Some(&rights));
    let reason = refused[0].as_ref().unwrap_err().to_string();
    assert_eq!(reason, expected);
    for command in [
        Command::Pause,
        Command::Resume { now: false },
        Command::Verify,
    ] {
        let all = [hung[0], hung[1], served];
        let applied = session.apply(&all, &command, None);
        assert_eq!(applied, vec![Ok(()); 3], "{command:?}");
    }
    wait(&session, served, |it| it.activity == Activity::Serving);
    let remove = Command::Remove {
        content: Content::Delete,
    };
    assert_eq!(session.apply(&hung[1..], &remove, None), [Ok(())]);
    let new = Shared::named("three");
    let other = add(&new, new.folder.path());
    wait(&session, other, |it| it.activity == Activity::Serving);
    assert!(session.torrent(TorrentKey::Number(hung[1])).is_none());
    assert_eq!(session.apply(&[other], &remove, None), [Ok(())]);
    let began = Instant::now();
    while new.folder.path().join("three").exists() {
        assert!(began.elapsed() < PATIENCE, "the content is not deleted");
        thread::sleep(Duration::from_millis(20));
    }

    // The disk is gone, and its torrents continue.
    drop(mounted);
    wait(&session, hung[0], |it| {
        it.error.as_deref() != Some(&*expected)
    });
    session.stop().unwrap();
}
