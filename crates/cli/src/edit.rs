//! `hashlane edit`.

use anyhow::{Context as _, bail};
use hashlane_metainfo::{InfoHashes, Torrent, UrlEdit};

use crate::args::{Edit, YesNo};
use crate::new_file::{self, Overwrite};
use crate::{Env, Exit, torrent_file};

impl Edit {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let shown = self.torrent.display().to_string();
        let bytes = torrent_file::read(&env.resolve(&self.torrent));
        let bytes = bytes.with_context(|| shown.clone())?;
        let torrent = Torrent::parse(bytes).with_context(|| shown.clone())?;
        let edit = self.edit();
        if edit == hashlane_metainfo::Edit::default() {
            bail!("{shown}: nothing to change; `hashlane edit --help` shows what can be");
        }
        let output = self.output.as_ref().unwrap_or(&self.torrent);
        let overwrite = if self.output.is_none() || self.force {
            Overwrite::Yes
        } else {
            Overwrite::No
        };
        let place = env.resolve(output);
        new_file::check(&place, overwrite).with_context(|| output.display().to_string())?;

        let edited = edit.apply(&torrent).with_context(|| shown.clone())?;
        let after = edited.info_hashes();
        if after != torrent.info_hashes() {
            let change = change(torrent.info_hashes(), after);
            if !self.yes && !agrees(env, &change)? {
                bail!("{shown}: not changed");
            }
            writeln!(env.stdout, "{change}")?;
        }
        new_file::write(&place, edited.bytes(), overwrite)
            .with_context(|| output.display().to_string())?;
        Ok(Exit::Good)
    }

    fn edit(&self) -> hashlane_metainfo::Edit {
        let text = |text: &String| (!text.is_empty()).then(|| text.clone());
        hashlane_metainfo::Edit {
            trackers: urls(self.no_trackers, &self.trackers.tiers),
            web_seeds: urls(self.no_web_seeds, &self.web_seeds),
            comment: self.comment.as_ref().map(text),
            source: self.source.as_ref().map(text),
            is_private: self.private.map(|answer| answer == YesNo::Yes),
        }
    }
}

/// URLs come behind those that are there, unless these are to be removed.
fn urls<T: Clone>(remove: bool, urls: &[T]) -> Option<UrlEdit<T>> {
    if remove {
        Some(UrlEdit::Set(urls.to_vec()))
    } else {
        (!urls.is_empty()).then(|| UrlEdit::Add(urls.to_vec()))
    }
}

/// What becomes of the info-hashes, in words.
fn change(before: InfoHashes, after: InfoHashes) -> String {
    let line = |before: Option<String>, after: Option<String>| {
        Some(format!("info-hash  {} becomes {}", before?, after?))
    };
    let v1 = |hashes: InfoHashes| hashes.v1().map(|hash| hash.to_string());
    let v2 = |hashes: InfoHashes| hashes.v2().map(|hash| hash.to_string());
    let lines = [line(v1(before), v1(after)), line(v2(before), v2(after))];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Asks whether the torrent may become another one.
fn agrees(env: &mut Env, change: &str) -> anyhow::Result<bool> {
    if !env.can_ask {
        bail!("this makes another torrent, and nobody is there to ask: use --yes\n{change}");
    }
    let question = format!("This makes another torrent, with peers of its own:\n{change}");
    Ok(env.agrees(&question)?)
}
