//! `hashlane create`: looks through the files, hashes them, and writes the .torrent.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueEnum};
use hashlane_metainfo::{
    CreateError, Magnet, NewContent, NewMetadata, PathComponent, Torrent, Version, merkle,
    piece_length_for,
};
use hashlane_verify::{Payload, Selection, hash_payload};
use serde::Serialize;

use crate::new_file;
use crate::options::{Force, Hashing, Output, Trackers};
use crate::output::json_lines;
use crate::output::text::{Grouped, Palette, Shown, Size, Styled, count};
use crate::torrent_file::MAX_LEN;
use crate::values::{self, PieceLength};
use crate::{Env, Exit, globs};

const EXIT_STATUS: &str = "\
Exit status:
  0  the .torrent is written
  2  it is not: wrong usage, a file that cannot be read or that changed, or Ctrl-C;
     or it is, and that could not be told";

/// Make a .torrent of a file or folder, at the speed of `verify`
///
/// The same input makes the same bytes: there is no creation date unless one is asked for. Files come in the order of
/// their names as raw bytes, folder by folder, so the info-hash is the one that others get of the same files in the
/// same order, with the same piece length. A file that changes while it is read is an error.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Create {
    /// The file or folder
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,

    /// The .torrent to write [default: the name with .torrent, in the working directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    force: Force,

    /// The versions of the protocol [default: hybrid if its padding is no burden, else v1]
    #[arg(long, value_name = "VERSION")]
    pub(crate) format: Option<Format>,

    /// The piece length, a power of two such as 256KiB [default: by size, 16 KiB to 16 MiB]
    #[arg(short = 'l', long, value_name = "SIZE", value_parser = values::piece_length)]
    pub(crate) piece_length: Option<PieceLength>,

    /// The name in the torrent [default: that of the file or folder]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) trackers: Trackers,

    /// A URL that has the content (BEP 19); can be given several times
    #[arg(short, long = "web-seed", value_name = "URL", value_parser = values::url)]
    pub(crate) web_seeds: Vec<String>,

    /// A node of the DHT (BEP 5); can be given several times
    #[arg(long = "node", value_name = "HOST:PORT", value_parser = values::node)]
    pub(crate) nodes: Vec<(String, u16)>,

    /// Peers may come from the trackers only (BEP 27); changes the info-hash
    #[arg(short, long)]
    pub(crate) private: bool,

    /// Who or where it is from; changes the info-hash
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) source: Option<String>,

    /// A comment
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,

    /// Say when it was made: `now`, or seconds since 1970
    #[arg(long, value_name = "WHEN", value_parser = values::date)]
    pub(crate) date: Option<i64>,

    /// Do not say that Hashlane made it
    #[arg(long)]
    pub(crate) no_created_by: bool,

    /// Leave out files and folders that match, such as `*.tmp` anywhere or `/build` at the top; can be given several times
    #[arg(short = 'x', long = "exclude", value_name = "GLOB")]
    pub(crate) excludes: Vec<String>,

    /// Leave out files and folders whose names start with a dot
    #[arg(long)]
    pub(crate) no_hidden: bool,

    /// What becomes of symbolic links; none may lead out of the content
    #[arg(long, value_name = "WHAT", default_value = "store")]
    pub(crate) links: Links,

    /// Mark executable and hidden files as such (BEP 47); changes the info-hash
    #[arg(long)]
    pub(crate) attributes: bool,

    #[command(flatten)]
    pub(crate) hashing: Hashing,

    #[command(flatten)]
    printing: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// SHA-1 pieces (BEP 3), which every program reads
    V1,
    /// SHA-256 merkle trees of files (BEP 52)
    V2,
    /// Both, with padding between files (BEP 47)
    Hybrid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Links {
    /// They are links in the torrent too (BEP 47)
    Store,
    /// What they lead to is taken in their place
    Follow,
    /// They are left out
    Skip,
}

/// How much padding a hybrid torrent may need without being asked for: a tenth of its content.
/// Programs that know nothing of padding download it, and keep it on the disk.
const HARMLESS_PADDING: u64 = 10;

/// What is told of a torrent that was made.
#[derive(Serialize)]
#[serde(tag = "type", rename = "created")]
struct Created<'c> {
    path: String,
    torrent: String,
    version: &'static str,
    /// Why it is no hybrid, if one was to be expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'c str>,
    name: String,
    info_hash_v1: Option<String>,
    info_hash_v2: Option<String>,
    magnet: String,
    files: usize,
    content_bytes: u64,
    padding_bytes: u64,
    piece_length: u32,
    pieces: u32,
    /// How many files and folders are there, and not in the torrent.
    left_out: LeftOut,
    elapsed_seconds: f64,
}

#[derive(Clone, Copy, Serialize)]
struct LeftOut {
    excluded: usize,
    hidden: usize,
    links: usize,
}

impl Create {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let options = self.hashing.options()?;
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

        let payload = self.find(env, &place)?;
        let (content, note) = self.plan(&payload, &name).with_context(|| shown.clone())?;
        self.check_size(&content)?;
        env.catch_interrupts();
        let started = std::time::Instant::now();
        let mut line = self.printing.progress(env, format!("{shown}: hashing"));
        let hashes = hash_payload(&payload, &content, &options, &env.cancel, |progress| {
            if let Some(line) = &mut line {
                line.update(progress.hashed_bytes, progress.total_bytes);
            }
        });
        if let Some(line) = line {
            line.clear();
        }
        let hashes = hashes?;
        let elapsed = started.elapsed();

