//! Sessions: a random cookie for each login.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use data_encoding::HEXLOWER;

/// Time without a request after which a session ends, as in qBittorrent.
const IDLE: Duration = Duration::from_secs(3600);

/// Maximum number of sessions. A further one ends the session that has been idle for the longest time.
const MAX_SESSIONS: usize = 1000;

/// The name of the cookie.
const NAME: &str = "SID";

/// Length of a cookie's value in bytes.
const LEN: usize = 24;

/// The sessions, with the times of their last requests. Their values are random, so that looking one up reveals nothing by
/// the time that it takes.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Instant>>);

impl Sessions {
    /// Starts a session, and returns its cookie.
    pub(super) fn start(&self) -> Result<String, getrandom::Error> {
        let mut bytes = [0; LEN];
        getrandom::fill(&mut bytes)?;
        let value = HEXLOWER.encode(&bytes);
        let cookie = format!("{NAME}={value}; HttpOnly; SameSite=Strict; path=/");
        let mut sessions = self.lock();
        sessions.retain(|_, last| last.elapsed() < IDLE);
        if sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, last)| **last);
            if let Some(oldest) = oldest.map(|(value, _)| value.clone()) {
                sessions.remove(&oldest);
            }
        }
        sessions.insert(value, Instant::now());
        Ok(cookie)
    }

    /// Returns `true` if a request belongs to a session.
    pub(super) fn has(&self, headers: &HeaderMap) -> bool {
        let mut sessions = self.lock();
        values(headers).any(|value| {
            let last = sessions.get_mut(value);
            last.is_some_and(|last| {
                let is_valid = last.elapsed() < IDLE;
                if is_valid {
                    *last = Instant::now();
                }
                is_valid
            })
        })
    }

    /// Ends the session of a request.
    pub(super) fn end(&self, headers: &HeaderMap) {
        let mut sessions = self.lock();
        for value in values(headers) {
            sessions.remove(value);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        // No code that holds the lock leaves the sessions inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cookie that ends a session in the program.
pub(super) const ENDED: &str = "SID=; HttpOnly; SameSite=Strict; path=/; Max-Age=0";

/// Returns the values of the session's cookie. A browser may have several with its name.
fn values(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let headers = headers.get_all(COOKIE).into_iter();
    let pairs = headers
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(';'));
    pairs.filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == NAME).then_some(value)
    })
}
