//! `hashlane recover`: recovers damaged Base58Check strings.

mod execute;
mod extract;
mod filter;
mod human;
mod json;
mod mismatch;
mod other_format;
mod plan;
mod prompt;
mod recovered;
mod resume;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use hashlane_base58::{
    CpuBackend, Damage, Hit, Kind, MAX_HITS, Search, SearchBackend, SearchError,
};
use hashlane_sha::{Engine, Sha256, digest};

use crate::options::{Output, Threads};
use crate::output::text::Duration as Shown;
use crate::{Env, Exit, values};

use execute::Settings;
use extract::extract;
use filter::Filter;
use other_format::OtherFormat;
use plan::{Limits, Plan};
use prompt::Lines;
use recovered::Recovered;
use resume::{ResumeFile, ResumedSearch};

const AFTER_HELP: &str = "\
Examples:
  hashlane recover 1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71              case lost
  hashlane recover '1Lbcfr7sAHTD9CgdQo3HTM?kV8LK4Zn[XY]71'         unknown parts
  hashlane recover --glyphs 1Lbcfr7sAHTD9CgdQ03HTMTkVBLK4ZnX71     look-alikes
  hashlane recover --errors 2 1Lbcfr7sAHTD9CgdQ3oHTMTkV9LK4ZnX71   two errors
  hashlane recover --known addresses.txt -                         private key
  hashlane recover --resume state --shard 2/4 --max-time 8h - < keys

Limits: if a private key lost all letter case, several strings fit by accident:
a few for most compressed keys, a hundred or more for uncompressed keys,
thousands for BIP 38. Extended keys have too many letters for any search.
Formats without a checksum cannot be recovered.

Kinds:
  p2pkh (1...), p2sh (3...), testnet-p2pkh (m... n...), testnet-p2sh (2...),
  bip38 (6P...), wif (5...), wif-compressed (K... L...), testnet-wif (9...),
  testnet-wif-compressed (c...),
  litecoin (L...), litecoin-p2sh (M...), litecoin-wif, litecoin-wif-compressed,
  dogecoin (D...), dogecoin-p2sh (9... A...), dogecoin-wif,
  dogecoin-wif-compressed,
  dash (X...), dash-p2sh (7...), dash-wif, dash-wif-compressed,
  zcash (t1...), zcash-p2sh (t3...), tron (T...), ripple (r...),
  ripple-seed (s...)

Exit status:
  0  exactly one string fits
  1  no string fits
  2  not searched, or not to the end: wrong usage, an impossible string, a
     limit, Ctrl-C
  3  several strings fit";

