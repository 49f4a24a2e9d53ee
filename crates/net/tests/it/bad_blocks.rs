//! Disks with blocks that cannot be read.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::disks::Image;
use super::peers::{Content, Ended, ended};

/// Number of bytes of a file that lies on the blocks at the end of the image, too.
const LARGE: usize = 12 << 20;

/// The file systems of an image that was cut.
struct BadDisk {
    content: Content,
    image: Image,
}

impl BadDisk {
    /// Copies content to an image. `prepare` runs while all of its blocks can be read. Returns `None` if images cannot be mounted.
    fn new(prepare: impl FnOnce(&Self)) -> Option<Self> {
        let content = Content::with_tree_of(LARGE);
        let image = Image::mount("30m")?;
        let disk = Self { content, image };
        for name in ["file.bin", "tree"] {
            let copied = Command::new("cp")
                .arg("-r")
                .args([&disk.content.path().join(name), &disk.image.path()])
                .status();
            assert!(copied.unwrap().success());
        }
        prepare(&disk);
        disk.image.cut_to("10M");
        Some(disk)
    }

    /// Returns the paths of the files on the image, with whether all of their bytes can be read.
    fn files(&self) -> Vec<(&'static str, bool)> {
        let names = ["file.bin", "tree/a.bin", "tree/sub/b.bin"];
        let files = names.map(|name| (name, fs::read(self.image.path().join(name)).is_ok()));
        assert!(
            files.iter().any(|(_, is_readable)| *is_readable),
            "{files:?}"
        );
        assert!(
            files.iter().any(|(_, is_readable)| !is_readable),
            "{files:?}"
        );
        files.into()
    }

    /// Returns whether the bytes of each piece of `tree/a.bin` can be read.
    fn readable_pieces(&self) -> Vec<bool> {
        let file = File::open(self.image.path().join("tree/a.bin")).unwrap();
        let piece_len = self.content.piece_len() as usize;
        let pieces = (0..LARGE).step_by(piece_len).map(|offset| {
            let mut piece = vec![0; piece_len.min(LARGE - offset)];
            file.read_exact_at(&mut piece, offset as u64).is_ok()
        });
        pieces.collect()
    }

    fn run(&self, args: &[&str], paths: &[&Path]) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
        ended(command.args(args).args(paths))
    }
}

/// Returns the state of each piece of a torrent.
fn states(lines: &[Value], torrent: &Path) -> Vec<String> {
    let runs = lines.iter().filter(|line| {
        line["type"] == "pieces" && line["torrent"].as_str() == Some(torrent.to_str().unwrap())
    });
    let states = runs.flat_map(|run| {
        let count = run["count"].as_u64().unwrap() as usize;
        std::iter::repeat_n(run["state"].as_str().unwrap().to_owned(), count)
    });
    states.collect()
}

/// An error costs the pieces whose bytes cannot be read, however they are read, and no other torrent.
#[test]
fn bad_blocks_cost_the_pieces_on_them() {
    let Some(disk) = BadDisk::new(|_| ()) else {
        return;
    };
    let library = tempfile::tempdir().unwrap();
    let torrents = ["file.bin", "tree"].map(|name| {
        let torrent = disk.content.torrent(name, "v1");
        let copy = library.path().join(name).with_extension("torrent");
        fs::copy(&torrent, &copy).unwrap();
        copy
    });
    let [file, tree] = &torrents;
    let readable = disk.readable_pieces();
    assert!(readable.contains(&true) && readable.contains(&false));
    let is_whole = disk.files()[0].1;
    for io in ["auto", "pread", "mmap", "direct"] {
        for given in [library.path(), tree] {
            let ended = disk.run(
                &["verify", "--json", "--io", io, "-d"],
                &[&disk.image.path(), given],
            );
            assert_eq!(ended.code, Some(2), "{io}: {ended:?}");
            let states = states(&ended.lines, tree);
            for (piece, is_readable) in readable.iter().enumerate() {
                let expected = if *is_readable { "have" } else { "unreadable" };
                assert_eq!(states[piece], expected, "{io}: piece {piece}");
            }
            let mut files = ended.lines.iter().filter(|line| line["path"] == "a.bin");
            let error = &files.next().unwrap()["error"];
            assert_eq!(error["os_error"], 5, "{io}: {error}");
            let first_bad = readable
                .iter()
                .position(|is_readable| !is_readable)
                .unwrap();
            let piece_len = disk.content.piece_len();
            let first_bad = first_bad as u64 * piece_len;
            let offset = error["offset"].as_u64().unwrap();
            assert!((first_bad..LARGE as u64).contains(&offset), "{io}: {error}");
        }
        let ended = disk.run(
            &["verify", "--json", "--io", io, "-d"],
            &[&disk.image.path(), file],
        );
        assert_eq!(
            ended.code,
            Some(if is_whole { 0 } else { 2 }),
            "{io}: {ended:?}"
        );
    }
}

/// `archive scrub` names the files that cannot be read, and checks all others.
#[test]
fn bad_blocks_cost_the_files_of_an_archive_on_them() {
    let place = tempfile::tempdir().unwrap();
    let catalogue = place.path().join("catalogue");
    let archive = |disk: &BadDisk, action: &str| {
        let args = ["archive", action, "-v", "--json", "--catalogue"];
        disk.run(&args, &[&catalogue, &disk.image.path()])
    };
    let updated = |disk: &BadDisk| assert_eq!(archive(disk, "update").code, Some(0));
    let Some(disk) = BadDisk::new(updated) else {
        return;
    };
    let files = disk.files();
    let ended = archive(&disk, "scrub");
    assert_eq!(ended.code, Some(2), "{ended:?}");
    for (name, is_readable) in files {
        let mut lines = ended.lines.iter().filter(|line| line["path"] == name);
        let line = lines.next().unwrap();
        let expected = if is_readable { "intact" } else { "unreadable" };
        assert_eq!(line["verdict"], expected, "{name}: {line}");
        let message = line["message"].as_str().unwrap_or_default();
        assert_eq!(
            message.contains("Input/output error"),
            !is_readable,
            "{line}"
        );
    }
    // What is readable again is intact: the catalogue has kept the digests.
    let summary = ended.lines.last().unwrap();
    assert_eq!(summary["interrupted"], false, "{summary}");
    assert_eq!(summary["files"]["rot"], 0, "{summary}");
}
