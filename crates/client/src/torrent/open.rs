//! Reads or fetches the metadata of a torrent, and starts the verification of its content.

use std::fs::File;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hashlane_files::{AtomicFile, Overwrite, sync};
use hashlane_metainfo::{
    Edit, FileSelection, InfoHashes, ListEdit, Magnet, PeerAddress, Torrent as Metainfo,
};
use hashlane_swarm::{Sources, TorrentId};
use tracing::info;

use super::stage::{LeadsTo, Leaving, Metadata, Opening, Verifying};
use super::state::{Machine, Shared};
use crate::config::Mode;
use crate::error::TorrentError;
use crate::event::{Event, Outcome};
use crate::fetch::{self, Fetch};
use crate::inbox::{Done, Message};
use crate::snapshot::Activity;
use crate::source::Source;
use crate::stored::{Selection, StoredTorrent};
use crate::worker::Turn;

impl Machine {
    /// Starts to read or fetch the metadata.
    pub(crate) fn start(&mut self, shared: &Shared, source: Source) -> Result<(), TorrentError> {
        match source {
            Source::Metainfo(read) => {
                let read = move || read().map_err(TorrentError::Source);
                self.open(shared, read, Sources::default(), None);
            }
            Source::Torrent(metainfo) => {
                self.identify(shared, metainfo.info_hashes());
                let bytes = metainfo.bytes().to_vec();
                self.open(shared, move || Ok(bytes), Sources::default(), None);
            }
            Source::Url(url) => {
                let request = Fetch {
                    url,
                    proxy: shared.config.session.proxy.clone(),
                    bind: shared.config.session.network.bind.clone(),
                    timeout: self.timeout(),
                    max_len: shared.config.max_metainfo_len,
                    // The user of the program has chosen it.
                    is_public: false,
                };
                let (start, inbox) = (self.start, shared.inbox.clone());
                fetch::start(request, move |result| {
                    inbox.send(Message::Done(start, Done::Fetched(result)));
                })?;
            }
            Source::Magnet(magnet) => {
                self.identify(shared, magnet.info_hashes);
                self.stages.advance(|_: &Opening| Metadata { magnet });
                if self.snapshot.is_paused {
                    self.snapshot.activity = Activity::Paused;
                } else {
                    self.join_link(shared)?;
                }
            }
            Source::Over(over) => self.stay_over(shared, *over),
        }
        Ok(())
    }

    /// Adds a magnet link to the session, which announces it and fetches its metadata. A link that is paused from the start is
    /// added when it is resumed.
    pub(super) fn join_link(&mut self, shared: &Shared) -> Result<(), TorrentError> {
        let Some(Metadata { magnet }) = self.stages.get() else {
            return Ok(());
        };
        let id = shared.session.add_magnet(magnet, &shared.config.peers)?;
        shared.ledger.joined(id, self.identity());
        self.joined(id, Activity::Metadata);
        self.configure(shared, id)
    }

    /// Reports the info-hashes as soon as they are known.
    fn identify(&mut self, shared: &Shared, info_hashes: InfoHashes) {
        let info_hashes = Some(info_hashes);
        if self.snapshot.identity.info_hashes != info_hashes {
            self.snapshot.identity.info_hashes = info_hashes;
            shared.events.send(Event::Identified(self.identity()));
        }
    }

    /// Removes a magnet link from the session after its metadata has arrived. The torrent joins later.
    pub(super) fn on_metadata(
        &mut self,
        shared: &Shared,
        id: TorrentId,
        info: &[u8],
    ) -> Result<(), TorrentError> {
        let Some(Metadata { magnet }) = self.stages.get() else {
            return Ok(());
        };
        if matches!(self.mode, Mode::Metadata { .. }) {
            let metainfo = metainfo_of(magnet, info)?;
            self.identify(shared, metainfo.info_hashes());
            let torrent = self.identity();
            info!(torrent = self.snapshot.torrent, "metadata received");
            shared.events.send(Event::Metadata { torrent, metainfo });
            self.end(shared, Outcome::Complete);
            return Ok(());
        }
        let known = shared.session.peers(id)?.into_iter();
        let known = known.filter(|peer| peer.is_outgoing);
        let mut peers: Vec<SocketAddr> = known.map(|peer| peer.address).collect();
        peers.extend(magnet.peers.iter().filter_map(PeerAddress::socket_addr));
        shared.session.remove(id)?;
        self.stages.advance(|metadata: &Metadata| Leaving {
            magnet: (*metadata.magnet).clone(),
            info: info.to_vec(),
            peers,
        });
        Ok(())
    }

