//! Tests of the order of reading, with a model of disks.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hashlane_files::DiskExtent;
use hashlane_metainfo::Torrent;
use hashlane_pipeline::{
    CancelToken, FileIndex, FileSet, MessageDigest, Messages as _, Options, ReadAt, ReadOrder,
    hash_messages,
};
use hashlane_sha::Sha1;

use super::files::{Files, OnDisk, Places};
use super::order::Order;
use crate::content::Content;
use crate::layout::{HashVersions, Layout};

const PIECE_LENGTH: u64 = 32 << 10;

/// Bytes per second that the model of a disk delivers.
const RATE: u64 = 150_000_000;

/// Nanoseconds that the model charges for bytes that do not follow the last ones: the mean seek and half of a rotation of
/// a disk with 7,200 rotations per minute.
const SEEK_NS: u64 = 12_000_000;

/// A generator of numbers that depend only on the seed (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % n
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// Returns a version 1 torrent of files with these lengths in bytes. Its hashes are zeros.
fn torrent(name: &str, lengths: &[u64]) -> Torrent {
    let files = lengths.iter().enumerate();
    let files = files.map(|(i, length)| format!("d6:lengthi{length}e4:pathl3:{i:03}ee"));
    let files: String = files.collect();
    let n_bytes = 20 * lengths.iter().sum::<u64>().div_ceil(PIECE_LENGTH) as usize;
    let (n_name, hashes) = (name.len(), "\0".repeat(n_bytes));
    let metainfo = format!(
        "d4:infod5:filesl{files}e4:name{n_name}:{name}12:piece lengthi{PIECE_LENGTH}e6:pieces{n_bytes}:{hashes}ee"
    );
    Torrent::parse(metainfo.into_bytes()).expect("the torrent is valid")
}

/// The time that a disk has worked, and the position of its heads.
#[derive(Debug, Default)]
struct Disk {
    heads: u64,
    busy_ns: u64,
    n_seeks: u64,
}

impl Disk {
    fn read(&mut self, position: u64, len_bytes: u64) {
        if position != self.heads {
            self.n_seeks += 1;
            self.busy_ns += SEEK_NS;
        }
        self.busy_ns += len_bytes * 1_000_000_000 / RATE;
        self.heads = position + len_bytes;
    }
}

/// A file of zeros on a disk.
struct OnModel {
    disk: Arc<Mutex<Disk>>,
    position: u64,
    len_bytes: u64,
}

impl ReadAt for OnModel {
    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let n = (self.len_bytes - offset).min(buffer.len() as u64);
        let mut disk = self.disk.lock().expect("no test has panicked");
        disk.read(self.position + offset, n);
        buffer[..n as usize].fill(0);
        Ok(n as usize)
    }
}

/// The files of a library on a disk.
#[derive(Debug)]
struct Model {
    disk: Arc<Mutex<Disk>>,
    /// Positions and lengths by the number of the file.
    files: Vec<(u64, u64)>,
}

impl FileSet for Model {
    fn root(&self) -> &Path {
        Path::new("")
    }

    fn path_of(&self, _: FileIndex) -> io::Result<PathBuf> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn read_order(&self) -> ReadOrder {
        ReadOrder::InOrder
    }

    fn open_reader(&self, file: FileIndex) -> io::Result<Option<Box<dyn ReadAt + '_>>> {
        let (position, len_bytes) = self.files[file.get()];
        let disk = Arc::clone(&self.disk);
        Ok(Some(Box::new(OnModel {
            disk,
            position,
            len_bytes,
        })))
    }
}

/// A library of torrents whose files lie on one disk in another order.
struct Library {
    contents: Vec<Content>,
    /// Positions and lengths by the number of the file.
    files: Vec<(u64, u64)>,
    total_bytes: u64,
}

