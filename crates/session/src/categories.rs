//! Categories, and the goals that torrents inherit.
//!
//! The first of these that has a goal wins, for the ratio and the time separately: the torrent, the rules, its category, its
//! labels, the daemon. Of several labels, the largest goal wins, so that a torrent meets them all. The configuration wins over what was
//! set by a request, key by key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hashlane_api::{self as api, Goal, GroupChange, Groups, Refusal, Target};
use hashlane_store::{Category, Choices, Entry};

use super::rules::Decision;
use super::torrents::Torrents;
use hashlane_client::Rights;

impl Torrents {
    /// Returns all categories: of the configuration, of requests, and of torrents.
    pub(super) fn categories(&self) -> BTreeMap<String, Category> {
        let mut categories = self.store.groups().categories.clone();
        for entry in self.store.iter() {
            if let Some(category) = self.category_of(entry) {
                categories.entry(category.to_owned()).or_default();
            }
        }
        for name in self.config.categories.keys() {
            let category = self.category(name);
            categories.insert(name.clone(), category);
        }
        categories
    }

    /// Returns the folder and the goal of a category.
    pub(super) fn category(&self, name: &str) -> Category {
        let stored = self.store.groups().categories.get(name);
        let configured = self.config.categories.get(name);
        let folder = configured.and_then(|configured| configured.folder.clone());
        Category {
            folder: folder.or_else(|| stored.and_then(|stored| stored.folder.clone())),
            goal: self.goal_of_category(name),
        }
    }

    fn goal_of_category(&self, name: &str) -> Goal {
        let stored = self.store.groups().categories.get(name);
        let stored = stored.map_or_else(Goal::default, |stored| stored.goal);
        let configured = self.config.categories.get(name);
        configured.map_or(stored, |configured| configured.goal.or(stored))
    }

    /// Returns the folder for new torrents of a category that exists, or of none.
    pub(super) fn folder_of(&self, category: Option<&str>) -> Result<Option<PathBuf>, String> {
        let own = match category {
            Some(name) if !self.categories().contains_key(name) => {
                return Err(format!(
                    "{name}: no such category; `hashlane ctl category set` makes one"
                ));
            }
            Some(name) => self.category(name).folder,
            None => None,
        };
        Ok(own.or_else(|| self.config.folder.clone()))
    }

    /// Returns the goal of a torrent, with the targets that it inherits.
    pub(super) fn goal_of(&self, entry: &Entry) -> Goal {
        self.goal_with(entry, self.decision(entry.name()))
    }

    /// Returns the goal of a torrent if rules decide so, with the targets that it inherits.
    pub(super) fn goal_with(&self, entry: &Entry, decision: &Decision) -> Goal {
        let inherited = self.inherited_goal(entry, decision);
        entry.choices.goal.or(inherited).or(self.session_goal())
    }

    /// Returns the goal that a torrent has from rules, its category and its labels.
    pub(super) fn inherited_goal(&self, entry: &Entry, decision: &Decision) -> Goal {
        let choices = &entry.choices;
        let category = choices.category.as_ref().or(decision.category.as_ref());
        let of_category = category.map(|name| self.goal_of_category(name));
        let labels = choices.labels.iter().chain(&decision.labels);
        let labels = labels.filter_map(|label| self.config.labels.get(label));
        let of_labels = labels.fold(Goal::default(), |goal, label| larger(goal, *label));
        let of_groups = of_category.unwrap_or_default().or(of_labels);
        decision.goal.or(of_groups)
    }

    /// Returns the category that a person or a rule chose for a torrent.
    fn category_of<'t>(&'t self, entry: &'t Entry) -> Option<&'t str> {
        let of_rules = self.decision(entry.name()).category.as_deref();
        entry.choices.category.as_deref().or(of_rules)
    }

