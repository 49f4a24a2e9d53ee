//! Requests: what they ask for, and their answers.

use std::collections::HashMap;
use std::sync::Mutex;

use hashlane_api::GroupChange;
use hashlane_cli::control::{Apply, Keys, Named, Reply, Request};
use hashlane_metainfo::InfoHashes;
use hashlane_store::{Entry, Name};

use super::apply::apply;
use super::report;
use super::torrents::{Torrents, lock};

/// Digits of an info-hash that name a torrent, at least.
const MIN_DIGITS: usize = 4;

/// Maximum number of torrents that an error lists.
const MAX_CANDIDATES: usize = 10;

/// The results of a request, and the first refusal if a part of it was refused.
pub(super) type Answer = (Vec<Reply>, Option<String>);

/// Does what a request asks for.
pub(super) fn answer(torrents: &Mutex<Torrents>, request: Request) -> Result<Answer, String> {
    let replies = match request {
        Request::Apply(asked) => return apply_to(torrents, &asked),
        Request::Add(add) => {
            let mut torrents = lock(torrents);
            let (name, is_new) = torrents.add(*add)?;
            let torrent = torrents.named(name)?;
            let present = !is_new;
            vec![Reply::Added { torrent, present }]
        }
        Request::List(keys) => lock(torrents).list(&keys)?,
        Request::Groups {} => vec![Reply::Groups(lock(torrents).groups())],
        Request::ChangeGroups(change) => {
            let mut torrents = lock(torrents);
            // Programs remove what may be gone. A person may have mistyped a name.
            if let GroupChange::RemoveCategories { names } = &change {
                let known = torrents.categories();
                if let Some(name) = names.iter().find(|name| !known.contains_key(*name)) {
                    return Err(format!("{name}: no such category"));
                }
            }
            let changed = torrents.change_groups(&change, None);
            changed.map_err(|refusal| refusal.to_string())?;
            Vec::new()
        }
        Request::Reload {} => {
            let restart = lock(torrents).reload()?;
            vec![Reply::Reloaded { restart }]
        }
        Request::Limits(set) => {
            let limits = lock(torrents).set_limits(&set)?.into_iter();
            limits.map(Reply::Limit).collect()
        }
        Request::Status {} => vec![Reply::Status(Box::new(lock(torrents).status()))],
    };
    Ok((replies, None))
}

/// Finds all torrents of a request, and does what its command asks of them.
fn apply_to(torrents: &Mutex<Torrents>, Apply { keys, change }: &Apply) -> Result<Answer, String> {
    let (names, named) = {
        let torrents = lock(torrents);
        let names = torrents.names_of(keys)?;
        let named: Result<Vec<_>, _> = names.iter().map(|name| torrents.named(*name)).collect();
        (names, named?)
    };
    let results = apply(torrents, &names, change, None);
    let mut refusal = None;
    let mut replies = Vec::with_capacity(named.len());
    for (torrent, result) in named.into_iter().zip(results) {
        match result {
            Ok(()) => replies.push(Reply::Changed {
                action: change.name().to_owned(),
                torrent,
            }),
            Err(error) => {
                refusal.get_or_insert_with(|| error.to_string());
            }
        }
    }
    Ok((replies, refusal))
}

impl Torrents {
    /// Returns the state of torrents.
    fn list(&self, keys: &Keys) -> Result<Vec<Reply>, String> {
        let names = self.names_of(keys)?;
        let order = self.names_in_order().into_iter().zip(0..);
        let order: HashMap<Name, u64> = order.collect();
        let entries = names.iter().filter_map(|name| self.store.get(*name));
        let all = self.all();
        let torrents = entries.map(|entry| {
            let order = order.get(&entry.name()).copied();
            self.torrent(entry, order.unwrap_or_default(), &all)
        });
        let replies = torrents.map(|torrent| Reply::Torrent(Box::new(torrent)));
        Ok(replies.collect())
    }

    /// Returns the torrents of a request, each one once.
    fn names_of(&self, keys: &Keys) -> Result<Vec<Name>, String> {
        if keys.all {
            return Ok(self.names_in_order());
        }
        let mut names = Vec::with_capacity(keys.torrents.len());
        for key in &keys.torrents {
            let name = self.name_of(key)?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Returns the torrent that has this name, or an info-hash with these first digits. A whole info-hash wins over a name.
    fn name_of(&self, key: &str) -> Result<Name, String> {
        let digits = key.to_ascii_lowercase();
        if let Ok(name) = digits.parse::<Name>() {
            let info_hashes = match name {
                Name::V1(v1) => InfoHashes::V1(v1),
                Name::V2(v2) => InfoHashes::V2(v2),
            };
            if let Some(found) = self.store.find(info_hashes) {
                return Ok(found.name());
            }
        }
        let are_digits =
            digits.len() >= MIN_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut found = self.store.entries();
        found.retain(|entry| {
            let (v1, v2) = (entry.info_hashes.v1(), entry.info_hashes.v2());
            let is_start = || {
                v1.is_some_and(|v1| v1.to_string().starts_with(&digits))
                    || v2.is_some_and(|v2| v2.to_string().starts_with(&digits))
            };
            are_digits && is_start() || entry.shown_title() == key
        });
        match &found[..] {
            [entry] => Ok(entry.name()),
            [] => Err(format!(
                "{key}: no such torrent; name its info-hash, at least the first {MIN_DIGITS} digits, or its exact name"
            )),
            several => Err(ambiguous(key, several)),
        }
    }

    fn named(&self, name: Name) -> Result<Named, String> {
        let entry = self
            .store
            .get(name)
            .ok_or_else(|| format!("{name}: no such torrent"))?;
        Ok(report::named(entry))
    }
}

/// Returns the error for several torrents that a key can mean.
fn ambiguous(key: &str, entries: &[&Entry]) -> String {
    let shown = entries.iter().take(MAX_CANDIDATES);
    let shown: Vec<String> = shown
        .map(|entry| format!("{} ({})", entry.name(), entry.shown_title()))
        .collect();
    let more = match entries.len().saturating_sub(MAX_CANDIDATES) {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    format!(
        "{key}: {} torrents, name one of them by its info-hash: {}{more}",
        entries.len(),
        shown.join(", ")
    )
}
