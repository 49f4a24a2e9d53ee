//! `--confirm`, which asks before it replaces pieces.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hashlane_cli::{Env, Exit};
use hashlane_verify::CancelToken;

use super::peers::{Content, Peer, get};

/// A stream that can be read while the process writes to it.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Downloads with this answer, and returns the messages.
fn asked(torrent: &Path, folder: &Path, seed: &Peer, answer: &'static str) -> (Exit, String) {
    let (stdout, stderr) = (Shared::default(), Shared::default());
    let peer = seed.address().to_string();
    let options =
        "hashlane get --confirm --bind 127.0.0.1 --port 0 --transport tcp --no-dht --no-discovery";
    let mut args: Vec<OsString> = options.split(' ').map(OsString::from).collect();
    args.extend(["--peer".into(), peer.into(), "--dir".into()]);
    args.extend([folder.into(), torrent.into()]);
    let mut env = Env {
        args,
        cwd: PathBuf::new(),
        stdin: Box::new(Cursor::new(answer)),
        can_ask: true,
        has_answer: |_| true,
        hide_input: || true,
        show_input: || (),
        stdout: Box::new(stdout.clone()),
        stderr: Box::new(stderr.clone()),
        width: None,
        color: false,
        progress: false,
        ..Env::of_process()
    };
    let exit = hashlane_cli::run(&mut env, &hashlane_net::Libtorrent);
    (exit, stdout.text() + &stderr.text())
}

#[test]
fn it_says_what_it_would_replace_and_asks() {
    let content = Content::new();
    for version in crate::VERSIONS {
        let torrent = content.torrent("tree", version);
        let seed = Peer::seed(&[&torrent], content.path());
        let folder = tempfile::tempdir().unwrap();
        let a = folder.path().join("tree/a.bin");
        fs::create_dir(folder.path().join("tree")).unwrap();
        let mut bytes = fs::read(content.path().join("tree/a.bin")).unwrap();
        bytes[5] ^= 1;
        // The last pieces are a hole, which contains no data to lose.
        let hole = bytes.len() - 200_000;
        bytes[hole..].fill(0);
        fs::write(&a, &bytes[..hole]).unwrap();
        let file = fs::OpenOptions::new().write(true).open(&a).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
        for answer in ["n\n", "\n", ""] {
            let (exit, said) = asked(&torrent, folder.path(), &seed, answer);
            assert_eq!(exit, Exit::NotChecked, "{said}");
            assert!(
                said.contains("tree: 2 pieces of ") && said.contains(" are wrong"),
                "{version}: {said}"
            );
            assert!(said.contains("2 pieces of a.bin"), "{said}");
            assert!(said.contains("not replaced"), "{said}");
            assert!(fs::read(&a).unwrap() == bytes);
            // Missing files are not created either.
            assert!(!folder.path().join("tree/sub").exists());
        }
        // Files that are not selected need no answer.
        let options = ["--confirm", "--include", "b.bin"];
        if version != "v1" {
            let ended = get(&[&torrent], folder.path(), &seed, &options);
            assert_eq!(ended.code, Some(0), "{ended:?}");
            assert!(fs::read(&a).unwrap() == bytes);
        }
        // Without a terminal there is no answer.
        let ended = get(&[&torrent], folder.path(), &seed, &["--confirm"]);
        ended.assert_failed("no terminal to ask");
        let (exit, said) = asked(&torrent, folder.path(), &seed, "y\n");
        assert_eq!(exit, Exit::Good, "{said}");
        content.assert_same("tree", folder.path());
        // Nothing is wrong now, so no question is asked.
        let (exit, said) = asked(&torrent, folder.path(), &seed, "n\n");
        assert_eq!(exit, Exit::Good, "{said}");
    }
}

/// Ctrl-C instead of an answer means no, at once.
#[test]
fn an_interrupt_means_no() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.bin");
    fs::write(&path, vec![1; 100_000]).unwrap();
    let stderr = Shared::default();
    let options = ["hashlane", "get", "--confirm", "--dir"];
    let mut args: Vec<OsString> = options.map(OsString::from).into();
    args.extend([folder.path().into(), torrent.into()]);
    let cancel = CancelToken::default();
    let mut env = Env {
        args,
        can_ask: true,
        // No answer arrives.
        has_answer: |_| false,
        stderr: Box::new(stderr.clone()),
        progress: false,
        cancel: cancel.clone(),
        ..Env::of_process()
    };
    let asked = stderr.clone();
    let finger = std::thread::spawn(move || {
        while !asked.text().ends_with("[y/N] ") {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        cancel.cancel();
    });
    assert_eq!(
        hashlane_cli::run(&mut env, &hashlane_net::Libtorrent),
        Exit::Interrupted
    );
    finger.join().unwrap();
    assert!(stderr.text().contains("interrupted"), "{}", stderr.text());
    assert!(fs::read(&path).unwrap() == vec![1; 100_000]);
}