/// Returns a library in which the files of a torrent are neighbours, and the torrents are in random order.
fn library(n_torrents: usize) -> Library {
    let mut random = Random(1);
    let lengths: Vec<Vec<u64>> = (0..n_torrents)
        .map(|_| {
            let n_files = 1 + random.below(3);
            (0..n_files)
                .map(|_| 20_000 + random.below(150_000))
                .collect()
        })
        .collect();
    let contents = lengths.iter().enumerate().map(|(i, lengths)| {
        let torrent = torrent(&format!("t{i}"), lengths);
        Content::in_folder(&torrent, "/no such folder").expect("the name is ASCII")
    });
    let contents = contents.collect();
    let mut starts = Vec::new();
    let mut files: Vec<(u64, u64)> = Vec::new();
    for lengths in &lengths {
        starts.push(files.len());
        files.extend(lengths.iter().map(|length| (0, *length)));
    }
    let mut order: Vec<usize> = (0..n_torrents).collect();
    random.shuffle(&mut order);
    let mut position = 1 << 20;
    for torrent in order {
        let first = starts[torrent];
        for file in &mut files[first..first + lengths[torrent].len()] {
            file.0 = position;
            position += file.1;
        }
    }
    Library {
        contents,
        total_bytes: files.iter().map(|(_, length)| length).sum(),
        files,
    }
}

impl Library {
    fn layouts(&self) -> Vec<Layout> {
        let v1 = HashVersions {
            v1: true,
            v2: false,
        };
        let torrents = self.contents.iter().map(Content::torrent);
        torrents.map(|torrent| Layout::new(torrent, v1)).collect()
    }

    /// Returns the time of a run on the model of a disk, and the number of seeks.
    fn run(&self, files: &Files<'_>, n_threads: usize) -> Disk {
        let layouts = self.layouts();
        let layouts: Vec<Option<&Layout>> = layouts.iter().map(Some).collect();
        let orders = Order::of_disks(&layouts, files);
        let [order] = &orders[..] else {
            panic!("there is one disk");
        };
        let model = Model {
            disk: Arc::default(),
            files: self.files.clone(),
        };
        let options = Options::default().threads(NonZeroUsize::new(n_threads));
        let cancel = CancelToken::default();
        let mut n_hashed = 0;
        let result = hash_messages(
            order,
            &model,
            MessageDigest::<Sha1>::new,
            &options,
            &cancel,
            |results| {
                let digests = results.messages.iter();
                n_hashed += digests.filter(|result| result.digest.is_ok()).count();
            },
        );
        result.expect("it can be done");
        assert_eq!(n_hashed, order.count() as usize);
        let mut disk = model.disk.lock().expect("no test has panicked");
        std::mem::take(&mut disk)
    }

    /// Returns the places of all files on the disk.
    fn places(&self) -> BTreeMap<usize, Places> {
        let places = self.files.iter().map(|(position, length)| Places {
            disk: 1,
            on_disk: OnDisk::Extents(vec![DiskExtent {
                offset: 0,
                on_disk: *position,
                len_bytes: *length,
            }]),
        });
        places.enumerate().collect()
    }
}

/// The files of 2,000 torrents are read almost as fast as one file of the same length. In the order of the paths, the disk
/// seeks for each torrent.
#[test]
fn a_library_is_read_in_the_order_of_the_disk() {
    let library = library(2_000);
    let options = Options::default().io(hashlane_pipeline::IoMode::Pread);
    let cancel = CancelToken::default();
    let sequential = library.total_bytes * 1_000_000_000 / RATE + SEEK_NS;
    let in_path_order = Files::new(&library.contents, &options, &cancel);
    let mut in_disk_order = Files::new(&library.contents, &options, &cancel);
    in_disk_order.place(vec![ReadOrder::Any, ReadOrder::InOrder], library.places());
    for n_threads in [1, 2, 4] {
        let ordered = library.run(&in_disk_order, n_threads);
        let by_path = library.run(&in_path_order, n_threads);
        let hundredths = |disk: &Disk| disk.busy_ns * 100 / sequential;
        // The figures are for people who change the order.
        let _ = writeln!(
            io::stderr(),
            "{n_threads} threads: {} % of the sequential time in disk order ({} seeks), {} % in path order ({} seeks)",
            hundredths(&ordered),
            ordered.n_seeks,
            hundredths(&by_path),
            by_path.n_seeks
        );
        assert!(
            hundredths(&ordered) <= 120,
            "{n_threads} threads: {ordered:?}"
        );
        assert!(
            hundredths(&by_path) >= 300,
            "{n_threads} threads: {by_path:?}"
        );
    }
}

