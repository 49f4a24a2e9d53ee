//! Packs that no program of good will writes.

use std::fs;
use std::path::{Path, PathBuf};

use hashlane_git::{CancelToken, Error, Options, Problem, Report, Wrong, verify_pack};
use hashlane_sha::Sha1;

/// Returns a stream of RFC 1950 with stored blocks.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 1];
    let mut parts = bytes.chunks(0xffff).peekable();
    if bytes.is_empty() {
        stream.extend([1, 0, 0, 0xff, 0xff]);
    }
    while let Some(part) = parts.next() {
        let len = part.len() as u16;
        stream.push(u8::from(parts.peek().is_none()));
        stream.extend(len.to_le_bytes());
        stream.extend((!len).to_le_bytes());
        stream.extend(part);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

/// Returns the header of an object.
fn header(kind: u8, mut len: u64) -> Vec<u8> {
    let mut bytes = vec![kind << 4 | (len & 15) as u8];
    len >>= 4;
    while len > 0 {
        *bytes.last_mut().expect("a byte") |= 0x80;
        bytes.push((len & 127) as u8);
        len >>= 7;
    }
    bytes
}

fn blob_id(bytes: &[u8]) -> [u8; 20] {
    let message = [format!("blob {}\0", bytes.len()).as_bytes(), bytes].concat();
    Sha1::digest(&message).into()
}

fn blob(bytes: &[u8]) -> ([u8; 20], Vec<u8>) {
    (
        blob_id(bytes),
        [header(3, bytes.len() as u64), stored(bytes)].concat(),
    )
}

/// Returns an object that is based on another one by its identifier.
fn delta(id: [u8; 20], base: [u8; 20], delta: &[u8]) -> ([u8; 20], Vec<u8>) {
    (
        id,
        [&header(7, delta.len() as u64), &base[..], &stored(delta)].concat(),
    )
}

/// Writes a pack of these objects, with an index.
fn write(folder: &Path, objects: &[([u8; 20], Vec<u8>)]) -> PathBuf {
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend((objects.len() as u32).to_be_bytes());
    let mut places = Vec::new();
    for (id, bytes) in objects {
        places.push((*id, crc32fast::hash(bytes), pack.len() as u32));
        pack.extend(bytes);
    }
    let checksum: [u8; 20] = Sha1::digest(&pack).into();
    pack.extend(checksum);
    places.sort_unstable();
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for first in 0..=255 {
        let n = places.iter().filter(|(id, ..)| id[0] <= first).count() as u32;
        index.extend(n.to_be_bytes());
    }
    index.extend(places.iter().flat_map(|(id, ..)| id));
    index.extend(places.iter().flat_map(|(_, crc, _)| crc.to_be_bytes()));
    index.extend(places.iter().flat_map(|(.., offset)| offset.to_be_bytes()));
    index.extend(checksum);
    let own: [u8; 20] = Sha1::digest(&index).into();
    index.extend(own);
    let path = folder.join("test.pack");
    fs::write(&path, pack).expect("write the pack");
    fs::write(path.with_extension("idx"), index).expect("write the index");
    path
}

fn verified(objects: &[([u8; 20], Vec<u8>)], max_memory: u64) -> Report {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), objects);
    let options = Options {
        max_memory,
        list: true,
        ..Options::default()
    };
    verify_pack(&path, &options, &CancelToken::default()).expect("a readable pack")
}

/// Returns the reason for each damaged object.
fn wrong(report: &Report) -> Vec<([u8; 20], Wrong)> {
    let reason = |problem: &Problem| match problem {
        Problem::Object { id, wrong, .. } => (id.as_bytes().try_into().expect("20 bytes"), *wrong),
        other => panic!("{other}"),
    };
    report.problems.iter().map(reason).collect()
}

const LARGE: u64 = 1 << 30;

#[test]
fn a_pack_made_by_hand_is_good() {
    let (one, two) = (blob(b"one"), blob(b""));
    // Copies three bytes and inserts "!".
    let three = delta(blob_id(b"one!"), one.0, &[3, 4, 0x90, 3, 1, b'!']);
    let report = verified(&[three, two, one], LARGE);
    assert_eq!(report.problems, []);
    assert_eq!(report.objects[0].delta.expect("a delta").0, 1);
}