/// Recover damaged Base58Check strings: addresses and keys that lost their letter case or characters
///
/// The last four bytes of such a string are a checksum of the others. Hashlane tries all strings that the damaged one
/// can have been, and prints each match as soon as it is found. One candidate of four billion fits by accident;
/// --estimate prints how many accidental hits to expect. Hashlane never chooses one of several hits for you.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Recover {
    /// Damaged strings, with `?` for an unknown character and `[abc]` for one of several. URLs, quotes and spaces around
    /// or inside a string are removed. `-` reads strings from the standard input, one per line; a terminal asks for
    /// them and does not show them, which keeps private keys out of the shell's history
    #[arg(value_name = "STRING", required = true)]
    strings: Vec<String>,

    /// Kinds to search for, from the list below, separated by commas; repeatable [default: all]
    #[arg(short, long = "kind", value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,

    /// Length of a custom payload in bytes, without the checksum
    #[arg(long, value_name = "BYTES", conflicts_with = "kinds", value_parser = clap::value_parser!(u8).range(1..=44))]
    payload_len: Option<u8>,

    /// First bytes of the custom payload in hexadecimal, for example 6f
    #[arg(long, value_name = "HEX", requires = "payload_len", value_parser = values::hex_bytes)]
    version_bytes: Option<values::Bytes>,

    /// Alphabet of the custom payload
    #[arg(
        long,
        value_name = "ALPHABET",
        requires = "payload_len",
        default_value = "bitcoin"
    )]
    alphabet: AlphabetName,

    /// State of the letter case
    #[arg(long, value_name = "STATE", default_value = "auto")]
    case: Case,

    /// Allow characters that look alike, for example 0 for o, 1 for i, 5 for S, 8 for B
    #[arg(short, long)]
    glyphs: bool,

    /// Number of wrong, missing, extra or transposed characters to allow at unknown positions
    #[arg(short, long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=2))]
    errors: u8,

    /// Print the cost of the search and the expected number of accidental hits, without searching
    #[arg(long)]
    estimate: bool,

    /// Maximum number of remaining hashes, for example 1e10; a larger search does not start
    #[arg(long, value_name = "N", value_parser = values::positive)]
    max_hashes: Option<f64>,

    /// Maximum time per string, for example 90s, 5m or 2h; a search whose remaining part takes longer does not start
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    max_time: Option<Duration>,

    /// File of known addresses, one per line; only these addresses, and keys that own one of them, are printed
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,

    /// First characters of the original string
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,

    /// Hash in the address, in hexadecimal: RIPEMD-160 of SHA-256 of the public key
    #[arg(long, value_name = "HEX", value_parser = values::address_hash)]
    pubkey_hash: Option<hashlane_base58::AddressHash>,

    #[command(flatten)]
    threads: Threads,

    /// File that records progress, to continue an interrupted run; covers all strings and contains none of them
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Part of the search, for example 2/4 for the second of four machines
    #[arg(long, value_name = "I/N", value_parser = values::shard)]
    shard: Option<values::Shard>,

    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Case {
    /// Lost if all letters have the same case, or if the string has no other damage
    Auto,
    /// Each letter can be upper or lower case
    Lost,
    /// All letters have their original case
    Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AlphabetName {
    /// Bitcoin's alphabet, which nearly all formats use
    Bitcoin,
    /// Alphabet of the XRP Ledger
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

/// A longer search announces its duration before it starts.
const LONG: Duration = Duration::from_secs(60);

/// The warning about a private key among the arguments.
const IN_HISTORY: &str = "\
warning: a private key among the arguments stays in the shell's history. Remove it, \
in bash: `history -d -2 && history -w` as the next command; \
in fish: `history delete --prefix 'hashlane recover'`; \
in zsh: end the shell, then delete the line from the file $HISTFILE. \
Next time, `hashlane recover -` asks for the key and does not show it";

/// A run of the command: the parts that all of its strings share.
struct Run {
    args: Recover,
    kinds: Vec<Kind>,
    filter: Filter,
    backend: Box<dyn SearchBackend>,
    resume: Option<ResumeFile>,
}

impl Recover {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let run = Run::new(self, env)?;
        run.recover_all(env)
    }

    fn kinds(&self) -> anyhow::Result<Vec<Kind>> {
        if let Some(len) = self.payload_len {
            let version = self.version_bytes.as_deref().unwrap_or_default();
            let kind = Kind::custom(len.into(), version, self.alphabet.into());
            return Ok(vec![kind]);
        }
        if self.kinds.is_empty() {
            return Ok(Kind::all());
        }
        let named = |name: &String| {
            Kind::named(name).with_context(|| {
                format!("--kind {name}: unknown kind; `hashlane recover --help` lists all kinds")
            })
        };
        self.kinds.iter().map(named).collect()
    }

    /// Returns the damage to search for. By default the letter case is lost if all letters have the same case, or if
    /// the options and the string name no other damage.
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

    /// Returns a digest that identifies the search for `text` with these options.
    fn fingerprint(&self, text: &str, kinds: &[Kind]) -> String {
        let damage = self.damage(text);
        let version = env!("CARGO_PKG_VERSION");
        // "by errors": the order of work units.
        let all = format!(
            "{version} by errors {text} {damage:?} {kinds:?} {:?}",
            self.shard
        );
        digest::<Sha256>(all.as_bytes()).to_string()
    }
}

impl Run {
    fn new(args: Recover, env: &Env) -> anyhow::Result<Self> {
        let kinds = args.kinds()?;
        let known = args.known.as_ref().map(|path| env.resolve(path));
        let filter = Filter::new(known.as_deref(), args.pubkey_hash, args.prefix.as_deref())?;
        let backend = CpuBackend::fastest(Engine::override_of_env()?, args.threads.count());
        let backend = backend.context(
            "HASHLANE_BACKEND: this backend has no kernel for searches; sse2 and avx have one",
        )?;
        let resume = match &args.resume {
            None => None,
            Some(path) => {
                let given = args.strings.iter().filter(|text| *text != "-");
                // A text without a single string is reported when it is its turn.
                let strings = given.filter_map(|text| extract(text).ok());
                let fingerprints = strings.map(|text| args.fingerprint(&text, &kinds));
                let fingerprints: Vec<String> = fingerprints.collect();
                let file = ResumeFile::open(&env.resolve(path), &fingerprints);
                Some(file.with_context(|| path.display().to_string())?)
            }
        };
        Ok(Self {
            args,
            kinds,
            filter,
            backend: Box::new(backend),
            resume,
        })
    }

    fn recover_all(mut self, env: &mut Env) -> anyhow::Result<Exit> {
        let mut exits = Vec::new();
        for argument in std::mem::take(&mut self.args.strings) {
            if argument == "-" {
                let lines = Lines::start(env)?;
                while let Some(line) = lines.next(env)? {
                    exits.push(self.report(env, &line, true)?);
                }
            } else {
                exits.push(self.report(env, &argument, false)?);
            }
        }
        if exits.is_empty() {
            bail!("there are no strings on the standard input");
        }
        Ok(combined(&exits))
    }

    /// Recovers one string. Prints its errors and returns, so that the next string follows.
    fn report(&mut self, env: &mut Env, text: &str, is_from_stdin: bool) -> anyhow::Result<Exit> {
        let result = extract(text).and_then(|text| self.recover(env, &text, is_from_stdin));
        match result {
            Err(error) if !crate::is_broken_pipe(&error) => {
                let error = format!("{error:#}");
                if self.args.output.is_json() {
                    json::print_error(env, &error)?;
                }
                env.error(&error);
                Ok(Exit::NotChecked)
            }
            result => result,
        }
    }

    fn recover(&mut self, env: &mut Env, text: &str, is_from_stdin: bool) -> anyhow::Result<Exit> {
        let args = &self.args;
        if let Some(hit) = self.intact(text).filter(|_| !args.estimate) {
            return self.print_intact(env, &hit, is_from_stdin);
        }
        if let Some(format) = OtherFormat::of(text) {
            return format.report(env, args.output.is_json());
        }
        let started = Instant::now();
        let search = prepare(text, args, &self.kinds, started)?;
        let estimate = search.estimate();
        if estimate.candidates == 0 {
            return self.explain(env, text, &search);
        }
        let resumed = match &mut self.resume {
            Some(file) => {
                let fingerprint = args.fingerprint(text, &self.kinds);
                Some(resumed(args, file, fingerprint, &search)?)
            }
            None => None,
        };
        let units = match (&resumed, args.shard) {
            (Some(resumed), _) => Some(resumed.units()),
            (None, Some(shard)) => Some(vec![shard.of(search.n_units()?)]),
            (None, None) => None,
        };
        let plan = Plan::new(&search, estimate, units, &*self.backend)?;
        if args.estimate {
            return print_estimate(env, &plan, args.output.is_json());
        }
        if let Some(resumed) = &resumed {
            resumed.save()?;
        }
        announce(env, args, &search, &plan, is_from_stdin)?;
        let settings = Settings {
            filter: &self.filter,
            is_json: args.output.is_json(),
            is_quiet: args.output.quiet,
            max_time: args
                .max_time
                .map(|limit| limit.saturating_sub(started.elapsed())),
        };
        let name = if search.is_secret() {
            "a private key"
        } else {
            text
        };
        let recovered = execute::execute(env, name, &search, &plan, resumed, &settings)?;
        self.summarize(env, &plan, &recovered)
    }

    /// Returns the hit that an intact string is. Of a kind without a search only if all kinds are wanted.
    fn intact(&self, text: &str) -> Option<Hit> {
        let hit = Hit::intact(text, &self.kinds);
        let hit = hit.or_else(|| {
            let wants_all = self.args.kinds.is_empty() && self.args.payload_len.is_none();
            wants_all.then(|| other_format::intact(text))?
        });
        hit.filter(|hit| self.filter.accepts(hit))
    }

    fn print_intact(&self, env: &mut Env, hit: &Hit, is_from_stdin: bool) -> anyhow::Result<Exit> {
        let output = &self.args.output;
        if hit.is_secret && !is_from_stdin {
            env.error(IN_HISTORY);
        }
        if output.is_json() {
            json::print_intact(env, hit)?;
        } else {
            human::print_intact(env, hit, output.quiet)?;
        }
        Ok(Exit::Good)
    }

    /// Prints a summary, and returns the exit status of a search.
    fn summarize(
        &self,
        env: &mut Env,
        plan: &Plan<'_>,
        recovered: &Recovered,
    ) -> anyhow::Result<Exit> {
        if self.args.output.is_json() {
            json::print_summary(env, plan, recovered)?;
        } else if !self.args.output.quiet {
            human::print_summary(env, plan, recovered)?;
        }
        let outcome = &recovered.outcome;
        if outcome.has_too_many_hits {
            bail!("more than {MAX_HITS} strings fit: too much is unknown");
        }
        if !outcome.is_complete {
            let reason = if recovered.is_late {
                "stopped by --max-time"
            } else {
                "interrupted"
            };
            env.error(&format!("{reason}: there can be more hits"));
            return Ok(Exit::NotChecked);
        }
        Ok(match recovered.hits.len() {
            0 => Exit::NotAllThere,
            1 => Exit::Good,
            _ => Exit::Several,
        })
    }

    /// Prints why there is nothing to search.
    fn explain(&self, env: &mut Env, text: &str, search: &Search) -> anyhow::Result<Exit> {
        if self.kinds.len() > 1
            && let Some(format) = OtherFormat::by_length(text)
        {
            return format.report(env, self.args.output.is_json());
        }
        mismatch::print(env, search, self.args.output.is_json())?;
        Ok(Exit::NotAllThere)
    }
}

/// Returns the search of the resume file, restricted to the shard.
fn resumed<'f>(
    args: &Recover,
    file: &'f mut ResumeFile,
    fingerprint: String,
    search: &Search,
) -> anyhow::Result<ResumedSearch<'f>> {
    let total = search.n_units()?;
    let units = args.shard.map_or(0..total, |shard| shard.of(total));
    let path = args.resume.as_ref().map(|path| path.display().to_string());
    file.search(fingerprint, units, total)
        .with_context(|| path.unwrap_or_default())
}

