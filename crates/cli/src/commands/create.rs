//! `hashlane create`: finds the files, hashes them, and writes the .torrent.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueEnum};
use hashlane_metainfo::{
    CreateError, File, FileKind, Naming, NewContent, NewMetadata, PathComponent, PieceHashes,
    Torrent, Version, merkle, piece_length_for,
};
use hashlane_verify::{Selection, SourceTree, hash_source_tree};
use serde::Serialize;

use crate::links::Link;
use crate::new_file;
use crate::options::{Force, Hashing, Output, Secrets, Trackers};
use crate::output::json_lines;
use crate::output::text::{Grouped, Palette, Shown, Size, Styled, count};
use crate::torrent_file::MAX_LEN;
use crate::values::{self, PieceLength};
use crate::{Env, Exit, globs};

const EXIT_STATUS: &str = "\
Exit status:
  0  the .torrent is written
  2  an error: wrong usage, a file that cannot be read or that changed, Ctrl-C,
     or a result that cannot be printed";

/// Create a .torrent of a file or folder
///
/// The same input produces the same .torrent: it has no creation date without `--date`. Files are sorted folder by
/// folder by the bytes of their names, so that other programs that sort like this get the same info-hash for the
/// same piece length. A file that changes while it is read is an error.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Create {
    /// File or folder
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,

    /// The .torrent to write [default: NAME.torrent in the working directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    force: Force,

    /// Protocol version [default: hybrid if it needs little padding, else v1]
    #[arg(long, value_name = "VERSION")]
    pub(crate) format: Option<Format>,

    /// Piece length, a power of two, for example 256KiB [default: 16 KiB to 16 MiB by size]
    #[arg(short = 'l', long, value_name = "SIZE", value_parser = values::piece_length)]
    pub(crate) piece_length: Option<PieceLength>,

    /// Name in the torrent [default: name of the file or folder]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) trackers: Trackers,

    /// Web seed, a URL that serves the content (BEP 19); repeatable
    #[arg(short, long = "web-seed", value_name = "URL", value_parser = values::url)]
    pub(crate) web_seeds: Vec<String>,

    /// DHT node (BEP 5); repeatable
    #[arg(long = "node", value_name = "HOST:PORT", value_parser = values::node)]
    pub(crate) nodes: Vec<(String, u16)>,

    /// Allow peers from the trackers only (BEP 27); changes the info-hash
    #[arg(short, long)]
    pub(crate) private: bool,

    /// Source tag, as private trackers require; changes the info-hash
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) source: Option<String>,

    /// Comment
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,

    /// Creation date: `now`, or seconds since 1970 [default: none]
    #[arg(long, value_name = "WHEN", value_parser = values::date)]
    pub(crate) date: Option<i64>,

    /// Leave out the name of the program that created it
    #[arg(long)]
    pub(crate) no_created_by: bool,

    /// Leave out matching files and folders, for example `*.tmp` anywhere or `/build` at the top; repeatable
    #[arg(short = 'x', long = "exclude", value_name = "GLOB")]
    pub(crate) excludes: Vec<String>,

    /// Leave out files and folders whose name starts with a dot
    #[arg(long)]
    pub(crate) no_hidden: bool,

    /// Treatment of symbolic links; none may point outside the content
    #[arg(long, value_name = "TREATMENT", default_value = "store")]
    pub(crate) links: Links,

    /// Store the executable and hidden attributes (BEP 47); changes the info-hash
    #[arg(long)]
    pub(crate) attributes: bool,

    #[command(flatten)]
    pub(crate) hashing: Hashing,

    #[command(flatten)]
    printing: Output,

    #[command(flatten)]
    secrets: Secrets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// SHA-1 digests of pieces (BEP 3), which every program supports
    V1,
    /// SHA-256 merkle trees of files (BEP 52)
    V2,
    /// Both, with padding between files (BEP 47)
    Hybrid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Links {
    /// Store links as links (BEP 47)
    Store,
    /// Store the files and folders that links point to
    Follow,
    /// Leave links out
    Skip,
}

/// Largest padding of a hybrid torrent that is created by default: a tenth of its content.
/// Programs that do not know padding download it, and store it on the disk.
const HARMLESS_PADDING: u64 = 10;