        let bytes = content.write(&hashes, &self.metadata());
        // Nothing leaves this place that we would not take ourselves.
        if bytes.len() as u64 > MAX_LEN {
            return Err(too_long());
        }
        let torrent = Torrent::parse(bytes).context("the torrent would be refused")?;
        new_file::write(&place, torrent.bytes(), overwrite)
            .with_context(|| output.display().to_string())?;
        let left_out = payload.left_out();
        let created = Created {
            path: self.path.to_string_lossy().into_owned(),
            torrent: output.to_string_lossy().into_owned(),
            version: crate::output::text::version(torrent.version()),
            note: note.as_deref(),
            name: String::from_utf8_lossy(torrent.name().as_bytes()).into_owned(),
            info_hash_v1: torrent.info_hashes().v1().map(|hash| hash.to_string()),
            info_hash_v2: torrent.info_hashes().v2().map(|hash| hash.to_string()),
            magnet: Magnet::of(&torrent).to_string(),
            files: content.files().len(),
            content_bytes: torrent.content_length(),
            padding_bytes: content.padding_bytes(),
            piece_length: content.lengths().piece_length().get(),
            pieces: content.lengths().piece_count(),
            left_out: LeftOut {
                excluded: left_out.excluded,
                hidden: left_out.hidden,
                links: left_out.links,
            },
            elapsed_seconds: elapsed.as_secs_f64(),
        };
        if self.printing.is_json() {
            json_lines::print(env, &created)?;
        } else if !self.printing.quiet {
            print(env, &created)?;
        }
        Ok(Exit::Good)
    }

    /// The torrent's name: what was said, or that of the file or folder.
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
            .ok_or_else(|| anyhow!("{}: has no name: use --name", self.path.display()))?;
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

    fn find(&self, env: &Env, output: &Path) -> anyhow::Result<Payload> {
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
            former.is_some_and(is_former)
        };
        let selection = Selection {
            hidden: !self.no_hidden,
            links: match self.links {
                Links::Store => hashlane_verify::Links::Store,
                Links::Follow => hashlane_verify::Links::Follow,
                Links::Skip => hashlane_verify::Links::Skip,
            },
            attributes: self.attributes,
            exclude: &exclude,
            ignore: &ignore,
        };
        Ok(Payload::find(&root, &selection)?)
    }

    /// The .torrent that was made before, which is no part of the content that it lies in. Whatever
    /// else would be overwritten there is.
    fn former_output(&self, root: &Path, output: &Path) -> anyhow::Result<Option<PathBuf>> {
        let (Ok(root), Ok(output)) = (root.canonicalize(), output.canonicalize()) else {
            return Ok(None);
        };
        if !output.starts_with(&root) {
            return Ok(None);
        }
        if output == root || output.extension() != Some(OsStr::new("torrent")) {
            let output = self.output.as_deref().unwrap_or(&output).display();
            bail!("{output}: is of the content, and is not overwritten");
        }
        Ok(Some(output))
    }

    /// Refuses early what would become too long for anybody to read.
    fn check_size(&self, content: &NewContent) -> anyhow::Result<()> {
        let version = content.version();
        let digests = 20 * u64::from(version.has_v1()) + 32 * u64::from(version.has_v2());
        if digests * u64::from(content.lengths().piece_count()) > MAX_LEN {
            return Err(too_long());
        }
        Ok(())
    }

    /// Decides on the version and the piece length, and says why it is no hybrid if nobody said
    /// what it is to be.
    fn plan(&self, payload: &Payload, name: &[u8]) -> anyhow::Result<(NewContent, Option<String>)> {
        let piece_length = self
            .piece_length
            .unwrap_or_else(|| piece_length_for(payload.length()));
        let content = |version| {
            let files = payload.files();
            let is_single_file = payload.is_single_file();
            NewContent::new(version, piece_length, name.to_vec(), is_single_file, files)
        };
        let version = match self.format {
            Some(Format::V1) => Version::V1,
            Some(Format::V2) => Version::V2,
            Some(Format::Hybrid) => Version::Hybrid,
            None => return self.plan_unasked(payload, piece_length, &content),
        };
        Ok((content(version)?, None))
    }

    /// A hybrid, where its padding does no harm.
    fn plan_unasked(
        &self,
        payload: &Payload,
        piece_length: u32,
        content: &dyn Fn(Version) -> Result<NewContent, CreateError>,
    ) -> anyhow::Result<(NewContent, Option<String>)> {
        let note = match content(Version::Hybrid) {
            Ok(hybrid) => {
                let padding = hybrid.padding_bytes();
                if padding <= payload.length() / HARMLESS_PADDING {
                    return Ok((hybrid, None));
                }
                format!(
                    "a hybrid would have {} of padding beside {} of content",
                    Size(padding),
                    Size(payload.length())
                )
            }
            Err(_) if piece_length < merkle::LEAF_LEN => {
                format!(
                    "version 2 needs pieces of {} or more",
                    Size(merkle::LEAF_LEN.into())
                )
            }
            Err(reason) => format!("of a hybrid, {reason}"),
        };
        // What it says if this cannot be either, is true of both.
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

fn too_long() -> anyhow::Error {
    let most = Size(MAX_LEN);
    anyhow!("the .torrent would be longer than {most}, which few programs read: use longer pieces")
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
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let rate = created.content_bytes as f64 / created.elapsed_seconds.max(f64::EPSILON) / 1e9;
    writeln!(
        out,
        "  hashed in {:.3} s, {rate:.2} GB/s",
        created.elapsed_seconds
    )?;
    Ok(())
}
