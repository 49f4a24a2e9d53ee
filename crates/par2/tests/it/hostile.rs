//! Recovery files that somebody has forged or mixed up.
//!
//! Whatever they say, a repair changes only files of the set, and gives them their right content or none. Additions that do not
//! contradict the set change nothing at all.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hashlane_hashes::{Algorithm, Hasher};
use hashlane_par2::{
    Error, FileId, Kept, NewSet, Packet, RecoverySet, Redundancy, SetId, SliceChecksum, Slices,
    repair, verify, volumes_of,
};
use hashlane_sha::Engine;

use crate::par2cmdline::{par2cmdline, turbo};
use crate::place::{Folder, SET, with_memory};
use crate::random::Random;

/// Length of a slice, and number of recovery slices.
const SLICE_LEN: u64 = 500;
const N_RECOVERY: usize = 8;

/// Names and lengths of the protected files.
const FILES: [(&str, usize); 3] = [("aa", 4_900), ("b/one byte", 1), ("b/ü", 2_000)];

/// Returns the number of sets.
fn n_sets() -> u64 {
    let n_sets = std::env::var("HASHLANE_TEST_PAR2_HOSTILE");
    n_sets.map_or(40, |n_sets| {
        n_sets
            .parse()
            .expect("HASHLANE_TEST_PAR2_HOSTILE is a number")
    })
}

/// A set under attack.
struct Attacked {
    folder: Folder,
    set: RecoverySet,
    random: Random,
}

impl Attacked {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let files = FILES.map(|(name, len)| (name, random.bytes(len)));
        let folder = Folder::new(files.into());
        let mut new = NewSet::new("test");
        new.slices = Slices::Len(SLICE_LEN);
        new.redundancy = Redundancy::Count(N_RECOVERY);
        folder.create(&new);
        let set = folder.set();
        Self {
            folder,
            set,
            random,
        }
    }

    /// Returns the bytes of all recovery files, that of the first file first.
    fn packets(&self) -> Vec<u8> {
        let volumes = self.set.volumes.iter();
        volumes
            .flat_map(|volume| fs::read(volume).unwrap())
            .collect()
    }

    /// Adds bytes to one of the recovery files: to the first one if `is_first`, and before its own bytes then.
    fn add(&mut self, bytes: &[u8], is_first: bool) {
        let number = self.random.below(self.set.volumes.len());
        let volume = &self.set.volumes[if is_first { 0 } else { number }];
        let old = fs::read(volume).unwrap();
        let new = if is_first {
            [bytes, &old]
        } else {
            [&old, bytes]
        };
        fs::write(volume, new.concat()).unwrap();
    }

    fn md5(&mut self) -> [u8; 16] {
        self.random.bytes(16).try_into().unwrap()
    }

    fn file(&mut self) -> FileId {
        self.set.files[self.random.below(FILES.len())].id
    }
}

/// Additions that do not contradict the set.
const ADDITIONS: [fn(&mut Attacked); 8] = [
    // All packets twice.
    |attacked| {
        let packets = attacked.packets();
        attacked.add(&packets, false);
    },
    // Another set of files with the same names and other content.
    |attacked| {
        let other = Attacked::new(attacked.random.next());
        attacked.add(&other.packets(), false);
    },
    // The same set under another name in the same folder.
    |attacked| {
        let packets = attacked.packets();
        fs::write(attacked.folder.path("set.vol90+8.par2"), packets).unwrap();
    },
    // Noise, with the start of a packet.
    |attacked| {
        let len = attacked.random.below(3000);
        let noise = [b"PAR2\0PKT".to_vec(), attacked.random.bytes(len)].concat();
        attacked.add(&noise, false);
    },
    // Headers that claim the rest of the file.
    |attacked| {
        let mut packet = Packet::Recovery { exponent: 1 }.write(attacked.set.id);
        packet[8..16].copy_from_slice(&1_000_000_u64.to_le_bytes());
        attacked.add(&packet.repeat(50), false);
    },
    // Recovery slices of other lengths, and with exponents that no set has.
    |attacked| {
        let id = attacked.set.id;
        let slice = attacked.random.bytes(700);
        for (exponent, len) in [(20, 700), (21, 4), (65_535, 500), (u32::MAX, 500)] {
            let packet = Packet::write_recovery(id, exponent, &slice[..len]);
            attacked.add(&packet, false);
        }
    },
    // Descriptions of files that the set does not have, with paths out of the folder.
    |attacked| {
        for name in ["../out", "/tmp/hashlane-test-out", "..\\out", "new"] {
            let (md5, md5_16k) = (attacked.md5(), attacked.md5());
            let packet = file_packet(md5, md5_16k, 1000, name);
            let bytes = packet.write(attacked.set.id);
            attacked.add(&bytes, false);
        }
    },
    // A second main packet in the name of the set.
    |attacked| {
        let packet = Packet::Main {
            slice_len: 4,
            files: Vec::new(),
            other_files: Vec::new(),
        };
        let bytes = packet.write(attacked.set.id);
        attacked.add(&bytes, false);
    },
];

