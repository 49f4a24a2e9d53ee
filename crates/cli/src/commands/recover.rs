//! `hashlane recover`: what a damaged string was.

mod human;
mod json;
mod judge;
mod resume;
mod special;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use hashlane_base58::{
    Contradiction, Damage, Estimate, Event, Hit, Kind, MAX_HITS, Options, Outcome, Rate, Reason,
    Search, measure,
};
use hashlane_sha::{Engine, Sha256, digest};
use zeroize::Zeroizing;

use crate::options::{Output, Threads};
use crate::output::progress::ProgressLine;
use crate::output::text::{Duration as Shown, count};
use crate::{Env, Exit, values};

use judge::Judge;
use resume::Resume;
use special::Special;

const AFTER_HELP: &str = "\
Examples:
  hashlane recover 1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71              case lost
  hashlane recover '1Lbcfr7sAHTD9CgdQo3HTM?kV8LK4Zn[XY]71'         unknown characters
  hashlane recover --glyphs 1Lbcfr7sAHTD9CgdQ03HTMTkVBLK4ZnX71     0 was o, and B was 8
  hashlane recover --errors 2 1Lbcfr7sAHTD9CgdQ3oHTMTkV9LK4ZnX71   two were swapped, and one is wrong
  hashlane recover --known addresses.txt -                         a private key, typed or piped in

What it cannot do: where the case of a private key is lost altogether, strings fit by accident: a few for most
compressed ones, a hundred and more for uncompressed ones, thousands for BIP 38. Extended keys are out of reach;
what has no checksum has nothing to check against.

Kinds:
  p2pkh (1...), p2sh (3...), testnet-p2pkh (m... n...), testnet-p2sh (2...), bip38 (6P...),
  wif (5...), wif-compressed (K... L...), testnet-wif (9...), testnet-wif-compressed (c...),
  litecoin (L...), litecoin-p2sh (M...), litecoin-wif, litecoin-wif-compressed,
  dogecoin (D...), dogecoin-p2sh (9... A...), dogecoin-wif, dogecoin-wif-compressed,
  dash (X...), dash-p2sh (7...), dash-wif, dash-wif-compressed,
  zcash (t1...), zcash-p2sh (t3...), tron (T...), ripple (r...), ripple-seed (s...)

Exit status:
  0  exactly one string fits
  1  none does
  2  it could not be searched, or not to the end: wrong usage, a string that no kind has, a limit, Ctrl-C
  3  several do";

/// Find out what a damaged Base58Check string was: an address or key whose case or characters were lost
///
/// The last four bytes of such a string are a checksum of the others, so that the original can be searched
/// for: all strings that the damaged one can have been are tried, and those whose checksum fits are told, as soon as they are
/// found. One in four billion fits by accident: `--estimate` tells how many to expect, and how long it takes. Nothing is
/// ever picked where several fit.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Recover {
    /// What is left of the strings, with `?` for an unknown character and `[abc]` for one of several; `-` reads strings
    /// from the standard input, one a line, as private keys should be
    #[arg(value_name = "STRING", required = true)]
    pub(crate) strings: Vec<String>,

    /// What it is, see below; can be given several times [default: whatever fits]
    #[arg(short, long = "kind", value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,

    /// Any payload of so many bytes, without the checksum
    #[arg(long, value_name = "BYTES", conflicts_with = "kinds", value_parser = clap::value_parser!(u8).range(1..=44))]
    pub(crate) payload_len: Option<u8>,

    /// What that payload starts with, in hexadecimal
    #[arg(long, value_name = "HEX", requires = "payload_len", value_parser = values::hex_bytes)]
    pub(crate) version_bytes: Option<values::Bytes>,

    /// The order of the characters of that payload
    #[arg(
        long,
        value_name = "ALPHABET",
        requires = "payload_len",
        default_value = "bitcoin"
    )]
    pub(crate) alphabet: AlphabetName,

    /// Whether letters have lost their case
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub(crate) case: Case,

    /// Characters may have been taken for others that look alike, such as 0 for o, 1 for i, 5 for S or 8 for B
    #[arg(short, long)]
    pub(crate) glyphs: bool,

    /// So many characters at unknown places may be wrong, missing, extra, or swapped with the next one
    #[arg(short, long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) errors: u8,

    /// Tell what the search would cost, and how many hits by accident are to be expected; search nothing
    #[arg(long)]
    pub(crate) estimate: bool,

    /// Start no search of more hashes than this, such as 1e10
    #[arg(long, value_name = "N", value_parser = values::positive)]
    pub(crate) max_hashes: Option<f64>,

    /// Start no search that will take longer than this, such as 90, 90s, 5m or 2h, and end it then
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub(crate) max_time: Option<f64>,

    /// A file of addresses, one a line, one of which it is or, of a private key, belongs to it
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Option<PathBuf>,

    /// What it starts with
    #[arg(long, value_name = "TEXT")]
    pub(crate) prefix: Option<String>,

    /// The hash in the address: RIPEMD-160 of SHA-256 of the public key, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = values::address_hash)]
    pub(crate) pubkey_hash: Option<hashlane_base58::AddressHash>,

    #[command(flatten)]
    pub(crate) threads: Threads,

    /// Go on where the file says, and keep in it how far the search is; it never holds a string
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,

    /// Search part I of N, for I from 1 to N: on N machines all of it
    #[arg(long, value_name = "I/N", value_parser = values::shard)]
    pub(crate) shard: Option<values::Shard>,

    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// If all letters are of one case, or nothing else has happened to the string
    Auto,
    /// All letters can be of either
    Lost,
    /// All letters are as they were
    Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlphabetName {
    /// Bitcoin's, and nearly everybody's
    Bitcoin,
    /// That of the XRP Ledger
    Ripple,
}

