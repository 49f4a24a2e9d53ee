//! Torrents that requests and watched folders add.

use std::sync::{Arc, Mutex};

use data_encoding::BASE64;
use hashlane_api::{NewTorrent, Place, Refusal, Source};
use hashlane_client::Rights;
use hashlane_metainfo::{ContentLayout, ContentMap, Torrent};
use hashlane_store::{Choices, Name, StoreError};

use super::apply::choose;
use super::fetches::Fetches;
use super::goal::naming;
use super::hooks::Moment;
use super::priorities;
use super::torrents::{Request, Start, Torrents, lock};

/// Adds a torrent, after the file of a URL was fetched. Returns its name, and `false` if it was present. Without `rights`,
/// everything is allowed.
pub(super) fn add(
    torrents: &Mutex<Torrents>,
    fetches: &Fetches,
    source: Source,
    new: &NewTorrent,
    rights: Option<&Rights>,
) -> Result<(Name, bool), Refusal> {
    let source = match source {
        Source::Url(url) => {
            let is_public = rights.is_some_and(|rights| !rights.fetches_local);
            let file = fetches.fetch(torrents, url, is_public);
            Source::of_file(file.map_err(Refusal::Conflict)?)?
        }
        source => source,
    };
    lock(torrents).add(source, new, rights)
}

impl Torrents {
    /// Adds a torrent to the folder and to the client. Returns its name, and `false` if it was present.
    pub(super) fn add(
        &mut self,
        source: Source,
        new: &NewTorrent,
        rights: Option<&Rights>,
    ) -> Result<(Name, bool), Refusal> {
        self.check_running().map_err(Refusal::Unavailable)?;
        new.check(&source)?;
        let mut choices = self.choices_of(new, rights)?;
        let has_chosen_files = new.select.is_some() || !new.priorities.is_empty();
        let put = match source {
            Source::Torrent(torrent) => {
                choose_files(&mut choices, new, &torrent)?;
                self.set_aside_if_over(torrent.info_hashes());
                self.store.put(torrent, choices)
            }
            Source::Magnet(_) if choices.map.is_some() => {
                let reason = "content_map: a link does not have the paths of files";
                return Err(Refusal::Invalid(reason.into()));
            }
            Source::Magnet(magnet) => {
                self.set_aside_if_over(magnet.info_hashes);
                self.store.put_magnet(*magnet, choices)
            }
            Source::Url(_) => return Err(Refusal::Invalid("a URL that was not fetched".into())),
        };
        match put.map(hashlane_store::Entry::name) {
            Ok(name) => {
                let start = Start {
                    request: Request::for_files(has_chosen_files),
                    ..Start::default()
                };
                if let Err(error) = self.start(name, start) {
                    // The next start would add it otherwise.
                    let _ = self.store.remove(name);
                    return Err(error.into());
                }
                tracing::debug!(torrent = %name, "added");
                self.hook(name, Moment::Added, None, None);
                Ok((name, true))
            }
            Err(StoreError::Exists(name)) => Ok((name, false)),
            Err(error) => Err(Refusal::Conflict(error.to_string())),
        }
    }

    /// Returns what was chosen for a torrent, apart from its files.
    fn choices_of(&self, new: &NewTorrent, rights: Option<&Rights>) -> Result<Choices, Refusal> {
        let invalid = Refusal::Invalid;
        let category = new.set.category.clone().flatten();
        let own = self.folder_of(category.as_deref()).map_err(invalid)?;
        let place = match (&new.folder, &new.content) {
            (Some(_), Some(_)) => return Err(invalid("both a folder and content".into())),
            (Some(folder), None) => Place::Folder(folder.clone()),
            (None, Some(content)) => Place::Content(content.clone()),
            (None, None) => {
                let none = "no folder for the content: name one here, or at the start of the daemon (--dir)";
                Place::Folder(own.ok_or_else(|| Refusal::Conflict(none.into()))?)
            }
        };
        if let Some(rights) = rights {
            let chosen = [new.folder.as_deref(), new.content.as_deref()];
            for path in chosen.into_iter().flatten() {
                rights.check_folder(path)?;
            }
            if new.content_map.is_some() {
                let reason = "content_map: only `hashlane ctl` names files of this machine";
                return Err(Refusal::Forbidden(reason.into()));
            }
        }
        let map = new.content_map.as_ref().map(|text| {
            let text = BASE64.decode(text.as_bytes());
            let text = text.map_err(|error| invalid(format!("content_map: {error}")))?;
            let map = ContentMap::parse(&text);
            map.map(Arc::new)
                .map_err(|error| invalid(format!("content_map: {error}")))
        });
        let map = map.transpose()?;
        if map.is_some() && matches!(place, Place::Content(_)) {
            return Err(invalid("both a content map and content".into()));
        }
        let mut choices = Choices {
            map,
            layout: new.layout,
            paused: new.paused.unwrap_or(self.store.session().adds_paused),
            ..self.usual_choices(place)
        };
        choose(&mut choices, &new.set);
        for (file, priority) in &new.priorities {
            priorities::set(&mut choices.priorities, &[*file], *priority);
        }
        Ok(choices)
    }
}

/// Chooses names and files of a torrent, whose metadata is known.
fn choose_files(choices: &mut Choices, new: &NewTorrent, torrent: &Torrent) -> Result<(), Refusal> {
    if let Some(map) = &choices.map {
        let places = map.places_of(torrent);
        places.map_err(|error| Refusal::Invalid(format!("content_map: {error}")))?;
    }
    let names = naming(choices).of(torrent);
    choices.names = names.map_err(|error| Refusal::Invalid(error.to_string()))?;
    choices.layout = ContentLayout::Original;
    if let Some(selected) = &new.select {
        priorities::select(&mut choices.priorities, torrent, selected);
    }
    Ok(())
}
