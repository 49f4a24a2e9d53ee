//! `hashlane magnet --fetch`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use hashlane_cli::new_file::{self, Overwrite};
use hashlane_cli::output::text::count;
use hashlane_cli::{Env, Exit, links, torrent_file};
use hashlane_client::{Config, Mode, Source, Task};
use hashlane_metainfo::{Magnet, Torrent};
use hashlane_swarm::EventDetail;

use crate::Run;
use crate::output::reporter::Reporter;
use crate::runner::Runner;
use crate::settings::{SessionSettings as _, peer_addresses};

impl Run for hashlane_cli::Magnet {
    /// Fetches the metadata of all links at the same time.
    fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        torrent_file::check_inputs(&self.torrents)?;
        let (links, fetching) = (self.torrents, self.fetching);
        let overwrite = fetching.force.overwrite();
        if let Some(output) = &fetching.output {
            check_output(env, output, overwrite, links.len())?;
        }
        let timeout = fetching.timeout;
        let tasks = links.iter().map(|given| Task {
            label: links::without_secrets(given.display()),
            source: source(env, given),
            mode: Mode::Metadata { timeout },
        });
        let tasks: Vec<Task> = tasks.collect();
        let config = Config {
            session: fetching.connections.settings(env, EventDetail::Essential)?,
            peers: peer_addresses(&self.peers)?,
            cancel: env.cancel.clone(),
            max_metainfo_len: torrent_file::MAX_LEN,
            ..Config::default()
        };
        let output = fetching.output;
        let save = move |env: &mut Env, torrent: &Torrent| {
            let path = output.clone().unwrap_or_else(|| default_output(torrent));
            new_file::write(&env.resolve(&path), torrent.bytes(), overwrite)
                .with_context(|| path.display().to_string())?;
            if let Some(note) = note(torrent) {
                env.error(&format!("{}: {note}", path.display()));
            }
            Ok(path)
        };
        let reporter = Reporter::new(self.form.json, fetching.quiet);
        Runner::new(reporter).saving(save).run(env, &config, tasks)
    }
}

/// Refuses an output that cannot be written.
fn check_output(
    env: &Env,
    output: &Path,
    overwrite: Overwrite,
    n_links: usize,
) -> anyhow::Result<()> {
    if n_links > 1 {
        bail!("--output needs a single magnet link, but {n_links} were given");
    }
    if torrent_file::is_stream(output) {
        bail!("--output -: --fetch writes to files only");
    }
    new_file::check(&env.resolve(output), overwrite).with_context(|| output.display().to_string())
}

/// Returns the source of a link. An invalid link fails when it is opened, and the others continue. Prints the hints of
/// the link that are ignored.
fn source(env: &mut Env, given: &Path) -> Source {
    match read(env, given) {
        Ok(magnet) => Source::Magnet(Box::new(magnet)),
        Err(error) => Source::Metainfo(Box::new(move || Err(error.into()))),
    }
}

fn read(env: &mut Env, given: &Path) -> anyhow::Result<Magnet> {
    let text = if torrent_file::is_stream(given) {
        String::from_utf8(torrent_file::read_given(env, given)?)?
    } else {
        given.to_string_lossy().into_owned()
    };
    let link = torrent_file::link(env, &text);
    let link = link.ok_or_else(|| anyhow!("neither a magnet link nor an info-hash"))?;
    let (magnet, ignored) = Magnet::read(link)?;
    for hint in ignored {
        env.error(&format!(
            "{}: ignored: {hint}",
            links::without_secrets(link)
        ));
    }
    Ok(magnet)
}

/// Maximum length of a file name in bytes, on most file systems.
const MAX_NAME_LEN: usize = 255;

/// Returns the name of the torrent with the extension, without the end of a name that would be too long.
fn default_output(torrent: &Torrent) -> PathBuf {
    const EXTENSION: &str = ".torrent";
    let name = String::from_utf8_lossy(torrent.name().as_bytes());
    let mut end = name.len().min(MAX_NAME_LEN - EXTENSION.len());
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    PathBuf::from(format!("{}{EXTENSION}", &name[..end]))
}

/// Returns a note if a .torrent lacks piece layers: peers send them only with the content.
fn note(torrent: &Torrent) -> Option<String> {
    let piece_length = u64::from(torrent.lengths().piece_length().get());
    let lacks_layer = |file: &hashlane_metainfo::File<'_>| {
        file.pieces_root().is_some() && file.length() > piece_length && file.piece_layer().is_none()
    };
    let n_files = torrent.files().iter().filter(lacks_layer).count();
    (n_files > 0).then(|| {
        let files = count(n_files as u64, "file");
        format!("note: {files} without a piece layer: version 2 has one hash for the whole file")
    })
}
