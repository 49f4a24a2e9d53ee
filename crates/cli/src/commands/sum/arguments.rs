//! The arguments of `hashlane sum`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use hashlane_sums::{Algorithm, LineStyle, ListFormat, ListWriter, UnknownAlgorithm};
use hashlane_trees::{Globs, S3Checksum, TreeName, TreeParameters, VerityFormat};

use crate::options::{ConfigFile, Force, Hashing, Output};
use crate::values;

const EXIT_STATUS: &str = "\
Exit status:
  0  all files were read; with --check, all of them are right
  1  the check is complete, and some file is changed, missing, extra or moved
  2  some file or list could not be read, a line of a list cannot be parsed,
     no file was checked, results cannot be written, or wrong usage

`hashlane sha1sum`, and a link named `sha1sum` to this program, have the options
and the output of GNU coreutils. The same is true of sha224sum, sha256sum,
sha384sum, sha512sum, md5sum, b2sum and b3sum.";

/// Print digests of files, or check files against lists of digests
///
/// Many files are hashed at once. Lines come in the order of the arguments; files of a folder come in the order of
/// their names. With one algorithm, lines have the format of `sha256sum`; with several, or with `--tag`, the BSD
/// format.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Sum {
    /// Files to hash, or lists to check; `-` for standard input, which is the default
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<OsString>,

    /// Algorithms, separated by commas: crc32, md5, sha1, sha224, sha256, sha384, sha512, blake2b, blake2b-256, blake3
    /// [default: sha256]; with --check, the algorithms for lines that name none. Or one tree hash: apk-idsig, btroot, cid,
    /// cid-v0, cid-v1-2025, dmverity, fsverity, fsverity-sha512, git, git-sha256, glacier, s3-crc64nvme, s3-etag, s3-sha1,
    /// s3-sha256
    #[arg(short, long, value_name = "NAME", value_delimiter = ',', value_parser = algorithm)]
    pub(super) algorithm: Vec<Named>,

    #[command(flatten)]
    pub(super) tree: TreeOptions,

    /// Print digests of all chunks of this length in bytes instead, for example 1MiB: lines with digest, position, length and
    /// name. With one hash function: md5, sha1, sha224, sha256, sha384 or sha512
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = values::size,
        conflicts_with_all = ["check", "tag", "format"],
        help_heading = "Output"
    )]
    pub(super) chunk: Option<u64>,

    /// Hash all files in folders
    #[arg(short, long, conflicts_with = "check", help_heading = "Files")]
    pub(super) recursive: bool,

    /// Treatment of symbolic links in folders
    #[arg(
        long,
        value_name = "HOW",
        default_value = "skip",
        help_heading = "Files"
    )]
    pub(super) links: Links,

    /// Folder where relative names of files, and names in lists, start
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub(super) base: Option<PathBuf>,

    /// Print lines in the BSD format: `SHA256 (FILE) = DIGEST`
    #[arg(long, conflicts_with = "check", help_heading = "Output")]
    pub(super) tag: bool,

    /// Format of the list, for the program that will check it
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["check", "tag", "json"],
        help_heading = "Output"
    )]
    pub(super) format: Option<FormatName>,

    /// Check files against lists: of GNU coreutils, BSD, OpenSSL, hashdeep, mtree, FastSum or SFV. Signatures are not checked
    #[arg(short, long, help_heading = "Check")]
    pub(super) check: bool,

    #[command(flatten)]
    pub(super) known: KnownOptions,

    /// Leave out matching files and folders in folders and in lists, for example `*.tmp` anywhere or `/build` at the top;
    /// repeatable. Letter case makes no difference
    #[arg(
        short = 'x',
        long = "exclude",
        value_name = "GLOB",
        help_heading = "Files"
    )]
    pub(super) excludes: Vec<String>,

    /// File to write the digests to. It is written as a whole at the end, and its own digest is left out. If a file cannot
    /// be read, the digests of the others are written to FILE.partial instead
    #[arg(
        short,
        long,
        value_name = "FILE",
        conflicts_with = "check",
        help_heading = "Output"
    )]
    pub(super) output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) force: Force,

    /// Folder to compare with the lists: names start here, and extra and moved files are reported. A folder at the start
    /// of the names is removed if more files exist without it. No name leaves the folder
    #[arg(
        long,
        value_name = "DIR",
        requires = "check",
        conflicts_with = "base",
        help_heading = "Check"
    )]
    pub(super) against: Option<PathBuf>,

    #[command(flatten)]
    pub(super) hashing: Hashing,

    #[command(flatten)]
    pub(super) printing: Output,

    #[command(flatten)]
    _config: ConfigFile,
}