    /// Opens the torrent of a magnet link that has left the session.
    pub(super) fn on_removed(&mut self, shared: &Shared) {
        let metadata_file = self.metadata_file();
        let Some(leaving) = self.stages.get_mut::<Leaving>() else {
            return;
        };
        let magnet = &leaving.magnet;
        let sources = Sources {
            trackers: magnet.trackers.clone(),
            web_seeds: magnet.web_seeds.clone(),
        };
        let link = (magnet.info_hashes, magnet.select_only.clone());
        let info = std::mem::take(&mut leaving.info);
        let keep = metadata_file.map(|path| (path, magnet.clone()));
        let peers = std::mem::take(&mut leaving.peers);
        self.stages.advance(|_: &Leaving| Opening { peers });
        self.leave(Activity::Waiting);
        let read = move || {
            if let Some((path, magnet)) = keep
                && let Ok(torrent) = metainfo_of(&magnet, &info)
            {
                write(&path, torrent.bytes())
                    .map_err(|error| TorrentError::Path { path, error })?;
            }
            Ok(bare_metainfo(&info))
        };
        self.open(shared, read, sources, Some(link));
    }

    /// Reads the .torrent file on the opener's thread.
    pub(super) fn open(
        &mut self,
        shared: &Shared,
        read: impl FnOnce() -> Result<Vec<u8>, TorrentError> + Send + 'static,
        sources: Sources,
        link: Option<(InfoHashes, Option<FileSelection>)>,
    ) {
        let mode = self.mode.clone();
        let open = move || {
            let torrent = Metainfo::parse(read()?)?;
            let mut stored = StoredTorrent::find(&torrent, &mode)?;
            stored.sources = sources;
            let selection = match link {
                Some((expected, _)) if !is_same(expected, stored.torrent().info_hashes()) => {
                    return Err(TorrentError::OtherMetadata);
                }
                Some((_, selection)) => selection,
                None => None,
            };
            if let Mode::Download(download) = &mode {
                stored.select(&download.selection, selection.as_ref())?;
            }
            Ok(Box::new(stored))
        };
        let job = move || Done::Opened(open());
        shared.opener.run(self.start, Turn::ByWork(0), job);
    }

    /// Starts the verification of an opened torrent.
    pub(super) fn on_opened(&mut self, shared: &Shared, mut stored: StoredTorrent) {
        let Some(Opening { peers }) = self.stages.get() else {
            return;
        };
        let peers = peers.clone();
        self.identify(shared, stored.torrent().info_hashes());
        shared.events.send(Event::Opened {
            torrent: self.identity(),
            metainfo: stored.torrent().clone(),
        });
        self.started = Instant::now();
        self.snapshot.name = Some(stored.name.clone());
        self.snapshot.content = Some(stored.root.to_string_lossy().into_owned());
        self.snapshot.pieces = stored.piece_count;
        self.snapshot.piece_length = stored.torrent().lengths().piece_length().get();
        self.snapshot.is_private = stored.torrent().metadata_ref().is_private;
        // A torrent has at most as many files as a u32 can count.
        self.snapshot.files = stored.selectable().count() as u32;
        self.snapshot.is_folder = stored.is_folder();
        self.snapshot.total_bytes = stored.total_bytes;
        self.snapshot.wanted_bytes = stored.selected_bytes();
        if let Some(renamed) = stored.take_renamed() {
            self.on_renamed(shared, &stored, renamed.err());
        }
        self.warn_of_each(shared, std::mem::take(&mut stored.notes), "more files");
        let names = stored.foreign_names();
        if !names.is_empty() {
            info!(
                torrent = self.snapshot.torrent,
                names = names.len(),
                "names of other programs"
            );
            shared.events.send(Event::ForeignNames {
                torrent: self.identity(),
                name: stored.name.clone(),
                names,
            });
        }
        self.verify_opened::<Opening>(shared, stored, peers);
    }

