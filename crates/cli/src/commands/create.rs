//! `hashlane create`: finds the files, hashes them, and writes the .torrent.
//!
//! `arguments.rs` holds the options and `preset.rs` the options of a preset. `selection.rs` finds the files, and
//! `plan.rs` decides on the version and the piece length, and holds the results of both. `report.rs` prints them.

mod arguments;
mod choices;
mod plan;
pub(super) mod preset;
mod report;
mod selection;

#[cfg(feature = "schema")]
pub(crate) use report::schema;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use data_encoding::HEXLOWER;
use hashlane_metainfo::{NewContent, NewMetadata, PathComponent, PieceHashes, Torrent, Version};
use hashlane_verify::{SourceTree, hash_source_tree};

pub(crate) use arguments::Create;

use crate::output::text::count;
use crate::{Env, Exit, new_file};
use plan::{Draft, NotWritten, Target};
use report::Form;
use selection::Filter;

/// Number of random bytes for `--entropy`. They are written as hexadecimal digits.
const ENTROPY_LEN: usize = 16;

impl Create {
    pub(crate) fn run(mut self, env: &mut Env) -> anyhow::Result<Exit> {
        self.check_usage(env)?;
        self.apply_preset(env)?;
        let filter = Filter::new(env, &self)?;
        self.check_folder(env)?;
        if self.is_private() && self.trackers.tiers.is_empty() {
            env.error(
                "warning: a private torrent without a tracker finds no peers: add one with -a",
            );
        }
        let (mut exit, mut n_created) = (Exit::Good, 0);
        let mut note = None;
        let mut places = Vec::new();
        for path in &self.paths {
            let result = if env.cancel.is_cancelled() {
                Err(anyhow!("interrupted"))
            } else {
                self.create(env, path, &filter, &mut places)
            };
            match result {
                Ok(version) => {
                    n_created += 1;
                    note = note.or(version.and_then(report::other_programs));
                }
                Err(error) => {
                    env.error(&format!("{error:#}"));
                    exit = Exit::NotChecked;
                    if env.cancel.is_cancelled() {
                        break;
                    }
                }
            }
        }
        if self.form() == Some(Form::Line) && !self.dry_run {
            let n_torrents = count(self.paths.len() as u64, "torrent");
            writeln!(env.stdout, "{n_created} of {n_torrents} created")?;
            if let Some(note) = note {
                writeln!(env.stdout, "{note}")?;
            }
        }
        Ok(exit)
    }

    /// Checks the rules that clap cannot express.
    fn check_usage(&self, env: &Env) -> anyhow::Result<()> {
        if self.paths.len() > 1 && self.output.is_some() && self.output_folder(env).is_none() {
            bail!("--output is for one input, unless it is a folder, or ends with /");
        }
        if self.paths.len() > 1 && self.name.is_some() {
            bail!("--name is for one input");
        }
        if self.writes_to_stdout() && !self.dry_run {
            if self.printing.is_json() {
                bail!("--json and --output - both write to standard output");
            }
            if env.stdout_is_terminal {
                bail!("--output -: a terminal cannot show a .torrent: redirect standard output");
            }
        }
        Ok(())
    }

    /// Returns the folder that the user gave for the .torrent files, if any.
    fn output_folder(&self, env: &Env) -> Option<&Path> {
        let is_folder = |output: &&Path| {
            let ends = output.as_os_str().as_encoded_bytes();
            ends.ends_with(b"/") || env.resolve(output).is_dir()
        };
        let output = self.output.as_deref().filter(is_folder);
        self.output_dir.as_deref().or(output)
    }

    /// Creates the folder of the .torrent files, or checks once that it exists.
    fn check_folder(&self, env: &Env) -> anyhow::Result<()> {
        let parent = self.output.as_deref().and_then(Path::parent);
        let Some(folder) = self.output_folder(env).or(parent) else {
            return Ok(());
        };
        let place = env.resolve(folder);
        if self.dry_run || folder.as_os_str().is_empty() || place.is_dir() {
            return Ok(());
        }
        let path_text = || folder.display().to_string();
        if self.parents {
            return fs::create_dir_all(place).with_context(path_text);
        }
        if place.exists() {
            bail!("{}: is not a folder", path_text());
        }
        bail!("{}: no such folder: --parents creates it", path_text());
    }

    /// Returns the form of the reports, or `None` if none are wanted.
    fn form(&self) -> Option<Form> {
        match &self.printing {
            printing if printing.is_json() => Some(Form::Json),
            printing if printing.quiet => None,
            // The .torrent is the only output.
            _ if self.writes_to_stdout() && !self.dry_run => None,
            _ if self.paths.len() > 1 && !self.verbose => Some(Form::Line),
            _ => Some(Form::Text),
        }
    }

    fn writes_to_stdout(&self) -> bool {
        self.output.as_deref() == Some(Path::new("-"))
    }

