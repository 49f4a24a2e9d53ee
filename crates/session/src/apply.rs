//! What commands ask of torrents: the one place for the socket, the page, the API and the protocols of other programs.

use std::collections::HashSet;
use std::slice::Chunks;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use hashlane_api::{Command, Content, Patch, Refusal, Tiers};
use hashlane_client::{HandleError, Rights};
use hashlane_metainfo::MASK;
use hashlane_store::{Choices, Name};

use super::torrents::{Locked, Torrents, lock};

/// Number of torrents that are changed while no other request gets its turn.
const BATCH: usize = 256;

/// Time for which a rename waits until the files of a torrent are renamed by another one.
const PATIENCE: Duration = Duration::from_secs(10);

/// Interval at which it looks.
const TICK: Duration = Duration::from_millis(20);

/// Does what a command asks of torrents, and returns a result for each. What a person chose is written to the folder before the
/// answer, for many torrents together. Without `rights`, everything is allowed.
pub(super) fn apply(
    torrents: &Mutex<Torrents>,
    names: &[Name],
    command: &Command,
    rights: Option<&Rights>,
) -> Vec<Result<(), Refusal>> {
    let asked = names.iter().map(|name| ask(torrents, *name, command));
    if let Some(results) = asked.collect() {
        return results;
    }
    let mut results = Vec::with_capacity(names.len());
    for names in parts(names, command) {
        let mut torrents = match (command, names) {
            (Command::Rename { .. }, [name]) => after_renames(torrents, *name),
            _ => lock(torrents),
        };
        results.extend(torrents.apply_to(names, command, rights));
    }
    results
}

/// Returns the parts in which torrents are changed, so that other requests get their turns between two of them. Torrents that move in
/// the queue move together, to keep their order.
fn parts<'n>(names: &'n [Name], command: &Command) -> Chunks<'n, Name> {
    let size = match command {
        Command::Queue { .. } => names.len().max(1),
        _ => BATCH,
    };
    names.chunks(size)
}

/// Does what [`apply`] does, for torrents by the numbers by which requests know them.
pub(super) fn apply_by_number(
    torrents: &Mutex<Torrents>,
    numbers: &[usize],
    command: &Command,
    rights: Option<&Rights>,
) -> Vec<Result<(), Refusal>> {
    let names = {
        let torrents = lock(torrents);
        let names = numbers.iter().map(|number| torrents.numbered(*number));
        names.collect::<Vec<Option<Name>>>()
    };
    let known: Vec<Name> = names.iter().copied().flatten().collect();
    let mut results = apply(torrents, &known, command, rights).into_iter();
    let all = names.iter().zip(numbers);
    all.map(|(name, number)| match name {
        Some(_) => results.next().unwrap_or(Err(Refusal::Absent)),
        None => lock(torrents).apply_to_other(*number, command, rights),
    })
    .collect()
}

/// Does what a command asks of libtorrent itself, which can take any time: nobody waits for it meanwhile. `None` for other commands.
fn ask(torrents: &Mutex<Torrents>, name: Name, command: &Command) -> Option<Result<(), Refusal>> {
    let asked = match command {
        Command::AddPeer { address } => {
            let handle = lock(torrents).handle(name).cloned();
            let handle = handle.ok_or(Refusal::Absent);
            handle.and_then(|handle| Ok(handle.add_peer(*address)?))
        }
        Command::Reannounce => {
            let handle = lock(torrents).handle(name).cloned();
            match handle.map(|handle| handle.reannounce()) {
                // One that waits or is verified is announced when it joins.
                None | Some(Ok(()) | Err(HandleError::NotInSession)) => Ok(()),
                Some(Err(error)) => Err(error.into()),
            }
        }
        _ => return None,
    };
    Some(asked)
}

/// Locks the torrents when earlier requests have renamed the files of a torrent: programs send one request for each file.
fn after_renames(torrents: &Mutex<Torrents>, name: Name) -> Locked<'_> {
    let started = Instant::now();
    loop {
        let torrents = lock(torrents);
        if !torrents.is_renaming(name) || started.elapsed() >= PATIENCE {
            return torrents;
        }
        drop(torrents);
        thread::sleep(TICK);
    }
}

