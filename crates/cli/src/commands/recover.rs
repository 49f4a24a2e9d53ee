//! `hashlane recover`: recovers damaged Base58Check strings and texts with other checksums.

mod damage;
mod device;
mod execute;
mod filter;
mod human;
mod json;
mod kinds;
mod other_format;
mod other_kind;
mod plan;
mod prompt;
mod recovered;
mod resume;
mod suggestions;
mod widening;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use hashlane_base58::{
    CpuBackend, Damage, Filter, Gap, Hit, Kind, Least, MAX_HITS, Search, SearchBackend,
    SearchError, Shard, Subject, extract,
};
use hashlane_sha::{Sha256, digest};

use crate::options::{ConfigFile, Output, Threads};
use crate::output::text;
use crate::{Env, Exit, values};

use damage::{AsOptions, DamageOptions};
use execute::{IN_HISTORY, Settings, name};
use filter::filter;
use human::print_mismatches;
use kinds::KindOptions;
use other_format::OtherFormat;
use plan::{ESTIMATE_FOR, Limits, PlannedSearch, prepare, prepare_least};
use prompt::Lines;
use recovered::{Report, Tried};
use resume::{ResumeFile, ResumedSearch};
use suggestions::suggestions;
use widening::{Widened, widen};

const AFTER_HELP: &str = "\
Examples:
  hashlane recover 1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71              any damage
  hashlane recover '1Lbcfr7sAHTD9CgdQo3HTM?kV8LK4Zn[XY]71'         unknown parts
  hashlane recover --glyphs 1Lbcfr7sAHTD9CgdQ03HTMTkVBLK4ZnX71     look-alikes
  hashlane recover --errors 2 1Lbcfr7sAHTD9CgdQ3oHTMTkV9LK4ZnX71   two errors
  hashlane recover bc1qw508d6qejxtdg4y5r3zarvarv0c5xw7kv8f3t4   witness address
  hashlane recover 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee      Ethereum
  hashlane recover --known addresses.txt -                         private key
  hashlane recover --resume state --shard 2/4 --max-time 8h - < keys

Limits: if a private key lost all letter case, several strings fit by accident:
a few for most compressed keys, a hundred or more for uncompressed keys,
thousands for BIP 38. Extended keys have too many letters for any search.
Formats without a checksum cannot be recovered.

Bech32 texts (bc1..., npub1..., age1..., addr1..., lnbc..., any prefix) need no
search: the checksum alone repairs two wrong characters, or up to four that are
written as `?`; that of codex32 (ms1...) repairs four, or eight unknown ones.
Of the words of SLIP-39, one wrong or three unknown ones are determined.
An address of Ethereum has a checksum only if its letters are in both cases; one
or two wrong, missing, extra or exchanged digits are found, and so are those of
texts of Monero, Stellar, Algorand, Filecoin, Polkadot, EOS and Hive.

Kinds:
  p2pkh (1...), p2sh (3...), testnet-p2pkh (m... n...), testnet-p2sh (2...),
  bip38 (6P...), wif (5...), wif-compressed (K... L...), testnet-wif (9...),
  testnet-wif-compressed (c...),
  litecoin (L...), litecoin-p2sh (M...), litecoin-wif, litecoin-wif-compressed,
  dogecoin (D...), dogecoin-p2sh (9... A...), dogecoin-wif,
  dogecoin-wif-compressed,
  dash (X...), dash-p2sh (7...), dash-wif, dash-wif-compressed,
  zcash (t1...), zcash-p2sh (t3...), tron (T...), tezos (tz1... to tz4...),
  tezos-contract (KT1...), tezos-rollup (sr1...), tezos-edpk,
  tezos-sppk (sppk... p2pk...), tezos-edsk (edsk... spsk... p2sk...),
  ripple (r...), ripple-seed (s...), ripple-x (X...), testnet-ripple-x (T...)

Exit status:
  0  exactly one string fits
  1  no string fits; a search that widens by itself found nothing in its time
  2  not searched, or not to the end: wrong usage, an impossible string, a
     limit, Ctrl-C, results that cannot be written
  3  several strings fit