/// What other programs know of their files, in place of lists.
#[derive(Debug, Args)]
#[command(next_help_heading = "Check")]
#[group(multiple = false)]
pub(super) struct KnownOptions {
    /// Check the stores in these folders, whose file names are digests: caches and downloads of Hugging Face, models of Ollama,
    /// layouts of OCI images, objects of Git LFS, repositories of restic
    #[arg(long, requires = "check", conflicts_with_all = ["against", "base", "algorithm"])]
    pub(super) store: bool,

    /// Check the download in this folder against a saved listing of Hugging Face
    #[arg(
        long,
        value_name = "LISTING",
        requires = "check",
        conflicts_with_all = ["against", "base", "algorithm"]
    )]
    pub(super) hf: Option<PathBuf>,

    /// Check the files of all installed Debian packages, or of the named ones, with configuration files, as `debsums -a` does.
    /// --base names another root folder
    #[arg(long, requires = "check", conflicts_with_all = ["against", "algorithm"])]
    pub(super) debsums: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Links {
    /// Leave links out
    Skip,
    /// Hash the targets of links, in other folders too
    FollowOutside,
}

/// The format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatName {
    /// Lines of `sha256sum`
    Gnu,
    /// Lines of BSD, as with --tag
    Bsd,
    /// hashdeep: md5, sha1 and sha256; without --algorithm, md5 and sha256
    Hashdeep,
    /// mtree of BSD: md5, sha1, sha256, sha384 and sha512. Names must be relative
    Mtree,
    /// SFV: crc32
    Sfv,
}

/// What `--algorithm` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Digest(Algorithm),
    Tree(TreeName),
}

fn algorithm(name: &str) -> Result<Named, UnknownAlgorithm> {
    match TreeName::of(name) {
        Some(tree) => Ok(Named::Tree(tree)),
        None => name.parse().map(Named::Digest),
    }
}

/// The parameters of tree hashes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tree hashes")]
pub(super) struct TreeOptions {
    /// Length of a block of fsverity or dmverity in bytes: a power of two, for example 64KiB [default: 4096]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(super) block_size: Option<u64>,

    /// Length of a block of the hash device of dmverity in bytes [default: that of --block-size]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(super) hash_block_size: Option<u64>,

    /// Number of blocks of dmverity at the start of the file. Bytes after them are not hashed [default: all; the length of the
    /// file must then be a multiple of that of a block]
    #[arg(long, value_name = "NUMBER")]
    pub(super) data_blocks: Option<u64>,

    /// Position of the superblock in the hash device in bytes: a multiple of 512. With --check, the hash device can be the file
    /// itself [default: 0]
    #[arg(long, value_name = "SIZE", value_parser = values::size, requires = "hash_device")]
    pub(super) hash_offset: Option<u64>,

    /// Salt in hexadecimal digits: at most 32 bytes for fsverity, and 256 for dmverity [default: none]
    #[arg(long, value_name = "HEX", value_parser = values::hex_bytes)]
    pub(super) salt: Option<values::Bytes>,

    /// File to write the tree of fsverity or apk-idsig to, for one file to hash
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub(super) out_merkle_tree: Option<PathBuf>,

    /// File to write the descriptor of fsverity to, for one file to hash
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub(super) out_descriptor: Option<PathBuf>,

    /// Length of the parts of s3-etag, s3-sha1 and s3-sha256 in bytes, from 5MiB to 5GiB [default: 8MiB; with --check, it
    /// follows from the number of parts if possible]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(super) part_size: Option<u64>,

