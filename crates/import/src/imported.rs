//! A torrent with what its program knew about it.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;

use hashlane_api::{Goal, Priority, Rates};
use hashlane_metainfo::bencode::Kind;
use hashlane_metainfo::{InfoHashes, Magnet, Torrent};

use crate::RelativePath;

/// A torrent of a session.
///
/// Files are numbered from zero in the order of the torrent, without padding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Imported {
    /// The torrent. Its trackers and web seeds are those that the program used.
    pub source: Source,
    /// The file of the session that describes the torrent. For a row of a database, the name of the database with the
    /// row's number.
    pub file: PathBuf,
    /// The name that the user gave the torrent in the program's list.
    pub name: Option<String>,
    /// The absolute path of the content on this machine: the file of a single-file torrent, otherwise the folder that its
    /// files are in. For a magnet link, the folder to download to.
    pub content: PathBuf,
    /// Whether the content has a folder of its own, or is a single file. Otherwise its files lie among others in
    /// [`Self::content`].
    pub has_own_folder: bool,
    /// The paths of renamed files below [`Self::content`]. A single-file torrent has none: `content` is its file.
    pub renamed: BTreeMap<usize, RelativePath>,
    /// The priority of each file, or nothing if all are normal.
    pub priorities: Vec<Priority>,
    /// The category, which in the program has a folder of its own.
    pub category: Option<String>,
    /// Labels or tags, in the order of the program.
    pub labels: Vec<String>,
    /// Whether the torrent runs.
    pub start: Start,
    /// Whether pieces are requested in order.
    pub is_sequential: bool,
    /// Whether a piece of complete content is offered only after the previous piece has spread (BEP 16).
    pub is_super_seeding: bool,
    /// Rate limits.
    pub rates: Rates,
    /// When the torrent has been served for long enough.
    pub goal: Goal,
    /// What happened so far.
    pub statistics: Statistics,
    /// What could not be carried over.
    pub notes: Vec<Note>,
}

impl Imported {
    /// Returns a torrent without settings.
    pub(crate) fn new(source: Source, file: PathBuf, content: PathBuf) -> Self {
        Self {
            source,
            file,
            name: None,
            content,
            has_own_folder: true,
            renamed: BTreeMap::new(),
            priorities: Vec::new(),
            category: None,
            labels: Vec::new(),
            start: Start::Queued,
            is_sequential: false,
            is_super_seeding: false,
            rates: Rates::default(),
            goal: Goal::default(),
            statistics: Statistics::default(),
            notes: Vec::new(),
        }
    }

    /// Sets the priorities, and drops them if all are normal.
    pub(crate) fn set_priorities(&mut self, priorities: Vec<Priority>) {
        if priorities
            .iter()
            .any(|priority| *priority != Priority::Normal)
        {
            self.priorities = priorities;
        }
    }

    /// Returns the name in the program's list: that of the user, or else that of the torrent or link.
    pub fn display_name(&self) -> String {
        let of_source = || match &self.source {
            Source::Torrent(torrent) => String::from_utf8_lossy(torrent.name().as_bytes()).into(),
            Source::Magnet(magnet) => magnet.name.clone().unwrap_or_default(),
        };
        self.name.clone().unwrap_or_else(of_source)
    }
}

/// A category of a program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Category {
    /// Name of the category.
    pub name: String,
    /// Absolute path on this machine of the folder for new torrents of the category; `None` if it has none of its own.
    pub folder: Option<PathBuf>,
    /// When its torrents have been served for long enough.
    pub goal: Goal,
}

/// A torrent, or a link whose metadata the program did not receive yet.
#[derive(Clone, Debug)]
pub enum Source {
    /// The .torrent file.
    Torrent(Torrent),
    /// A magnet link.
    Magnet(Box<Magnet>),
}

impl Source {
    /// Returns the info-hashes, of version 1, of version 2, or of both.
    pub fn info_hashes(&self) -> InfoHashes {
        match self {
            Self::Torrent(torrent) => torrent.info_hashes(),
            Self::Magnet(magnet) => magnet.info_hashes,
        }
    }
}

/// Whether a torrent runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// It runs when its turn in the queue comes.
    #[default]
    Queued,
    /// It runs without a turn in the queue.
    Forced,
    /// The user paused or stopped it.
    Paused,
}

/// Returns a rate limit in bytes per second. A larger one than a computer reaches is the largest.
pub(crate) fn rate(bytes: Option<u64>) -> Option<NonZeroU32> {
    NonZeroU32::new(u32::try_from(bytes?).unwrap_or(u32::MAX))
}

/// What happened to a torrent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Bytes of content sent.
    pub sent_bytes: u64,
    /// Bytes of content received.
    pub received_bytes: u64,
    /// When the torrent was added, in seconds since 1970-01-01 UTC.
    pub added: Option<u64>,
    /// When the torrent was complete, in seconds since 1970-01-01 UTC.
    pub completed: Option<u64>,
    /// The time spent seeding, in seconds. `None` if the program does not record it.
    pub seeding_seconds: Option<u64>,
    /// Whether the program had a piece of the content, whether it was received or not.
    pub had_content: bool,
}

/// Something that was not carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A setting without counterpart, in words.
    NotCarried(String),
    /// A key with a value of another type than expected, which was ignored.
    Ignored {
        /// Name of the key in the file of the other program.
        key: String,
        /// The expected type.
        expected: Kind,
        /// The type that was found.
        found: Kind,
    },
    /// A text that is not UTF-8. Its invalid parts were replaced.
    NotUnicode {
        /// The key of the text.
        key: String,
    },
    /// A tracker or web seed that is no URL.
    NoUrl,
    /// The content is in the folder for unfinished torrents. The program would move it when it is complete.
    Unfinished {
        /// The folder that it would move the content to.
        folder: PathBuf,
    },
    /// Unfinished files may have a suffix on the disk, and the session does not say which of them.
    Suffix {
        /// The suffix, with its dot: `.part`.
        suffix: &'static str,
    },
    /// The program keeps no folder for the torrent. The folder for new torrents was used.
    DefaultFolder,
    /// The folder of a category is not carried over.
    CategoryFolder {
        /// Name of the category.
        name: String,
        /// The reason.
        reason: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCarried(what) => write!(f, "not carried over: {what}"),
            Self::Ignored {
                key,
                expected,
                found,
            } => write!(
                f,
                "ignored: the key {key:?} is {found}, expected {expected}"
            ),
            Self::NotUnicode { key } => {
                write!(
                    f,
                    "the key {key:?} is not UTF-8: invalid parts were replaced"
                )
            }
            Self::NoUrl => f.write_str("ignored: a tracker or web seed that is no URL"),
            Self::Unfinished { folder } => write!(
                f,
                "unfinished: it stays in this folder when it is complete, not in {}",
                folder.display()
            ),
            Self::Suffix { suffix } => write!(
                f,
                "unfinished files may end in {suffix} on the disk: remove the suffix to keep their bytes"
            ),
            Self::DefaultFolder => {
                f.write_str("the session names no folder: the folder for new torrents was used")
            }
            Self::CategoryFolder { name, reason } => {
                write!(
                    f,
                    "not carried over: the folder of the category {name:?}: {reason}"
                )
            }
        }
    }
}