130  Ctrl-C in answer to the question for a string";

/// Recover damaged Base58Check strings: addresses and keys that lost their letter case or characters
///
/// The last four bytes of such a string are a checksum. Hashlane tries all possible originals of the damaged string,
/// and prints each match as soon as it is found. One candidate of four billion fits by accident; --estimate prints how
/// many accidental hits to expect. Hashlane never chooses one of several hits for you.
///
/// Without --case, --glyphs and --errors, Hashlane searches for more and more damage, the cheapest first, within
/// --max-time. If nothing is found, it prints the searches that it has made, and the cost of further searches.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Recover {
    /// Damaged strings, with `?` for an unknown character and `[abc]` for one of several. URLs, quotes and spaces around
    /// or inside a string are removed. `-` reads strings from the standard input, one per line; a terminal asks for
    /// them and does not show them, which keeps private keys out of the shell's history
    #[arg(value_name = "STRING", required = true)]
    strings: Vec<String>,

    #[command(flatten)]
    kinds: KindOptions,

    #[command(flatten)]
    damage: DamageOptions,

    /// Print the cost of the search and the expected number of accidental hits, without searching. Without --case,
    /// --glyphs and --errors, print them for each search that would be made. Takes at most 0.2 s per search. For searches
    /// with many errors the numbers are lower bounds, marked "at least"
    #[arg(long, help_heading = "Cost")]
    estimate: bool,

    /// Maximum number of remaining hashes, for example 1e10; a larger search does not start
    #[arg(long, value_name = "N", value_parser = values::positive, help_heading = "Cost")]
    max_hashes: Option<f64>,

    /// Maximum time per string, for example 90s, 5min, 2h or 1d [default: 10s without --case, --glyphs and --errors]; a search
    /// whose remaining part takes longer does not start
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Cost")]
    max_time: Option<Duration>,

    /// File of known addresses, one per line; only these addresses, and keys that own one of them, are printed
    #[arg(long, value_name = "FILE", help_heading = "Known facts")]
    known: Option<PathBuf>,

    /// First characters of the original string
    #[arg(long, value_name = "TEXT", help_heading = "Known facts")]
    prefix: Option<String>,

    /// Hash in the address, in hexadecimal: RIPEMD-160 of SHA-256 of the public key
    #[arg(long, value_name = "HEX", value_parser = values::address_hash, help_heading = "Known facts")]
    pubkey_hash: Option<hashlane_base58::AddressHash>,

    #[command(flatten)]
    threads: Threads,

    /// Devices that search: cpu, gpu for all GPUs, all for both, or a part of a device's name, for example nvidia;
    /// `hashlane kernels` lists devices
    #[arg(
        long,
        value_name = "DEVICE",
        default_value = "cpu",
        help_heading = "Hashing"
    )]
    device: String,

    /// File that records progress, to continue an interrupted run; covers all strings and contains none of them
    #[arg(long, value_name = "FILE", help_heading = "Parts of a search")]
    resume: Option<PathBuf>,

    /// Part of the search, for example 2/4 for the second of four machines
    #[arg(long, value_name = "I/N", value_parser = values::shard, help_heading = "Parts of a search")]
    shard: Option<Shard>,

    #[command(flatten)]
    output: Output,

    #[command(flatten)]
    _config: ConfigFile,
}

/// Duration above which a search announces its duration before it starts.
const LONG: Duration = Duration::from_secs(60);

/// Time for a search that widens by itself, unless `--max-time` is given.
const WIDEN_FOR: Duration = Duration::from_secs(10);

/// A run of the command: the parts that all strings share.
struct Run {
    args: Recover,
    kinds: Vec<Kind>,
    filter: Arc<Filter>,
    backend: Box<dyn SearchBackend>,
    resume: Option<ResumeFile>,
}