    /// File with the superblock and the tree of dmverity, for one file: it is written, or with --check compared with the
    /// file, whose damaged blocks are named
    #[arg(long, value_name = "FILE")]
    pub(super) hash_device: Option<PathBuf>,

    /// Signature file (.apk.idsig) of the package to check by apk-idsig: its root hash and its tree are compared, whose
    /// damaged blocks are named, but its signatures are not checked
    #[arg(long, value_name = "FILE", requires = "check")]
    pub(super) idsig: Option<PathBuf>,

    /// Root hash that the hash device must have, in hexadecimal digits
    #[arg(
        long,
        value_name = "HEX",
        value_parser = values::hex_bytes,
        requires_all = ["check", "hash_device"]
    )]
    pub(super) root_hash: Option<values::Bytes>,

    /// Hash function of dmverity [default: sha256]
    #[arg(long, value_name = "NAME")]
    pub(super) hash: Option<VerityHash>,

    /// Format of dmverity: 1, or 0 for that of Chrome OS [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub(super) verity_format: Option<VerityNumber>,

    /// UUID in the superblock of dmverity [default: made of the root hash]
    #[arg(long, value_name = "UUID", value_parser = values::uuid, requires = "hash_device")]
    pub(super) uuid: Option<[u8; 16]>,
}

/// A hash function of dm-verity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum VerityHash {
    Sha1,
    Sha256,
    Sha512,
}

impl From<VerityHash> for Algorithm {
    fn from(hash: VerityHash) -> Self {
        match hash {
            VerityHash::Sha1 => Self::Sha1,
            VerityHash::Sha256 => Self::Sha256,
            VerityHash::Sha512 => Self::Sha512,
        }
    }
}

/// The number of a format of dm-verity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum VerityNumber {
    #[value(name = "0")]
    ChromeOs,
    #[value(name = "1")]
    Normal,
}

impl From<VerityNumber> for VerityFormat {
    fn from(number: VerityNumber) -> Self {
        match number {
            VerityNumber::ChromeOs => Self::ChromeOs,
            VerityNumber::Normal => Self::Normal,
        }
    }
}

impl TreeOptions {
    /// Returns the parameters that were given.
    pub(super) fn parameters(&self) -> TreeParameters {
        TreeParameters {
            block_len: self.block_size,
            hash_block_len: self.hash_block_size,
            data_blocks: self.data_blocks,
            hash_offset: self.hash_offset,
            salt: self.salt.clone().map(Into::into),
            part_len: self.part_size,
            function: self.hash.map(Into::into),
            verity_format: self.verity_format.map(Into::into),
            uuid: self.uuid,
            // The filter leaves files out, in lists too.
            excludes: Globs::default(),
        }
    }

    /// Returns the options that were given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("--block-size", self.block_size.is_some()),
            ("--hash-block-size", self.hash_block_size.is_some()),
            ("--data-blocks", self.data_blocks.is_some()),
            ("--hash-offset", self.hash_offset.is_some()),
            ("--salt", self.salt.is_some()),
            ("--out-merkle-tree", self.out_merkle_tree.is_some()),
            ("--out-descriptor", self.out_descriptor.is_some()),
            ("--part-size", self.part_size.is_some()),
            ("--hash-device", self.hash_device.is_some()),
            ("--idsig", self.idsig.is_some()),
            ("--root-hash", self.root_hash.is_some()),
            ("--hash", self.hash.is_some()),
            ("--verity-format", self.verity_format.is_some()),
            ("--uuid", self.uuid.is_some()),
        ];
        let given = all.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(option, _)| option)
    }
}