fn file_packet(md5: [u8; 16], md5_16k: [u8; 16], len: u64, name: &str) -> Packet {
    Packet::File {
        id: FileId::of(&md5_16k, len, name.as_bytes()),
        md5,
        md5_16k,
        len,
        name: name.as_bytes().to_vec(),
    }
}

/// Packets that contradict the set, and come first.
const FORGERIES: [fn(&mut Attacked); 8] = [
    // A recovery slice that is wrong.
    |attacked| {
        let slice = attacked.random.bytes(SLICE_LEN as usize);
        let exponent = attacked.random.below(N_RECOVERY) as u32;
        let packet = Packet::write_recovery(attacked.set.id, exponent, &slice);
        attacked.add(&packet, true);
    },
    // Checksums of slices, and digests of files, that are wrong.
    |attacked| {
        let file = attacked.file();
        let n_slices = attacked.random.below(12);
        let checksums = (0..n_slices).map(|_| SliceChecksum {
            md5: attacked.md5(),
            crc32: attacked.random.next() as u32,
        });
        let packet = Packet::Slices {
            file,
            checksums: checksums.collect(),
        };
        let bytes = packet.write(attacked.set.id);
        attacked.add(&bytes, true);
    },
    |attacked| {
        let file = attacked.set.files[attacked.random.below(FILES.len())].clone();
        let name = file.path.to_str().unwrap().to_owned();
        let packet = file_packet(attacked.md5(), file.md5_16k, file.len, &name);
        let bytes = packet.write(attacked.set.id);
        attacked.add(&bytes, true);
    },
    // The name of a file in UTF-16, and a SHA-256 digest.
    |attacked| {
        let name = Packet::UnicodeName {
            file: attacked.file(),
            name: "../out".into(),
        };
        let sha256 = Packet::Sha256 {
            file: attacked.file(),
            sha256: attacked.random.bytes(32).try_into().unwrap(),
        };
        for packet in [name, sha256] {
            let bytes = packet.write(attacked.set.id);
            attacked.add(&bytes, true);
        }
    },
    // Other sets: with slices of any length, with files of any length, and with paths out of the folder.
    |attacked| {
        let lens = [0, 1, 4, 1 << 40, u64::MAX - 3, u64::MAX];
        let slice_len = lens[attacked.random.below(lens.len())];
        other_set(attacked, slice_len, 1000, "aa");
    },
    |attacked| {
        let lens = [0, 1 << 20, 1 << 40, i64::MAX as u64, u64::MAX];
        let len = lens[attacked.random.below(lens.len())];
        other_set(attacked, 4, len, "aa");
    },
    |attacked| {
        let names = [
            "../out",
            "..\\out",
            "/tmp/hashlane-test-out",
            "b/..",
            "",
            "a\0b",
        ];
        let name = names[attacked.random.below(names.len())];
        other_set(attacked, 500, 1000, name);
    },
    // Damage of any recovery file.
    |attacked| {
        for _ in 0..20 {
            let volume = attacked.random.below(attacked.set.volumes.len());
            let volume = attacked.set.volumes[volume].clone();
            let mut bytes = fs::read(&volume).unwrap();
            let at = attacked.random.below(bytes.len());
            bytes[at] ^= 1 << attacked.random.below(8);
            fs::write(volume, bytes).unwrap();
        }
    },
];

/// Puts another set before the first packet: its only file has this name and length.
fn other_set(attacked: &mut Attacked, slice_len: u64, len: u64, name: &str) {
    let file = file_packet(attacked.md5(), attacked.md5(), len, name);
    let Packet::File { id, .. } = file else {
        unreachable!("it is a file");
    };
    let main = Packet::Main {
        slice_len,
        files: vec![id],
        other_files: vec![id; attacked.random.below(3)],
    };
    let set: SetId = main.set_id();
    let n_checksums = attacked.random.below(4);
    let checksums = Packet::Slices {
        file: id,
        checksums: vec![
            SliceChecksum {
                md5: [0; 16],
                crc32: 0
            };
            n_checksums
        ],
    };
    let mut bytes = Vec::new();
    for packet in [main, file, checksums] {
        bytes.extend(packet.write(set));
    }
    bytes.extend(Packet::write_recovery(set, 0, &[7; 500]));
    attacked.add(&bytes, true);
}

