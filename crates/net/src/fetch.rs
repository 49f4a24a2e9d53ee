//! `hashlane magnet --fetch`.

use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;

use anyhow::{Context as _, anyhow, bail};
use hashlane_cli::new_file::{self, Overwrite};
use hashlane_cli::output::stream;
use hashlane_cli::output::text::count;
use hashlane_cli::{Env, Exit, links, torrent_file};
use hashlane_client::{Client, Config, Error, Event, Identity, Mode, Source, Subscription, Task};
use hashlane_metainfo::{Magnet, Torrent};
use hashlane_swarm::EventDetail;

use crate::Run;
use crate::output::labels::Labels;
use crate::output::reporter::{Name, Reporter};
use crate::runner::{exit, named};
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
        let mut reporter = Reporter::new(self.form.json, fetching.quiet);
        env.catch_interrupts();
        let lost_lines = reporter.lost_lines();
        env.printer.start(lost_lines).map_err(Error::Thread)?;
        reporter.start(env);
        let (client, events) = Client::start(config, tasks).map_err(named)?;
        let mut links = Fetched {
            reporter,
            labels: Labels::default(),
            output: fetching.output,
            overwrite,
            has_failed: false,
        };
        let followed = links.follow(env, &client, &events);
        links.reporter.hide();
        let ended = client.stop();
        match followed {
            Err(error) if stream::is_broken_pipe(&error) => return Ok(Exit::NotChecked),
            followed => followed?,
        }
        let outcomes = ended.map_err(named)?;
        Ok(if links.has_failed {
            Exit::NotChecked
        } else {
            exit(outcomes)
        })
    }
}

/// The links whose metadata is fetched.
struct Fetched {
    reporter: Reporter,
    labels: Labels,
    output: Option<PathBuf>,
    overwrite: Overwrite,
    /// Whether a .torrent file could not be written.
    has_failed: bool,
}

impl Fetched {
    /// Writes the metadata as it arrives, until the client ends.
    fn follow(
        &mut self,
        env: &mut Env,
        client: &Client,
        events: &Subscription,
    ) -> anyhow::Result<()> {
        loop {
            match events.recv_timeout(self.reporter.until_due()) {
                Ok(event) => {
                    self.labels.on_event(&event);
                    match &*event {
                        Event::Metadata { torrent, metainfo } => {
                            self.save(env, *torrent, metainfo)?;
                        }
                        event => self.reporter.on_event(env, event)?,
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            let snapshot = client.snapshot();
            let handle = |torrent: Identity| client.get(torrent.number);
            self.reporter.show(env, &snapshot, handle)?;
        }
    }

    /// Writes the metadata of a magnet link.
    fn save(&mut self, env: &mut Env, torrent: Identity, metainfo: &Torrent) -> anyhow::Result<()> {
        let path = self.output.clone();
        let path = path.unwrap_or_else(|| default_output(metainfo));
        let torrent = Name {
            label: self.labels.of(torrent),
            identity: torrent,
        };
        let write = || new_file::write(&env.resolve(&path), metainfo.bytes(), self.overwrite);
        let written = self.reporter.suspend(write);
        match written.with_context(|| path.display().to_string()) {
            Ok(()) => {
                if let Some(note) = note(metainfo) {
                    env.error(&format!("{}: {note}", path.display()));
                }
                self.reporter.fetched(env, torrent, &path, metainfo)
            }
            Err(error) => {
                self.has_failed = true;
                self.reporter.error(env, torrent, &format!("{error:#}"))
            }
        }
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