/// The report of a torrent that was created.
#[derive(Serialize)]
#[serde(tag = "type", rename = "created")]
struct Created<'c> {
    path: String,
    torrent: String,
    version: &'static str,
    /// Why the torrent is not a hybrid, if no format was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'c str>,
    name: String,
    info_hash_v1: Option<String>,
    info_hash_v2: Option<String>,
    magnet: String,
    /// Which URLs the magnet link lacks.
    #[serde(skip)]
    link_note: Option<String>,
    files: usize,
    content_bytes: u64,
    padding_bytes: u64,
    piece_length: u32,
    pieces: u32,
    /// Number of names, of files and of the content, that libtorrent changes on disk.
    changed_names: usize,
    /// Number of links to a folder around the link, which other programs cannot check.
    circular_links: usize,
    /// Numbers of files and folders that are not in the torrent.
    left_out: LeftOut,
    elapsed_seconds: f64,
}

#[derive(Clone, Copy, Serialize)]
struct LeftOut {
    excluded: usize,
    hidden: usize,
    links: usize,
}

impl From<hashlane_verify::LeftOut> for LeftOut {
    fn from(left_out: hashlane_verify::LeftOut) -> Self {
        Self {
            excluded: left_out.excluded,
            hidden: left_out.hidden,
            links: left_out.links,
        }
    }
}

impl Create {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let shown = self.path.display().to_string();
        let name = self.name(env)?;
        let reason = PathComponent::try_from(&name[..]).err();
        if let Some(reason) = reason {
            let name = String::from_utf8_lossy(&name);
            return Err(anyhow!("{shown}: {name:?}: {reason}"));
        }
        let output = self.output(&name);
        let overwrite = self.force.overwrite();
        let place = env.resolve(&output);
        new_file::check(&place, overwrite).with_context(|| output.display().to_string())?;

        let tree = self.find(env, &place)?;
        let (content, note) = self.plan(&tree, &name).with_context(|| shown.clone())?;
        self.check_size(&content)?;
        env.catch_interrupts();
        let started = std::time::Instant::now();
        let hashes = self.hash(env, &tree, &content)?;
        let elapsed = started.elapsed();

