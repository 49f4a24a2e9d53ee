//! Recovery of damaged Base58Check strings and texts with other checksums.
//!
//! Hits can be private keys. No error and no `repr` contains one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use hashlane_base58::{AddressHash, Alphabet, CpuBackend, Damage, Filter, Gap, Hit, Hits, Kind};
use hashlane_base58::{Least, Widening, extract};
use hashlane_base58::{MAX_HITS, Options, SearchBackend as _, SearchError, Shard, Subject};
use hashlane_recover::Repaired;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::many::threads_or_all;
use crate::watch::{INTERVAL, Watch};

/// Time to prepare a search whose cost is estimated, as of the program.
const ESTIMATE_FOR: Duration = Duration::from_millis(60);

/// The name of the kind of witness addresses.
const WITNESS: &str = "witness";

/// Longest payload of a custom kind in bytes, as of the program.
const MAX_CUSTOM_LEN: usize = 44;

/// The options of `hashlane.recover` and `hashlane.estimate`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Request {
    kinds: Option<Vec<Wanted>>,
    /// Whether the letter case is lost; `None` if that is unknown.
    case_lost: Option<bool>,
    glyphs: bool,
    errors: u8,
}

/// A kind to search for.
#[derive(FromPyObject)]
enum Wanted {
    Named(String),
    /// A `hashlane.CustomKind`.
    Custom {
        payload_len: usize,
        version: Vec<u8>,
        alphabet: String,
    },
}

/// What `hashlane.recover` knows about the original string, and how much it searches.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Facts {
    known: Option<Vec<String>>,
    pubkey_hash: Option<Vec<u8>>,
    prefix: String,
    /// The number of the part, counted from 1, and the number of parts.
    shard: Option<(u64, u64)>,
    /// Seconds, if they are limited.
    max_time: Option<f64>,
    /// Whether to search for more and more damage.
    widens: bool,
}

impl Request {
    fn kinds(&self) -> PyResult<Vec<Kind>> {
        match &self.kinds {
            Some(kinds) => kinds.iter().map(Wanted::kind).collect(),
            None => Ok(Kind::all()),
        }
    }

    fn damage(&self, text: &str) -> Damage {
        let damage = Damage::with_unknown_case(text, self.glyphs, self.errors);
        Damage {
            case: self.case_lost.unwrap_or(damage.case),
            ..damage
        }
    }
}

impl Wanted {
    fn kind(&self) -> PyResult<Kind> {
        match self {
            Self::Named(name) => Kind::named(name).ok_or_else(|| {
                let all: Vec<String> = Kind::all().iter().map(ToString::to_string).collect();
                let all = all.join(", ");
                PyValueError::new_err(format!("kind {name:?}: expected one of {all}"))
            }),
            Self::Custom {
                payload_len,
                version,
                alphabet,
            } => {
                let alphabet = match alphabet.as_str() {
                    "bitcoin" => Alphabet::Bitcoin,
                    "ripple" => Alphabet::Ripple,
                    other => {
                        return Err(PyValueError::new_err(format!(
                            "alphabet {other:?}: expected 'bitcoin' or 'ripple'"
                        )));
                    }
                };
                if !(1..=MAX_CUSTOM_LEN).contains(payload_len) {
                    return Err(PyValueError::new_err(format!(
                        "payload_len {payload_len}: expected 1 to {MAX_CUSTOM_LEN} bytes"
                    )));
                }
                Ok(Kind::custom(*payload_len, version, alphabet))
            }
        }
    }
}

impl Facts {
    fn filter(&self) -> PyResult<Filter> {
        let mut filter = Filter {
            known: None,
            prefix: self.prefix.clone(),
        };
        if let Some(addresses) = &self.known {
            let known = filter.known.get_or_insert_default();
            for address in addresses {
                if !known.insert(address) {
                    return Err(PyValueError::new_err(format!(
                        "known: {address:?} is not an address: the checksum does not fit"
                    )));
                }
            }
        }
        if let Some(hash) = &self.pubkey_hash {
            let hash: AddressHash = hash.as_slice().try_into().map_err(|_| {
                PyValueError::new_err(format!("pubkey_hash has {} bytes, expected 20", hash.len()))
            })?;
            filter.known.get_or_insert_default().insert_hash(hash);
        }
        Ok(filter)
    }

