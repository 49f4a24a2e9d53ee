//! Tests of the program's library in environments that a test cannot give to a process.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use hashlane_cli::{Env, Exit, OtherProgram, run};

use crate::fixture::demo;

/// A stream that keeps its bytes for inspection.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stream that keeps the bytes of each call.
#[derive(Clone, Default)]
struct Calls(Rc<RefCell<Vec<Vec<u8>>>>);

impl Write for Calls {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs in the demo folder, and returns the output.
pub(crate) fn run_with(args: &[&str], change: impl FnOnce(&mut Env)) -> (Exit, String, String) {
    let (stdout, stderr) = (Shared::default(), Shared::default());
    let args = ["hashlane"].iter().chain(args);
    let mut env = Env::without_terminal(args, demo());
    env.stdout = Box::new(stdout.clone());
    env.stderr = Box::new(stderr.clone());
    change(&mut env);
    let exit = run(&mut env, &OtherProgram);
    let text = |shared: &Shared| String::from_utf8(shared.0.borrow().clone()).unwrap();
    (exit, text(&stdout), text(&stderr))
}

const VERIFY: [&str; 4] = ["verify", "union-addresses.torrent", "-d", "damaged"];

#[test]
fn a_terminal_gets_colours_and_a_map_of_its_width() {
    let (exit, stdout, _) = run_with(&VERIFY, |env| {
        env.color = true;
        env.width = Some(12);
    });
    assert_eq!(exit, Exit::Bad);
    assert!(
        stdout.contains("\n  \x1b[32m██████████\x1b[0m\n"),
        "{stdout:?}"
    );
    assert!(stdout.contains("\x1b[1m\x1b[31mx\x1b[0m"), "{stdout:?}");
    let plain = run_with(&VERIFY, |env| env.width = Some(12)).1;
    assert!(plain.contains("\n  ██████████\n  ███x██████\n"), "{plain}");
}

#[test]
fn lines_fit_into_a_narrow_terminal() {
    for options in [
        &["-d", "good", "--verbose"][..],
        &["-d", "damaged"],
        &["-d", "nowhere"],
    ] {
        let args = [&["verify", "union-addresses.torrent"], options].concat();
        let (_, stdout, _) = run_with(&args, |env| env.width = Some(80));
        let is_narrow = |line: &str| line.chars().count() <= 80;
        assert!(stdout.lines().all(is_narrow), "{stdout}");
    }
    let (_, stdout, _) = run_with(&VERIFY, |env| env.width = Some(40));
    let expected = "\n  3 of 4 pieces   48.7 KiB  lincol…r.txt\n    (1 bad)\n";
    assert!(stdout.contains(expected), "{stdout}");
}

#[test]
fn a_cancelled_run_checks_nothing() {
    let (exit, stdout, stderr) = run_with(&VERIFY, |env| env.cancel.cancel());
    assert_eq!((exit, stdout.as_str()), (Exit::NotChecked, ""));
    let expected = "hashlane: union-addresses.torrent: not checked: interrupted\n";
    assert_eq!(stderr, expected);
    // Several torrents share one line.
    let (_, stdout, stderr) = run_with(&["verify", "union-addresses.torrent", "."], |env| {
        env.cancel.cancel();
    });
    let expected = "hashlane: 2 torrents not checked: interrupted\n";
    assert_eq!(stderr, expected);
    let expected = "2 torrents: 2 not checked, nothing to read";
    assert!(stdout.starts_with(expected), "{stdout}");
}

#[test]
fn edit_asks_before_a_new_info_hash() {
    let folder = tempfile::tempdir().unwrap();
    let torrent = folder.path().join("t.torrent");
    for (answer, exit) in [
        ("y\n", Exit::Good),
        ("yes\n", Exit::Good),
        ("\n", Exit::NotChecked),
        ("n\n", Exit::NotChecked),
        ("", Exit::NotChecked),
    ] {
        std::fs::copy(demo().join("union-addresses.torrent"), &torrent).unwrap();
        let before = std::fs::read(&torrent).unwrap();
        let args = ["edit", torrent.to_str().unwrap(), "--source", "here"];
        let (actual, _, stderr) = run_with(&args, |env| {
            env.stdin = Box::new(io::Cursor::new(answer));
            env.can_ask = true;
        });
        assert_eq!(actual, exit, "{answer:?}");
        assert!(stderr.contains("Continue? [y/N] "), "{stderr}");
        let is_changed = std::fs::read(&torrent).unwrap() != before;
        assert_eq!(is_changed, exit == Exit::Good, "{answer:?}");
    }
}

/// Longer writes, and parts of lines, of programs that share a pipe would mix.
#[test]
fn digests_are_written_in_whole_lines() {
    let calls = Calls::default();
    let mut args = vec!["sha256sum"];
    args.resize(1000, "union-addresses.torrent");
    let (exit, ..) = run_with(&args, |env| env.stdout = Box::new(calls.clone()));
    assert_eq!(exit, Exit::Good);
    let calls = calls.0.borrow();
    for call in calls.iter() {
        assert!(
            call.len() <= 4096 && call.ends_with(b"\n"),
            "{}",
            call.len()
        );
    }
    let n_lines = calls
        .iter()
        .map(|call| call.split(|c| *c == b'\n').count() - 1)
        .sum::<usize>();
    assert_eq!(n_lines, 999);
}
