//! dm-verity, compared with `veritysetup`.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use data_encoding::HEXLOWER;
use hashlane_trees::{
    Algorithm, CancelToken, DmVerity, Error, Event, Failure, Format, HashDeviceError, IoMode, Item,
    Options, Outcome, VerityCheck, VerityError, VerityFormat, VerityParameters, VerityReport,
    check_device, hash_files,
};

use crate::judge::{hashes, write_files};
use crate::not_run::is_installed;
use crate::random::Random;

const UUID: [u8; 16] = [0x5a; 16];

/// Runs `veritysetup`.
fn veritysetup(args: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new("veritysetup");
    command.args(args).args(paths);
    command.output().unwrap()
}

/// Returns the root hash that `veritysetup` prints after it has written the hash device.
fn format(parameters: &VerityParameters, data: &Path, device: &Path) -> String {
    let salt = match &parameters.salt[..] {
        [] => "-".to_owned(),
        salt => HEXLOWER.encode(salt),
    };
    let number = parameters.format as u32;
    let args = [
        "format".to_owned(),
        format!("--hash={}", parameters.function.name()),
        format!("--format={number}"),
        format!("--data-block-size={}", parameters.data_block_len),
        format!("--hash-block-size={}", parameters.hash_block_len),
        format!("--salt={salt}"),
        format!("--hash-offset={}", parameters.hash_offset),
        "--uuid=5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a".to_owned(),
    ];
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    let n_blocks = parameters.data_blocks.map(|n| format!("--data-blocks={n}"));
    args.extend(n_blocks.as_deref());
    let output = veritysetup(&args, &[data, device]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.starts_with("Root hash:"));
    line.unwrap().split_whitespace().last().unwrap().to_owned()
}

/// Both formats with every function, salts of several lengths, and blocks of several lengths.
fn parameters() -> Vec<VerityParameters> {
    let mut all = Vec::new();
    for format in [VerityFormat::ChromeOs, VerityFormat::Normal] {
        for function in [Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512] {
            for (salt_len, data_block_len, hash_block_len) in [
                (0_usize, 4096, 4096),
                (32, 4096, 4096),
                (7, 512, 1024),
                (256, 1024, 512),
            ] {
                all.push(VerityParameters {
                    function,
                    format,
                    data_block_len,
                    hash_block_len,
                    salt: (0..salt_len).map(|i| i as u8 ^ 0x5a).collect(),
                    data_blocks: None,
                    hash_offset: 0,
                    uuid: Some(UUID),
                });
            }
        }
    }
    all
}

/// Returns the results of a check.
fn check(device: &Path, data: &Path) -> Outcome<VerityReport> {
    check_with(
        &VerityCheck::new(File::open(device).unwrap(), 0).unwrap(),
        data,
    )
}

fn check_with(format: &VerityCheck, data: &Path) -> Outcome<VerityReport> {
    let mut found = None;
    let (options, cancel) = (Options::default(), CancelToken::default());
    hash_files(format, [Item::new(data, ())], &options, &cancel, |event| {
        if let Event::Outcome((), outcome) = event {
            found = Some(outcome);
        }
        Ok::<_, Error>(())
    })
    .unwrap();
    found.unwrap()
}

