//! New torrents.

use hashlane_api::{Place, Priority, Refusal};
use hashlane_metainfo::{ContentLayout, Magnet, Torrent as ParsedTorrent};
use hashlane_remote::model::{Added, NewTorrent, Source};
use hashlane_store::Choices;

use super::{Remote, unsupported};
use crate::daemon::goal::naming;
use crate::daemon::priorities;
use crate::daemon::report::New;
use crate::daemon::torrents::lock;

impl Remote {
    pub(super) fn add_torrent(&self, new: NewTorrent) -> Result<Added, Refusal> {
        let invalid = |error: &dyn std::fmt::Display| Refusal::Invalid(error.to_string());
        let mut choices = self.new_choices(&new)?;
        let is_magnet = |link: &str| Magnet::has_scheme(link) || Magnet::is_info_hash(link);
        let source = match new.source {
            Source::Link(url) if !is_magnet(&url) => {
                let is_public = !self.fixed.fetches_local;
                let fetched = self.fetches.fetch(&self.torrents, url, is_public);
                Source::Metainfo(fetched.map_err(Refusal::Conflict)?)
            }
            source => source,
        };
        let new = match source {
            Source::Metainfo(bytes) => {
                let metainfo = ParsedTorrent::parse(bytes).map_err(|error| invalid(&error))?;
                let names = naming(&choices).of(&metainfo);
                choices.names = names.map_err(|error| invalid(&error))?;
                choices.layout = ContentLayout::Original;
                if let Some(wanted) = &new.wanted {
                    priorities::select(&mut choices.priorities, &metainfo, wanted);
                }
                New::Torrent(metainfo, choices)
            }
            Source::Link(link) => {
                if new.wanted.is_some() {
                    return Err(unsupported(
                        "the selection of files whose number is not known yet",
                    ));
                }
                let (magnet, _) = Magnet::read(&link).map_err(|error| invalid(&error))?;
                New::Magnet(Box::new(magnet), choices)
            }
        };
        let mut torrents = lock(&self.torrents);
        let (name, is_new) = torrents.put(new).map_err(Refusal::Conflict)?;
        let entry = torrents.store.get(name).ok_or(Refusal::Absent)?;
        Ok(Added {
            id: u32::try_from(torrents.number(name).ok_or(Refusal::Absent)?).unwrap_or(u32::MAX),
            info_hashes: entry.info_hashes,
            name: entry.shown_title(),
            is_duplicate: !is_new,
        })
    }

    fn new_choices(&self, new: &NewTorrent) -> Result<Choices, Refusal> {
        let of_category = new
            .category
            .as_deref()
            .and_then(|category| lock(&self.torrents).category(category).folder);
        let own = of_category.or_else(|| self.fixed.folder.clone());
        let folder = match (&new.folder, own) {
            (Some(folder), _) => self.allowed(folder)?,
            (None, Some(folder)) => folder,
            (None, None) => {
                return Err(Refusal::Invalid(
                    "no folder for the content is configured".into(),
                ));
            }
        };
        let mut choices = Choices {
            goal: new.goal,
            title: new.name.clone(),
            layout: new.layout,
            category: new.category.clone(),
            labels: new.labels.iter().cloned().collect(),
            limits: new.rates,
            sequential: new.is_sequential,
            paused: new
                .is_paused
                .unwrap_or_else(|| lock(&self.torrents).store.session().adds_paused),
            ..Choices::at(Place::Folder(folder))
        };
        for (file, priority) in &new.priorities {
            priorities::set(&mut choices.priorities, &[*file], *priority);
        }
        priorities::set(&mut choices.priorities, &new.unwanted, Priority::Skip);
        Ok(choices)
    }
}
