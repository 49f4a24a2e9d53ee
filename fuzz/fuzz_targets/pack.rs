//! Packs of Git, and indexes that fit them or not: the verification never panics, and accepts no object with another identifier.

#![no_main]

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use hashlane_git::{CancelToken, Options, Problem, Wrong, verify_pack};
use hashlane_sha::Sha1;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    objects: Vec<Object>,
    /// Bytes of the pack that are changed before it gets its checksum.
    damage: Vec<(u16, u8)>,
    /// Another index than that of the objects.
    index: Option<Vec<u8>>,
}

#[derive(Arbitrary, Debug)]
enum Object {
    Whole {
        kind: u8,
        bytes: Vec<u8>,
    },
    /// A delta on an object before, by the number of objects between them.
    OnPlace {
        back: u8,
        delta: Vec<u8>,
    },
    /// A delta on an object by its number.
    OnId {
        base: u8,
        delta: Vec<u8>,
    },
    /// Any bytes, from the header on.
    Raw(Vec<u8>),
}

/// The folder of the pack, in memory where possible.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    let folder = parent.join(format!("hashlane-fuzz-pack-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the folder is created");
    folder
});

/// The number of bits of a length in the first byte of a header is 4, and 7 in the others.
fn header(kind: u8, len: usize) -> Vec<u8> {
    let (mut bytes, mut rest) = (vec![kind << 4 | (len & 15) as u8], len >> 4);
    while rest > 0 {
        *bytes.last_mut().expect("the first byte") |= 0x80;
        bytes.push((rest & 127) as u8);
        rest >>= 7;
    }
    bytes
}

/// A stream of zlib (RFC 1950) with stored blocks.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 1];
    let n_blocks = bytes.len().div_ceil(0xffff).max(1);
    for (n, block) in (1..).zip(
        bytes
            .chunks(0xffff)
            .chain(bytes.is_empty().then_some(bytes)),
    ) {
        stream.push(u8::from(n == n_blocks));
        stream.extend((block.len() as u16).to_le_bytes());
        stream.extend((!(block.len() as u16)).to_le_bytes());
        stream.extend(block);
    }
    let (mut a, mut b) = (1_u32, 0);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

/// The distance to a base, in Git's variable length.
fn distance(mut rest: usize) -> Vec<u8> {
    let mut bytes = vec![(rest & 127) as u8];
    while rest > 127 {
        rest = (rest >> 7) - 1;
        bytes.insert(0, 0x80 | (rest & 127) as u8);
    }
    bytes
}

fn digest(bytes: &[u8]) -> [u8; 20] {
    Sha1::digest(bytes).into()
}

fuzz_target!(|input: Input| {
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend((input.objects.len() as u32).to_be_bytes());
    // The identifier and the place of each object.
    let mut entries: Vec<([u8; 20], usize)> = Vec::new();
    // The identifiers that are right: those of whole objects.
    let mut right = Vec::new();
    for (n, object) in input.objects.iter().enumerate() {
        let place = pack.len();
        let mut id = digest(&n.to_be_bytes());
        match object {
            Object::Whole { kind, bytes } => {
                let kind = kind % 4;
                let name = ["commit", "tree", "blob", "tag"][usize::from(kind)];
                let message = [format!("{name} {}\0", bytes.len()).as_bytes(), bytes].concat();
                id = digest(&message);
                right.push(id);
                pack.extend(header(kind + 1, bytes.len()));
                pack.extend(zlib(bytes));
            }
            Object::OnPlace { back, delta } => {
                let base = n.checked_sub(usize::from(*back) + 1);
                let base = base
                    .and_then(|base| entries.get(base))
                    .map_or(0, |base| base.1);
                pack.extend(header(6, delta.len()));
                pack.extend(distance(place - base));
                pack.extend(zlib(delta));
            }
            Object::OnId { base, delta } => {
                let base = entries
                    .get(usize::from(*base))
                    .map_or([0xab; 20], |base| base.0);
                pack.extend(header(7, delta.len()));
                pack.extend(base);
                pack.extend(zlib(delta));
            }
            Object::Raw(bytes) => pack.extend(bytes),
        }
        entries.push((id, place));
    }
    let has_raw = input
        .objects
        .iter()
        .any(|object| matches!(object, Object::Raw(_)));
    // Bytes of `Raw` can be any object, or none.
    let is_damaged = has_raw || !input.damage.is_empty() || input.index.is_some();
    for (at, change) in &input.damage {
        if let Some(byte) = pack.get_mut(usize::from(*at)) {
            *byte ^= change;
        }
    }
    let checksum = digest(&pack);
    pack.extend(checksum);

    entries.sort_unstable();
    let n_ids = entries.len();
    entries.dedup_by_key(|entry| entry.0);
    let is_complete = entries.len() == n_ids;
    let index = input.index.unwrap_or_else(|| {
        let mut index = Vec::new();
        for first in 0..=255 {
            let n = entries.iter().filter(|(id, _)| id[0] <= first).count();
            index.extend((n as u32).to_be_bytes());
        }
        for (id, place) in &entries {
            index.extend((*place as u32).to_be_bytes());
            index.extend(id);
        }
        index.extend(checksum);
        index.extend(digest(&index));
        index
    });
    let path = FOLDER.join("a.pack");
    fs::write(&path, &pack).expect("the pack is written");
    fs::write(FOLDER.join("a.idx"), &index).expect("the index is written");
    let options = Options {
        threads: NonZeroUsize::new(1 + pack.len() % 2),
        max_memory: 64 << 20,
        list: true,
        ..Options::default()
    };
    let report = match verify_pack(&path, &options, &CancelToken::default()) {
        Ok(report) => report,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(is_damaged || !is_complete, "{error}");
            return;
        }
    };
    let mut wrong = Vec::new();
    for problem in &report.problems {
        assert!(!problem.to_string().contains(char::is_control));
        if let Problem::Object { id, wrong: why, .. } = problem {
            // An object that is wrong by its identifier has another one.
            assert!(*why != Wrong::Id(*id), "{problem}");
            wrong.push(id.as_bytes().to_vec());
        }
    }
    assert_eq!(report.objects.len(), report.n_objects);
    if is_damaged || !is_complete {
        return;
    }
    assert_eq!(report.n_objects, entries.len());
    for (id, _) in &entries {
        let is_right = !wrong.iter().any(|wrong| wrong == id);
        assert!(is_right == right.contains(id), "{:?}", report.problems);
    }
});