fn report(device: &Path, data: &Path) -> VerityReport {
    match check(device, data) {
        Ok((report, _)) => report,
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn root_hashes_and_hash_devices_are_those_of_veritysetup() {
    if !is_installed("VERITYSETUP", "veritysetup", "cryptsetup-bin") {
        return;
    }
    let (mut numbers, mut n_cases) = (Random::new(16), 0);
    for parameters in parameters() {
        let folder = tempfile::tempdir().unwrap();
        let block = u64::from(parameters.data_block_len);
        let verity = DmVerity::new(parameters.clone()).unwrap();
        let mut lens: Vec<u64> = [1, 2, 3, 127, 128, 129].map(|n| n * block).into();
        lens.extend((0..4).map(|_| (1 + numbers.below(600) as u64) * block));
        let lens: Vec<usize> = lens.into_iter().map(|len| len as usize).collect();
        let paths = write_files(folder.path(), &lens, &mut numbers);
        let place = |name: &str| folder.path().join(name);
        for data in &paths {
            let case = format!("{parameters:?}: {} bytes", data.metadata().unwrap().len());
            let _ = fs::remove_file(place("theirs"));
            let root = format(&parameters, data, &place("theirs"));
            let ours = File::create(place("ours")).unwrap();
            let writing = verity.clone().with_device(ours);
            let data = std::slice::from_ref(data);
            assert_eq!(
                hashes(&writing, data, &Options::default()),
                std::slice::from_ref(&root),
                "{case}"
            );
            assert!(
                fs::read(place("ours")).unwrap() == fs::read(place("theirs")).unwrap(),
                "{case}"
            );
            let accepted = veritysetup(&["verify"], &[&data[0], &place("ours"), Path::new(&root)]);
            assert!(accepted.status.success(), "{case}: {accepted:?}");
            let report = report(&place("theirs"), &data[0]);
            assert_eq!(report.to_string(), root, "{case}");
            assert_eq!(
                (report.data.n_blocks(), report.device.n_blocks()),
                (0, 0),
                "{case}"
            );
            n_cases += 1;
        }
        if cfg!(target_os = "linux") {
            let options = |io| Options::default().io(io).allow_signal_handler();
            let read = hashes(&verity, &paths, &options(IoMode::Pread));
            assert_eq!(hashes(&verity, &paths, &options(IoMode::Mmap)), read);
        }
    }
    assert_eq!(n_cases, 240);
}

/// Writes a byte into a file.
fn damage(path: &Path, position: u64) {
    let mut file = OpenOptions::new()
        .write(true)
        .read(true)
        .open(path)
        .unwrap();
    file.seek(SeekFrom::Start(position)).unwrap();
    file.write_all(&[0xa5]).unwrap();
}

/// Writes 1000 blocks of data with their hash device: 8 blocks of digests and one above them.
fn sample(folder: &Path) -> (PathBuf, PathBuf, String) {
    let (data, device) = (folder.join("data"), folder.join("device"));
    fs::write(&data, vec![1; 1000 * 4096]).unwrap();
    let format = DmVerity::new(VerityParameters::default()).unwrap();
    let format = format.with_device(File::create(&device).unwrap());
    let root = hashes(&format, std::slice::from_ref(&data), &Options::default());
    (data, device, root[0].clone())
}

#[test]
fn damaged_blocks_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (data, device, root) = sample(folder.path());
    let intact = report(&device, &data);
    assert_eq!((intact.data.n_blocks(), intact.device.n_blocks()), (0, 0));
    assert_eq!((intact.to_string(), intact.n_blocks), (root.clone(), 1000));
    for block in [0, 130, 131, 999] {
        damage(&data, block * 4096 + 7);
    }
    let report_of_data = report(&device, &data);
    assert_eq!(report_of_data.data.to_string(), "0, 130-131, 999");
    assert_eq!(report_of_data.device.n_blocks(), 0);
    // The digests of the blocks 256 to 383, in the third block below the root.
    damage(&device, 4 * 4096 + 32);
    let both = report(&device, &data);
    assert_eq!(both.data.to_string(), "0, 130-131, 257, 999");
    assert_eq!(both.device.to_string(), "4");
    assert_eq!(both.to_string(), root);
    // The highest block: a digest that another block has below.
    damage(&device, 4096);
    let top = report(&device, &data);
    assert_eq!(top.device.to_string(), "2, 4");
    assert_ne!(top.to_string(), root);
}

/// `veritysetup` leaves out the bytes after the last block, so that their damage is not found.
#[test]
fn a_file_with_bytes_that_belong_to_no_block_has_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let (data, options) = (folder.path().join("data"), Options::default());
    let verity = DmVerity::default();
    let outcome = |format: &DmVerity| {
        let mut found = None;
        let cancel = CancelToken::default();
        hash_files(format, [Item::new(&data, ())], &options, &cancel, |event| {
            if let Event::Outcome((), outcome) = event {
                found = Some(outcome);
            }
            Ok::<_, Error>(())
        })
        .unwrap();
        found.unwrap()
    };
    for len in [4097, 5000, 8191] {
        fs::write(&data, vec![1; len]).unwrap();
        let refused = outcome(&verity);
        assert!(
            matches!(refused, Err(Failure::NotMultiple(4096))),
            "{refused:?}"
        );
    }
    fs::write(&data, vec![1; 4096]).unwrap();
    let one = hashes(&verity, std::slice::from_ref(&data), &options);
    fs::write(&data, vec![1; 8191]).unwrap();
    let first = DmVerity::new(VerityParameters {
        data_blocks: Some(1),
        ..VerityParameters::default()
    });
    assert_eq!(hashes(&first.unwrap(), &[data], &options), one);
}

