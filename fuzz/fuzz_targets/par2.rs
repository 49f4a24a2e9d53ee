//! Recovery files of PAR2: packets that are right, forged or damaged, and any bytes between them.

#![no_main]

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use hashlane_files::CancelToken;
use hashlane_par2::{
    FileId, Kernel, Kept, Packet, RecoverySet, Run, SetId, SliceChecksum, repair, scan, verify,
};
use libfuzzer_sys::fuzz_target;
use md5::{Digest as _, Md5};

#[derive(Arbitrary, Debug)]
struct Input {
    parts: Vec<Part>,
    /// Bytes that are changed afterwards.
    damage: Vec<(u16, u8)>,
    /// The files of the set's folder.
    files: Vec<(String, Vec<u8>)>,
}

#[derive(Arbitrary, Debug)]
enum Part {
    Raw(Vec<u8>),
    Main { slice_len: u16, files: Vec<Id>, others: Vec<Id> },
    File { id: Option<[u8; 16]>, md5: [u8; 16], content: Content, name: String },
    Slices { file: Id, checksums: Vec<([u8; 16], u32)> },
    Recovery { exponent: u32, slice: Vec<u8> },
    Name { file: Id, name: String },
    Sha256 { file: Id, sha256: [u8; 32] },
    Creator(Vec<u8>),
    Comment(Vec<u8>),
    UnicodeComment(String),
}

/// The identity of a file: any, or that of one of the packets with files, so that a set can be complete.
#[derive(Arbitrary, Debug)]
enum Id {
    Any([u8; 16]),
    Of(u8),
}

/// The length and the start of a file: any, or those of one in the folder.
#[derive(Arbitrary, Debug)]
enum Content {
    Any { md5_16k: [u8; 16], len: u32 },
    Of(u8),
}

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
    parent.join(format!("hashlane-fuzz-par2-{}", std::process::id()))
});

impl Id {
    fn file(&self, known: &[FileId]) -> FileId {
        match self {
            Self::Any(id) => FileId(*id),
            Self::Of(number) => match known.len() {
                0 => FileId([0; 16]),
                n => known[usize::from(*number) % n],
            },
        }
    }
}

impl Part {
    /// Returns the packet of a file, with the digests of the folder's file that it names.
    fn file(&self, files: &[(String, Vec<u8>)]) -> Option<Packet> {
        let Self::File { id, md5, content, name } = self else {
            return None;
        };
        let (mut md5, mut name) = (*md5, name.as_str());
        let (md5_16k, len) = match content {
            Content::Any { md5_16k, len } => (*md5_16k, u64::from(*len)),
            Content::Of(number) => {
                let (known, bytes) = files.get(usize::from(*number) % files.len().max(1))?;
                md5 = digest(bytes);
                name = known;
                (digest(&bytes[..bytes.len().min(16 << 10)]), bytes.len() as u64)
            }
        };
        let right = FileId::of(&md5_16k, len, name.as_bytes());
        let id = id.map_or(right, FileId);
        Some(Packet::File { id, md5, md5_16k, len, name: name.as_bytes().to_vec() })
    }

    fn main(&self, known: &[FileId]) -> Option<Packet> {
        let Self::Main { slice_len, files, others } = self else {
            return None;
        };
        let ids = |ids: &[Id]| ids.iter().map(|id| id.file(known)).collect();
        Some(Packet::Main {
            slice_len: (*slice_len).into(),
            files: ids(files),
            other_files: ids(others),
        })
    }

    fn packet(&self, set: SetId, known: &[FileId], files: &[(String, Vec<u8>)]) -> Vec<u8> {
        let packet = match self {
            Self::Raw(bytes) => return bytes.clone(),
            Self::Main { .. } => self.main(known),
            Self::File { .. } => self.file(files),
            Self::Slices { file, checksums } => {
                let checksum = |(md5, crc32): &([u8; 16], u32)| {
                    SliceChecksum { md5: *md5, crc32: *crc32 }
                };
                let checksums = checksums.iter().map(checksum).collect();
                Some(Packet::Slices { file: file.file(known), checksums })
            }
            Self::Recovery { exponent, slice } => {
                return Packet::write_recovery(set, *exponent, slice);
            }
            Self::Name { file, name } => {
                Some(Packet::UnicodeName { file: file.file(known), name: name.clone() })
            }
            Self::Sha256 { file, sha256 } => {
                Some(Packet::Sha256 { file: file.file(known), sha256: *sha256 })
            }
            Self::Creator(text) => Some(Packet::Creator(text.clone())),
            Self::Comment(text) => Some(Packet::Comment(text.clone())),
            Self::UnicodeComment(text) => {
                Some(Packet::UnicodeComment { of: [0; 16], text: text.clone() })
            }
        };
        packet.map_or_else(Vec::new, |packet| packet.write(set))
    }
}

fn digest(bytes: &[u8]) -> [u8; 16] {
    Md5::digest(bytes).into()
}

fuzz_target!(|input: Input| {
    let known: Vec<FileId> = input
        .parts
        .iter()
        .filter_map(|part| match part.file(&input.files)? {
            Packet::File { id, .. } => Some(id),
            _ => None,
        })
        .collect();
    // The set is that of the first main packet.
    let main = input.parts.iter().find_map(|part| Some(part.main(&known)?.set_id()));
    let set = main.unwrap_or(SetId([1; 16]));
    let packets = input.parts.iter().map(|part| part.packet(set, &known, &input.files));
    let mut bytes: Vec<u8> = packets.flatten().collect();
    for (at, change) in &input.damage {
        if let Some(byte) = bytes.get_mut(usize::from(*at)) {
            *byte ^= change;
        }
    }
    let cancel = CancelToken::default();
    let mut last = None;
    scan(&bytes[..], &cancel, |found| {
        assert!(last.is_none_or(|last| last < found.offset));
        assert!(found.offset + found.header.len <= bytes.len() as u64);
        last = Some(found.offset);
    })
    .expect("bytes in memory are read");

    // Sets may not write outside their folder, and a verification changes nothing.
    let _ = fs::remove_dir_all(&*FOLDER);
    let folder = FOLDER.join("set");
    fs::create_dir_all(&folder).expect("the folder is created");
    let volume = FOLDER.join("a.par2");
    fs::write(&volume, &bytes).expect("the file is written");
    for (name, bytes) in input.files.iter().take(4) {
        if !name.contains(['/', '\0']) && name.len() < 200 {
            let _ = fs::write(folder.join(name), bytes);
        }
    }
    let mut run = Run {
        n_threads: NonZeroUsize::MIN,
        memory: 16 << 20,
        kernel: Kernel::detect(),
        cancel: &cancel,
        progress: &mut |_| {},
    };
    let Ok(set) = RecoverySet::read(vec![volume], &mut run) else {
        return;
    };
    // Files of any length can be claimed, and would be made of nothing.
    if set.files.iter().map(|file| file.len).sum::<u64>() > 1 << 20 {
        return;
    }
    let found = verify(&set, &folder, &[], &mut run).expect("nothing cancels");
    let _ = repair(&set, &found, &folder, Kept::Yes, &mut run);
    let outside = fs::read_dir(&*FOLDER).expect("the folder is read").count();
    assert_eq!(outside, 2, "nothing is written outside the folder of the set");
});
