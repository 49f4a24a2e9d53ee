//! Recovery of damaged Base58Check strings and witness addresses.
//!
//! Hits can be private keys. No error and no `repr` contains one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use hashlane_base58::{CpuBackend, Damage, Hit, Hits, Kind, MAX_HITS, Options, Outcome};
use hashlane_base58::{SearchBackend as _, SearchError, extract};
use hashlane_bech32::{Repaired, is_like_witness_address, is_witness_address, repair};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::many::threads_or_all;
use crate::watch::{INTERVAL, Watch};

/// Time to prepare a search whose cost is estimated, as of the program.
const ESTIMATE_FOR: Duration = Duration::from_millis(60);

/// The name of the kind of witness addresses.
const WITNESS: &str = "witness";

/// The options of `hashlane.recover` and `hashlane.estimate`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Request {
    kinds: Option<Vec<String>>,
    /// Whether the letter case is lost; `None` if that is unknown.
    case_lost: Option<bool>,
    glyphs: bool,
    errors: u8,
}

impl Request {
    fn kinds(&self) -> PyResult<Vec<Kind>> {
        let Some(names) = &self.kinds else {
            return Ok(Kind::all());
        };
        let kind = |name: &String| {
            Kind::named(name).ok_or_else(|| {
                let all: Vec<String> = Kind::all().iter().map(ToString::to_string).collect();
                let all = all.join(", ");
                PyValueError::new_err(format!("kind {name:?}: expected one of {all}"))
            })
        };
        names.iter().map(kind).collect()
    }

    fn damage(&self, text: &str) -> Damage {
        let damage = Damage::with_unknown_case(text, self.glyphs, self.errors);
        Damage {
            case: self.case_lost.unwrap_or(damage.case),
            ..damage
        }
    }
}

fn refused(error: &SearchError) -> PyErr {
    match error {
        SearchError::Thread(_) => PyRuntimeError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// Returns the possible originals of a text that looks like a witness address; `None` for all other texts.
fn repaired(text: &str) -> PyResult<Option<Vec<Repaired>>> {
    if !is_like_witness_address(text) {
        return Ok(None);
    }
    let mut found = repair(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    if is_witness_address(text) {
        found.truncate(1);
    }
    Ok(Some(found))
}

/// A string that was found, of either kind.
enum Found {
    Base58(Hit),
    Witness(Repaired),
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
            Self::Witness(repaired) => {
                dict.set_item("text", &repaired.text)?;
                dict.set_item("kind", WITNESS)?;
                dict.set_item("edits", repaired.edits)?;
                dict.set_item("is_secret", false)?;
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
    Search(Hits),
    /// Another call waits for a hit.
    Busy,
    Ended {
        is_complete: bool,
    },
}

/// A running search, as an iterator.
#[pyclass(frozen, name = "Search", module = "hashlane._hashlane")]
pub(crate) struct Search {
    source: Mutex<Source>,
    is_cancelled: AtomicBool,
    watch: Watch,
}

#[pymethods]
impl Search {
    /// Returns the fields of the next hit, or `None` after the last one.
    fn next_hit<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        match self.replace(Source::Busy) {
            Source::Busy => Err(PyValueError::new_err("the search waits for a hit already")),
            Source::Ended { is_complete } => {
                self.replace(Source::Ended { is_complete });
                Ok(None)
            }
            Source::Known(mut found) => {
                let next = found.next();
                self.replace(match next {
                    Some(_) => Source::Known(found),
                    None => Source::Ended { is_complete: true },
                });
                next.map(|found| found.fields(py)).transpose()
            }
            Source::Search(mut hits) => match self.wait(py, &mut hits) {
                Ok(Some(hit)) => {
                    self.replace(Source::Search(hits));
                    Found::Base58(hit).fields(py).map(Some)
                }
                Ok(None) => {
                    let outcome = py.detach(|| hits.finish());
                    self.end(py, outcome)
                }
                Err(error) => {
                    hits.cancel();
                    self.replace(Source::Ended { is_complete: false });
                    // The threads end after their work units.
                    py.detach(|| drop(hits));
                    Err(error)
                }
            },
        }
    }

    /// Ends the search after the hits that were found until now.
    fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if let Source::Search(hits) = &*self.source() {
            hits.cancel();
        }
    }

    /// Whether the search has ended and missed nothing.
    #[getter]
    fn is_complete(&self) -> bool {
        matches!(*self.source(), Source::Ended { is_complete: true })
    }
}

impl Search {
    fn source(&self) -> std::sync::MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn replace(&self, source: Source) -> Source {
        std::mem::replace(&mut *self.source(), source)
    }

    /// Waits for a hit or the end of the search, and handles signals meanwhile.
    fn wait(&self, py: Python<'_>, hits: &mut Hits) -> PyResult<Option<Hit>> {
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
            if is_cancelled || self.is_cancelled.load(Ordering::Relaxed) {
                hits.cancel();
            }
        }
    }

    fn end<'py>(
        &self,
        py: Python<'py>,
        outcome: Result<Outcome, SearchError>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let is_complete = outcome.as_ref().is_ok_and(|outcome| outcome.is_complete);
        self.replace(Source::Ended { is_complete });
        let outcome = outcome.map_err(|error| refused(&error))?;
        let done = outcome.progress;
        self.watch.look(py, (done.done, Some(done.total)))?;
        if outcome.has_too_many_hits {
            return Err(PyValueError::new_err(format!(
                "more than {MAX_HITS} strings fit: too much is unknown"
            )));
        }
        Ok(None)
    }
}

