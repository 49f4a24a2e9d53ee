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
    Main { slice_len: u16, files: Vec<[u8; 16]>, others: Vec<[u8; 16]> },
    File { id: Option<[u8; 16]>, md5: [u8; 16], md5_16k: [u8; 16], len: u32, name: String },
    Slices { file: [u8; 16], checksums: Vec<([u8; 16], u32)> },
    Recovery { exponent: u32, slice: Vec<u8> },
    Name { file: [u8; 16], name: String },
    Comment(Vec<u8>),
}

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
    parent.join(format!("hashlane-fuzz-par2-{}", std::process::id()))
});

impl Part {
    fn packet(self, set: SetId) -> Vec<u8> {
        let ids = |ids: Vec<[u8; 16]>| ids.into_iter().map(FileId).collect();
        let packet = match self {
            Self::Raw(bytes) => return bytes,
            Self::Main { slice_len, files, others } => Packet::Main {
                slice_len: slice_len.into(),
                files: ids(files),
                other_files: ids(others),
            },
            Self::File { id, md5, md5_16k, len, name } => Packet::File {
                id: id.map_or_else(|| FileId::of(&md5_16k, len.into(), name.as_bytes()), FileId),
                md5,
                md5_16k,
                len: len.into(),
                name: name.into_bytes(),
            },
            Self::Slices { file, checksums } => {
                let checksums = checksums.into_iter();
                let checksums = checksums.map(|(md5, crc32)| SliceChecksum { md5, crc32 });
                Packet::Slices { file: FileId(file), checksums: checksums.collect() }
            }
            Self::Recovery { exponent, slice } => {
                return Packet::write_recovery(set, exponent, &slice);
            }
            Self::Name { file, name } => Packet::UnicodeName { file: FileId(file), name },
            Self::Comment(text) => Packet::Comment(text),
        };
        packet.write(set)
    }
}

fuzz_target!(|input: Input| {
    // The set is that of the first main packet.
    let main = input.parts.iter().find_map(|part| match part {
        Part::Main { slice_len, files, others } => {
            let ids = |ids: &[[u8; 16]]| ids.iter().copied().map(FileId).collect();
            let packet = Packet::Main {
                slice_len: (*slice_len).into(),
                files: ids(files),
                other_files: ids(others),
            };
            Some(packet.set_id())
        }
        _ => None,
    });
    let set = main.unwrap_or(SetId([1; 16]));
    let mut bytes: Vec<u8> = input.parts.into_iter().flat_map(|part| part.packet(set)).collect();
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