/// The pieces of files on several disks are messages of separate runs, each in the order of its disk.
#[test]
fn each_rotational_disk_has_a_run_of_its_own() {
    let library = library(30);
    let options = Options::default();
    let mut files = Files::new(&library.contents, &options, &CancelToken::default());
    let mut places = library.places();
    for (number, places) in &mut places {
        places.disk = number % 3;
    }
    places.retain(|_, places| places.disk > 0);
    let orders = vec![ReadOrder::Any, ReadOrder::InOrder, ReadOrder::InOrder];
    files.place(orders, places);
    let layouts = library.layouts();
    let layouts: Vec<Option<&Layout>> = layouts.iter().map(Some).collect();
    let orders = Order::of_disks(&layouts, &files);
    assert_eq!(orders.len(), 3);
    let mut counts = vec![0; layouts.len()];
    for order in &orders {
        order.count_by_torrent(&mut counts);
    }
    let expected: Vec<u32> = layouts
        .iter()
        .flatten()
        .map(|layout| layout.count())
        .collect();
    assert_eq!(counts, expected, "each piece is in one run");
    for order in &orders[1..] {
        let first_of = |message| {
            let mut extents = order.extents(message, 0..1);
            let extent = extents.next().expect("it has a byte");
            let file = extent.file.expect("there is no padding");
            library.files[file.get()].0 + extent.offset
        };
        let positions: Vec<u64> = (0..order.count()).map(first_of).collect();
        assert!(positions.is_sorted());
    }
}

/// A file system that does not answer delays no other one.
#[cfg(target_os = "linux")]
#[test]
fn each_file_system_has_a_run_of_its_own() {
    let device = |path: &Path| std::os::unix::fs::MetadataExt::dev(&path.metadata().unwrap());
    // Disks in memory are read in any order. `/dev` and `/run` take files of root.
    let folders = ["/dev/shm", "/run", "/dev"].map(tempfile::tempdir_in);
    let folders = folders.into_iter().flatten();
    let mut folders: Vec<tempfile::TempDir> = folders
        .filter(|folder| !hashlane_files::is_rotational(folder.path()))
        .collect();
    folders.dedup_by_key(|folder| device(folder.path()));
    let [disk, memory, ..] = &folders[..] else {
        return crate::not_run::not_run(
            "file systems that delay no other one",
            "there are no two file systems in memory",
            "run as root, where /dev/shm and /run are on different ones",
        );
    };
    let places = [
        ("one", disk),
        ("two", memory),
        ("three", disk),
        ("four", memory),
    ];
    let contents = places.map(|(name, folder)| {
        let content = Content::in_folder(&torrent(name, &[PIECE_LENGTH]), folder.path()).unwrap();
        std::fs::create_dir(content.root()).unwrap();
        let path = content.path_of(FileIndex::new(0)).unwrap();
        std::fs::write(path, vec![1; PIECE_LENGTH as usize]).unwrap();
        content
    });
    let layouts = contents.each_ref().map(|content| {
        Layout::new(
            content.torrent(),
            HashVersions {
                v1: true,
                v2: false,
            },
        )
    });
    let layouts = layouts.each_ref().map(Some);
    let files = Files::new(&contents, &Options::default(), &CancelToken::default());
    let orders = Order::of_disks(&layouts, &files);
    let counts: Vec<Vec<u32>> = orders
        .iter()
        .map(|order| {
            let mut counts = vec![0; layouts.len()];
            order.count_by_torrent(&mut counts);
            counts
        })
        .collect();
    assert_eq!(counts, [[1, 0, 1, 0], [0, 1, 0, 1]]);
}

