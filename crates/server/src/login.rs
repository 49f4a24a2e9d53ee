//! Names and passwords of requests.
//!
//! A password is stored as itself or as a hash in the PHC format (`$argon2id$...`, RFC 9106). A hash takes tens of
//! milliseconds to check, and a program sends its password with each request: a keyed digest of the last right password
//! answers all requests but the first.
//!
//! An address with [`MAX_FAILURES`] wrong passwords is refused for [`PAUSE`], whatever it sends.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use argon2::Argon2;
use argon2::password_hash::PasswordVerifier as _;
use argon2::password_hash::phc::PasswordHash;
use hashlane_sha::{Mac, Sha256, hmac};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// Wrong passwords of an address before it is refused.
const MAX_FAILURES: u32 = 10;

/// Time without a wrong password after which an address may try again.
const PAUSE: Duration = Duration::from_secs(60);

/// Maximum number of addresses that are remembered. Beyond it, all of them are forgotten.
const MAX_ADDRESSES: usize = 4096;

/// Maximum memory of a hash in KiB, and its number of passes: a hash must not stop the server.
const MAX_HASH_COST: (u32, u32) = (1 << 18, 16);

/// A name and a password that requests must have.
pub struct Login {
    user: String,
    password: Password,
    /// Random.
    key: [u8; 32],
    state: Mutex<State>,
}

enum Password {
    Plain(Zeroizing<String>),
    /// A hash in the PHC format.
    Hash(String),
}

#[derive(Default)]
struct State {
    /// The MAC of the last right password under a random key.
    last: Option<Mac<Sha256>>,
    /// The number of wrong passwords of each address, and the time of the last one.
    failures: HashMap<IpAddr, (u32, Instant)>,
}

/// An error of a password's file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The user name or the password is empty.
    #[error("the user name and the password must not be empty")]
    Empty,
    /// The name contains a colon, which ends it in a request (RFC 7617).
    #[error("the user name must not contain a colon")]
    Colon,
    /// The password starts like a hash, but is none.
    #[error("the password starts with $argon2, but is no valid hash: {0}")]
    Hash(String),
    /// The hash takes too much time or memory.
    #[error("the hash takes too much: at most 256 MiB of memory and 16 passes are possible")]
    Cost,
    /// The system has no random numbers.
    #[error("random numbers: {0}")]
    Random(String),
}

/// The verdict about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The password is right.
    Right,
    /// The name or the password is wrong or missing.
    Wrong,
    /// The address has sent too many wrong passwords.
    TooMany,
}

/// Without the password.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").finish_non_exhaustive()
    }
}

impl Login {
    /// Returns a login with a name and a password, or the hash of one (`$argon2id$...`).
    ///
    /// # Errors
    /// Returns the reason why no request can have this name or password.
    pub fn new(user: &str, password: &str) -> Result<Self, LoginError> {
        if user.is_empty() || password.is_empty() {
            return Err(LoginError::Empty);
        }
        if user.contains(':') {
            return Err(LoginError::Colon);
        }
        let password = if password.starts_with("$argon2") {
            check_hash(password)?;
            Password::Hash(password.to_owned())
        } else {
            Password::Plain(Zeroizing::new(password.to_owned()))
        };
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| LoginError::Random(error.to_string()))?;
        Ok(Self {
            user: user.to_owned(),
            password,
            key,
            state: Mutex::default(),
        })
    }

    /// Checks the name and the password of a request. `None` is a request without them, which does not count as a wrong
    /// password, because programs send one first. Takes tens of milliseconds if the password is stored as a hash.
    pub fn check(&self, client: IpAddr, given: Option<(&str, &str)>) -> Verdict {
        let now = Instant::now();
        {
            let mut state = self.state();
            if let Some((failures, last)) = state.failures.get(&client).copied() {
                if now.duration_since(last) >= PAUSE {
                    state.failures.remove(&client);
                } else if failures >= MAX_FAILURES {
                    return Verdict::TooMany;
                }
            }
        }
        let Some((user, password)) = given else {
            return Verdict::Wrong;
        };
        let is_user: bool = user.as_bytes().ct_eq(self.user.as_bytes()).into();
        if self.is_password(password) & is_user {
            self.state().failures.remove(&client);
            return Verdict::Right;
        }
        let mut state = self.state();
        if state.failures.len() >= MAX_ADDRESSES && !state.failures.contains_key(&client) {
            state.failures.clear();
        }
        let failures = state.failures.entry(client).or_insert((0, now));
        *failures = (failures.0 + 1, now);
        Verdict::Wrong
    }

    fn is_password(&self, given: &str) -> bool {
        match &self.password {
            Password::Plain(password) => password.as_bytes().ct_eq(given.as_bytes()).into(),
            Password::Hash(hash) => {
                let mac = hmac::<Sha256>(&self.key, given.as_bytes());
                let last = self.state().last;
                if last.is_some_and(|last| last.verify(mac.as_bytes()).is_ok()) {
                    return true;
                }
                let is_right = PasswordHash::new(hash).is_ok_and(|hash| {
                    let verified = Argon2::default().verify_password(given.as_bytes(), &hash);
                    verified.is_ok()
                });
                if is_right {
                    self.state().last = Some(mac);
                }
                is_right
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock leaves the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks that a hash can be verified, and that it takes bounded memory and time.
fn check_hash(text: &str) -> Result<(), LoginError> {
    let hash = PasswordHash::new(text).map_err(|error| LoginError::Hash(error.to_string()))?;
    let params =
        argon2::Params::try_from(&hash).map_err(|error| LoginError::Hash(error.to_string()))?;
    if hash.hash.is_none() {
        return Err(LoginError::Hash("it has no digest".to_owned()));
    }
    if params.m_cost() > MAX_HASH_COST.0 || params.t_cost() > MAX_HASH_COST.1 {
        return Err(LoginError::Cost);
    }
    Ok(())
}
