//! The arguments of `hashlane sum`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use hashlane_sums::{
    DigestAlgorithm, HashFunction, LineStyle, ListFormat, ListWriter, UnknownAlgorithm,
};
use hashlane_trees::{Cid, Git};

use crate::options::{ConfigFile, Force, Hashing, Output};
use crate::values;

const EXIT_STATUS: &str = "\
Exit status:
  0  all files were read; with --check, all of them are right
  1  the check is complete, and some file is changed, missing, extra or moved
  2  some file or list could not be read, a line of a list cannot be parsed,
     results cannot be written, or wrong usage

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
    /// [default: sha256]; with --check, the algorithms for lines that name none. Or one tree hash: cid, cid-v0, cid-v1-2025,
    /// fsverity, fsverity-sha512, git, git-sha256, glacier
    #[arg(short, long, value_name = "NAME", value_delimiter = ',', value_parser = algorithm)]
    pub(super) algorithm: Vec<Algorithm>,

    #[command(flatten)]
    pub(super) tree: TreeOptions,

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

    /// Check files against lists: of GNU coreutils, BSD, hashdeep, mtree or SFV
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
    // `follow` is the earlier name.
    #[value(alias = "follow")]
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
pub(super) enum Algorithm {
    Digest(DigestAlgorithm),
    Tree(TreeName),
}

fn algorithm(name: &str) -> Result<Algorithm, UnknownAlgorithm> {
    match TreeName::of(name) {
        Some(tree) => Ok(Algorithm::Tree(tree)),
        None => name.parse().map(Algorithm::Digest),
    }
}

/// A tree hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeName {
    Fsverity(HashFunction),
    Cid(Cid),
    Git(Git),
    Glacier,
}

impl TreeName {
    /// The names, with what they mean.
    const ALL: [(&str, Self); 8] = [
        ("cid", Self::Cid(Cid::V1)),
        ("cid-v0", Self::Cid(Cid::V0)),
        ("cid-v1-2025", Self::Cid(Cid::V1Of2025)),
        ("fsverity", Self::Fsverity(HashFunction::Sha256)),
        ("fsverity-sha512", Self::Fsverity(HashFunction::Sha512)),
        ("git", Self::Git(Git::Sha1)),
        ("git-sha256", Self::Git(Git::Sha256)),
        ("glacier", Self::Glacier),
    ];

    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(|(name, _)| name)
    }

    fn of(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, tree)| tree)
    }

    pub(super) fn name(self) -> &'static str {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, known)| *known == self)
            .map_or("", |(name, _)| name)
    }
}

/// The parameters of tree hashes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tree hashes")]
pub(super) struct TreeOptions {
    /// Length of a block of fsverity in bytes: a power of two from 1024 to 65536 [default: 4096]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(super) block_size: Option<u64>,

    /// Salt of fsverity in hexadecimal digits, at most 32 bytes
    #[arg(long, value_name = "HEX", value_parser = values::hex_bytes)]
    pub(super) salt: Option<values::Bytes>,

    /// File to write the tree of fsverity to, for one file to hash
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub(super) out_merkle_tree: Option<PathBuf>,

    /// File to write the descriptor of fsverity to, for one file to hash
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub(super) out_descriptor: Option<PathBuf>,
}

impl TreeOptions {
    /// Returns the name of the first option that was given.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--block-size", self.block_size.is_some()),
            ("--salt", self.salt.is_some()),
            ("--out-merkle-tree", self.out_merkle_tree.is_some()),
            ("--out-descriptor", self.out_descriptor.is_some()),
        ];
        given
            .into_iter()
            .find(|(_, is_given)| *is_given)
            .map(|(name, _)| name)
    }
}

impl Sum {
    /// Returns the tree hash to compute, or `None` for digests.
    pub(super) fn tree_name(&self) -> anyhow::Result<Option<TreeName>> {
        let mut trees = self
            .algorithm
            .iter()
            .filter_map(|algorithm| match algorithm {
                Algorithm::Tree(tree) => Some(*tree),
                Algorithm::Digest(_) => None,
            });
        let Some(tree) = trees.next() else {
            if let Some(option) = self.tree.first_given() {
                anyhow::bail!("{option}: only tree hashes have it: use -a fsverity");
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
        if let (TreeName::Cid(_) | TreeName::Git(_) | TreeName::Glacier, Some(option)) =
            (tree, self.tree.first_given())
        {
            anyhow::bail!("{option}: -a {} has no such parameter", tree.name());
        }
        Ok(Some(tree))
    }

    /// Returns the digests to compute if a list is written, and the writer of the list.
    pub(super) fn list_writer(&self) -> anyhow::Result<(Arc<[DigestAlgorithm]>, ListWriter)> {
        let mut algorithms = self.digest_algorithms();
        if algorithms.is_empty() {
            algorithms = match self.format {
                Some(FormatName::Sfv) => vec![DigestAlgorithm::Crc32],
                Some(FormatName::Hashdeep) => {
                    vec![HashFunction::Md5.into(), HashFunction::Sha256.into()]
                }
                _ => vec![HashFunction::Sha256.into()],
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
        let algorithms: Arc<[DigestAlgorithm]> = algorithms.into();
        match ListWriter::new(format, Arc::clone(&algorithms)) {
            Ok(writer) => Ok((algorithms, writer)),
            Err(reason) => anyhow::bail!("--format: {reason}: choose others by --algorithm"),
        }
    }

    /// Returns the digests to compute.
    pub(super) fn digest_algorithms(&self) -> Vec<DigestAlgorithm> {
        let digests = self
            .algorithm
            .iter()
            .filter_map(|algorithm| match algorithm {
                Algorithm::Digest(digest) => Some(*digest),
                Algorithm::Tree(_) => None,
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
