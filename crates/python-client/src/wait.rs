//! Waits that end on Ctrl-C.

use std::time::{Duration, Instant};

use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;

/// Time between two looks at signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// Returns a time in seconds as a duration.
///
/// # Errors
/// `ValueError` if it is negative, infinite or not a number.
pub(crate) fn seconds(name: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err(format!("{name}: {seconds} is not a time in seconds")))
}

/// Calls `attempt` with short times to wait, until it returns a result. The GIL is released meanwhile.
///
/// # Errors
/// `KeyboardInterrupt`, and `TimeoutError` after this many seconds; `None` waits for ever.
pub(crate) fn until<T: Send>(
    py: Python<'_>,
    timeout: Option<f64>,
    mut attempt: impl FnMut(Duration) -> Option<T> + Send,
) -> PyResult<T> {
    let timeout = timeout
        .map(|timeout| seconds("timeout", timeout))
        .transpose()?;
    let start = Instant::now();
    loop {
        let rest = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
        let slice = rest.map_or(INTERVAL, |rest| rest.min(INTERVAL));
        if let Some(result) = py.detach(|| attempt(slice)) {
            return Ok(result);
        }
        py.check_signals()?;
        if rest.is_some_and(|rest| rest <= slice) {
            return Err(PyTimeoutError::new_err("the time is over"));
        }
    }
}
