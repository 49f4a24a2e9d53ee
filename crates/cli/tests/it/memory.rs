//! Memory that `hashlane show` needs for hostile torrents.

use hashlane_cli::{Env, Exit, OtherProgram, run};
use peak_alloc::PeakAlloc;

use crate::own_process::alone;

#[global_allocator]
static ALLOCATIONS: PeakAlloc = PeakAlloc;

/// Length of the torrents. The factor is the same at the limit of 32 MiB.
const LEN: usize = 1 << 18;

/// What `hashlane show` needs for any torrent.
const BASE: usize = 128 << 10;

/// Returns a torrent that is filled by one value of a key before `info`. `item` returns the encoded
/// items of the value.
fn torrent(key: &str, item: impl Fn(usize) -> Vec<u8>, [before, after]: [&str; 2]) -> Vec<u8> {
    let mut torrent = format!("d{}:{key}{before}", key.len()).into_bytes();
    torrent.reserve_exact(LEN + 1000);
    for i in 0.. {
        if torrent.len() >= LEN {
            break;
        }
        torrent.extend(item(i));
    }
    torrent.extend(after.bytes());
    torrent.extend(b"4:infod6:lengthi1e4:name1:f12:piece lengthi16384e6:pieces20:");
    torrent.extend([b'x'; 20]);
    torrent.extend(b"ee");
    torrent
}

/// Returns the peak memory of `hashlane show` in bytes.
fn peak_of_show(torrent: &[u8], options: &[&str]) -> usize {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("t.torrent"), torrent).expect("the torrent is written");
    let args = ["hashlane", "show", "t.torrent"];
    let args = args.iter().chain(options);
    let mut env = Env::without_terminal(args, folder.path().to_owned());
    let before = ALLOCATIONS.current_usage();
    ALLOCATIONS.reset_peak_usage();
    assert_eq!(run(&mut env, &OtherProgram), Exit::Good);
    ALLOCATIONS.peak_usage() - before
}

/// Returns three characters, different for each number.
fn letters(i: usize) -> String {
    let letter = |i: usize| char::from(b'A' + (i % 50) as u8);
    [i, i / 50, i / 2500].map(letter).iter().collect()
}

/// The allocations of the whole process are counted.
#[test]
fn show_takes_at_most_four_times_the_size_of_the_torrent() {
    let name = "memory::show_takes_at_most_four_times_the_size_of_the_torrent";
    alone(name, show_all);
}

fn show_all() {
    let list = ["l", "e"];
    let one = |byte: u8| {
        move |i: usize| match i {
            0 => format!("{LEN}:").into_bytes(),
            _ => vec![byte; LEN],
        }
    };
    let torrents = [
        (
            "announce-list",
            torrent("announce-list", |_| b"l1:ae".to_vec(), list),
        ),
        (
            "announce-list, one tier",
            torrent("announce-list", |_| b"1:a".to_vec(), ["ll", "ee"]),
        ),
        (
            "url-list",
            torrent("url-list", |i| format!("3:{}", letters(i)).into(), list),
        ),
        ("httpseeds", torrent("httpseeds", |_| b"1:a".to_vec(), list)),
        ("nodes", torrent("nodes", |_| b"l1:ai1ee".to_vec(), list)),
        (
            "collections",
            torrent("collections", |_| b"0:".to_vec(), list),
        ),
        (
            "similar",
            torrent("similar", |_| b"20:xxxxxxxxxxxxxxxxxxxx".to_vec(), list),
        ),
        (
            "comment, not UTF-8",
            torrent("comment", one(0xff), ["", ""]),
        ),
        ("encoding", torrent("encoding", one(b' '), ["", ""])),
        (
            "announce, escapes",
            torrent("announce", one(0x1b), ["", ""]),
        ),
    ];
    for (name, torrent) in torrents {
        for options in [&["--json"][..], &[]] {
            let peak = peak_of_show(&torrent, options);
            let kib = |bytes: usize| bytes >> 10;
            assert!(
                peak <= BASE + 4 * torrent.len(),
                "{name} {options:?}: {} KiB for a torrent of {} KiB",
                kib(peak),
                kib(torrent.len())
            );
        }
    }
}
