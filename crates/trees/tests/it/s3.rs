//! Checksums of objects, compared with those of moto's server after uploads by boto3.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hashlane_trees::{Format, IoMode, Options, PartLenError, S3, S3Checksum};

use crate::judge::{hashes, write_files};
use crate::not_run::has_python_module;
use crate::random::Random;

const MIB: u64 = 1 << 20;

const CHECKSUMS: [S3Checksum; 4] = [
    S3Checksum::Etag,
    S3Checksum::Sha1,
    S3Checksum::Sha256,
    S3Checksum::Crc64Nvme,
];

/// Uploads files in parts of the length in MiB, and prints a line for each: the `ETag`, and the checksums.
const SCRIPT: &str = "
import sys
import awscrt.checksums
import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from moto.server import ThreadedMotoServer

MIB = 1 << 20
server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
s3 = boto3.client('s3', endpoint_url=f'http://{host}:{port}', region_name='us-east-1',
                  aws_access_key_id='test', aws_secret_access_key='test',
                  config=Config(proxies={}))
s3.create_bucket(Bucket='bucket')
part, *paths = sys.argv[1:]
part = int(part) * MIB
config = TransferConfig(multipart_threshold=part, multipart_chunksize=part, use_threads=False)
for path in paths:
    row = []
    for algorithm in (None, 'SHA1', 'SHA256', 'CRC64NVME'):
        extra = {'ChecksumAlgorithm': algorithm} if algorithm else {}
        s3.upload_file(path, 'bucket', 'key', ExtraArgs=extra, Config=config)
        found = s3.get_object(Bucket='bucket', Key='key', ChecksumMode='ENABLED')
        row.append(found['Checksum' + algorithm] if algorithm else found['ETag'])
    print(*row)
server.stop()
";

/// Returns what the server computes: the `ETag`, SHA-1, SHA-256 and CRC-64/NVME of each file.
fn moto(part_mib: u64, paths: &[PathBuf]) -> Vec<Vec<String>> {
    let output = Command::new("python3")
        .args(["-c", SCRIPT, &part_mib.to_string()])
        .args(paths)
        .env("NO_PROXY", "127.0.0.1")
        .env("AWS_CONFIG_FILE", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let rows = lines
        .lines()
        .map(|line| line.split(' ').map(str::to_owned).collect());
    rows.collect()
}

/// Returns the results of files, read and mapped.
fn found(format: &S3, paths: &[PathBuf]) -> Vec<String> {
    let read = hashes(format, paths, &Options::default().io(IoMode::Pread));
    if cfg!(target_os = "linux") {
        let mapped = Options::default().io(IoMode::Mmap).allow_signal_handler();
        assert_eq!(hashes(format, paths, &mapped), read);
    }
    read
}

#[test]
fn objects_have_the_checksums_of_the_server() {
    let modules = [
        ("awscrt", "awscrt"),
        ("boto3", "boto3"),
        ("moto.server", "moto[server]"),
    ];
    let has_module = |(module, package)| has_python_module("MOTO", module, package);
    if !modules.into_iter().all(has_module) {
        return;
    }
    let mut numbers = Random::new(15);
    let mut n_cases = 0;
    for part_mib in [5, 8] {
        let folder = tempfile::tempdir().unwrap();
        let part = part_mib * MIB;
        let mut lens = vec![0, 1, part - 1, part, part + 1, 2 * part, 3 * part - 1];
        lens.extend((0..6).map(|_| {
            let limit = (part as usize) << numbers.below(2);
            numbers.below(limit) as u64
        }));
        let lens: Vec<usize> = lens.into_iter().map(|len| len as usize).collect();
        let paths = write_files(folder.path(), &lens, &mut numbers);
        let expected = moto(part_mib, &paths);
        assert_eq!(expected.len(), lens.len());
        for (i, checksum) in CHECKSUMS.iter().enumerate() {
            let part_len = Some(part).filter(|_| *checksum != S3Checksum::Crc64Nvme);
            let format = S3::new(*checksum, part_len).unwrap();
            let found = found(&format, &paths);
            for ((found, expected), path) in found.iter().zip(&expected).zip(&paths) {
                let expected = format.normalized(&expected[i]).unwrap();
                assert_eq!(*found, expected, "{checksum:?}, {} bytes", len_of(path));
                n_cases += 1;
                // The length of a part follows from the number of parts, or is among those that are possible.
                let any = S3::new(*checksum, None).unwrap();
                match any.for_checksum(&expected, len_of(path)) {
                    Ok(format) if format.other_lens().is_none() => {
                        let again =
                            hashes(&format, std::slice::from_ref(path), &Options::default());
                        assert_eq!(again, [expected]);
                    }
                    Ok(_) => {}
                    Err(unknown) => {
                        assert!(unknown.to_string().contains("MiB make"), "{unknown}");
                    }
                }
            }
        }
    }
    assert_eq!(n_cases, 104);
}

fn len_of(path: &Path) -> u64 {
    path.metadata().unwrap().len()
}

/// The check value of the catalogue of CRCs, and that of no bytes.
#[test]
fn crc_of_whole_objects() {
    let folder = tempfile::tempdir().unwrap();
    let (check, empty) = (folder.path().join("check"), folder.path().join("empty"));
    fs::write(&check, "123456789").unwrap();
    fs::write(&empty, "").unwrap();
    let format = S3::new(S3Checksum::Crc64Nvme, None).unwrap();
    let value = data_encoding::BASE64.encode(&0xae8b_1486_0a79_9888_u64.to_be_bytes());
    let expected = [value.clone(), "AAAAAAAAAAA=".to_owned()];
    assert_eq!(found(&format, &[check, empty]), expected);
    assert_eq!(format.normalized(&value), Some(value.clone()));
    assert_eq!(format.normalized(&format!("{value}-2")), None);
}

/// The leaves of a large file, also of one that ends inside a leaf.
#[test]
fn crc_of_large_objects() {
    let folder = tempfile::tempdir().unwrap();
    let lens = [MIB - 1, MIB, MIB + 1, 5 * MIB + 77].map(|len| len as usize);
    let paths = write_files(folder.path(), &lens, &mut Random::new(64));
    let crc64 = crc::Crc::<u64>::new(&crc::CRC_64_NVME);
    let expected = paths.iter().map(|path| {
        let crc = crc64.checksum(&fs::read(path).unwrap());
        data_encoding::BASE64.encode(&crc.to_be_bytes())
    });
    let format = S3::new(S3Checksum::Crc64Nvme, None).unwrap();
    assert_eq!(found(&format, &paths), expected.collect::<Vec<_>>());
}

/// A hole is a whole object, or a part.
#[test]
fn holes_have_the_checksums_of_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let (sparse, full) = (folder.path().join("sparse"), folder.path().join("full"));
    let len = 11 * MIB + 5;
    fs::File::create(&sparse).unwrap().set_len(len).unwrap();
    fs::write(&full, vec![0; len as usize]).unwrap();
    for checksum in CHECKSUMS {
        let format = S3::new(checksum, Some(5 * MIB)).unwrap();
        let found = found(&format, &[sparse.clone(), full.clone()]);
        assert_eq!(found[0], found[1], "{checksum:?}");
    }
}

