//! Lists of checksums.

use hashlane_sums::{Algorithm, AnyLines, Entry, Line, LineStyle, write_line};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::algorithm::named;

/// Returns a tuple of line number, name in bytes, algorithm and digest in hexadecimal for each digest of a list, in its order.
///
/// # Errors
/// `ValueError` with the number of a line that is not a sum, or that has something which no digest checks, such as a link.
#[pyfunction]
pub(crate) fn read_sums<'py>(
    py: Python<'py>,
    text: &[u8],
    algorithm: Option<&str>,
) -> PyResult<Bound<'py, PyList>> {
    let wanted = algorithm.map(named).transpose()?;
    let mut lines = AnyLines::new(wanted.as_slice());
    let sums = PyList::empty(py);
    for (line, number) in text.split_inclusive(|byte| *byte == b'\n').zip(1_u64..) {
        match lines.read(line) {
            Line::Ignored => {}
            Line::Entry(entry) if is_of(&entry, wanted) => {
                for (algorithm, digest) in &entry.digests {
                    let name = PyBytes::new(py, &entry.name);
                    let algorithm = algorithm.to_string().to_ascii_lowercase();
                    sums.append((number, name, algorithm, digest.to_string()))?;
                }
            }
            // A caller would take what is left for all that the list has.
            Line::Unchecked(text) => {
                return Err(PyValueError::new_err(format!("line {number}: {text}")));
            }
            Line::Entry(_) | Line::Improper => {
                let problem = format!("line {number}: not a sum: expected a digest and a file");
                return Err(PyValueError::new_err(problem));
            }
        }
    }
    Ok(sums)
}

/// Returns `true` if all digests of an entry are of the wanted algorithm.
fn is_of(entry: &Entry, wanted: Option<Algorithm>) -> bool {
    let mut digests = entry.digests.iter();
    wanted.is_none_or(|wanted| digests.all(|(algorithm, _)| algorithm.name() == wanted.name()))
}

/// Returns a line of GNU coreutils for a file, or of BSD, which names the algorithm.
#[pyfunction]
pub(crate) fn sum_line<'py>(
    py: Python<'py>,
    algorithm: &str,
    digest: &str,
    name: &[u8],
    is_tagged: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let style = LineStyle {
        is_tagged,
        ..LineStyle::default()
    };
    let mut line = Vec::new();
    write_line(&mut line, style, named(algorithm)?.tag(), digest, name);
    Ok(PyBytes::new(py, &line))
}
