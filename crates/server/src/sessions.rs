//! Sessions: a random cookie for each login.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use data_encoding::HEXLOWER;
use hashlane_sha::{Sha256, hmac};
use subtle::ConstantTimeEq as _;

/// Maximum number of sessions. A further one ends the session that has been idle for the longest time.
const MAX_SESSIONS: usize = 1000;

/// Length of a cookie's value in bytes.
const LEN: usize = 24;

/// The sessions of a server, with the times of their last requests. The values of their cookies are random, so that looking
/// one up reveals nothing by the time that it takes.
pub struct Sessions {
    /// The name of the cookie.
    name: String,
    /// The key of the tokens, which is random.
    key: [u8; 32],
    last: Mutex<HashMap<String, Instant>>,
}

/// A session of a request.
#[derive(Clone, PartialEq, Eq)]
pub struct Session {
    /// The value of the cookie for `Set-Cookie`, without the attribute `Secure`.
    pub cookie: String,
    /// The token that proves that a page of this server sent a request: pages of other sites make browsers send the cookie,
    /// but cannot read the token.
    pub token: String,
}

/// Without the names of sessions.
impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}

/// Without the cookie and the token.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    /// Returns `true` if a request has the token. The comparison takes constant time.
    pub fn has_token(&self, given: &str) -> bool {
        given.as_bytes().ct_eq(self.token.as_bytes()).into()
    }
}

impl Sessions {
    /// Time without a request after which a session ends, as in qBittorrent.
    pub const IDLE: Duration = Duration::from_secs(3600);

    /// Returns no sessions yet. Programs know a session by the cookie with this name.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new(name: impl Into<String>) -> io::Result<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        Ok(Self {
            name: name.into(),
            key,
            last: Mutex::default(),
        })
    }

    /// Starts a session.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn start(&self) -> io::Result<Session> {
        let mut bytes = [0; LEN];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let value = HEXLOWER.encode(&bytes);
        let session = self.session(&value);
        let mut last = self.lock();
        last.retain(|_, last| last.elapsed() < Self::IDLE);
        if last.len() >= MAX_SESSIONS {
            let oldest = last.iter().min_by_key(|(_, last)| **last);
            if let Some(oldest) = oldest.map(|(value, _)| value.clone()) {
                last.remove(&oldest);
            }
        }
        last.insert(value, Instant::now());
        Ok(session)
    }

    /// Returns the session of a request.
    pub fn of(&self, headers: &HeaderMap) -> Option<Session> {
        let mut last = self.lock();
        let value = self.values(headers).find(|value| {
            let last = last.get_mut(*value);
            last.is_some_and(|last| {
                let is_valid = last.elapsed() < Self::IDLE;
                if is_valid {
                    *last = Instant::now();
                }
                is_valid
            })
        })?;
        Some(self.session(value))
    }

    /// Ends the session of a request. Returns the value for `Set-Cookie` that ends it in the program, too.
    pub fn end(&self, headers: &HeaderMap) -> String {
        let mut last = self.lock();
        for value in self.values(headers) {
            last.remove(value);
        }
        format!(
            "{}=; HttpOnly; SameSite=Strict; path=/; Max-Age=0",
            self.name
        )
    }

    fn session(&self, value: &str) -> Session {
        Session {
            cookie: format!("{}={value}; HttpOnly; SameSite=Strict; path=/", self.name),
            token: HEXLOWER.encode(hmac::<Sha256>(&self.key, value.as_bytes()).as_bytes()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        // No code that holds the lock leaves the sessions inconsistent.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the values of the session's cookie. A browser may have several with its name.
    fn values<'h>(&self, headers: &'h HeaderMap) -> impl Iterator<Item = &'h str> {
        let headers = headers.get_all(COOKIE).into_iter();
        let pairs = headers
            .filter_map(|value| value.to_str().ok())
            .flat_map(|text| text.split(';'));
        pairs.filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.name).then_some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookies: &[&str]) -> HeaderMap {
        let cookies = cookies
            .iter()
            .map(|cookie| (COOKIE, cookie.parse().unwrap()));
        cookies.collect()
    }

    #[test]
    fn a_session_lasts_until_its_end_and_has_a_token_of_its_own() {
        let sessions = Sessions::new("SID").unwrap();
        let (one, other) = (sessions.start().unwrap(), sessions.start().unwrap());
        assert_ne!(one.token, other.token);
        assert!(one.has_token(&one.token) && !one.has_token(&other.token) && !one.has_token(""));
        let pair = one.cookie.split(';').next().unwrap();
        // A browser may have another cookie with the name, and several in one header.
        for cookies in [
            &[pair][..],
            &["SID=x", pair],
            &[&format!("a=b; SID=x; {pair}")],
        ] {
            assert!(
                sessions.of(&headers(cookies)) == Some(one.clone()),
                "{cookies:?}"
            );
        }
        for cookies in [&[][..], &["SID="], &["SID"], &[&pair.to_lowercase()]] {
            assert_eq!(sessions.of(&headers(cookies)), None, "{cookies:?}");
        }
        let ended = sessions.end(&headers(&[pair]));
        assert!(
            ended.starts_with("SID=;") && ended.ends_with("Max-Age=0"),
            "{ended}"
        );
        assert_eq!(sessions.of(&headers(&[pair])), None);
        assert!(!format!("{sessions:?}{one:?}").contains(&pair[4..]));
    }

    #[test]
    fn the_number_of_sessions_is_limited() {
        let sessions = Sessions::new("SID").unwrap();
        for _ in 0..MAX_SESSIONS + 10 {
            sessions.start().unwrap();
        }
        assert_eq!(sessions.lock().len(), MAX_SESSIONS);
    }
}
