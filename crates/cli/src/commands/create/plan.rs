//! A torrent before its files are hashed, with its protocol version and piece length.

use std::path::PathBuf;

use anyhow::bail;
use hashlane_metainfo::{CreateError, NewContent, PieceLengthGoal, Version, merkle};
use hashlane_verify::SourceTree;

use super::arguments::Create;
use super::choices::Sort;
use super::selection::Found;
use crate::torrent_file::MAX_LEN;
use crate::values::PieceLength;
use hashlane_api::Size;

/// Divisor of the content's length: the maximum padding of a hybrid torrent that is created by default. Programs that
/// do not support padding download the padding and store it on the disk.
const HARMLESS_PADDING: u64 = 10;

impl Create {
    /// Returns `true` if peers may come from the trackers only.
    pub(super) fn is_private(&self) -> bool {
        self.private.unwrap_or(false)
    }

    /// Decides on the version and the piece length. If no format was requested, also returns the reason why the torrent
    /// is not a hybrid.
    pub(super) fn plan(
        &self,
        tree: &SourceTree,
        name: &[u8],
    ) -> anyhow::Result<(NewContent, Option<String>)> {
        let piece_length = self.piece_length_for(tree.length());
        let content = |version| {
            let files = tree.files();
            let is_single_file = tree.is_single_file();
            NewContent::new(version, piece_length, name.to_vec(), is_single_file, files)
        };
        let version = self.format.map(Version::from);
        let is_sorted = self.sort == Sort::Path;
        if !is_sorted && version.is_some_and(Version::has_v2) {
            bail!("version 2 has one order of files: use --sort path or --format v1");
        }
        if let Some(version) = version {
            return Ok((content(version)?, None));
        }
        let only = |reason: &str| Some(format!("version 1 only: {reason}"));
        if self.is_private() {
            let reason = "sites of private trackers refuse other versions";
            return Ok((content(Version::V1)?, only(reason)));
        }
        if !is_sorted {
            return Ok((
                content(Version::V1)?,
                only("version 2 has one order of files"),
            ));
        }
        match hybrid(tree, piece_length, &content) {
            Ok(hybrid) => Ok((hybrid, None)),
            // If version 1 is not possible either, its error applies to both versions.
            Err(reason) => Ok((content(Version::V1)?, only(&reason))),
        }
    }

    /// Returns the piece length for content of this length.
    fn piece_length_for(&self, length: u64) -> PieceLength {
        let rules = self.piece_lengths.iter();
        let rule = rules
            .filter(|rule| rule.up_to.is_none_or(|up_to| length <= up_to))
            .min_by_key(|rule| rule.up_to.unwrap_or(u64::MAX));
        let default = PieceLengthGoal::default();
        let goal = default
            .pieces(self.target_pieces.unwrap_or(default.pieces))
            .max(self.max_piece_length.unwrap_or(default.max));
        self.piece_length
            .or(rule.map(|rule| rule.piece_length))
            .unwrap_or_else(|| goal.piece_length(length))
    }
}

/// Returns a hybrid if it needs little padding, otherwise the reason why it does not.
fn hybrid(
    tree: &SourceTree,
    piece_length: PieceLength,
    content: &dyn Fn(Version) -> Result<NewContent, CreateError>,
) -> Result<NewContent, String> {
    match content(Version::Hybrid) {
        Ok(hybrid) if hybrid.padding_bytes() <= tree.length() / HARMLESS_PADDING => Ok(hybrid),
        Ok(hybrid) => Err(format!(
            "a hybrid would need {} of padding for {} of content",
            Size(hybrid.padding_bytes()),
            Size(tree.length())
        )),
        Err(_) if piece_length < merkle::LEAF_LEN => Err(format!(
            "version 2 needs a piece length of {} or more",
            Size(merkle::LEAF_LEN.into())
        )),
        Err(reason) => Err(format!("a hybrid is not possible: {reason}")),
    }
}

/// Refuses content whose .torrent would be too long to read.
pub(super) fn check_size(content: &NewContent) -> anyhow::Result<()> {
    let version = content.version();
    let digests = 20 * u64::from(version.has_v1()) + 32 * u64::from(version.has_v2());
    check_len(digests * u64::from(content.lengths().piece_count()))
}

/// Refuses the length of a .torrent that Hashlane would refuse to read.
pub(super) fn check_len(len_bytes: u64) -> anyhow::Result<()> {
    if len_bytes > MAX_LEN {
        let most = Size(MAX_LEN);
        bail!(
            "the .torrent would be longer than {most}, which few programs read: use a larger --piece-length"
        );
    }
    Ok(())
}

/// A torrent before its files are hashed.
pub(super) struct Draft {
    /// The file or folder, as given.
    pub(super) path: PathBuf,
    pub(super) name: Vec<u8>,
    pub(super) target: Target,
    pub(super) found: Found,
    pub(super) content: NewContent,
    /// The reason why the torrent is not a hybrid, if no format was requested.
    pub(super) note: Option<String>,
}

/// The place of a new .torrent.
pub(super) struct Target {
    /// The path for messages.
    pub(super) given: PathBuf,
    /// The file, or `None` for standard output.
    pub(super) place: Option<PathBuf>,
}

/// Numbers of URLs that are not written because the torrent is private.
#[derive(Clone, Copy, Default)]
pub(super) struct NotWritten {
    pub(super) nodes: usize,
    pub(super) web_seeds: usize,
}