    /// Reports that the files of the torrent have other names, or not.
    pub(super) fn on_renamed(
        &mut self,
        shared: &Shared,
        stored: &StoredTorrent,
        error: Option<TorrentError>,
    ) {
        match &mut self.mode {
            Mode::Download(download) => Arc::make_mut(download).naming = stored.naming(),
            Mode::Seed(seed) => seed.naming = stored.naming(),
            Mode::Metadata { .. } => {}
        }
        shared.events.send(Event::Renamed {
            torrent: self.identity(),
            content: stored.root.clone(),
            error,
        });
    }

    /// Starts the first verification of content that was opened in the stage `From`.
    pub(super) fn verify_opened<From: LeadsTo<Verifying>>(
        &mut self,
        shared: &Shared,
        stored: StoredTorrent,
        peers: Vec<SocketAddr>,
    ) {
        let mut priorities = stored.priorities();
        if let Some(earlier) = self.take_earlier_priorities(&priorities) {
            stored.set_selection(Selection::by_priorities(stored.torrent(), &earlier));
            priorities = earlier;
        }
        let stored = Arc::new(stored);
        self.snapshot.wanted_bytes = stored.selected_bytes();
        self.snapshot.detail.priorities = priorities.into();
        self.snapshot.detail.stored = Some(Arc::clone(&stored));
        let content = Arc::clone(&stored);
        match &self.mode {
            Mode::Download(_) => self.verify(shared, self.verification(content)),
            Mode::Seed(_) | Mode::Metadata { .. } => {
                let work = if content.is_recorded() {
                    0
                } else {
                    content.total_bytes
                };
                self.verify_after(shared, work, move |settings| {
                    Done::Verified(content.verify_or_find(settings))
                });
            }
        }
        self.stages.advance(|_: &From| Verifying { stored, peers });
        self.snapshot.activity = Activity::Verifying;
    }
}

/// Returns a .torrent file that contains only an info dictionary.
fn bare_metainfo(info: &[u8]) -> Vec<u8> {
    [b"d4:info", info, b"e"].concat()
}

/// Returns the torrent of a link, with the trackers and web seeds of the link. Each tracker is a tier, because the link
/// has no tiers.
fn metainfo_of(magnet: &Magnet, info: &[u8]) -> Result<Metainfo, TorrentError> {
    let torrent = Metainfo::parse(bare_metainfo(info))?;
    if !is_same(magnet.info_hashes, torrent.info_hashes()) {
        return Err(TorrentError::OtherMetadata);
    }
    let tiers = magnet.trackers.iter().map(|url| vec![url.clone()]);
    let edit = Edit {
        trackers: Some(ListEdit::Set(tiers.collect())),
        web_seeds: Some(ListEdit::Set(magnet.web_seeds.clone())),
        ..Edit::default()
    };
    Ok(edit.apply(&torrent)?)
}

/// Writes a file that only its user may read, whole or not at all. It is on the disk afterwards.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = AtomicFile::beside(path, 0o600)?;
    file.as_file().write_all(bytes)?;
    file.put(path, Overwrite::Yes)?;
    let folder = path.parent().map(File::open).transpose()?;
    folder.map_or(Ok(()), |folder| sync(&folder))
}

/// Returns `true` if every info-hash of the link is also an info-hash of the metadata.
fn is_same(link: InfoHashes, found: InfoHashes) -> bool {
    let is_same = link.v1().is_none_or(|v1| found.v1() == Some(v1))
        && link.v2().is_none_or(|v2| found.v2() == Some(v2));
    is_same && (link.v1().is_some() || link.v2().is_some())
}