/// The data, its superblock and its tree in one file, and with an offset in a file of the tree.
#[test]
fn a_number_of_blocks_and_an_offset_are_those_of_veritysetup() {
    if !is_installed("VERITYSETUP", "veritysetup", "cryptsetup-bin") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let content: Vec<u8> = (0..200 * 4096_u32 + 904)
        .map(|i| (i / 4096) as u8)
        .collect();
    let parameters = VerityParameters {
        data_blocks: Some(150),
        hash_offset: 7 * 512,
        uuid: Some(UUID),
        ..VerityParameters::default()
    };
    fs::write(place("data"), &content).unwrap();
    let root = format(&parameters, &place("data"), &place("theirs"));
    let ours = File::create(place("ours")).unwrap();
    let writing = DmVerity::new(parameters.clone()).unwrap().with_device(ours);
    assert_eq!(
        hashes(&writing, &[place("data")], &Options::default()),
        std::slice::from_ref(&root)
    );
    assert!(fs::read(place("ours")).unwrap() == fs::read(place("theirs")).unwrap());

    // 200 blocks, a gap of 904 bytes, and from the next multiple of 512 on superblock and tree.
    let hash_offset = (content.len() as u64).next_multiple_of(512);
    let inside = VerityParameters {
        data_blocks: Some(200),
        hash_offset,
        ..parameters
    };
    let root = format(&inside, &place("data"), &place("data"));
    let (options, cancel) = (Options::default(), CancelToken::default());
    let verdict = |hash_offset| {
        let (data, root) = (place("data"), HEXLOWER.decode(root.as_bytes()).unwrap());
        check_device(
            &data,
            (&data, hash_offset),
            Some(&root),
            &options,
            &cancel,
            |_| (),
        )
    };
    let found = verdict(hash_offset).unwrap();
    assert_eq!(
        (found.bytes_beyond, found.is_right()),
        (hash_offset - 200 * 4096, false)
    );
    assert!(found.has_root);
    assert_eq!(
        found.report.data.n_blocks() + found.report.device.n_blocks(),
        0
    );
    assert!(verdict(0).is_err());
    assert!(verdict(u64::MAX).is_err());
    // Without the gap, every byte is covered.
    fs::write(place("data"), &content[..200 * 4096]).unwrap();
    let inside = VerityParameters {
        hash_offset: 200 * 4096,
        ..inside
    };
    assert_eq!(format(&inside, &place("data"), &place("data")), root);
    assert!(verdict(200 * 4096).unwrap().is_right());
    let mut file = OpenOptions::new().append(true).open(place("data")).unwrap();
    file.write_all(b"x").unwrap();
    let longer = verdict(200 * 4096).unwrap();
    assert_eq!((longer.bytes_beyond, longer.is_right()), (1, false));
}