        let bytes = content.write(&hashes, &self.metadata());
        // Hashlane never writes a .torrent that it would refuse to read.
        if bytes.len() as u64 > MAX_LEN {
            return Err(too_long());
        }
        let torrent = Torrent::parse(bytes).context("the torrent would be refused")?;
        new_file::write(&place, torrent.bytes(), overwrite)
            .with_context(|| output.display().to_string())?;
        let link = Link::of(&torrent, self.secrets.passkeys());
        let created = Created {
            path: self.path.to_string_lossy().into_owned(),
            torrent: output.to_string_lossy().into_owned(),
            version: crate::output::text::version(torrent.version()),
            note: note.as_deref(),
            name: String::from_utf8_lossy(torrent.name().as_bytes()).into_owned(),
            info_hash_v1: torrent.info_hashes().v1().map(|hash| hash.to_string()),
            info_hash_v2: torrent.info_hashes().v2().map(|hash| hash.to_string()),
            magnet: link.magnet.to_string(),
            link_note: link.note(),
            files: content.files().len(),
            content_bytes: torrent.content_length(),
            padding_bytes: content.padding_bytes(),
            piece_length: content.lengths().piece_length().get(),
            pieces: content.lengths().piece_count(),
            changed_names: changed_names(&torrent),
            circular_links: circular_links(&torrent),
            left_out: tree.left_out().into(),
            elapsed_seconds: elapsed.as_secs_f64(),
        };
        if self.printing.is_json() {
            json_lines::print(env, &created)?;
        } else if !self.printing.quiet {
            print(env, &created)?;
        }
        Ok(Exit::Good)
    }

    /// Hashes the files, and shows the progress.
    fn hash(
        &self,
        env: &Env,
        tree: &SourceTree,
        content: &NewContent,
    ) -> anyhow::Result<PieceHashes> {
        let options = self.hashing.options()?;
        let name = format!("{}: hashing", self.path.display());
        let mut line = self.printing.progress(env, name);
        let hashes = hash_source_tree(tree, content, &options, &env.cancel, &mut |progress| {
            if let Some(line) = &mut line {
                line.update(progress.hashed_bytes, progress.total_bytes);
            }
        });
        if let Some(line) = line {
            line.clear();
        }
        Ok(hashes?)
    }

    /// Returns the torrent's name: the option, or the name of the file or folder.
    fn name(&self, env: &Env) -> anyhow::Result<Vec<u8>> {
        if let Some(name) = &self.name {
            return Ok(name.clone().into_bytes());
        }
        let path = env.resolve(&self.path);
        // `.` and the like have no name of their own.
        let path = match path.file_name() {
            Some(_) => path,
            None => path
                .canonicalize()
                .with_context(|| self.path.display().to_string())?,
        };
        let name = path
            .file_name()
            .ok_or_else(|| anyhow!("{}: has no file name: use --name", self.path.display()))?;
        Ok(match name.to_str() {
            Some(name) => name.as_bytes().to_vec(),
            None => name.as_encoded_bytes().to_vec(),
        })
    }

    fn output(&self, name: &[u8]) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            let name = String::from_utf8_lossy(name);
            PathBuf::from(format!("{name}.torrent"))
        })
    }

    fn find(&self, env: &Env, output: &Path) -> anyhow::Result<SourceTree> {
        let root = env.resolve(&self.path);
        let excludes = globs::of("--exclude", &self.excludes)?;
        let former = self.former_output(&root, output)?;
        let exclude = |path: &Path| excludes.is_match(path);
        let ignore = |path: &Path| {
            let former = former
                .as_ref()
                .filter(|former| path.file_name() == former.file_name());
            let is_former = |former: &PathBuf| {
                root.join(path)
                    .canonicalize()
                    .is_ok_and(|path| path == *former)
            };
            // Another `create` can be writing its torrent into the same content.
            former.is_some_and(is_former) || new_file::is_temporary(path)
        };
        let selection = Selection {
            hidden: !self.no_hidden,
            links: match self.links {
                Links::Store => hashlane_verify::Links::Store,
                Links::Follow => hashlane_verify::Links::Follow,
                Links::Skip => hashlane_verify::Links::Skip,
            },
            exclude: &exclude,
            ignore: &ignore,
        };
        Ok(SourceTree::find(&root, &selection, self.attributes)?)
    }

    /// Returns the .torrent that an earlier run wrote into the content, which is no part of it. Refuses
    /// to overwrite anything else there.
    fn former_output(&self, root: &Path, output: &Path) -> anyhow::Result<Option<PathBuf>> {
        let (Ok(root), Ok(output)) = (root.canonicalize(), output.canonicalize()) else {
            return Ok(None);
        };
        if !output.starts_with(&root) {
            return Ok(None);
        }
        if output == root || output.extension() != Some(OsStr::new("torrent")) {
            let output = self.output.as_deref().unwrap_or(&output).display();
            bail!("{output}: refusing to overwrite a file that belongs to the content");
        }
        Ok(Some(output))
    }

    /// Refuses early what would become too long to read.
    fn check_size(&self, content: &NewContent) -> anyhow::Result<()> {
        let version = content.version();
        let digests = 20 * u64::from(version.has_v1()) + 32 * u64::from(version.has_v2());
        if digests * u64::from(content.lengths().piece_count()) > MAX_LEN {
            return Err(too_long());
        }
        Ok(())
    }

    /// Decides on the version and the piece length. Returns also why the torrent is not a hybrid, if no
    /// format was asked for.
    fn plan(&self, tree: &SourceTree, name: &[u8]) -> anyhow::Result<(NewContent, Option<String>)> {
        let piece_length = self
            .piece_length
            .unwrap_or_else(|| piece_length_for(tree.length()));
        let content = |version| {
            let files = tree.files();
            let is_single_file = tree.is_single_file();
            NewContent::new(version, piece_length, name.to_vec(), is_single_file, files)
        };
        let version = match self.format {
            Some(Format::V1) => Version::V1,
            Some(Format::V2) => Version::V2,
            Some(Format::Hybrid) => Version::Hybrid,
            None => return self.plan_by_default(tree, piece_length, &content),
        };
        Ok((content(version)?, None))
    }

    /// Plans a hybrid if it needs little padding, else version 1.
    fn plan_by_default(
        &self,
        tree: &SourceTree,
        piece_length: u32,
        content: &dyn Fn(Version) -> Result<NewContent, CreateError>,
    ) -> anyhow::Result<(NewContent, Option<String>)> {
        let note = match content(Version::Hybrid) {
            Ok(hybrid) => {
                let padding = hybrid.padding_bytes();
                if padding <= tree.length() / HARMLESS_PADDING {
                    return Ok((hybrid, None));
                }
                format!(
                    "a hybrid would need {} of padding for {} of content",
                    Size(padding),
                    Size(tree.length())
                )
            }
            Err(_) if piece_length < merkle::LEAF_LEN => {
                format!(
                    "version 2 needs a piece length of {} or more",
                    Size(merkle::LEAF_LEN.into())
                )
            }
            Err(reason) => format!("a hybrid is not possible: {reason}"),
        };
        // If version 1 is not possible either, its error holds for both.
        Ok((
            content(Version::V1)?,
            Some(format!("version 1 only: {note}")),
        ))
    }

    fn metadata(&self) -> NewMetadata {
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        NewMetadata {
            trackers: self.trackers.tiers.clone(),
            web_seeds: self.web_seeds.clone(),
            nodes: self.nodes.clone(),
            comment: text(&self.comment),
            created_by: (!self.no_created_by)
                .then(|| concat!("hashlane ", env!("CARGO_PKG_VERSION")).into()),
            creation_date: self.date,
            is_private: self.private,
            source: text(&self.source),
        }
    }
}