impl Recover {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let run = Run::new(self, env)?;
        run.recover_all(env)
    }

    /// Returns the devices that search.
    pub(crate) fn device(&self) -> &str {
        &self.device
    }

    /// Returns `true` if the search needs a GPU, and this program was built without them.
    pub(crate) fn needs_another_program(&self) -> bool {
        cfg!(not(feature = "gpu")) && self.device != "cpu"
    }

    /// Returns `true` if the search widens by itself: no option selects the damage or a part of the search.
    fn widens(&self) -> bool {
        let is_whole = self.resume.is_none() && self.shard.is_none();
        self.damage.are_absent() && is_whole && self.max_hashes.is_none()
    }

    fn limits(&self) -> Limits {
        Limits {
            hashes: self.max_hashes,
            time: self.max_time,
        }
    }

    /// Returns a digest that identifies the search for `text` with these options.
    fn fingerprint(&self, text: &str, kinds: &[Kind], filter: &Filter) -> String {
        let damage = self.damage.of(text);
        let version = env!("CARGO_PKG_VERSION");
        // "by errors" names the order of work units. Work units with hits that other facts rule out are not searched again.
        let all = format!(
            "{version} by errors {text} {damage:?} {kinds:?} {:?} {}",
            self.shard,
            filter.digest()
        );
        digest::<Sha256>(all.as_bytes()).to_string()
    }
}