#[test]
fn threads_share_a_check() {
    let folder = tempfile::tempdir().unwrap();
    let (data, device, _) = sample(folder.path());
    let check = VerityCheck::new(File::open(&device).unwrap(), 0).unwrap();
    for _ in 0..20 {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| match check_with(&check, &data) {
                    Ok((report, _)) => {
                        assert_eq!((report.data.n_blocks(), report.device.n_blocks()), (0, 0));
                    }
                    outcome => panic!("{outcome:?}"),
                });
            }
        });
    }
}

#[test]
fn hash_devices_that_cannot_be_used_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (data, device, _) = sample(folder.path());
    let open = || VerityCheck::new(File::open(&device).unwrap(), 0);
    let intact = fs::read(&device).unwrap();
    for (at, bytes, message) in [
        (0, &b"x"[..], "has no superblock of dm-verity"),
        (8, &[2], "the superblock has version 2"),
        (12, &[2], "no format has the number 2"),
        (32, b"md5\0\0\0", "the superblock has dm-verity has no md5"),
        (32, b"whirl", "the hash function \"whirl6\" is unknown"),
        (64, &[0, 0], "the superblock has a block of 0 bytes"),
        (68, &[1], "the superblock has a block of 4097 bytes"),
        (72, &[0; 8], "the superblock has 0 blocks"),
        (
            72,
            &[0xff; 8],
            "the superblock has 18446744073709551615 blocks",
        ),
        (80, &[1, 1], "the superblock has a salt of 257 bytes"),
        (
            72,
            &[0, 0, 0, 0, 1],
            "is too short: has 40960 bytes, but its tree ends at",
        ),
    ] {
        let mut bytes_of_device = intact.clone();
        bytes_of_device[at..at + bytes.len()].copy_from_slice(bytes);
        fs::write(&device, bytes_of_device).unwrap();
        let error = open().unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    for len in [0, 511] {
        fs::write(&device, &intact[..len]).unwrap();
        assert!(matches!(open(), Err(HashDeviceError::Superblock(_))));
    }
    fs::write(&device, &intact[..intact.len() - 1]).unwrap();
    let error = open().unwrap_err().to_string();
    assert_eq!(
        error,
        "is too short: has 40959 bytes, but its tree ends at 40960"
    );
    fs::write(&device, &intact).unwrap();
    let file = OpenOptions::new().write(true).open(&data).unwrap();
    file.set_len(1000 * 4096 - 1).unwrap();
    let short = check(&device, &data);
    assert!(
        matches!(short, Err(Failure::TooShort(4_096_000))),
        "{short:?}"
    );
    // What follows the data of the device is not part of it.
    file.set_len(1000 * 4096).unwrap();
    damage(&data, 1000 * 4096 - 1);
    file.set_len(2000 * 4096).unwrap();
    assert_eq!(report(&device, &data).data.to_string(), "999");
}

#[test]
fn parameters_outside_the_limits_are_refused() {
    let usual = VerityParameters::default;
    for (parameters, error) in [
        (
            VerityParameters {
                function: Algorithm::Md5,
                ..usual()
            },
            VerityError::Function(Algorithm::Md5),
        ),
        (
            VerityParameters {
                data_block_len: 256,
                ..usual()
            },
            VerityError::BlockLen(256),
        ),
        (
            VerityParameters {
                hash_block_len: 1 << 20,
                ..usual()
            },
            VerityError::BlockLen(1 << 20),
        ),
        (
            VerityParameters {
                salt: vec![0; 257],
                ..usual()
            },
            VerityError::SaltLen(257),
        ),
        (
            VerityParameters {
                data_blocks: Some(0),
                ..usual()
            },
            VerityError::DataBlocks(0),
        ),
        (
            VerityParameters {
                data_blocks: Some(1 << 51),
                ..usual()
            },
            VerityError::DataBlocks(1 << 51),
        ),
        (
            VerityParameters {
                hash_offset: 100,
                ..usual()
            },
            VerityError::HashOffset(100),
        ),
    ] {
        assert_eq!(DmVerity::new(parameters).unwrap_err(), error);
    }
    let verity = DmVerity::new(usual()).unwrap();
    assert_eq!((verity.min_len(), verity.normalized("00")), (4096, None));
}