    /// Creates the .torrent of one input, or only plans it. `places` holds the output files of the earlier inputs. Returns
    /// the version of a torrent that was created.
    fn create(
        &self,
        env: &mut Env,
        path: &Path,
        filter: &Filter,
        places: &mut Vec<PathBuf>,
    ) -> anyhow::Result<Option<Version>> {
        let draft = self.draft(env, path, filter, places)?;
        let path_text = || path.display().to_string();
        let (metadata, not_written) = self.metadata()?;
        if self.dry_run {
            return match self.form() {
                Some(form) => report::planned(env, &draft, not_written, form).map(|()| None),
                None => Ok(None),
            };
        }
        env.catch_interrupts();
        let started = std::time::Instant::now();
        let hashes = self.hash(env, path, &draft.found.tree, &draft.content)?;
        let elapsed = started.elapsed();

        let bytes = draft.content.write(&hashes, &metadata);
        // Hashlane never writes a .torrent that it would refuse to read.
        plan::check_len(bytes.len() as u64).with_context(path_text)?;
        let torrent = Torrent::parse(bytes)
            .context("the torrent would be refused")
            .with_context(path_text)?;
        self.write(env, &draft.target, torrent.bytes())?;
        let (elapsed, passkeys) = (elapsed.as_secs_f64(), self.secrets.passkeys());
        if let Some(form) = self.form() {
            report::created(env, &draft, not_written, &torrent, passkeys, elapsed, form)?;
        }
        Ok(Some(torrent.version()))
    }

    fn draft(
        &self,
        env: &Env,
        path: &Path,
        filter: &Filter,
        places: &mut Vec<PathBuf>,
    ) -> anyhow::Result<Draft> {
        let path_text = || path.display().to_string();
        let name = self.name(env, path)?;
        if let Err(reason) = PathComponent::try_from(&name[..]) {
            let name = String::from_utf8_lossy(&name);
            return Err(anyhow!("{}: {name:?}: {reason}", path_text()));
        }
        let target = self.target(env, &name, places)?;
        let root = env.resolve(path);
        let found = self.find(&root, target.place.as_deref(), filter)?;
        let (content, note) = self.plan(&found.tree, &name).with_context(path_text)?;
        plan::check_size(&content).with_context(path_text)?;
        Ok(Draft {
            path: path.to_owned(),
            name,
            target,
            found,
            content,
            note,
        })
    }

    /// Returns the torrent's name: the option, or the name of the file or folder.
    fn name(&self, env: &Env, path: &Path) -> anyhow::Result<Vec<u8>> {
        if let Some(name) = &self.name {
            return Ok(name.clone().into_bytes());
        }
        let place = env.resolve(path);
        // Paths such as `.` do not end in a name.
        let place = match place.file_name() {
            Some(_) => place,
            None => place
                .canonicalize()
                .with_context(|| path.display().to_string())?,
        };
        let name = place
            .file_name()
            .ok_or_else(|| anyhow!("{}: has no file name: use --name", path.display()))?;
        Ok(name.as_encoded_bytes().to_vec())
    }

    /// Returns the place of the .torrent, after checking that the file can be written there.
    fn target(&self, env: &Env, name: &[u8], places: &mut Vec<PathBuf>) -> anyhow::Result<Target> {
        let name = format!("{}.torrent", String::from_utf8_lossy(name));
        let given = match (self.output_folder(env), &self.output) {
            (Some(folder), _) => folder.join(name),
            (None, Some(output)) => output.clone(),
            (None, None) => name.into(),
        };
        if self.writes_to_stdout() {
            return Ok(Target { given, place: None });
        }
        let place = env.resolve(&given);
        if places.contains(&place) {
            bail!("{}: the .torrent of another input", given.display());
        }
        places.push(place.clone());
        if !self.dry_run {
            new_file::check(&place, self.force.overwrite())
                .with_context(|| given.display().to_string())?;
        }
        let place = Some(place);
        Ok(Target { given, place })
    }

    /// Hashes the files, and shows the progress.
    fn hash(
        &self,
        env: &Env,
        path: &Path,
        tree: &SourceTree,
        content: &NewContent,
    ) -> anyhow::Result<PieceHashes> {
        let options = self.hashing.options();
        let name = path.display().to_string();
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

    fn write(&self, env: &mut Env, target: &Target, bytes: &[u8]) -> anyhow::Result<()> {
        match &target.place {
            None => Ok(env.stdout.write_all(bytes)?),
            Some(place) => new_file::write(place, bytes, self.force.overwrite())
                .with_context(|| target.given.display().to_string()),
        }
    }

    /// Returns the keys that do not describe the content. DHT nodes and web seeds are not written to a private torrent,
    /// because its peers come from the trackers only.
    fn metadata(&self) -> anyhow::Result<(NewMetadata, NotWritten)> {
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let mut metadata = NewMetadata {
            trackers: self.trackers.tiers.clone(),
            web_seeds: self.web_seeds.clone(),
            nodes: self.nodes.clone(),
            comment: text(&self.comment),
            created_by: (!self.no_created_by)
                .then(|| concat!("hashlane ", env!("CARGO_PKG_VERSION")).into()),
            creation_date: self.date,
            is_private: self.is_private(),
            source: text(&self.source),
            entropy: self.entropy.unwrap_or(false).then(entropy).transpose()?,
        };
        let mut not_written = NotWritten::default();
        if self.is_private() {
            not_written.nodes = std::mem::take(&mut metadata.nodes).len();
            not_written.web_seeds = std::mem::take(&mut metadata.web_seeds).len();
        }
        Ok((metadata, not_written))
    }
}

/// Returns random text.
fn entropy() -> anyhow::Result<String> {
    let mut bytes = [0; ENTROPY_LEN];
    getrandom::fill(&mut bytes).context("--entropy: no random bytes")?;
    Ok(HEXLOWER.encode(&bytes))
}