impl Run {
    fn new(args: Recover, env: &mut Env) -> anyhow::Result<Self> {
        let kinds = args.kinds.kinds()?;
        let known = args.known.as_ref().map(|path| env.resolve(path));
        let filter = filter(known.as_deref(), args.pubkey_hash, args.prefix.as_deref())?;
        let backend = CpuBackend::fastest(env.backend, args.threads.count());
        let backend = backend.context(
            "HASHLANE_BACKEND: this backend has no kernel for searches; sse2 and avx have one",
        )?;
        let backend = device::backend(&args.device, backend, |warning| {
            env.error(&format!("warning: {warning}"));
        })?;
        let resume = match &args.resume {
            None => None,
            Some(path) => {
                let given = args.strings.iter().filter(|text| *text != "-");
                // A text from which no single string can be extracted is reported in its turn.
                let strings = given.filter_map(|text| extract(text).ok());
                let fingerprints = strings.map(|text| args.fingerprint(&text, &kinds, &filter));
                let fingerprints: Vec<String> = fingerprints.collect();
                let file = ResumeFile::open(&env.resolve(path), &fingerprints);
                Some(file.with_context(|| path.display().to_string())?)
            }
        };
        Ok(Self {
            args,
            kinds,
            filter: Arc::new(filter),
            backend,
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

    /// Recovers one string. Prints errors instead of returning them, so that the next string follows.
    fn report(&mut self, env: &mut Env, text: &str, is_from_stdin: bool) -> anyhow::Result<Exit> {
        let text = if hashlane_recover::is_words(text) {
            Ok(zeroize::Zeroizing::new(text.to_owned()))
        } else {
            extract(text).map_err(anyhow::Error::from)
        };
        let result = text.and_then(|text| self.recover(env, &text, is_from_stdin));
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
        if let Some(hit) = self.intact(text) {
            return self.print_intact(env, &hit, is_from_stdin);
        }
        if let Some(exit) = self.recover_other(env, text, is_from_stdin, false)? {
            return Ok(exit);
        }
        if let Some(format) = OtherFormat::of(text) {
            return Err(format.refusal());
        }
        if args.widens() {
            return self.widen(env, text, is_from_stdin);
        }
        let started = Instant::now();
        let damage = args.damage.of(text);
        // Work units are numbered within the whole search, so a resume file or a shard needs all of it.
        let is_part = args.estimate && self.resume.is_none() && args.shard.is_none();
        let part = is_part.then_some(ESTIMATE_FOR);
        let search = prepare(&self.subject(text), damage, args.max_time, started, part);
        let fits = search.as_ref();
        let fits = fits.map(|search| search.estimate().candidates > 0);
        if let Some(format) = self.misfit(text, fits) {
            return self.report_misfit(env, text, &format, is_from_stdin);
        }
        let search = search?;
        let estimate = search.estimate();
        if estimate.candidates == 0 {
            if let Some(exit) = self.recover_other(env, text, is_from_stdin, true)? {
                return Ok(exit);
            }
            let suggestions = suggestions(&self.subject(text), damage, &[damage]);
            print_mismatches(env, &search, damage, &suggestions, args.output.is_json())?;
            return Ok(Exit::Bad);
        }
        let resumed = match &mut self.resume {
            Some(file) => {
                let fingerprint = args.fingerprint(text, &self.kinds, &self.filter);
                Some(resumed(args, file, fingerprint, &search)?)
            }
            None => None,
        };
        let units = match (&resumed, args.shard) {
            (Some(resumed), _) => Some(resumed.units()),
            (None, Some(shard)) => Some(vec![shard.of(search.n_units()?)]),
            (None, None) => None,
        };
        let plan = PlannedSearch::new(&search, damage, estimate, units, &*self.backend)?;
        if args.estimate {
            let refusal = plan.check(args.limits()).err();
            return print_estimate(env, &plan, refusal.as_ref(), args.output.is_json());
        }
        if let Some(resumed) = &resumed {
            resumed.save()?;
        }
        announce(env, args, &search, &plan, is_from_stdin)?;
        let max_time = args
            .max_time
            .map(|limit| limit.saturating_sub(started.elapsed()));
        let settings = Settings::new(&args.output, max_time);
        let name = name(&search, text);
        let recovered = execute::execute(env, name, &search, &plan, resumed, &settings)?;
        let subject = self.subject(text);
        let suggest = || suggestions(&subject, damage, &[damage]);
        let suggestions = recovered.found_nothing().then(suggest);
        let report = Report {
            plan: &plan,
            recovered: &recovered,
            tried: &[Tried::new(damage, &recovered)],
            suggestions: &suggestions.unwrap_or_default(),
        };
        self.summarize(env, &report)
    }

    fn subject<'s>(&'s self, text: &'s str) -> Subject<'s> {
        Subject {
            text,
            kinds: &self.kinds,
            filter: &self.filter,
            backend: &*self.backend,
        }
    }

    /// Recovers one string without options: searches for more and more damage, the cheapest first, until there is a hit
    /// or the time is over.
    fn widen(&self, env: &mut Env, text: &str, is_from_stdin: bool) -> anyhow::Result<Exit> {
        let limit = self.args.max_time.unwrap_or(WIDEN_FOR);
        let until = Instant::now() + limit;
        let least = Damage::least(text);
        let first = prepare_least(&self.subject(text), limit);
        let fits = first.as_ref().map(|least| matches!(least, Least::Fit(_)));
        let misfit = self.misfit(text, fits);
        if let Some(format) = misfit {
            if !format.is_guess() || !self.may_be_cut(text, least) {
                return self.report_misfit(env, text, &format, is_from_stdin);
            }
            env.error("this may be a Solana address or another number of 32 bytes, which cannot be recovered, or a string that lost characters");
        }
        if self.args.estimate {
            return self.estimate_widening(env, text, first, limit);
        }
        let subject = self.subject(text);
        let settings = Settings::new(&self.args.output, Some(limit));
        let Widened {
            tried,
            last,
            nearer,
        } = widen(env, subject, settings, until, !is_from_stdin)?;
        let Some((plan, recovered)) = last else {
            let step = match first? {
                Least::Misfit(search) => {
                    let exit = self.recover_other(env, text, is_from_stdin, true)?;
                    return exit.map_or_else(|| self.report_mismatched(env, text, &search), Ok);
                }
                Least::Fit(step) => step,
            };
            let plan = PlannedSearch::whole(step, &*self.backend);
            let Err(refusal) = plan.check(Limits::of_time(limit)) else {
                let limit = text::Duration(limit.as_secs_f64());
                bail!("--max-time allows {limit}, too little for any search");
            };
            let options = AsOptions(plan.damage);
            bail!(
                "{refusal}: give a longer --max-time, or `{options}` instead, which has no time limit"
            );
        };
        if let (true, Err(error)) = (recovered.found_nothing(), &first) {
            env.error(&error.to_string());
        }
        let suggestions = if recovered.found_nothing() {
            let complete = tried.iter().filter(|tried| tried.is_complete);
            let damages: Vec<Damage> = complete.map(|tried| tried.damage).collect();
            suggestions(&subject, least, &damages)
        } else {
            nearer
        };
        let report = Report {
            plan: &plan,
            recovered: &recovered,
            tried: &tried,
            suggestions: &suggestions,
        };
        self.summarize(env, &report)
    }

    /// Returns `true` if a string of a wanted kind starts like a text and is longer.
    fn may_be_cut(&self, text: &str, least: Damage) -> bool {
        let is_cut = |damage: &Damage| damage.gap == Gap::End;
        let cut = least.with_gaps().find(is_cut);
        cut.is_some_and(|damage| self.subject(text).step(damage, None, &|| false).is_some())
    }

    /// Prints the cost of the searches that [`Self::widen`] makes for `text` within `limit`. `first` is the search for
    /// the least damage.
    fn estimate_widening(
        &self,
        env: &mut Env,
        text: &str,
        first: anyhow::Result<Least>,
        limit: Duration,
    ) -> anyhow::Result<Exit> {
        let is_json = self.args.output.is_json();
        let plans = widening::estimate(self.subject(text), limit);
        match &plans[..] {
            [] => match first? {
                Least::Misfit(search) => self.report_mismatched(env, text, &search),
                Least::Fit(step) => {
                    let plan = PlannedSearch::whole(step, &*self.backend);
                    let refusal = plan.check(Limits::of_time(limit)).err();
                    print_estimate(env, &plan, refusal.as_ref(), is_json)
                }
            },
            [plan] => print_estimate(env, plan, None, is_json),
            _ if is_json => {
                for plan in &plans {
                    json::print_estimate(env, plan, None)?;
                }
                Ok(Exit::Good)
            }
            _ => {
                human::print_estimates(env, &plans, limit)?;
                Ok(Exit::Good)
            }
        }
    }

    /// Reports that no search was made. `mismatched` is the search for the least damage, which has no candidates.
    fn report_mismatched(
        &self,
        env: &mut Env,
        text: &str,
        mismatched: &Search,
    ) -> anyhow::Result<Exit> {
        let least = Damage::least(text);
        let suggestions = suggestions(&self.subject(text), least, &[]);
        let is_json = self.args.output.is_json();
        print_mismatches(env, mismatched, least, &suggestions, is_json)?;
        if suggestions.is_empty() {
            return Ok(Exit::Bad);
        }
        bail!("--max-time is too short for every search")
    }

    /// Recovers a text of a kind that is not Base58Check, or returns `None` for a text of no such kind, or if kinds are chosen.
    fn recover_other(
        &self,
        env: &mut Env,
        text: &str,
        is_from_stdin: bool,
        is_last: bool,
    ) -> anyhow::Result<Option<Exit>> {
        if !self.args.kinds.are_absent() {
            return Ok(None);
        }
        let settings = other_kind::Settings {
            errors: self.args.damage.errors(),
            estimate: self.args.estimate,
            filter: &self.filter,
            output: &self.args.output,
            is_from_stdin,
        };
        other_kind::recover(env, text, &settings, is_last)
    }

    /// Reports a text that fits no kind of Base58Check.
    fn report_misfit(
        &self,
        env: &mut Env,
        text: &str,
        format: &OtherFormat,
        is_from_stdin: bool,
    ) -> anyhow::Result<Exit> {
        let exit = self.recover_other(env, text, is_from_stdin, true)?;
        exit.map_or_else(|| Err(format.refusal()), Ok)
    }

    /// Returns the hit for an intact string. A kind that cannot be searched for counts only if all kinds are wanted.
    fn intact(&self, text: &str) -> Option<Hit> {
        let hit = Hit::intact(text, &self.kinds);
        let hit = hit.or_else(|| {
            let are_absent = self.args.kinds.are_absent();
            are_absent.then(|| other_format::intact(text))?
        });
        hit.filter(|hit| self.filter.accepts(hit))
    }

    fn print_intact(&self, env: &mut Env, hit: &Hit, is_from_stdin: bool) -> anyhow::Result<Exit> {
        let output = &self.args.output;
        if hit.is_secret && !is_from_stdin {
            env.error(IN_HISTORY);
        }
        if self.args.estimate {
            human::print_no_search(env, "the string is intact", output.is_json())?;
            return Ok(Exit::Good);
        }
        if output.is_json() {
            json::print_intact(env, hit)?;
        } else {
            human::print_intact(env, hit, output.quiet)?;
        }
        Ok(Exit::Good)
    }

    /// Prints a summary, and returns the exit status of a search.
    fn summarize(&self, env: &mut Env, report: &Report<'_>) -> anyhow::Result<Exit> {
        if self.args.output.is_json() {
            json::print_summary(env, report)?;
        } else if !self.args.output.quiet {
            human::print_summary(env, report)?;
        }
        let recovered = report.recovered;
        let outcome = &recovered.outcome;
        if outcome.has_too_many_hits {
            bail!("more than {MAX_HITS} strings fit: too much is unknown");
        }
        if !outcome.is_complete && !report.found_nothing_in_time() {
            let reason = if recovered.is_late {
                "stopped by --max-time"
            } else {
                "interrupted"
            };
            env.error(&format!("{reason}: there can be more hits"));
            return Ok(Exit::NotChecked);
        }
        if !recovered.hits.is_empty() && !report.is_complete() {
            env.error("strings with fewer edits were not searched for: there can be more hits");
            return Ok(Exit::NotChecked);
        }
        Ok(match recovered.hits.len() {
            0 => Exit::Bad,
            1 => Exit::Good,
            _ => Exit::Several,
        })
    }

    /// Returns the format of a text that fits none of the kinds, given whether strings fit the search for the least damage.
    fn misfit(&self, text: &str, fits: Result<bool, &anyhow::Error>) -> Option<OtherFormat> {
        match fits {
            Ok(true) => None,
            Ok(false) => OtherFormat::of_misfit(text, self.kinds.len() > 1),
            Err(error) => {
                let error = error.downcast_ref::<SearchError>();
                let is_misfit = matches!(error, Some(SearchError::Pattern(_)));
                is_misfit.then(|| OtherFormat::of_misfit(text, false))?
            }
        }
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

/// Prints the cost of a search, and the reason if a limit refuses it.
fn print_estimate(
    env: &mut Env,
    plan: &PlannedSearch<'_>,
    refusal: Option<&anyhow::Error>,
    is_json: bool,
) -> anyhow::Result<Exit> {
    let refusal = refusal.map(ToString::to_string);
    if is_json {
        json::print_estimate(env, plan, refusal.as_deref())?;
    } else {
        human::print_estimate(env, plan, refusal.as_deref())?;
    }
    Ok(Exit::Good)
}

/// Checks the limits. Warns before a long search, and if a private key is among the arguments.
fn announce(
    env: &mut Env,
    args: &Recover,
    search: &Search,
    plan: &PlannedSearch<'_>,
    is_from_stdin: bool,
) -> anyhow::Result<()> {
    if search.is_secret() && !is_from_stdin {
        env.error(IN_HISTORY);
    }
    plan.check(args.limits())?;
    if plan.seconds > LONG.as_secs_f64() && !args.output.quiet {
        let accidental_hits = plan.estimate.accidental_hits;
        env.error(&format!(
            "this search takes {}; {accidental_hits:.3} accidental hits are expected",
            text::Duration(plan.seconds)
        ));
    }
    Ok(())
}

/// Returns the worst of several exit statuses.
fn combined(exits: &[Exit]) -> Exit {
    let worst = [Exit::NotChecked, Exit::Several, Exit::Bad];
    worst
        .into_iter()
        .find(|exit| exits.contains(exit))
        .unwrap_or(Exit::Good)
}