#[test]
fn deltas_in_a_cycle_are_found() {
    let (a, b, c) = ([1; 20], [2; 20], [3; 20]);
    let report = verified(
        &[
            blob(b"x"),
            delta(a, b, &[1, 1, 1, 0]),
            delta(b, a, &[1, 1, 1, 0]),
            delta(c, c, &[1, 1, 1, 0]),
        ],
        LARGE,
    );
    assert_eq!(
        wrong(&report),
        [(a, Wrong::Cycle), (b, Wrong::Cycle), (c, Wrong::Cycle)]
    );
}

#[test]
fn missing_and_damaged_bases_are_reasons() {
    let (mut damaged, missing) = (blob(b"damaged"), [9; 20]);
    damaged.1[5] ^= 1;
    let on_missing = delta([1; 20], missing, &[1, 1, 1, 0]);
    let on_damaged = delta([2; 20], damaged.0, &[7, 1, 1, 0]);
    let on_both = delta([3; 20], [1; 20], &[7, 1, 1, 0]);
    let id = damaged.0;
    let report = verified(&[on_missing, on_damaged, on_both, damaged], LARGE);
    let found = wrong(&report);
    assert!(matches!(found[0], ([1, ..], Wrong::NoBase(base)) if base.as_bytes() == missing));
    assert_eq!(found[1], ([2; 20], Wrong::DamagedBase));
    assert_eq!(found[2], ([3; 20], Wrong::DamagedBase));
    assert_eq!(found[3], (id, Wrong::Compressed));
}

#[test]
fn chains_are_limited() {
    let mut objects = vec![blob(&0_u32.to_be_bytes())];
    for n in 1..=4097_u32 {
        let bytes = n.to_be_bytes();
        let instructions = [&[4, 4, 4][..], &bytes].concat();
        objects.push(delta(
            blob_id(&bytes),
            objects[n as usize - 1].0,
            &instructions,
        ));
    }
    let last_two = [objects[4096].0, objects[4097].0];
    let report = verified(&objects, LARGE);
    assert_eq!(
        wrong(&report),
        [
            (last_two[0], Wrong::TooDeep),
            (last_two[1], Wrong::DamagedBase)
        ]
    );
    assert_eq!(report.objects[4095].delta.expect("a delta").0, 4095);
}

#[test]
fn declared_lengths_take_no_memory() {
    // A length that so few bytes cannot have, and a delta whose result is as large.
    let mut bomb = blob(b"x");
    bomb.1 = [header(3, 1 << 50), stored(b"x")].concat();
    let base = blob(b"x");
    let large = [1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1];
    let result = delta([7; 20], base.0, &large);
    let report = verified(&[([6; 20], bomb.1), result, base], LARGE);
    assert_eq!(
        wrong(&report),
        [([6; 20], Wrong::Length), ([7; 20], Wrong::TooLarge)]
    );
}

#[test]
fn memory_is_limited() {
    let (small, large) = (blob(b"small"), blob(&vec![7; 200_000]));
    let id = large.0;
    // An object that is not checked is not known to be damaged.
    let on_large = delta([9; 20], id, &[7, 1, 1, 0]);
    let report = verified(&[small, large, on_large], 100_000);
    assert_eq!(
        wrong(&report),
        [(id, Wrong::TooLarge), ([9; 20], Wrong::TooLarge)]
    );
    assert_eq!((report.is_bad(), report.n_unchecked()), (false, 2));
}