fn changed_names(torrent: &Torrent) -> usize {
    let foreign = torrent.foreign_paths(Naming::Libtorrent);
    foreign.indexes().len() + usize::from(foreign.name().is_some())
}

/// Returns the number of links to a folder around the link.
fn circular_links(torrent: &Torrent) -> usize {
    let is_circular = |file: &File<'_>| match file.kind() {
        FileKind::Symlink { target } => {
            let n_names = target.components().count();
            file.path()
                .components()
                .take(n_names)
                .eq(target.components())
        }
        FileKind::Regular | FileKind::Padding => false,
    };
    torrent.files().iter().filter(is_circular).count()
}

fn too_long() -> anyhow::Error {
    let most = Size(MAX_LEN);
    anyhow!(
        "the .torrent would be longer than {most}, which few programs read: use a larger --piece-length"
    )
}

fn print(env: &mut Env, created: &Created<'_>) -> anyhow::Result<()> {
    let palette = Palette::new(env.color);
    let out = &mut env.stdout;
    let path = Path::new(&created.torrent);
    writeln!(out, "{}", Styled(palette.strong, Shown(path)))?;
    for (info_hash, note) in [
        (&created.info_hash_v1, ""),
        (&created.info_hash_v2, " (version 2)"),
    ] {
        if let Some(info_hash) = info_hash {
            writeln!(out, "  info-hash  {info_hash}{note}")?;
        }
    }
    writeln!(
        out,
        "  content    {} in {}, {} of {}",
        Size(created.content_bytes),
        count(created.files as u64, "file"),
        count(created.pieces.into(), "piece"),
        Size(created.piece_length.into()),
    )?;
    if created.padding_bytes > 0 {
        writeln!(out, "  padding    {}", Size(created.padding_bytes))?;
    }
    if let Some(note) = created.note {
        writeln!(out, "  format     {}", Styled(palette.partial, note))?;
    }
    if created.changed_names > 0 {
        let names = count(created.changed_names as u64, "name");
        let note = format!("libtorrent changes {names} on disk");
        writeln!(out, "  names      {}", Styled(palette.partial, note))?;
    }
    if created.circular_links > 0 {
        let links = count(created.circular_links as u64, "link");
        let note =
            format!("{links} to a folder around the link, which other programs cannot check");
        writeln!(out, "  links      {}", Styled(palette.partial, note))?;
    }
    let left_out = created.left_out;
    let left_out: Vec<String> = [
        (left_out.excluded, "excluded"),
        (left_out.hidden, "hidden"),
        (left_out.links, "symbolic links"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| format!("{} {what}", Grouped(n as u64)))
    .collect();
    if !left_out.is_empty() {
        let left_out = left_out.join(", ");
        writeln!(out, "  left out   {}", Styled(palette.partial, left_out))?;
    }
    writeln!(out, "  magnet     {}", created.magnet)?;
    if let Some(note) = &created.link_note {
        writeln!(out, "             {}", Styled(palette.partial, note))?;
    }
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let rate = created.content_bytes as f64 / created.elapsed_seconds.max(f64::EPSILON) / 1e9;
    writeln!(
        out,
        "  hashed in {:.3} s, {rate:.2} GB/s",
        created.elapsed_seconds
    )?;
    Ok(())
}
