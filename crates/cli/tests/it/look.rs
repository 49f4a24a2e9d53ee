//! Colours, progress and man pages on a terminal.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::fixture::{demo, end, hashlane};
use crate::terminal::Terminal;

/// A name that is wider than the terminals of these tests.
const NAME: &str = "a-file-whose-name-does-not-fit-into-a-line-of-a-terminal-with-eighty-columns-and-one-progress-line.iso";

/// Length of a file that takes longer to hash than the time without progress, at any speed of SHA-1 on one core.
const LEN: u64 = 1 << 29;

/// Returns the lines that a terminal showed one after the other at any place, without escape sequences.
fn lines_of(shown: &str) -> Vec<String> {
    let mut text = String::new();
    let mut parts = shown.split('\u{1b}');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        // Sequences such as `[2K` end with a letter.
        let end = part.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        text.push('\r');
        text.push_str(&part[end + 1..]);
    }
    let lines = text.split(['\r', '\n']).map(str::to_owned);
    lines.filter(|line| !line.is_empty()).collect()
}

/// Hashes a large file on a terminal, and returns the lines with progress.
fn progress(columns: usize, options: &[&str], config: &str) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join(NAME))
        .unwrap()
        .set_len(LEN)
        .unwrap();
    fs::write(folder.path().join("c.toml"), config).unwrap();
    let args = [&["sum", "-a", "sha1", "--config", "c.toml", NAME], options].concat();
    let terminal = Terminal {
        columns,
        ..Terminal::default()
    };
    let (code, shown) = terminal.run(folder.path(), &args, &[])?;
    assert_eq!(code, 0, "{shown}");
    let lines = lines_of(&shown);
    // SHA-1 of 512 MiB of zeros.
    let result = format!("5b088492c9f4778f409b7ae61477dec124c99033  {NAME}");
    assert!(lines.contains(&result), "{shown:?}");
    Some(
        lines
            .into_iter()
            .filter(|line| line.contains('%'))
            .collect(),
    )
}

#[test]
fn progress_stays_in_one_line_of_any_terminal() {
    for columns in [40, 80] {
        let Some(lines) = progress(columns, &[], "") else {
            return;
        };
        assert!(!lines.is_empty(), "{columns}");
        // A line that is drawn again without a change flickers. Only the result interrupts it.
        let repeated = lines.windows(2).filter(|two| two[0] == two[1]);
        assert!(repeated.count() <= 1, "{lines:?}");
        for line in &lines {
            // Spaces at the end fill the line up to its last column.
            assert!(line.chars().count() <= columns, "{line:?}");
            let line = line.trim_end();
            assert!(line.chars().count() < columns, "{line:?}");
            assert!(line.starts_with("a-f"), "{line:?}");
            assert_eq!(line.ends_with(" left"), columns >= 80, "{line:?}");
            assert_eq!(line.find('%'), lines[0].find('%'), "{line:?}");
            assert_eq!(line.contains(" of  512 MiB "), columns >= 80, "{line:?}");
        }
    }
}

/// Small files are done long before the large one between them, whose outcome comes first.
#[test]
fn progress_names_a_file_that_is_being_hashed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, len) in [("1-small", 1), ("2-large", LEN), ("3-small", 1)] {
        let file = File::create(folder.path().join(name)).unwrap();
        file.set_len(len).unwrap();
    }
    let args = ["sum", "-a", "sha1", "-r", "."];
    let Some((code, shown)) = Terminal::default().run(folder.path(), &args, &[]) else {
        return;
    };
    assert_eq!(code, 0, "{shown}");
    let lines = lines_of(&shown);
    let lines: Vec<&String> = lines.iter().filter(|line| line.contains('%')).collect();
    assert!(!lines.is_empty(), "{shown:?}");
    for line in lines {
        assert!(line.starts_with("./2-large "), "{line:?}");
    }
}

#[test]
fn progress_is_left_out_where_the_user_wants_none() {
    for (options, config) in [
        (&["--no-progress"][..], ""),
        (&[], "[terminal]\nno-progress = true\n"),
    ] {
        let Some(lines) = progress(80, options, config) else {
            return;
        };
        assert_eq!(lines, [""; 0], "{options:?} {config}");
    }
}

#[test]
fn colours_follow_the_option_and_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("c.toml");
    let torrent = demo().join("union-addresses.torrent");
    let content = demo().join("damaged");
    let args = |color: &str| {
        fs::write(&config, format!("[terminal]\ncolor = '{color}'\n")).unwrap();
        let args = [
            "verify",
            "--config",
            config.to_str().unwrap(),
            torrent.to_str().unwrap(),
            "-d",
            content.to_str().unwrap(),
        ];
        args.map(str::to_owned)
    };
    for (color, is_coloured) in [("always", true), ("auto", false), ("never", false)] {
        let ended = end(hashlane().args(args(color)));
        assert_eq!(ended.stdout.contains('\u{1b}'), is_coloured, "{ended:?}");
    }
    for (color, is_coloured) in [("auto", true), ("never", false)] {
        let args = [&args(color)[..], &["--no-progress".to_owned()]].concat();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let Some((_, shown)) = Terminal::default().run(folder.path(), &args, &[]) else {
            return;
        };
        assert_eq!(shown.contains('\u{1b}'), is_coloured, "{shown:?}");
    }
}

#[test]
fn a_terminal_shows_a_man_page_by_man() {
    let folder = tempfile::tempdir().unwrap();
    let man = folder.path().join("man");
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    for (script, expected, other) in [
        (
            "head -n 1 | grep -c . >/dev/null && echo \"man $*\"",
            "man -l -",
            ".TH",
        ),
        ("exit 3", ".TH hashlane-verify 1", "man -l"),
    ] {
        fs::write(&man, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&man, fs::Permissions::from_mode(0o755)).unwrap();
        let shown = Terminal::default().run(Path::new("."), &["man", "verify"], &[("PATH", &path)]);
        let Some((code, shown)) = shown else {
            return;
        };
        assert_eq!(code, 0, "{shown}");
        assert!(
            shown.contains(expected) && !shown.contains(other),
            "{shown}"
        );
    }
}