fn print_estimate(env: &mut Env, plan: &Plan<'_>, is_json: bool) -> anyhow::Result<Exit> {
    if is_json {
        json::print_estimate(env, plan)?;
    } else {
        human::print_estimate(env, plan)?;
    }
    Ok(Exit::Good)
}

/// Checks the limits, and warns before a search that is long or has a private key among the arguments.
fn announce(
    env: &mut Env,
    args: &Recover,
    search: &Search,
    plan: &Plan<'_>,
    is_from_stdin: bool,
) -> anyhow::Result<()> {
    if search.is_secret() && !is_from_stdin {
        env.error(IN_HISTORY);
    }
    plan.check(Limits {
        hashes: args.max_hashes,
        time: args.max_time,
    })?;
    if plan.seconds > LONG.as_secs_f64() && !args.output.quiet {
        let accidental_hits = plan.estimate.accidental_hits;
        env.error(&format!(
            "this search takes {}; {accidental_hits:.3} accidental hits are expected",
            Shown(plan.seconds)
        ));
    }
    Ok(())
}

/// Makes the search for a text, within the time that `--max-time` allows from `started` on.
fn prepare(text: &str, args: &Recover, kinds: &[Kind], started: Instant) -> anyhow::Result<Search> {
    let is_late = || {
        args.max_time
            .is_some_and(|limit| started.elapsed() >= limit)
    };
    match Search::new_until(text, args.damage(text), kinds, &is_late) {
        Err(SearchError::Ended) => {
            let limit = Shown(args.max_time.unwrap_or_default().as_secs_f64());
            bail!("--max-time allows {limit}; the preparation of the search takes longer")
        }
        result => Ok(result?),
    }
}

/// Returns the worst of several exit statuses.
fn combined(exits: &[Exit]) -> Exit {
    let worst = [Exit::NotChecked, Exit::Several, Exit::NotAllThere];
    worst
        .into_iter()
        .find(|exit| exits.contains(exit))
        .unwrap_or(Exit::Good)
}