#[test]
fn wrong_lengths_contents_and_checksums_are_found() {
    let other = ([5; 20], blob(b"content").1);
    let longer = ([6; 20], [header(3, 4), stored(b"12345")].concat());
    let shorter = ([7; 20], [header(3, 6), stored(b"12345")].concat());
    let mut trailing = blob(b"trailing");
    trailing.1.push(0);
    let invalid = ([8; 20], vec![0x50, 1, 2, 3]);
    let empty = ([9; 20], header(3, 4));
    let (content, trailing_id) = (blob_id(b"content"), trailing.0);
    let found = wrong(&verified(
        &[other, longer, shorter, trailing, invalid, empty],
        LARGE,
    ));
    assert!(matches!(found[0], ([5, ..], Wrong::Id(id)) if id.as_bytes() == content));
    assert_eq!(found[1], ([6; 20], Wrong::Length));
    assert_eq!(found[2], ([7; 20], Wrong::Length));
    assert_eq!(found[3], (trailing_id, Wrong::Compressed));
    assert_eq!(found[4], ([8; 20], Wrong::Header));
    assert_eq!(found[5], ([9; 20], Wrong::Compressed));

    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), &[blob(b"x")]);
    let mut pack = fs::read(&path).expect("read");
    *pack.last_mut().expect("a byte") ^= 1;
    fs::write(&path, &pack).expect("write");
    let report =
        verify_pack(&path, &Options::default(), &CancelToken::default()).expect("a readable pack");
    assert_eq!(report.problems, [Problem::PackChecksum, Problem::OtherPack]);
}

#[test]
fn a_long_object_is_hashed_in_parts() {
    let long = vec![0x5a; 33 << 20];
    let report = verified(&[blob(&long), blob(b"x")], LARGE);
    assert_eq!(report.problems, []);
    let mut damaged = blob(&long);
    damaged.0[0] ^= 1;
    let report = verified(&[damaged], LARGE);
    assert!(matches!(wrong(&report)[..], [(_, Wrong::Id(_))]));
}

#[test]
fn a_verification_can_be_cancelled() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), &[blob(b"x")]);
    let cancel = CancelToken::default();
    cancel.cancel();
    let result = verify_pack(&path, &Options::default(), &cancel);
    assert!(matches!(result, Err(Error::Cancelled)));
}

#[test]
fn short_indexes_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), &[blob(b"x")]);
    let index = path.with_extension("idx");
    // Of versions 1 and 2, without the checksums at the end.
    for len in 1024..1100 {
        let mut second = b"\xfftOc\0\0\0\x02".to_vec();
        second.resize(len, 0);
        for bytes in [vec![0; len], second] {
            fs::write(&index, bytes).expect("write");
            let error = verify_pack(&path, &Options::default(), &CancelToken::default())
                .expect_err("refused");
            assert!(matches!(error, Error::Improper { .. }), "{len}: {error}");
        }
    }
}

#[test]
fn other_files_are_no_packs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), &[blob(b"x")]).with_extension("rev");
    fs::write(&path, "").expect("write");
    let error =
        verify_pack(&path, &Options::default(), &CancelToken::default()).expect_err("refused");
    assert!(
        error.to_string().ends_with("nor an index (.idx)"),
        "{error}"
    );
}

/// Objects that have no room beside each other are read one after another.
#[test]
fn memory_of_other_threads_makes_no_object_bad() {
    let blobs: Vec<_> = (0..64_u8).map(|n| blob(&vec![n; 60_000])).collect();
    for _ in 0..20 {
        assert_eq!(wrong(&verified(&blobs, 200_000)), []);
    }
}

#[test]
fn an_index_that_is_longer_than_the_pack_allows_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), &[blob(b"one"), blob(b"two")]);
    let index = path.with_extension("idx");
    let sparse = |path: &Path, len: u64| {
        let file = fs::File::options().write(true).open(path);
        file.and_then(|file| file.set_len(len))
            .expect("a sparse file");
    };
    let reason = |options: &Options| match verify_pack(&path, options, &CancelToken::default()) {
        Err(Error::Improper { path, reason }) => (path, reason),
        other => panic!("{other:?}"),
    };
    for len in [1 << 20, 3 << 30, 100 << 30] {
        sparse(&index, len);
        let expected = "the index is longer than that of a pack of this length";
        assert_eq!(reason(&Options::default()), (index.clone(), expected));
    }
    // A pack of a length that allows it does not allow its memory.
    sparse(&path, 100 << 30);
    let expected = "the index needs more memory than is allowed";
    assert_eq!(reason(&Options::default()), (index.clone(), expected));
    let options = Options {
        max_memory: 1,
        ..Options::default()
    };
    sparse(&index, (64 << 20) + 1);
    assert_eq!(reason(&options), (index.clone(), expected));
}
