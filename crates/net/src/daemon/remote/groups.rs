//! Categories and labels.

use hashlane_remote::model::{Category, GroupChange, Groups, Refusal};
use hashlane_store::{Choices, StoreError};

use super::{Remote, unsupported};
use crate::daemon::torrents::lock;

/// Removes a category or labels from what a person chose for a torrent.
type Drop = Box<dyn Fn(&mut Choices)>;

impl Remote {
    pub(super) fn all_groups(&self) -> Groups {
        let torrents = lock(&self.torrents);
        let stored = torrents.store.groups();
        let mut labels = stored.labels.clone();
        for entry in torrents.store.entries() {
            labels.extend(entry.choices.labels.iter().cloned());
        }
        let categories = torrents.categories().into_iter();
        let categories = categories.map(|(name, category)| Category {
            name,
            folder: category
                .folder
                .map(|folder| folder.to_string_lossy().into_owned()),
        });
        Groups {
            categories: categories.collect(),
            labels: labels.into_iter().collect(),
        }
    }

    pub(super) fn edit_groups(&self, change: GroupChange) -> Result<(), Refusal> {
        let failed = |error: StoreError| Refusal::Failed(error.to_string());
        let folder = match &change {
            GroupChange::Category(Category {
                folder: Some(folder),
                ..
            }) => Some(self.allowed(folder)?),
            _ => None,
        };
        let mut torrents = lock(&self.torrents);
        let configured = match &change {
            GroupChange::Category(category) => std::slice::from_ref(&category.name),
            GroupChange::RemoveCategories(names) => names,
            _ => &[],
        };
        for name in configured {
            let checked = torrents.check_not_configured(name);
            checked.map_err(Refusal::Forbidden)?;
        }
        let mut groups = torrents.store.groups().clone();
        // Torrents first: a category or label that a torrent has exists.
        let drop: Option<Drop> = match change {
            GroupChange::Category(category) => {
                groups.categories.entry(category.name).or_default().folder = folder;
                None
            }
            GroupChange::Labels(labels) => {
                groups.labels.extend(labels);
                None
            }
            GroupChange::RemoveCategories(names) => {
                groups.categories.retain(|name, _| !names.contains(name));
                Some(Box::new(move |choices| {
                    choices
                        .category
                        .take_if(|category| names.contains(category));
                }))
            }
            GroupChange::RemoveLabels(labels) => {
                groups.labels.retain(|label| !labels.contains(label));
                Some(Box::new(move |choices| {
                    choices.labels.retain(|label| !labels.contains(label));
                }))
            }
            _ => return Err(unsupported("this change")),
        };
        for name in torrents.names_in_order() {
            let (Some(drop), Some(entry)) = (&drop, torrents.store.get(name)) else {
                continue;
            };
            let mut choices = entry.choices.clone();
            drop(&mut choices);
            if choices != entry.choices {
                torrents.store.update(name, choices).map_err(failed)?;
            }
        }
        torrents.store.set_groups(groups).map_err(failed)
    }
}