    fn shard(&self) -> PyResult<Option<Shard>> {
        let Some((number, n)) = self.shard else {
            return Ok(None);
        };
        let shard = Shard::new(number, n);
        let wrong = || {
            PyValueError::new_err(format!(
                "shard ({number}, {n}): expected a part such as (1, 4), (2, 4), (3, 4) or (4, 4)"
            ))
        };
        shard.map(Some).ok_or_else(wrong)
    }

    /// Returns when the search ends, if its time is limited.
    fn until(&self) -> PyResult<Option<Instant>> {
        let Some(seconds) = self.max_time else {
            return Ok(None);
        };
        let limit = Duration::try_from_secs_f64(seconds).map_err(|_| {
            PyValueError::new_err(format!("max_time {seconds}: expected a number of seconds"))
        })?;
        // A time that no clock reaches is no limit.
        Ok(Instant::now().checked_add(limit))
    }
}

fn refused(error: &SearchError) -> PyErr {
    match error {
        SearchError::Thread(_) => PyRuntimeError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// Returns the string in a text: without quotes, spaces and the URL around it. The spaces between words stay.
fn extracted(text: &str) -> PyResult<zeroize::Zeroizing<String>> {
    if hashlane_recover::is_words(text) {
        return Ok(zeroize::Zeroizing::new(text.to_owned()));
    }
    extract(text).map_err(|error| refused(&error))
}

/// Returns the possible originals of a text of a kind that is not Base58Check; `None` for all other texts.
fn repaired(text: &str, errors: u8, filter: &Filter) -> PyResult<Option<Vec<Repaired>>> {
    let errors = (errors > 0).then_some(errors);
    let accepts = |repaired: &Repaired| filter.accepts_in_any_case(&repaired.text);
    let Some(answer) = hashlane_recover::recover(text, errors, &accepts, false) else {
        return Ok(None);
    };
    let answer = answer.map_err(|refusal| PyValueError::new_err(refusal.to_string()))?;
    Ok(Some(answer.hits))
}

/// Returns the name of a kind: `witness`, or words.
fn kind_of(repaired: &Repaired) -> &str {
    match &repaired.what {
        what if what.starts_with(WITNESS) => WITNESS,
        what => what,
    }
}

/// A string that was found, of either kind.
enum Found {
    Base58(Hit),
    Other(Repaired),
}

impl Found {
    /// Returns what the dataclass `hashlane.Hit` is made of.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        match self {
            Self::Base58(hit) => {
                let addresses = PyDict::new(py);
                for address in hit.addresses() {
                    addresses.set_item(address.script, address.text)?;
                }
                dict.set_item("text", hit.text.as_str())?;
                dict.set_item("kind", &hit.kind)?;
                dict.set_item("edits", hit.edits)?;
                dict.set_item("is_secret", hit.is_secret)?;
                dict.set_item("addresses", addresses)?;
            }
            Self::Other(repaired) => {
                dict.set_item("text", repaired.text.as_str())?;
                dict.set_item("kind", kind_of(repaired))?;
                dict.set_item("edits", repaired.edits)?;
                dict.set_item("is_secret", repaired.is_secret)?;
                dict.set_item("addresses", PyDict::new(py))?;
            }
        }
        Ok(dict)
    }
}

/// Where the next hit comes from.
enum Source {
    /// Hits that are known without a search.
    Known(std::vec::IntoIter<Found>),
    Search(Box<Running>),
    /// Another call waits for a hit.
    Busy,
    Ended {
        is_complete: bool,
    },
}

/// What all searches for a text share.
#[derive(Clone)]
struct Shared {
    text: zeroize::Zeroizing<String>,
    kinds: Vec<Kind>,
    filter: Arc<Filter>,
    backend: Arc<CpuBackend>,
    /// When the searches end, if their time is limited.
    until: Option<Instant>,
}