impl From<AlphabetName> for hashlane_base58::Alphabet {
    fn from(name: AlphabetName) -> Self {
        match name {
            AlphabetName::Bitcoin => Self::Bitcoin,
            AlphabetName::Ripple => Self::Ripple,
        }
    }
}

/// A search that takes longer says so before it starts.
const LONG: Duration = Duration::from_mins(1);

/// Contradictions that a person reads.
const FEW: usize = 4;

/// How often a search that can be resumed writes down how far it is.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// What is the same for all strings.
struct Setup {
    kinds: Vec<Kind>,
    judge: Judge,
    rate: Rate,
    threads: usize,
}

/// What a search would cost here.
struct Cost {
    estimate: Estimate,
    rate: Rate,
    threads: usize,
    seconds: f64,
}

/// What was found out about one string.
struct Recovered<'r> {
    cost: &'r Cost,
    /// Ranked: the fewest edits first.
    hits: &'r [Hit],
    /// Hits that are not what is known of the string.
    n_judged_out: usize,
    outcome: &'r Outcome,
}

impl Recover {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let kinds = self.kinds()?;
        let judge = Judge::new(&self, env)?;
        let rates = measure(Engine::override_of_env()?);
        let Some(rate) = rates.first().copied() else {
            bail!("HASHLANE_BACKEND: this backend has no kernel for searches; sse2 and avx do");
        };
        let threads = self.threads.count();
        let threads = threads.or_else(|| std::thread::available_parallelism().ok());
        let setup = Setup {
            kinds,
            judge,
            rate,
            threads: threads.map_or(1, NonZeroUsize::get),
        };
        let mut exits = Vec::new();
        for argument in &self.strings {
            if argument == "-" {
                while let Some(line) = read_line(env)? {
                    exits.push(self.report(env, &line, true, &setup)?);
                }
            } else {
                exits.push(self.report(env, argument.trim(), false, &setup)?);
            }
        }
        if exits.is_empty() {
            bail!("there are no strings on the standard input");
        }
        Ok(combined(&exits))
    }

    /// Recovers one string. What is wrong with it is told here, and the next one comes.
    fn report(
        &self,
        env: &mut Env,
        text: &str,
        is_private: bool,
        setup: &Setup,
    ) -> anyhow::Result<Exit> {
        match self.one(env, text, is_private, setup) {
            Err(error) if !crate::is_broken_pipe(&error) => {
                let error = format!("{error:#}");
                if self.output.is_json() {
                    json::print_error(env, &error)?;
                }
                env.error(&error);
                Ok(Exit::NotChecked)
            }
            result => result,
        }
    }

    fn one(
        &self,
        env: &mut Env,
        text: &str,
        is_private: bool,
        setup: &Setup,
    ) -> anyhow::Result<Exit> {
        if let Some(special) = Special::of(text) {
            return special.tell(env, self.output.is_json());
        }
        let search = Search::new(text, self.damage(text), &setup.kinds)?;
        let estimate = search.estimate();
        if estimate.candidates == 0 {
            return self.explain(env, text, &search, &setup.kinds);
        }
        let Setup { rate, threads, .. } = *setup;
        #[expect(clippy::cast_precision_loss, reason = "nobody has so many")]
        let seconds = estimate.hashes / (rate.per_second * threads as f64);
        let cost = Cost {
            estimate,
            rate,
            threads,
            seconds,
        };
        if self.estimate {
            if self.output.is_json() {
                json::print_estimate(env, &cost)?;
            } else {
                human::print_estimate(env, &cost)?;
            }
            return Ok(Exit::Good);
        }
        if search.is_secret() && !is_private && !self.output.quiet {
            env.error("warning: a private key among the arguments stays in the shell's history; `-` reads from the standard input");
        }
        self.check_limits(&cost)?;
        if seconds > LONG.as_secs_f64() && !self.output.quiet {
            env.error(&format!(
                "this will take {}, and {:.3} hits by accident are to be expected",
                Shown(seconds),
                cost.estimate.accidental_hits
            ));
        }
        let (hits, n_judged_out, outcome) = self.search(env, text, &search, setup)?;
        let recovered = Recovered {
            cost: &cost,
            hits: &hits,
            n_judged_out,
            outcome: &outcome,
        };
        if self.output.is_json() {
            json::print_summary(env, &recovered)?;
        } else if !self.output.quiet {
            human::print_summary(env, &recovered)?;
        }
        if outcome.has_too_many_hits {
            bail!("more than {MAX_HITS} strings fit: too much is unknown");
        }
        if !outcome.is_complete {
            env.error("interrupted: there can be more");
            return Ok(Exit::NotChecked);
        }
        Ok(match hits.len() {
            0 => Exit::NotAllThere,
            1 => Exit::Good,
            _ => Exit::Several,
        })
    }

    /// Searches, tells hits as they are found, and ranks them.
    fn search(
        &self,
        env: &mut Env,
        text: &str,
        search: &Search,
        setup: &Setup,
    ) -> anyhow::Result<(Vec<Hit>, usize, Outcome)> {
        let n_units = search.n_units()?;
        let mut units = self.shard.map_or(0..n_units, |shard| shard.of(n_units));
        let mut resume = match &self.resume {
            Some(path) => {
                let fingerprint = self.fingerprint(text);
                Some(
                    Resume::open(&env.resolve(path), &fingerprint, units.clone())
                        .with_context(|| path.display().to_string())?,
                )
            }
            None => None,
        };
        let mut ranges = Vec::new();
        if let Some(resume) = &resume {
            ranges.extend(resume.units_with_hits());
            units.start = resume.next_unit();
        }
        let n_again = ranges.len() as u64;
        let first = units.start;
        ranges.push(units);
        let options = Options {
            kernel: setup.rate.kernel,
            threads: NonZeroUsize::new(setup.threads),
            units: Some(ranges),
        };
        env.catch_interrupts();
        let cancel = env.cancel.clone();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let started = std::time::Instant::now();
        let limit = self.max_time.map(Duration::from_secs_f64);
        let name = if search.is_secret() {
            "a private key"
        } else {
            text
        };
        let mut line = (env.progress && !self.output.quiet)
            .then(|| ProgressLine::of_share(format!("{name}: searching")));
        let mut hits: Vec<Hit> = Vec::new();
        let mut n_judged_out = 0;
        let mut saved = started;
        let mut failure = None;
        let outcome = search.run(&options, &is_over, |event| {
            let is_late = limit.is_some_and(|limit| started.elapsed() > limit);
            if cancel.is_cancelled() || is_late || failure.is_some() {
                is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            }
            match event {
                Event::Hit(hit) => {
                    if let Some(resume) = &mut resume {
                        resume.note_hit(hit.unit);
                    }
                    if !setup.judge.accepts(&hit) {
                        n_judged_out += 1;
                        return;
                    }
                    let mut tell = || {
                        if self.output.is_json() {
                            json::print_hit(env, &hit)
                        } else {
                            human::print_hit(env, &hit, self.output.quiet)
                        }
                    };
                    let told = match &line {
                        Some(line) => line.suspend(tell),
                        None => tell(),
                    };
                    failure = failure.take().or(told.err());
                    hits.push(hit);
                }
                Event::Progress(progress) => {
                    if let Some(line) = &mut line {
                        line.update(progress.done, progress.total);
                    }
                    if let Some(resume) = &mut resume {
                        resume.note_done(first + progress.done_in_order.saturating_sub(n_again));
                        if saved.elapsed() >= SAVE_EVERY {
                            saved = std::time::Instant::now();
                            failure = failure.take().or(resume.save().err());
                        }
                    }
                }
            }
        });
        if let Some(line) = line {
            line.clear();
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        let outcome = outcome?;
        if let Some(resume) = &mut resume {
            let done = outcome.progress.done_in_order.saturating_sub(n_again);
            resume.note_done(first + done);
            resume.save()?;
        }
        hits.sort_by_key(|hit| hit.edits);
        Ok((hits, n_judged_out, outcome))
    }

    /// Says why there is nothing to search.
    fn explain(
        &self,
        env: &mut Env,
        text: &str,
        search: &Search,
        kinds: &[Kind],
    ) -> anyhow::Result<Exit> {
        if kinds.len() > 1
            && let Some(special) = Special::of_unknown(text)
        {
            return special.tell(env, self.output.is_json());
        }
        let all = search.contradictions();
        // Of many kinds, those that it comes nearest to say most.
        let depth = |contradiction: &Contradiction| match contradiction.reason {
            Reason::Character { position, .. } => position + 1,
            _ => 0,
        };
        let deepest = all.iter().map(depth).max().unwrap_or(0);
        let near = all
            .iter()
            .filter(|contradiction| depth(contradiction) == deepest);
        let near: Vec<&Contradiction> = near.collect();
        if self.output.is_json() {
            for contradiction in near {
                json::print_contradiction(env, contradiction)?;
            }
            return Ok(Exit::NotAllThere);
        }
        if near.len() <= FEW {
            for contradiction in near {
                env.error(&format!("{contradiction}"));
            }
        } else {
            let kinds = count(near.len() as u64, "kind");
            env.error(&format!(
                "fits none of {kinds}; with --kind one of them says why"
            ));
        }
        env.error("no string fits, whatever the case of its letters and whatever is unknown");
        Ok(Exit::NotAllThere)
    }

    /// Tells one search from another.
    fn fingerprint(&self, text: &str) -> String {
        let damage = self.damage(text);
        let all = format!(
            "{} {text} {damage:?} {:?} {:?} {:?} {:?}",
            env!("CARGO_PKG_VERSION"),
            self.kinds,
            self.payload_len,
            self.version_bytes,
            self.shard
        );
        digest::<Sha256>(all.as_bytes()).to_string()
    }

    fn kinds(&self) -> anyhow::Result<Vec<Kind>> {
        if let Some(len) = self.payload_len {
            let version = self.version_bytes.as_deref().unwrap_or_default();
            return Ok(vec![Kind::custom(
                len.into(),
                version,
                self.alphabet.into(),
            )]);
        }
        if self.kinds.is_empty() {
            return Ok(Kind::all());
        }
        let kinds = self.kinds.iter().map(|name| {
            Kind::named(name)
                .with_context(|| format!("--kind {name}: `hashlane recover --help` has the names"))
        });
        kinds.collect()
    }

    /// What may have happened to the text, if it is not said: if all letters are of one case, or
    /// nothing else has happened, it is the case that was lost.
    fn damage(&self, text: &str) -> Damage {
        let is_mixed = text.contains(|c: char| c.is_ascii_lowercase())
            && text.contains(|c: char| c.is_ascii_uppercase());
        let is_damaged = self.glyphs || self.errors > 0 || text.contains(['?', '[']);
        Damage {
            case: match self.case {
                Case::Lost => true,
                Case::Kept => false,
                Case::Auto => !is_mixed || !is_damaged,
            },
            glyphs: self.glyphs,
            errors: self.errors,
        }
    }

    fn check_limits(&self, cost: &Cost) -> anyhow::Result<()> {
        if let Some(most) = self.max_hashes
            && cost.estimate.hashes > most
        {
            bail!(
                "{:.3e} hashes are needed, and --max-hashes allows {most:.3e}",
                cost.estimate.hashes
            );
        }
        if let Some(most) = self.max_time
            && cost.seconds > most
        {
            bail!(
                "{} are needed, and --max-time allows {}",
                Shown(cost.seconds),
                Shown(most)
            );
        }
        Ok(())
    }
}

/// A line of the standard input, without what is around it; `None` at its end.
fn read_line(env: &mut Env) -> anyhow::Result<Option<Zeroizing<String>>> {
    loop {
        let mut line = Zeroizing::new(String::new());
        if env.stdin.read_line(&mut line).context("standard input")? == 0 {
            return Ok(None);
        }
        let text = line.trim();
        if !text.is_empty() {
            return Ok(Some(Zeroizing::new(text.to_owned())));
        }
    }
}

/// Of several strings: the worst that can be said.
fn combined(exits: &[Exit]) -> Exit {
    let worst = [Exit::NotChecked, Exit::Several, Exit::NotAllThere];
    worst
        .into_iter()
        .find(|exit| exits.contains(exit))
        .unwrap_or(Exit::Good)
}