/// Damages so many slices that the recovery slices are enough.
fn damage(attacked: &mut Attacked) {
    match attacked.random.below(3) {
        0 => attacked.folder.remove("b/ü"),
        1 => attacked.folder.remove("b/one byte"),
        _ => {
            let at = attacked.random.below(4_000);
            attacked
                .folder
                .change("aa", |bytes| bytes[at..at + 900].fill(0));
        }
    }
}

/// Returns all files below a folder, without recovery files.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|extension| extension != "par2") {
                files.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    files
}

/// Verifies and repairs with little memory.
fn heal(folder: &Folder) -> Result<SetId, Error> {
    with_memory(64 << 20, |run| {
        let set = RecoverySet::read(volumes_of(&folder.path(SET))?, run)?;
        let base = folder.path("");
        let found = verify(&set, &base, &[], run)?;
        repair(&set, &found, &base, Kept::No, run)?;
        Ok(set.id)
    })
}

#[test]
fn additions_change_nothing() {
    let others: Vec<PathBuf> = par2cmdline().into_iter().chain(turbo()).collect();
    for seed in 0..n_sets() / 2 {
        let mut attacked = Attacked::new(5000 + seed);
        let first = seed as usize % ADDITIONS.len();
        let second = attacked.random.below(ADDITIONS.len());
        for number in [first, second] {
            ADDITIONS[number](&mut attacked);
        }
        damage(&mut attacked);
        let Attacked { folder, set, .. } = attacked;
        let found = folder.verify(&[]);
        assert!(!found.is_intact() && found.is_repairable(&set), "{seed}");
        for other in &others {
            let mut verify = Command::new(other);
            verify.args(["verify", "-q", "-q", SET]);
            let output = verify.current_dir(folder.path("")).output().unwrap();
            let is_repairable = output.status.code() == Some(1);
            assert!(is_repairable, "{seed}: {first} {second}: {output:?}");
        }
        assert_eq!(heal(&folder).unwrap(), set.id, "{seed}: {first} {second}");
        folder.check();
    }
}

#[test]
fn forgeries_make_nothing_worse() {
    let mut n_repaired = 0;
    for seed in 0..n_sets() - n_sets() / 2 {
        let mut attacked = Attacked::new(7000 + seed);
        let first = seed as usize % FORGERIES.len();
        let second = attacked.random.below(FORGERIES.len());
        FORGERIES[first](&mut attacked);
        if attacked.random.below(2) == 0 {
            FORGERIES[second](&mut attacked);
        }
        damage(&mut attacked);
        let Attacked { folder, set, .. } = attacked;
        let base = folder.path("");
        let before = files_below(&base);
        match heal(&folder) {
            Ok(id) if id == set.id => {
                n_repaired += 1;
                folder.check();
            }
            Ok(_) => {}
            Err(_) => assert!(files_below(&base) == before, "{seed}: {first} {second}"),
        }
        for (path, bytes) in files_below(&base) {
            let name = path.strip_prefix(&base).unwrap();
            let right = folder.files.iter().find(|(known, _)| known == name);
            let is_known = right.is_some_and(|(_, right)| *right == bytes);
            let is_as_before = before.get(&path) == Some(&bytes);
            assert!(is_known || is_as_before, "{seed}: {}", path.display());
        }
        assert!(!base.join("../out").exists() && !Path::new("/tmp/hashlane-test-out").exists());
    }
    // Some forgeries contradict nothing that is needed.
    assert!(n_repaired > 0);
}

/// A slice with more zeros than any program can hash: the file is compared by its own digest.
#[test]
fn slices_may_claim_any_length() {
    let bytes = Random::new(9).bytes(1000);
    let folder = Folder::new(vec![("aa", bytes.clone())]);
    let mut hasher = Hasher::with_engine(Engine::detect(), Algorithm::Md5);
    hasher.update(&bytes);
    let md5: [u8; 16] = hasher.finalize().as_bytes().try_into().unwrap();
    let file = file_packet(md5, md5, 1000, "aa");
    let Packet::File { id, .. } = file else {
        unreachable!("it is a file");
    };
    let main = Packet::Main {
        slice_len: 1 << 62,
        files: vec![id],
        other_files: Vec::new(),
    };
    let checksum = SliceChecksum {
        md5: [0; 16],
        crc32: 0,
    };
    let checksums = Packet::Slices {
        file: id,
        checksums: vec![checksum],
    };
    let set = main.set_id();
    let packets = [main, file, checksums].map(|packet| packet.write(set));
    fs::write(folder.path(SET), packets.concat()).unwrap();
    assert!(folder.verify(&[]).is_intact());
    fs::write(folder.path("copy"), &bytes).unwrap();
    folder.change("aa", |bytes| bytes[0] ^= 1);
    assert_eq!(folder.verify(&[]).n_missing, 1);
    let others = [folder.path("copy")];
    assert_eq!(folder.verify(&others).n_missing, 0);
    folder.repair(&others).unwrap();
    folder.check();
}
