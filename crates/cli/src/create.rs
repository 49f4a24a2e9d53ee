//! `hashlane create`: looks through the files, hashes them, and writes the .torrent.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use globset::{Glob, GlobSet, GlobSetBuilder};
use hashlane_metainfo::{
    MIN_PIECE_LENGTH, Magnet, NewContent, NewMetadata, PathComponent, Torrent, Version, merkle,
    piece_length_for,
};
use hashlane_verify::{Payload, Selection, hash_payload};
use serde::Serialize;

use crate::args::{Create, Format, Links};
use crate::new_file::{self, Overwrite};
use crate::progress::ProgressLine;
use crate::text::{Grouped, Palette, Shown, Size, Styled, count};
use crate::{Env, Exit, json_lines};

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
    elapsed_seconds: f64,
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
        let overwrite = if self.force {
            Overwrite::Yes
        } else {
            Overwrite::No
        };
        let place = env.resolve(&output);
        new_file::check(&place, overwrite).with_context(|| output.display().to_string())?;

        let payload = self.find(env, &place)?;
        let (content, note) = self.plan(&payload, &name).with_context(|| shown.clone())?;
        env.catch_interrupts();
        let started = std::time::Instant::now();
        let mut line =
            (env.progress && !self.quiet).then(|| ProgressLine::new(format!("{shown}: hashing")));
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
        let torrent = Torrent::parse(&bytes).context("the torrent would be refused")?;
        new_file::write(&place, &bytes, overwrite).with_context(|| output.display().to_string())?;
        let created = Created {
            path: self.path.to_string_lossy().into_owned(),
            torrent: output.to_string_lossy().into_owned(),
            version: crate::text::version(torrent.version()),
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
            elapsed_seconds: elapsed.as_secs_f64(),
        };
        if self.json {
            json_lines::print(env, &created)?;
        } else if !self.quiet {
            print(env, &created, &payload)?;
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
        let excludes = globs(&self.excludes)?;
        let output = output.canonicalize().ok();
        let exclude = |path: &Path| {
            let is_output = |output: &PathBuf| {
                let same_name = path.file_name() == output.file_name();
                same_name
                    && root
                        .join(path)
                        .canonicalize()
                        .is_ok_and(|path| path == *output)
            };
            excludes.is_match(path) || output.as_ref().is_some_and(is_output)
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
        };
        Ok(Payload::find(&root, &selection)?)
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
            None if (MIN_PIECE_LENGTH..merkle::LEAF_LEN).contains(&piece_length) => {
                let note = format!(
                    "version 1 only: version 2 needs pieces of {} or more",
                    Size(merkle::LEAF_LEN.into())
                );
                return Ok((content(Version::V1)?, Some(note)));
            }
            None => {
                let hybrid = content(Version::Hybrid)?;
                let padding = hybrid.padding_bytes();
                if padding <= payload.length() / HARMLESS_PADDING {
                    return Ok((hybrid, None));
                }
                let note = format!(
                    "version 1 only: a hybrid would have {} of padding beside {} of content",
                    Size(padding),
                    Size(payload.length())
                );
                return Ok((content(Version::V1)?, Some(note)));
            }
        };
        Ok((content(version)?, None))
    }

    fn metadata(&self) -> NewMetadata {
        NewMetadata {
            trackers: self.trackers.tiers.clone(),
            web_seeds: self.web_seeds.clone(),
            nodes: self.nodes.clone(),
            comment: self.comment.clone(),
            created_by: (!self.no_created_by)
                .then(|| concat!("hashlane ", env!("CARGO_PKG_VERSION")).into()),
            creation_date: self.date,
            is_private: self.private,
            source: self.source.clone(),
        }
    }
}

fn globs(patterns: &[String]) -> anyhow::Result<GlobSet> {
    let mut globs = GlobSetBuilder::new();
    for pattern in patterns {
        // Without a folder in it a pattern means the name, wherever it is.
        let anywhere = if pattern.contains('/') {
            pattern.trim_start_matches('/').to_owned()
        } else {
            format!("**/{pattern}")
        };
        let glob = Glob::new(anywhere.trim_end_matches('/'));
        globs.add(glob.with_context(|| format!("--exclude {pattern}"))?);
    }
    Ok(globs.build()?)
}

fn print(env: &mut Env, created: &Created<'_>, payload: &Payload) -> anyhow::Result<()> {
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
    let left_out = payload.left_out();
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
