//! A torrent, and what of it is on this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_metainfo::{FileKind, FileSelection, Torrent};
use hashlane_swarm::{Access, Storage};
use hashlane_verify::{Content, HashVersions, Layout, Options, PieceState, Progress, files_of};

use crate::Env;
use crate::output::progress::ProgressLine;

/// A torrent, and what of it is on this machine.
#[derive(Debug)]
pub(super) struct Local {
    /// The torrent.
    pub(super) torrent: Torrent,
    /// As the torrent has it: to be escaped where it is shown.
    pub(super) name: String,
    folder: PathBuf,
    /// The file, or the folder of the files.
    pub(super) root: PathBuf,
    pub(super) storage: Arc<Storage>,
    /// Which pieces are there; none before [`Self::look`].
    pub(super) have: Vec<bool>,
    /// How many pieces there are.
    pub(super) n_pieces: u32,
    /// Whether all of it is there.
    pub(super) is_complete: bool,
    /// Bytes of files.
    pub(super) length: u64,
}

/// What is there and wrong.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) n_pieces: u32,
    /// Files that have such pieces, and how many.
    pub(super) files: Vec<(String, u32)>,
}

/// What is wanted of a torrent.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Which files, without padding; empty for all.
    pub(super) files: Vec<bool>,
    /// The pieces of these files; empty for all.
    pieces: Vec<bool>,
}

impl Wanted {
    /// Whether a piece is wanted.
    fn has(&self, piece: usize) -> bool {
        *self.pieces.get(piece).unwrap_or(&true)
    }

    /// Whether all pieces are there that are wanted.
    pub(super) fn is_in(&self, have: &[bool]) -> bool {
        let mut have = have.iter().enumerate();
        have.all(|(piece, have)| *have || !self.has(piece))
    }
}

impl Local {
    /// Prepares a torrent whose files are in `folder`.
    pub(super) fn new(torrent: Torrent, folder: &Path, access: Access) -> anyhow::Result<Self> {
        let content = Content::in_folder(&torrent, folder)?;
        let storage = Storage::new(&content, folder, access)?;
        Ok(Self {
            name: String::from_utf8_lossy(torrent.name().as_bytes()).into_owned(),
            folder: folder.to_owned(),
            root: content.root().to_owned(),
            storage: Arc::new(storage),
            have: Vec::new(),
            n_pieces: torrent.lengths().piece_count(),
            is_complete: false,
            length: torrent.content_length(),
            torrent,
        })
    }

    /// What the patterns select, or if there are none, a magnet link (BEP 53); without either, all.
    pub(super) fn wanted(
        &self,
        patterns: &[String],
        of_link: Option<&FileSelection>,
    ) -> anyhow::Result<Wanted> {
        if patterns.is_empty() && of_link.is_none() {
            return Ok(Wanted::default());
        }
        let torrent = &self.torrent;
        let globs = crate::globs::of("--select", patterns)?;
        // A folder is all that is in it.
        let fits = |path: &str| {
            let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
            folders.chain([path]).any(|path| globs.is_match(path))
        };
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        let mut wanted = Wanted {
            files: Vec::new(),
            pieces: vec![false; self.n_pieces as usize],
        };
        for (index, file) in files_of(torrent) {
            // No torrent has more files than a u32 can count.
            let is_wanted = match of_link {
                Some(selection) if patterns.is_empty() => selection.contains(index.get() as u32),
                _ => fits(&file.path().to_string()),
            };
            if is_wanted {
                for piece in layout.pieces_of(index) {
                    wanted.pieces[piece as usize] = true;
                }
            }
            if file.kind() != FileKind::Padding {
                wanted.files.push(is_wanted);
            }
        }
        anyhow::ensure!(
            wanted.files.contains(&true),
            "{}: no file of the torrent fits",
            if patterns.is_empty() {
                "the link selects files"
            } else {
                "--select"
            }
        );
        Ok(wanted)
    }

    /// Verifies which pieces are there.
    pub(super) fn look(
        &mut self,
        env: &mut Env,
        options: &Options,
        is_quiet: bool,
    ) -> anyhow::Result<()> {
        let report = verify(env, &self.torrent, &self.folder, options, is_quiet)?;
        self.have = have(&report);
        self.is_complete = report.is_complete();
        Ok(())
    }

    /// Verifies, and tells what is there and wrong. What is absent or not wanted, or nothing but zeros such
    /// as the holes that a download begins with, is not wrong.
    pub(super) fn wrong(
        &self,
        env: &mut Env,
        wanted: &Wanted,
        options: &Options,
        is_quiet: bool,
    ) -> anyhow::Result<Wrong> {
        let report = verify(env, &self.torrent, &self.folder, options, is_quiet)?;
        let have = have(&report);
        let states = (0..).zip(report.pieces().iter().zip(&have));
        let is_wrong = |(piece, (state, have)): (u32, (&PieceState, &bool))| {
            let is_wrong = !have && matches!(state, PieceState::Bad | PieceState::Unproven);
            is_wrong && wanted.has(piece as usize) && self.storage.holds_data(piece)
        };
        let is_wrong: Vec<bool> = states.map(is_wrong).collect();
        let n_wrong = |pieces: &[bool]| pieces.iter().filter(|wrong| **wrong).count() as u32;
        let layout = Layout::new(&self.torrent, report.hash_versions());
        let files = files_of(&self.torrent).filter_map(|(index, file)| {
            let pieces = layout.pieces_of(index);
            let n = n_wrong(&is_wrong[pieces.start as usize..pieces.end as usize]);
            (n > 0 && file.kind() == FileKind::Regular).then(|| (file.path().to_string(), n))
        });
        Ok(Wrong {
            n_pieces: n_wrong(&is_wrong),
            files: files.collect(),
        })
    }

    /// How many pieces are there.
    pub(super) fn n_have(&self) -> u32 {
        // There are as many pieces as a u32 can count.
        self.have.iter().filter(|have| **have).count() as u32
    }
}

/// Which pieces are there. Of a hybrid whose piece layers have not come with a magnet link, version 1
/// proves what version 2 cannot.
fn have(report: &hashlane_verify::Report) -> Vec<bool> {
    let v1 = report.pieces_v1();
    let pieces = report.pieces().iter().enumerate();
    let have = pieces.map(|(i, piece)| match piece {
        PieceState::Have => true,
        PieceState::Unproven => v1.is_some_and(|v1| v1[i] == PieceState::Have),
        _ => false,
    });
    have.collect()
}

fn verify(
    env: &mut Env,
    torrent: &Torrent,
    folder: &Path,
    options: &Options,
    is_quiet: bool,
) -> anyhow::Result<hashlane_verify::Report> {
    let content = Content::in_folder(torrent, folder)?;
    let name = torrent.name();
    let mut line =
        (env.progress && !is_quiet).then(|| ProgressLine::new(format!("{name}: verifying")));
    let progress = |progress: &Progress| {
        if let Some(line) = &mut line {
            line.update(progress.hashed_bytes, progress.total_bytes);
        }
    };
    let versions = HashVersions { v1: true, v2: true };
    let report = hashlane_verify::verify(&content, versions, options, &env.cancel, progress);
    if let Some(line) = line {
        line.clear();
    }
    let report = report?;
    anyhow::ensure!(!report.is_cancelled(), "interrupted");
    Ok(report)
}