/// Starts the search for the originals of a damaged text.
#[pyfunction]
pub(crate) fn recover(
    py: Python<'_>,
    text: &str,
    request: Request,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    cancel: Option<Py<PyAny>>,
) -> PyResult<Search> {
    let kinds = request.kinds()?;
    let threads = threads_or_all(threads)?;
    let text = extract(text).map_err(|error| refused(&error))?;
    let watch = Watch { progress, cancel };
    let known = match Hit::intact(&text, &kinds) {
        Some(hit) => Some(vec![Found::Base58(hit)]),
        None => repaired(&text)?.map(|found| found.into_iter().map(Found::Witness).collect()),
    };
    let source = if let Some(known) = known {
        Source::Known(known.into_iter())
    } else {
        let damage = request.damage(&text);
        let prepared = watch.run(py, |_, token| {
            let is_over = || token.is_cancelled();
            let search = hashlane_base58::Search::new_until(&text, damage, &kinds, &is_over)?;
            Ok((search, backend(threads)))
        })?;
        match prepared {
            Ok((search, backend)) => {
                Source::Search(search.hits(Arc::new(backend?), Options::default()))
            }
            Err(SearchError::Ended) => Source::Ended { is_complete: false },
            Err(error) => return Err(refused(&error)),
        }
    };
    Ok(Search {
        source: Mutex::new(source),
        is_cancelled: AtomicBool::new(false),
        watch,
    })
}

fn backend(threads: std::num::NonZeroUsize) -> PyResult<CpuBackend> {
    CpuBackend::fastest(None, Some(threads))
        .ok_or_else(|| PyRuntimeError::new_err("this CPU has no kernel for searches"))
}

/// Returns what the dataclass `hashlane.Estimate` is made of.
#[pyfunction]
pub(crate) fn estimate<'py>(
    py: Python<'py>,
    text: &str,
    request: Request,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let kinds = request.kinds()?;
    let threads = threads_or_all(threads)?;
    let text = extract(text).map_err(|error| refused(&error))?;
    let dict = PyDict::new(py);
    let backend = py.detach(|| backend(threads))?;
    dict.set_item("threads", backend.n_workers().get())?;
    dict.set_item("kernel", backend.name())?;
    dict.set_item("hashes_per_second", backend.hashes_per_second())?;
    if let Some(found) = repaired(&text)? {
        dict.set_item("kinds", (WITNESS,))?;
        dict.set_item("candidates", found.len())?;
        dict.set_item("hashes", 0.0)?;
        dict.set_item("accidental_hits", 0.0)?;
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
