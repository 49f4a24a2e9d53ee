//! New torrents.

use hashlane_api::{NewTorrent, Refusal, Source};
use hashlane_remote::model::Added;

use super::Remote;
use crate::daemon::add::add;
use crate::daemon::torrents::lock;

impl Remote {
    pub(super) fn add_torrent(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal> {
        let rights = Some(&self.rights);
        let (name, is_new) = add(&self.torrents, &self.fetches, source, new, rights)?;
        let torrents = lock(&self.torrents);
        let entry = torrents.store.get(name).ok_or(Refusal::Absent)?;
        Ok(Added {
            id: u32::try_from(torrents.number(name).ok_or(Refusal::Absent)?).unwrap_or(u32::MAX),
            info_hashes: entry.info_hashes,
            name: entry.shown_title(),
            is_duplicate: !is_new,
        })
    }
}