impl Shared {
    fn subject(&self) -> Subject<'_> {
        Subject {
            text: &self.text,
            kinds: &self.kinds,
            filter: &self.filter,
            backend: &*self.backend,
        }
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// A search in the background, and the searches that follow if it has no hit.
struct Running {
    hits: Hits,
    damage: Damage,
    /// The fewest edits of a hit.
    fewest_edits: Option<u32>,
    shared: Shared,
    widening: Option<Widening>,
}

/// A running search, as an iterator.
#[pyclass(frozen, name = "Search", module = "hashlane._hashlane")]
pub(crate) struct Search {
    source: Mutex<Source>,
    /// The damage of the searches that are complete.
    tried: Mutex<Vec<Damage>>,
    is_cancelled: AtomicBool,
    watch: Watch,
}

#[pymethods]
impl Search {
    /// Returns the fields of the next hit, or `None` after the last one.
    fn next_hit<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let (source, found) = match self.replace(Source::Busy) {
            Source::Busy => {
                return Err(PyValueError::new_err("the search waits for a hit already"));
            }
            source @ Source::Ended { .. } => (source, None),
            Source::Known(mut known) => match known.next() {
                Some(found) => (Source::Known(known), Some(found)),
                None => (Source::Ended { is_complete: true }, None),
            },
            Source::Search(running) => match self.next_of(py, running) {
                Ok((source, hit)) => (source, hit.map(Found::Base58)),
                Err(error) => {
                    self.replace(Source::Ended { is_complete: false });
                    return Err(error);
                }
            },
        };
        self.replace(source);
        found.map(|found| found.fields(py)).transpose()
    }

    /// Ends the search after the hits that were found until now.
    fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if let Source::Search(running) = &*self.source() {
            running.hits.cancel();
        }
    }

    /// Whether the search has ended and missed nothing.
    #[getter]
    fn is_complete(&self) -> bool {
        matches!(*self.source(), Source::Ended { is_complete: true })
    }

    /// The damage of the searches that are complete: lost letter case, similar characters, number of errors, place of a gap.
    #[getter]
    fn tried(&self) -> Vec<(bool, bool, u8, Option<&'static str>)> {
        let tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let fields = |damage: &Damage| {
            (
                damage.case,
                damage.glyphs,
                damage.errors,
                place_of(damage.gap),
            )
        };
        tried.iter().map(fields).collect()
    }
}

impl Search {
    fn source(&self) -> std::sync::MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn replace(&self, source: Source) -> Source {
        std::mem::replace(&mut *self.source(), source)
    }

    /// Returns the next hit of a search, or of those that follow if it has none, and what comes after.
    fn next_of(
        &self,
        py: Python<'_>,
        mut running: Box<Running>,
    ) -> PyResult<(Source, Option<Hit>)> {
        loop {
            match self.wait(py, &mut running) {
                Ok(Some(hit)) => {
                    let fewest = running.fewest_edits.unwrap_or(hit.edits);
                    running.fewest_edits = Some(fewest.min(hit.edits));
                    return Ok((Source::Search(running), Some(hit)));
                }
                Ok(None) => {}
                Err(error) => {
                    running.hits.cancel();
                    // The threads end after their work units.
                    py.detach(|| drop(running));
                    return Err(error);
                }
            }
            let Running {
                hits,
                damage,
                fewest_edits,
                shared,
                widening,
            } = *running;
            let outcome = py.detach(|| hits.finish());
            let outcome = outcome.map_err(|error| refused(&error))?;
            let done = outcome.progress;
            self.watch.look(py, (done.done, Some(done.total)))?;
            if outcome.has_too_many_hits {
                return Err(PyValueError::new_err(format!(
                    "more than {MAX_HITS} strings fit: too much is unknown"
                )));
            }
            let is_complete = outcome.is_complete;
            if is_complete {
                let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
                tried.push(damage);
            }
            let Some(mut widening) = widening.filter(|_| is_complete) else {
                return Ok((Source::Ended { is_complete }, None));
            };
            if let Some(edits) = fewest_edits {
                widening.found(edits);
            }
            match self.widen(py, shared, widening, (done.done, done.total))? {
                Source::Search(next) => running = next,
                ended => return Ok((ended, None)),
            }
        }
    }

    /// Starts the next search for more damage. Until it starts, the progress is that of the search before.
    fn widen(
        &self,
        py: Python<'_>,
        shared: Shared,
        mut widening: Widening,
        (done, total): (u64, u64),
    ) -> PyResult<Source> {
        let (next, is_complete) = self.watch.run(py, |progress, token| {
            progress.set(done, total);
            let is_over = || token.is_cancelled() || self.is_cancelled.load(Ordering::Relaxed);
            let next = widening.next(&shared.subject(), &is_over);
            let is_complete = next.is_none() && {
                let nearer = widening.nearer(&shared.subject(), ESTIMATE_FOR, &is_over);
                nearer.is_empty() && !is_over()
            };
            (next, is_complete)
        })?;
        let Some((damage, search)) = next else {
            return Ok(Source::Ended { is_complete });
        };
        let hits = search.hits(shared.backend.clone(), Options::default());
        Ok(Source::Search(Box::new(Running {
            hits,
            damage,
            fewest_edits: None,
            shared,
            widening: Some(widening),
        })))
    }