/// Equal pieces of a file that several torrents have are one message. Other pieces of the file stay messages of their own.
#[cfg(unix)]
#[test]
fn equal_pieces_of_a_shared_file_are_one_message() {
    let folder = tempfile::tempdir().unwrap();
    let length = 5 * PIECE_LENGTH + 1;
    let contents: Vec<Content> = ["one", "two", "three"]
        .map(|name| {
            let lengths: &[u64] = if name == "three" {
                &[length, 9]
            } else {
                &[length]
            };
            let content = Content::in_folder(&torrent(name, lengths), folder.path());
            content.expect("the name is ASCII")
        })
        .into();
    for content in &contents {
        std::fs::create_dir(content.root()).unwrap();
    }
    std::fs::write(folder.path().join("one/000"), vec![1; length as usize]).unwrap();
    for name in ["two", "three"] {
        let other = folder.path().join(name).join("000");
        std::fs::hard_link(folder.path().join("one/000"), other).unwrap();
    }
    let options = Options::default();
    let files = Files::new(&contents, &options, &CancelToken::default());
    let v1 = HashVersions {
        v1: true,
        v2: false,
    };
    let layouts: Vec<Layout> = contents
        .iter()
        .map(|content| Layout::new(content.torrent(), v1))
        .collect();
    let layouts: Vec<Option<&Layout>> = layouts.iter().map(Some).collect();
    let orders = Order::of_disks(&layouts, &files);
    let [order] = &orders[..] else {
        panic!("there is one disk");
    };
    // The last piece of the third torrent has bytes of another file.
    assert_eq!(order.count(), 7);
    let mut pieces = Vec::new();
    for message in 0..order.count() {
        order.for_each_piece(message, |torrent, piece| pieces.push((torrent, piece)));
    }
    pieces.sort_unstable();
    let expected = (0..3).flat_map(|torrent| (0..6).map(move |piece| (torrent, piece)));
    assert_eq!(pieces, expected.collect::<Vec<_>>());
}

/// A reflink and its original are read once as long as neither is written to. A hard link of the reflink counts as the reflink.
#[cfg(unix)]
#[test]
fn files_that_share_their_bytes_are_one_until_one_is_written_to() {
    for written in ["one", "two"] {
        let folder = tempfile::tempdir().unwrap();
        let contents: Vec<Content> = ["one", "two", "three"]
            .map(|name| {
                let content = Content::in_folder(&torrent(name, &[PIECE_LENGTH]), folder.path());
                content.expect("the name is ASCII")
            })
            .into();
        let path = |name| folder.path().join(name).join("000");
        for content in &contents {
            std::fs::create_dir(content.root()).unwrap();
        }
        for name in ["one", "two"] {
            std::fs::write(path(name), vec![1; PIECE_LENGTH as usize]).unwrap();
        }
        std::fs::hard_link(path("two"), path("three")).unwrap();
        let options = Options::default();
        let mut files = Files::new(&contents, &options, &CancelToken::default());
        assert_eq!(
            [0, 1, 2].map(|number| files.number(number, FileIndex::new(0))),
            [0, 1, 1]
        );
        files.share(1, 0).unwrap();
        assert_eq!(
            [0, 1, 2].map(|number| files.number(number, FileIndex::new(0))),
            [0, 0, 0]
        );
        assert!(files.is_shared(0) && !files.is_shared(1));
        assert_eq!(
            [0, 1, 2].map(|torrent| files.are_unchanged(torrent)),
            [true; 3]
        );
        std::thread::sleep(hashlane_files::TICK);
        std::fs::write(path(written), vec![2; PIECE_LENGTH as usize]).unwrap();
        let unchanged = [0, 1, 2].map(|torrent| files.are_unchanged(torrent));
        assert_eq!(unchanged, [true, false, false], "{written}");
    }
}
