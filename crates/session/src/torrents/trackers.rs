//! Trackers of torrents, which a person changes while the session runs.

use std::fs;

use hashlane_client::{Metainfo, SecretTiers};
use hashlane_store::{Metainfo as Stored, Name, StoreError};

use super::Torrents;
use crate::trackers::{of_magnet, of_metainfo, with_trackers};

impl Torrents {
    /// Returns the metadata in the folder, if it is known.
    pub(super) fn stored_metainfo(&self, name: Name) -> Option<Metainfo> {
        match &self.store.get(name)?.metainfo {
            Stored::File(path) => Metainfo::parse(fs::read(path).ok()?).ok(),
            Stored::Torrent(torrent) => Some(torrent.clone()),
            Stored::Magnet(_) => None,
        }
    }

    /// Returns the trackers of a torrent if they changed since the start.
    pub(crate) fn changed_tiers(&self, name: Name) -> Option<&SecretTiers> {
        self.running.get(&name)?.tiers.as_ref()
    }

    /// Returns the trackers of a torrent, with their secrets.
    pub(crate) fn tiers(&self, name: Name) -> Vec<Vec<String>> {
        let Some(entry) = self.store.get(name) else {
            return Vec::new();
        };
        if let Stored::Magnet(magnet) = &entry.metainfo {
            return of_magnet(magnet);
        }
        if let Some(SecretTiers(tiers)) = self.changed_tiers(name) {
            return tiers.to_vec();
        }
        // The client has read the same file.
        let metainfo = self.metainfo(name);
        metainfo.map_or_else(Vec::new, |metainfo| of_metainfo(&metainfo))
    }

    /// Replaces the trackers of a torrent: in the folder first, and then in the client.
    pub(crate) fn set_trackers(
        &mut self,
        name: Name,
        tiers: Vec<Vec<String>>,
    ) -> Result<(), String> {
        self.check_running()?;
        if let Some(url) = tiers
            .iter()
            .flatten()
            .find(|url| !hashlane_metainfo::is_url(url))
        {
            let shown = hashlane_metainfo::masked_url(url);
            return Err(format!("{shown:?}: not the URL of a tracker"));
        }
        let text = |error: StoreError| error.to_string();
        let entry = self.entry(name)?;
        if let Stored::Magnet(magnet) = &entry.metainfo {
            let mut magnet = (**magnet).clone();
            magnet.trackers = tiers.iter().flatten().cloned().collect();
            self.store.set_magnet(name, magnet).map_err(text)?;
        } else {
            let metainfo = self
                .stored_metainfo(name)
                .ok_or_else(|| format!("{name}: its .torrent file cannot be read"))?;
            let edited = with_trackers(&metainfo, tiers.clone());
            let edited = edited.map_err(|error| error.to_string())?;
            self.store.set_metainfo(name, &edited).map_err(text)?;
        }
        if let Some(running) = self.running.get_mut(&name) {
            running.tiers = Some(SecretTiers(tiers.as_slice().into()));
            running.known = None;
        }
        if let Some(handle) = self.handle(name) {
            // A torrent that has ended gets them when it is started again.
            let _ = handle.set_trackers(tiers);
        }
        Ok(())
    }
}