/// Returns the parameters of a tree hash.
fn options_of(tree: TreeName) -> &'static [&'static str] {
    match tree {
        TreeName::ApkIdsig => &["--out-merkle-tree", "--idsig"],
        TreeName::DmVerity => &[
            "--block-size",
            "--hash-block-size",
            "--data-blocks",
            "--hash-offset",
            "--salt",
            "--hash-device",
            "--root-hash",
            "--hash",
            "--verity-format",
            "--uuid",
        ],
        TreeName::Fsverity(_) => &[
            "--block-size",
            "--salt",
            "--out-merkle-tree",
            "--out-descriptor",
        ],
        TreeName::S3(S3Checksum::Etag | S3Checksum::Sha1 | S3Checksum::Sha256) => &["--part-size"],
        TreeName::BtRoot
        | TreeName::Cid(_)
        | TreeName::Git(_)
        | TreeName::Glacier
        | TreeName::S3(S3Checksum::Crc64Nvme) => &[],
    }
}

impl Sum {
    /// Returns the tree hash to compute, or `None` for digests.
    pub(super) fn tree_name(&self) -> anyhow::Result<Option<TreeName>> {
        let mut trees = self
            .algorithm
            .iter()
            .filter_map(|algorithm| match algorithm {
                Named::Tree(tree) => Some(*tree),
                Named::Digest(_) => None,
            });
        let Some(tree) = trees.next() else {
            if let Some(option) = self.tree.given().next() {
                anyhow::bail!("{option}: only tree hashes have it: choose one with -a");
            }
            return Ok(None);
        };
        anyhow::ensure!(
            self.format.is_none(),
            "--format: a tree hash has none: leave it out"
        );
        anyhow::ensure!(
            self.algorithm.len() == 1,
            "-a {}: a tree hash is computed alone: leave out the other algorithms",
            tree.name()
        );
        anyhow::ensure!(
            self.chunk.is_none(),
            "--chunk: -a {} has no chunks: name a hash function, such as sha256",
            tree.name()
        );
        let options = options_of(tree);
        if let Some(option) = self.tree.given().find(|option| !options.contains(option)) {
            anyhow::bail!("{option}: -a {} has no such parameter", tree.name());
        }
        Ok(Some(tree))
    }

    /// Returns the digests to compute if a list is written, and the writer of the list.
    pub(super) fn list_writer(&self) -> anyhow::Result<(Arc<[Algorithm]>, ListWriter)> {
        let mut algorithms = self.digest_algorithms();
        if algorithms.is_empty() {
            algorithms = match self.format {
                Some(FormatName::Sfv) => vec![Algorithm::Crc32],
                Some(FormatName::Hashdeep) => {
                    vec![Algorithm::Md5, Algorithm::Sha256]
                }
                _ => vec![Algorithm::Sha256],
            };
        }
        let style = |is_tagged| LineStyle {
            is_tagged,
            ..LineStyle::default()
        };
        let format = match self.format {
            None => ListFormat::Gnu(style(self.tag || algorithms.len() > 1)),
            Some(FormatName::Gnu) => ListFormat::Gnu(style(false)),
            Some(FormatName::Bsd) => ListFormat::Gnu(style(true)),
            Some(FormatName::Hashdeep) => ListFormat::Hashdeep,
            Some(FormatName::Mtree) => ListFormat::Mtree,
            Some(FormatName::Sfv) => ListFormat::Sfv,
        };
        let algorithms: Arc<[Algorithm]> = algorithms.into();
        match ListWriter::new(format, Arc::clone(&algorithms)) {
            Ok(writer) => Ok((algorithms, writer)),
            Err(reason) => anyhow::bail!("--format: {reason}: choose others by --algorithm"),
        }
    }

    /// Returns the digests to compute.
    pub(super) fn digest_algorithms(&self) -> Vec<Algorithm> {
        let digests = self
            .algorithm
            .iter()
            .filter_map(|algorithm| match algorithm {
                Named::Digest(digest) => Some(*digest),
                Named::Tree(_) => None,
            });
        digests.collect()
    }

    /// Returns the operands: standard input if there are none.
    pub(super) fn operands(&self) -> Vec<OsString> {
        if self.files.is_empty() {
            return vec!["-".into()];
        }
        self.files.clone()
    }

    pub(super) fn follows_links(&self) -> bool {
        self.links == Links::FollowOutside
    }
}
