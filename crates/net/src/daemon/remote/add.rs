//! New torrents.

use std::num::NonZeroU32;

use hashlane_metainfo::{ContentLayout, Magnet, Torrent as ParsedTorrent};
use hashlane_remote::model::{Added, NewTorrent, Refusal, Source};
use hashlane_store::{Choices, Place};

use super::change::goal;
use super::{Remote, client_priority, unsupported};
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
                Source::Metainfo(fetched.map_err(Refusal::Failed)?)
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
        let (name, is_new) = torrents.put(new).map_err(Refusal::Failed)?;
        let entry = torrents.store.get(name).ok_or(Refusal::Absent)?;
        Ok(Added {
            id: self.seen().number(name),
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
            goal: goal(&new.limits),
            title: new.name.clone(),
            layout: new.layout,
            category: new.category.clone(),
            labels: new.labels.iter().cloned().collect(),
            limits: hashlane_store::Limits {
                down: new.limits.max_down.and_then(NonZeroU32::new),
                up: new.limits.max_up.and_then(NonZeroU32::new),
            },
            sequential: new.is_sequential,
            paused: new
                .is_paused
                .unwrap_or_else(|| lock(&self.torrents).store.session().adds_paused),
            ..Choices::at(Place::Folder(folder))
        };
        for (file, priority) in &new.priorities {
            let priority = client_priority(Some(*priority));
            priorities::set(&mut choices.priorities, &[*file], priority);
        }
        let skip = hashlane_client::Priority::Skip;
        priorities::set(&mut choices.priorities, &new.unwanted, skip);
        Ok(choices)
    }
}