    /// Waits for a hit or the end of the search, and handles signals meanwhile.
    fn wait(&self, py: Python<'_>, running: &mut Running) -> PyResult<Option<Hit>> {
        let Running { hits, shared, .. } = running;
        loop {
            let next = py.detach(|| hits.wait(INTERVAL));
            if let Poll::Ready(Some(hit)) = next {
                return Ok(Some(hit));
            }
            let progress = hits.progress();
            let total = (progress.total > 0).then_some(progress.total);
            let is_cancelled = self.watch.look(py, (progress.done, total))?;
            if next.is_ready() {
                return Ok(None);
            }
            if is_cancelled || self.is_cancelled.load(Ordering::Relaxed) || shared.is_late() {
                hits.cancel();
            }
        }
    }

    /// Starts the search for one damage, or for a part of its candidates.
    fn start(
        &self,
        py: Python<'_>,
        shared: Shared,
        damage: Damage,
        shard: Option<Shard>,
    ) -> PyResult<Source> {
        let prepared = self.watch.run(py, |_, token| {
            let is_over = || token.is_cancelled() || shared.is_late();
            let subject = shared.subject();
            let search = subject.search(damage, None, &is_over)?;
            let shard = match shard {
                Some(shard) => Some(vec![shard.of(search.n_units()?)]),
                None => None,
            };
            let seconds = match shared.until {
                Some(_) => search.seconds_in(shard.as_deref(), subject.backend)?,
                None => 0.0,
            };
            Ok((search, shard, seconds))
        })?;
        let (search, units, seconds) = match prepared {
            Ok(prepared) => prepared,
            Err(SearchError::Ended) if !shared.is_late() => {
                return Ok(Source::Ended { is_complete: false });
            }
            Err(SearchError::Ended) => {
                return Err(PyValueError::new_err(
                    "max_time: the preparation of the search takes longer",
                ));
            }
            Err(error) => return Err(refused(&error)),
        };
        if let Some(until) = shared.until {
            check_time(seconds, until)?;
        }
        let hits = search.hits(shared.backend.clone(), Options { units });
        Ok(Source::Search(Box::new(Running {
            hits,
            damage,
            fewest_edits: None,
            shared,
            widening: None,
        })))
    }

    /// Starts the searches for the least damage of a text and for wider damage.
    fn start_widening(&self, py: Python<'_>, shared: Shared, until: Instant) -> PyResult<Source> {
        let widening = Widening::new(&shared.text, until);
        let source = self.widen(py, shared.clone(), widening, (0, 0))?;
        if !matches!(source, Source::Ended { is_complete: true }) {
            return Ok(source);
        }
        // No search was possible: the text is not a pattern, fits no kind, or there is too little time.
        let least = self.watch.run(py, |_, token| {
            shared.subject().least(&|| token.is_cancelled())
        })?;
        match least {
            Ok(Least::Misfit(_)) => Ok(source),
            Ok(Least::Fit(step)) => {
                check_time(step.seconds, until)?;
                Err(PyValueError::new_err("max_time: too little for any search"))
            }
            Err(SearchError::Ended) => Ok(Source::Ended { is_complete: false }),
            Err(error) => Err(refused(&error)),
        }
    }
}

fn place_of(gap: Gap) -> Option<&'static str> {
    match gap {
        Gap::None => None,
        Gap::End => Some("end"),
        Gap::Start => Some("start"),
        Gap::Inside => Some("inside"),
    }
}

/// Fails if a search takes longer than there is time.
fn check_time(seconds: f64, until: Instant) -> PyResult<()> {
    let left = until.saturating_duration_since(Instant::now());
    if seconds <= left.as_secs_f64() {
        return Ok(());
    }
    let left = left.as_secs_f64();
    Err(PyValueError::new_err(format!(
        "max_time: {left:.1} s remain, and the search takes {seconds:.1} s"
    )))
}