impl Torrents {
    /// Does what a command asks of torrents, and returns a result for each. What a person chose changes with one sync of the folder
    /// for all of them, and then they share the result.
    #[expect(clippy::too_many_lines, reason = "one command after the other")]
    fn apply_to(
        &mut self,
        names: &[Name],
        command: &Command,
        rights: Option<&Rights>,
    ) -> Vec<Result<(), Refusal>> {
        if let Err(reason) = self.check_running() {
            return vec![Err(Refusal::Unavailable(reason)); names.len()];
        }
        let conflict = Refusal::Conflict;
        let all = |result: Result<(), Refusal>| vec![result; names.len()];
        let one: &dyn Fn(&mut Self, Name) -> Result<(), Refusal> = match command {
            Command::Pause => {
                // One that is over, and ends with the session, is not paused by its next start.
                let is_over = names.iter().map(|name| self.stays_over(*name));
                let is_over: Vec<bool> = is_over.collect();
                let others = names.iter().zip(&is_over).filter(|(_, is_over)| !**is_over);
                let others: Vec<Name> = others.map(|(name, _)| *name).collect();
                let paused = self.pause(&others).map_err(conflict);
                let ended = || Err(HandleError::Ended.into());
                let results = is_over.into_iter();
                return results
                    .map(|is_over| if is_over { ended() } else { paused.clone() })
                    .collect();
            }
            Command::Resume { now } => return all(self.resume(names, *now).map_err(conflict)),
            Command::Queue { to } => return all(self.reorder(names, *to).map_err(conflict)),
            Command::Set(patch) => return all(self.patch(names, patch)),
            Command::Verify => &|torrents, name| torrents.verify(name).map_err(conflict),
            Command::Remove { content } => &|torrents, name| {
                if let (Content::Delete, Some(rights)) = (*content, rights) {
                    torrents.check_deletion(torrents.choices(name)?, rights)?;
                }
                torrents.remove(name, (*content).into()).map_err(conflict)
            },
            Command::Relocate { folder } => &|torrents, name| {
                if let Some(rights) = rights {
                    rights.check_folder(folder)?;
                    torrents.check_content(torrents.choices(name)?, rights)?;
                }
                torrents.relocate(name, folder).map_err(conflict)
            },
            Command::Place { folder } => &|torrents, name| {
                if let Some(rights) = rights {
                    rights.check_folder(folder)?;
                }
                torrents.place(name, folder).map_err(conflict)
            },
            Command::Prioritize { files, priority } => {
                &|torrents, name| torrents.prioritize(name, files, *priority)
            }
            Command::Rename { from, to } => &|torrents, name| {
                if let Some(rights) = rights {
                    torrents.check_content(torrents.choices(name)?, rights)?;
                }
                torrents.rename(name, from, to).map_err(conflict)
            },
            Command::AddTracker { url } => &|torrents, name| {
                torrents.change_trackers(name, |tiers| {
                    tiers.add(url.clone());
                    Ok(())
                })
            },
            Command::SetTrackers { trackers } => &|torrents, name| {
                torrents.change_trackers(name, |tiers| tiers.set(trackers.clone()))
            },
            Command::ReplaceTracker { url, new_url } => &|torrents, name| {
                torrents.change_trackers(name, |tiers| {
                    let known = tiers.named(url)?.to_owned();
                    if known != *new_url && tiers.contains(new_url) {
                        return Err(conflict("new_url: the torrent has this tracker".into()));
                    }
                    tiers.replace(&known, new_url);
                    Ok(())
                })
            },
            Command::RemoveTracker { url } => &|torrents, name| {
                torrents.change_trackers(name, |tiers| {
                    let known = tiers.named(url)?.to_owned();
                    tiers.remove(&known);
                    Ok(())
                })
            },
            // `ask` does this.
            Command::AddPeer { .. } | Command::Reannounce => return all(Ok(())),
            Command::End if self.config.mode.is_some() => {
                &|torrents, name| torrents.end_torrent(name)
            }
            Command::End => {
                let reason = "a daemon serves torrents until they are paused or removed";
                return all(Err(conflict(reason.into())));
            }
        };
        names.iter().map(|name| one(self, *name)).collect()
    }

    /// Returns `true` for a torrent of a session that ends, if it is over.
    fn stays_over(&self, name: Name) -> bool {
        let all = self.all();
        let found = self.find(name, &all);
        self.config.mode.is_some() && found.is_some_and(|it| it.activity.is_over())
    }

    /// Returns what was chosen for a torrent.
    fn choices(&self, name: Name) -> Result<&Choices, Refusal> {
        let entry = self.entry(name).map_err(Refusal::Conflict)?;
        Ok(&entry.choices)
    }

    /// Changes what a person chose for torrents.
    fn patch(&mut self, names: &[Name], patch: &Patch) -> Result<(), Refusal> {
        patch.check()?;
        if let Some(Some(category)) = &patch.category {
            self.folder_of(Some(category)).map_err(Refusal::Invalid)?;
        }
        let changed = self.set_all(names, |choices| choose(choices, patch));
        changed.map_err(Refusal::Conflict)
    }

    /// Changes the trackers of a torrent. A URL can contain a passkey, and no reason has one.
    fn change_trackers(
        &mut self,
        name: Name,
        change: impl FnOnce(&mut Tiers) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let before = self.tiers(name);
        let mut tiers = before.clone().into();
        change(&mut tiers)?;
        let tiers = tiers.into_urls()?;
        let known: HashSet<&String> = before.iter().flatten().collect();
        let mut new = tiers.iter().flatten().filter(|url| !known.contains(url));
        // A program shows it so. What it stands for is unknown.
        if new.any(|url| url.contains(MASK)) {
            let reason = "a new tracker has *** in place of a key: write the whole URL";
            return Err(Refusal::Invalid(reason.into()));
        }
        let changed = self.set_trackers(name, tiers);
        changed.map_err(Refusal::Conflict)
    }
}

/// Changes what a person chose.
pub(super) fn choose(choices: &mut Choices, patch: &Patch) {
    if let Some(title) = &patch.title {
        choices.title.clone_from(title);
    }
    if let Some(category) = &patch.category {
        choices.category.clone_from(category);
    }
    if let Some(labels) = &patch.labels {
        choices.labels.clone_from(labels);
    }
    choices.goal = patch.goal(choices.goal);
    patch.rates().apply(&mut choices.limits);
    choices.sequential = patch.sequential.unwrap_or(choices.sequential);
    choices.super_seeding = patch.super_seeding.unwrap_or(choices.super_seeding);
}

#[cfg(test)]
mod tests {
    use hashlane_api::QueueMove;
    use hashlane_client::InfoHashV1;

    use super::*;

    #[test]
    fn torrents_move_together_in_the_queue() {
        let names = vec![Name::V1(InfoHashV1::from([7; 20])); BATCH + 1];
        let n_parts = |command| parts(&names, &command).count();
        assert_eq!(n_parts(Command::Pause), 2);
        assert_eq!(n_parts(Command::Queue { to: QueueMove::Top }), 1);
        assert_eq!(parts(&[], &Command::Queue { to: QueueMove::Up }).count(), 0);
    }
}
