//! `hashlane get`: downloads torrents.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use hashlane_client::{Command, Download, Existing, Goal, Replacement, SeedLimits, Source, Task};

use super::reporter::Reporter;
use crate::output::text::{Escaped, Grouped, count};
use crate::swarm_args::Get;
use crate::{Env, Exit, globs, torrent_file};

/// Number of files that a question names.
const MAX_NAMED: usize = 10;

impl Get {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let reporter = Reporter::new(env, &self.common)?;
        let download = Arc::new(self.download(env)?);
        let mut config = self.common.config(env)?;
        config.session.close_redundant = download.seeding.is_some();
        let tasks = self.torrents.iter().map(|given| Task {
            label: given.clone(),
            source: source(env, given),
            goal: Goal::Download(Arc::clone(&download)),
        });
        let tasks = tasks.collect();
        reporter.run(env, config, tasks, confirm)
    }

    fn download(&self, env: &Env) -> anyhow::Result<Download> {
        let seconds = |time: Option<f64>, option: &'static str| {
            time.map(Duration::try_from_secs_f64)
                .transpose()
                .context(option)
        };
        let limits = SeedLimits {
            ratio: self.seed_ratio,
            time: seconds(self.seed_time, "--seed-time")?,
        };
        let is_seeded = self.seed || limits.ratio.is_some() || limits.time.is_some();
        Ok(Download {
            folder: env.resolve(&self.output),
            selection: globs::of("--select", &self.select)?,
            sequential: self.sequential,
            existing: if self.confirm {
                Existing::Confirm
            } else if self.overwrite {
                Existing::Overwrite
            } else {
                Existing::Resume
            },
            seeding: is_seeded.then_some(limits),
            timeout: seconds(self.timeout, "--timeout")?,
        })
    }
}

/// Returns the source of a torrent: a magnet link, a URL or a path.
fn source(env: &Env, given: &str) -> Source {
    let has_scheme = |scheme: &str| {
        given
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if has_scheme("magnet:") {
        return match given.parse() {
            Ok(magnet) => Source::Magnet(Box::new(magnet)),
            Err(error) => Source::Metainfo(Box::new(move || Err(Box::new(error) as _))),
        };
    }
    if has_scheme("http://") || has_scheme("https://") {
        return Source::Url(given.to_owned());
    }
    let (given, path) = (given.to_owned(), env.resolve(given.as_ref()));
    Source::Metainfo(Box::new(move || {
        refuse_other(&given)?;
        Ok(torrent_file::read(&path)?)
    }))
}

/// Refuses what is neither a path nor a supported URL.
fn refuse_other(given: &str) -> anyhow::Result<()> {
    let is_hash = [40, 64].contains(&given.len());
    if is_hash && given.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let kind = if given.len() == 40 {
            "btih:"
        } else {
            "btmh:1220"
        };
        bail!("pass an info-hash as a link: magnet:?xt=urn:{kind}{given}");
    }
    if let Some((scheme, _)) = given.split_once("://") {
        bail!("{scheme} is neither http nor https nor a magnet link");
    }
    Ok(())
}

/// Asks whether wrong pieces may be replaced.
fn confirm(env: &mut Env, torrent: usize, replacement: &Replacement) -> anyhow::Result<Command> {
    let question = format!(
        "{}: {} of {} {} there and wrong, and would be replaced",
        replacement.name,
        count(replacement.wrong_pieces.into(), "piece"),
        Grouped(replacement.pieces.into()),
        if replacement.wrong_pieces == 1 {
            "is"
        } else {
            "are"
        }
    );
    if !env.can_ask {
        let reason = format!("{question}; there is nobody to ask, and nothing is done");
        return Ok(Command::Keep(torrent, reason));
    }
    let mut question = Escaped(&question).to_string();
    for (name, n_pieces) in replacement.files.iter().take(MAX_NAMED) {
        let pieces = count((*n_pieces).into(), "piece");
        let _ = write!(question, "\n  {pieces} of {}", Escaped(name));
    }
    let others = replacement.files.len().saturating_sub(MAX_NAMED);
    if others > 0 {
        let others = count(others as u64, "other file");
        let _ = write!(question, "\n  and in {others}");
    }
    Ok(if env.agrees(&question)? {
        Command::Replace(torrent)
    } else {
        Command::Keep(torrent, "left as it is".to_owned())
    })
}