/// Starts the search for the originals of a damaged text.
#[pyfunction]
pub(crate) fn recover(
    py: Python<'_>,
    text: &str,
    request: Request,
    facts: Facts,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Search> {
    let kinds = request.kinds()?;
    let threads = threads_or_all(threads)?;
    let until = facts.until()?;
    let shard = facts.shard()?;
    let text = extracted(text)?;
    let filter = facts.filter()?;
    let search = Search {
        source: Mutex::new(Source::Busy),
        tried: Mutex::new(Vec::new()),
        is_cancelled: AtomicBool::new(false),
        watch: Watch { progress, cancel },
    };
    let source = if let Some(known) = known(&text, &kinds, request.errors, &filter)? {
        // One part of a search has these hits.
        let is_here = shard.is_none_or(Shard::is_first);
        let known = if is_here { known } else { Vec::new() };
        Source::Known(known.into_iter())
    } else {
        let damage = request.damage(&text);
        let backend = py.detach(|| backend(threads))?;
        let shared = Shared {
            text,
            kinds,
            filter: Arc::new(filter),
            backend: Arc::new(backend),
            until,
        };
        match until {
            Some(until) if facts.widens => search.start_widening(py, shared, until)?,
            _ => search.start(py, shared, damage, shard)?,
        }
    };
    search.replace(source);
    Ok(search)
}

/// Returns the hits that need no search, or `None` if a search is needed.
fn known(text: &str, kinds: &[Kind], errors: u8, filter: &Filter) -> PyResult<Option<Vec<Found>>> {
    if let Some(hit) = Hit::intact(text, kinds).filter(|hit| filter.accepts(hit)) {
        return Ok(Some(vec![Found::Base58(hit)]));
    }
    let found = repaired(text, errors, filter)?;
    Ok(found.map(|found| found.into_iter().map(Found::Other).collect()))
}

fn backend(threads: std::num::NonZeroUsize) -> PyResult<CpuBackend> {
    CpuBackend::fastest(None, Some(threads))
        .ok_or_else(|| PyRuntimeError::new_err("this CPU has no kernel for searches"))
}

/// Returns what the dataclass `hashlane.Estimate` is made of.
#[pyfunction]
#[allow(clippy::cast_sign_loss, reason = "a count of candidates")]
pub(crate) fn estimate<'py>(
    py: Python<'py>,
    text: &str,
    request: Request,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let kinds = request.kinds()?;
    let threads = threads_or_all(threads)?;
    let text = extracted(text)?;
    let dict = PyDict::new(py);
    let backend = py.detach(|| backend(threads))?;
    dict.set_item("threads", backend.n_workers().get())?;
    dict.set_item("kernel", backend.name())?;
    dict.set_item("hashes_per_second", backend.hashes_per_second(0))?;
    let errors = (request.errors > 0).then_some(request.errors);
    let counted = match hashlane_recover::estimate(&text, errors) {
        Some(counted) => {
            let (what, _, count) =
                counted.map_err(|refusal| PyValueError::new_err(refusal.to_string()))?;
            Some((what, count.candidates as u128, count.accidental_hits))
        }
        None => repaired(&text, request.errors, &Filter::default())?.map(|found| {
            let kind = found.first().map_or(WITNESS, kind_of);
            (kind.to_owned(), found.len() as u128, 0.0)
        }),
    };
    if let Some((kind, candidates, accidental_hits)) = counted {
        dict.set_item("kinds", (kind,))?;
        dict.set_item("candidates", candidates)?;
        dict.set_item("hashes", 0.0)?;
        dict.set_item("accidental_hits", accidental_hits)?;
        dict.set_item("seconds", 0.0)?;
        dict.set_item("is_lower_bound", false)?;
        dict.set_item("mismatches", ())?;
        return Ok(dict);
    }
    let damage = request.damage(&text);
    let estimated = py.detach(|| {
        let never = || false;
        let search =
            hashlane_base58::Search::part_within(&text, damage, &kinds, ESTIMATE_FOR, &never)?;
        let mismatches: Vec<String> = search
            .mismatches()
            .iter()
            .map(ToString::to_string)
            .collect();
        Ok((
            search.estimate(),
            search.seconds_in(None, &backend)?,
            mismatches,
        ))
    });
    let (estimate, seconds, mismatches) = estimated.map_err(|error| refused(&error))?;
    dict.set_item("kinds", PyTuple::new(py, &estimate.kinds)?)?;
    dict.set_item("candidates", estimate.candidates)?;
    dict.set_item("hashes", estimate.hashes)?;
    dict.set_item("accidental_hits", estimate.accidental_hits)?;
    dict.set_item("seconds", seconds)?;
    dict.set_item("is_lower_bound", estimate.is_lower_bound)?;
    dict.set_item("mismatches", PyTuple::new(py, mismatches)?)?;
    Ok(dict)
}