#[test]
fn the_length_of_a_part_follows_from_the_checksum() {
    let etag = |n: u64| format!("{}-{n}", "0".repeat(32));
    let any = S3::new(S3Checksum::Etag, None).unwrap();
    let part_len = |n: u64, len_mib: u64| {
        let format = any.for_checksum(&etag(n), len_mib * MIB);
        format.map(|format| format.leaf_len() / MIB)
    };
    // 100 MiB in 10 parts of 10 or 11 MiB; in 20 parts of 5 MiB.
    assert_eq!(part_len(20, 100), Ok(5));
    let unknown = part_len(10, 100).unwrap_err();
    assert_eq!(unknown.to_string(), "parts of 10 to 11 MiB make 10 parts");
    // The usual length is tried if it is possible.
    let usual = any.for_checksum(&etag(3), 20 * MIB).unwrap();
    assert_eq!(usual.leaf_len(), 8 * MIB);
    assert!(usual.other_lens().is_some());
    // One part, whatever its length.
    assert_eq!(part_len(1, 70), Ok(70));
    // No parts of 5 MiB or more: the file is another one.
    let short = any.for_checksum(&etag(3), 7 * MIB).unwrap();
    assert_eq!(short.other_lens(), None);
    // A number of parts that only another length than whole MiB makes.
    let odd = any.for_checksum(&etag(1000), 5005 * MIB).unwrap_err();
    assert_eq!(odd.to_string(), "no whole number of MiB makes 1000 parts");
    // A chosen length is not replaced.
    let chosen = S3::new(S3Checksum::Etag, Some(6 * MIB)).unwrap();
    let chosen = chosen.for_checksum(&etag(20), 100 * MIB).unwrap();
    assert_eq!(chosen.leaf_len(), 6 * MIB);
}

#[test]
fn texts_that_are_no_checksums_are_refused() {
    let etag = S3::new(S3Checksum::Etag, None).unwrap();
    let digits = "D41D8CD98F00B204E9800998ECF8427E";
    for (text, is_checksum) in [
        (digits.to_owned(), true),
        (format!("\"{digits}-12\""), true),
        (format!("{digits}-0"), false),
        (format!("{digits}-10001"), false),
        (format!("{digits}-+2"), false),
        (format!("{digits}-"), false),
        (digits[1..].to_owned(), false),
    ] {
        assert_eq!(etag.normalized(&text).is_some(), is_checksum, "{text}");
    }
    for len in [0, 5 * MIB - 1, (5 << 30) + 1] {
        let refused = S3::new(S3Checksum::Etag, Some(len));
        assert_eq!(refused.unwrap_err(), PartLenError(len));
    }
}
