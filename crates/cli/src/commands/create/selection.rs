//! The files of a new torrent: patterns, junk, and an earlier .torrent inside the content.

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use hashlane_files::{Globs, Rules};
use hashlane_verify::{Candidate, Choice, Selection, SourceTree, SourceTreeError, WalkError};

use super::arguments::Create;
use super::choices::Links;
use crate::Env;
use crate::options::globs;

/// Files and folders that are never content: of file managers, of the systems that wrote to a disk, and of unfinished
/// downloads.
const JUNK: [&str; 24] = [
    // macOS. `._x` has the attributes of `x` on file systems without them, and `__MACOSX` those of a ZIP archive.
    ".DS_Store",
    "._*",
    "__MACOSX",
    ".AppleDouble",
    ".Spotlight-V100",
    ".TemporaryItems",
    ".Trashes",
    ".fseventsd",
    // Windows
    "Thumbs.db",
    "ehthumbs.db",
    "desktop.ini",
    "$RECYCLE.BIN",
    "System Volume Information",
    // Linux
    ".directory",
    ".Trash-*",
    ".nfs????????????????????????",
    "lost+found",
    // Network storage of Synology and QNAP
    "@eaDir",
    "#recycle",
    "@Recycle",
    // Unfinished downloads
    "*.!qB",
    "*.part",
    "*.aria2",
    "*.crdownload",
];

/// The files and folders to take.
pub(super) struct Filter {
    excludes: Globs,
    exclude_rules: Rules,
    includes: Globs,
    junk: Globs,
}

/// The files of an input.
pub(super) struct Found {
    pub(super) tree: SourceTree,
    /// Paths below the root of the junk that is left out.
    pub(super) junk: Vec<PathBuf>,
}

impl Filter {
    pub(super) fn new(env: &mut Env, create: &Create) -> anyhow::Result<Self> {
        let mut exclude_rules = Rules::default();
        for path in &create.exclude_from {
            let text = env.read_text_file(path)?;
            let path_text = || path.display().to_string();
            exclude_rules.add(&text).with_context(path_text)?;
        }
        let any_case = Globs::ignoring_case;
        let junk: &[&str] = if create.keep_junk { &[] } else { &JUNK };
        Ok(Self {
            excludes: globs(any_case(), "--exclude", &create.excludes)?,
            exclude_rules,
            includes: globs(any_case(), "--include", &create.includes)?,
            junk: globs(any_case(), "--keep-junk", junk)?,
        })
    }

    fn choose(&self, found: Candidate<'_>) -> Choice {
        let Candidate {
            path, is_folder, ..
        } = found;
        if self.excludes.is_match(path) || self.exclude_rules.is_match(path, is_folder) {
            Choice::Exclude
        } else if self.junk.is_match(path) {
            Choice::Junk
        } else if is_folder || self.is_included(path) {
            Choice::Take
        } else {
            Choice::Exclude
        }
    }

    /// Returns `true` if a file, or a folder that contains it, is included.
    fn is_included(&self, file: &Path) -> bool {
        self.includes.is_empty() || self.includes.is_match_or_inside(file)
    }
}

impl Create {
    /// Finds the files of an input. `output` is where its .torrent will be.
    pub(super) fn find(
        &self,
        root: &Path,
        output: Option<&Path>,
        filter: &Filter,
    ) -> anyhow::Result<Found> {
        let former = match output {
            Some(output) => self.former_output(root, output)?,
            None => None,
        };
        let junk = RefCell::new(Vec::new());
        let is_content = Cell::new(false);
        let choose = |found: Candidate<'_>| {
            let path = found.path;
            if let Some(former) = former
                .as_deref()
                .filter(|former| is_same(root, path, former))
            {
                is_content.set(!is_torrent(former));
                return Choice::Ignore;
            }
            let choice = filter.choose(found);
            if choice == Choice::Junk {
                junk.borrow_mut().push(path.to_owned());
            }
            choice
        };
        let selection = Selection::new(&choose)
            .hidden(!self.no_hidden)
            .links(self.links.into());
        let found = SourceTree::find(root, &selection, self.attributes);
        let mut tree = found.map_err(with_remedy)?;
        if is_content.get() {
            return Err(self.refusal(output.unwrap_or(root)));
        }
        tree.sort(self.sort.into());
        let mut junk = junk.into_inner();
        junk.sort_unstable();
        Ok(Found { tree, junk })
    }

    /// Returns the .torrent that an earlier run wrote into the content's folder. This file is not part of the content.
    /// Refuses to overwrite any other file there.
    fn former_output(&self, root: &Path, output: &Path) -> anyhow::Result<Option<PathBuf>> {
        let (Ok(root), Ok(output)) = (root.canonicalize(), output.canonicalize()) else {
            return Ok(None);
        };
        let is_inside = output.starts_with(&root);
        if is_inside && (output == root || !is_torrent(&output)) {
            return Err(self.refusal(&output));
        }
        // A link can lead to the folder of the output.
        Ok((is_inside || self.links == Links::FollowOutside).then_some(output))
    }

    fn refusal(&self, output: &Path) -> anyhow::Error {
        let output = self.output.as_deref().unwrap_or(output).display();
        anyhow!("{output}: refusing to overwrite a file that belongs to the content")
    }
}

/// Adds the options that avoid an error to its message.
fn with_remedy(error: SourceTreeError) -> anyhow::Error {
    match error {
        SourceTreeError::Walk(WalkError::LinkOutside { .. }) => {
            anyhow!("{error}: use --links follow-outside or --links skip")
        }
        SourceTreeError::Walk(WalkError::TooManyLinkPaths { .. }) => {
            anyhow!("{error}: use --links store or --links skip")
        }
        error => error.into(),
    }
}

/// Returns `true` if a path below the root leads to a file of the same name.
fn is_same(root: &Path, path: &Path, file: &Path) -> bool {
    let canonical = || root.join(path).canonicalize();
    path.file_name() == file.file_name() && canonical().is_ok_and(|path| path == file)
}

fn is_torrent(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("torrent"))
}
