//! The arguments of `hashlane find`.

use std::path::PathBuf;

#[cfg(unix)]
use clap::ArgGroup;
use clap::Args;

use crate::options::{Force, Hashing, Output};
use crate::values;

const EXIT_STATUS: &str = "\
Exit status:
  0  every file of every torrent was found, or all but the share of --missing;
     with --full, and is right
  1  the search is complete, and a file was not found, or is damaged
  2  the search is not complete: wrong usage, an invalid torrent, a folder
     that cannot be read, a link or map that cannot be made, or Ctrl-C

With --duplicates, 0 means that the search is complete, and that all links of
--link were made.";

/// Find the content of torrents among files with other names, or files with equal bytes
///
/// Files below the folders of --in are compared by their lengths, and then by as few bytes as decide: one piece for each
/// file, and for small files the pieces that they share with others. Names do not matter, but among copies the one with the
/// torrent's names is used. These files are not changed.
///
/// A right piece identifies a file, and does not prove that the rest of it is right: --full verifies all bytes of what was
/// found. If a file is damaged, its other copies are tried. A file that no complete piece covers is not guessed.
///
/// With --duplicates, no torrents are read: files with equal bytes are listed in groups, and are replaced by links only with
/// --link.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
#[command(after_help = EXIT_STATUS)]
#[cfg_attr(unix, command(group(ArgGroup::new("place").args(["to", "duplicates"]).multiple(true))))]
pub(crate) struct Find {
    /// .torrent files, or folders that contain some; `-` for standard input
    #[arg(value_name = "TORRENT", required_unless_present = "duplicates")]
    pub(super) torrents: Vec<PathBuf>,

    /// Folder to search, with all folders below it; repeatable
    #[arg(
        long = "in",
        value_name = "DIR",
        required_unless_present = "duplicates",
        help_heading = "Content"
    )]
    pub(super) folders: Vec<PathBuf>,

    /// Folders in which to find files with equal bytes, with all folders below them. They are compared by length, by their
    /// first and last 64 KiB, and by SHA-256 of all bytes. Names of one file (hard links) are no duplicates of each other
    #[arg(
        long,
        value_name = "DIR",
        num_args = 1..,
        conflicts_with_all = ["torrents", "folders", "full", "missing", "merge", "save", "verbose"],
        help_heading = "Duplicates"
    )]
    pub(super) duplicates: Vec<PathBuf>,

    /// List empty files as well
    #[arg(long, requires = "duplicates", help_heading = "Duplicates")]
    pub(super) empty: bool,

    /// Verify all bytes of what was found
    #[arg(long, help_heading = "Content")]
    pub(super) full: bool,

    /// Keep the version 2 root of every file below --in in this file. A later search, also for other torrents, reads only files
    /// that are new or have changed. The first search reads all files
    #[cfg(unix)]
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "duplicates",
        help_heading = "Content"
    )]
    pub(super) table: Option<PathBuf>,

    /// Accept torrents that lack at most this share of their bytes, for example 5%. What they need is reported
    #[arg(long, value_name = "SHARE", value_parser = values::percent, help_heading = "Content")]
    pub(super) missing: Option<f64>,

    /// Write new files below --to, made of the right pieces of several damaged copies. Verifies all bytes, as --full does
    #[arg(long, requires = "to", help_heading = "Links")]
    pub(super) merge: bool,

    /// Make the names that the torrents want below --to, as links of this kind to the files that were found. With
    /// --duplicates, replace each duplicate by a link to the first file of its group, after all bytes were compared again
    #[cfg(unix)]
    #[arg(long, value_name = "KIND", requires = "place", help_heading = "Links")]
    pub(super) link: Option<Kind>,

    /// Folder for --link and --merge. No file in it is changed or replaced
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "duplicates",
        help_heading = "Links"
    )]
    pub(super) to: Option<PathBuf>,

    #[command(flatten)]
    pub(super) hashing: Hashing,

    #[command(flatten)]
    pub(super) output: Output,

    /// List every file
    #[arg(short, long, conflicts_with_all = ["json", "quiet"], help_heading = "Output")]
    pub(super) verbose: bool,

    /// Write a content map, which says where each file was found. `verify`, `seed` and `get` take it as --content-map
    #[arg(long, value_name = "MAP", help_heading = "Output")]
    pub(super) save: Option<PathBuf>,

    #[command(flatten)]
    pub(super) force: Force,
}

#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kind {
    /// Symbolic links
    Symlink,
    /// Second names of the files, on the same file system
    Hardlink,
    /// Files of their own that share their bytes on the disk (Btrfs, XFS)
    Reflink,
}