    /// Returns the categories and labels.
    pub(super) fn groups(&self) -> Groups {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut labels = self.store.groups().labels.clone();
        for entry in self.store.iter() {
            if let Some(category) = self.category_of(entry) {
                *counts.entry(category).or_default() += 1;
            }
            labels.extend(entry.choices.labels.iter().cloned());
            labels.extend(self.decision(entry.name()).labels.iter().cloned());
        }
        let categories = self.categories().into_iter();
        let categories = categories.map(|(name, category)| api::Category {
            folder: category
                .folder
                .map(|folder| folder.to_string_lossy().into_owned()),
            goal: category.goal,
            torrents: counts.get(&*name).copied().unwrap_or_default(),
            configured: self.config.categories.contains_key(&name),
            name,
        });
        Groups {
            categories: categories.collect(),
            labels: labels.into_iter().collect(),
        }
    }

    /// Changes the categories or labels. Without `rights`, everything is allowed.
    pub(super) fn change_groups(
        &mut self,
        change: &GroupChange,
        rights: Option<&Rights>,
    ) -> Result<(), Refusal> {
        self.check_running().map_err(Refusal::Unavailable)?;
        let mut groups = self.store.groups().clone();
        match change {
            GroupChange::SetCategory(patch) => {
                patch.check()?;
                self.check_not_configured(&patch.name)?;
                let category = groups.categories.entry(patch.name.clone()).or_default();
                if let Some(folder) = &patch.folder {
                    if let (Some(folder), Some(rights)) = (folder, rights) {
                        rights.check_folder(folder)?;
                    }
                    category.folder.clone_from(folder);
                }
                category.goal = patch.goal(category.goal);
            }
            GroupChange::RemoveCategories { names } => {
                for name in names {
                    self.check_not_configured(name)?;
                }
                groups.categories.retain(|name, _| !names.contains(name));
                // Torrents first: a category that a torrent has exists.
                self.set_everywhere(|choices| {
                    choices.category.take_if(|name| names.contains(name));
                })?;
            }
            GroupChange::AddLabels { labels } => groups.labels.extend(labels.iter().cloned()),
            GroupChange::RemoveLabels { labels } => {
                groups.labels.retain(|label| !labels.contains(label));
                self.set_everywhere(|choices| {
                    choices.labels.retain(|label| !labels.contains(label));
                })?;
            }
        }
        let changed = self.store.set_groups(groups);
        changed.map_err(|error| Refusal::Conflict(error.to_string()))?;
        self.send_goals();
        Ok(())
    }

    /// Changes what was chosen for all torrents.
    fn set_everywhere(&mut self, change: impl Fn(&mut Choices)) -> Result<(), Refusal> {
        let changed = self.set_all(&self.names_in_order(), change);
        changed.map_err(Refusal::Conflict)
    }

    /// Refuses changes of a category that the configuration has.
    fn check_not_configured(&self, name: &str) -> Result<(), Refusal> {
        if self.config.categories.contains_key(name) {
            return Err(Refusal::Forbidden(format!(
                "{name}: this category is set in the configuration, [categories.{name}]"
            )));
        }
        Ok(())
    }
}

/// Returns the goal that meets both.
fn larger(one: Goal, other: Goal) -> Goal {
    fn target<T: PartialOrd>(one: Target<T>, other: Target<T>) -> Target<T> {
        match (one, other) {
            (Target::Inherited, other) => other,
            (one, Target::Inherited) => one,
            (Target::At(one), Target::At(other)) => {
                Target::At(if one < other { other } else { one })
            }
            _ => Target::Never,
        }
    }
    Goal {
        ratio: target(one.ratio, other.ratio),
        time: target(one.time, other.time),
        idle: target(one.idle, other.idle),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_largest_goal_meets_all() {
        let goal = |ratio, seconds| Goal {
            ratio,
            time: if seconds == 0 {
                Target::Inherited
            } else {
                Target::At(Duration::from_secs(seconds))
            },
            idle: Target::Inherited,
        };
        for (one, other, both) in [
            (
                goal(Target::At(1.0), 0),
                goal(Target::At(2.0), 0),
                goal(Target::At(2.0), 0),
            ),
            (
                goal(Target::At(2.0), 9),
                goal(Target::Never, 3),
                goal(Target::Never, 9),
            ),
            (
                goal(Target::Inherited, 3),
                goal(Target::At(0.5), 0),
                goal(Target::At(0.5), 3),
            ),
        ] {
            assert_eq!(larger(one, other), both);
            assert_eq!(larger(other, one), both);
        }
    }
}
