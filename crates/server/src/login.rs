//! Names and passwords of requests.
//!
//! A password is stored as itself or as a hash in the PHC format (`$argon2id$...`, RFC 9106). A hash takes tens of
//! milliseconds to check, and a program sends its password with each request: a keyed digest of the last right password
//! answers all requests but the first.
//!
//! All other passwords are checked one after the other ([`GATE`]), so that guesses take the memory of one hash, and none is
//! checked before the one before it is counted. An address with [`MAX_FAILURES`] wrong passwords is refused for [`PAUSE`],
//! whatever it sends. After [`MAX_ALL_FAILURES`] wrong passwords, so are all addresses from which the right password never
//! came.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use hashlane_sha::{Hmac, Mac, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// Wrong passwords of an address before it is refused.
const MAX_FAILURES: u32 = 10;

/// Time without a wrong password after which an address may try again.
const PAUSE: Duration = Duration::from_secs(60);

/// Wrong passwords of all addresses within [`PAUSE`] before addresses that never had the right one are refused.
const MAX_ALL_FAILURES: u32 = 100;

/// Maximum number of addresses that are remembered. Beyond it, all of them are forgotten.
const MAX_ADDRESSES: usize = 4096;

/// The memory of hashes, held while a password is checked: a hash takes up to [`MAX_HASH_COST`]. All listeners of a process share it.
/// It stays, because allocators keep for each thread what the thread has freed.
static GATE: Mutex<Vec<Block>> = Mutex::new(Vec::new());

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
    Hash(Hash),
}

/// The hash of a password.
struct Hash {
    function: Argon2<'static>,
    salt: Vec<u8>,
    digest: Vec<u8>,
}

#[derive(Default)]
struct State {
    /// The MAC of the last right name and password under a random key.
    last: Option<Mac<Sha256>>,
    /// The number of wrong passwords of each address, and the time of the last one.
    failures: HashMap<IpAddr, (u32, Instant)>,
    /// The number of wrong passwords of all addresses, and the time of the first one.
    all_failures: Option<(u32, Instant)>,
    /// Addresses from which the right password came.
    known: HashSet<IpAddr>,
}

impl State {
    /// Returns `true` if an address is refused. Forgets failures that are too long ago.
    fn is_refused(&mut self, client: IpAddr, now: Instant) -> bool {
        let is_past = |since: Instant| now.duration_since(since) >= PAUSE;
        if self
            .failures
            .get(&client)
            .is_some_and(|(_, last)| is_past(*last))
        {
            self.failures.remove(&client);
        }
        self.all_failures.take_if(|(_, first)| is_past(*first));
        let of_client = self.failures.get(&client);
        of_client.is_some_and(|(n, _)| *n >= MAX_FAILURES)
            || !self.known.contains(&client)
                && self
                    .all_failures
                    .is_some_and(|(n, _)| n >= MAX_ALL_FAILURES)
    }

    /// Counts a wrong password.
    fn fail(&mut self, client: IpAddr, now: Instant) {
        if self.failures.len() >= MAX_ADDRESSES && !self.failures.contains_key(&client) {
            self.failures.clear();
        }
        let (n, last) = self.failures.entry(client).or_insert((0, now));
        (*n, *last) = (*n + 1, now);
        let (n_all, _) = self.all_failures.get_or_insert((0, now));
        *n_all += 1;
        let (n, n_all) = (*n, *n_all);
        tracing::warn!(%client, n, "wrong password");
        if n == MAX_FAILURES {
            tracing::warn!(%client, "too many wrong passwords: the address is refused for a minute");
        }
        if n_all == MAX_ALL_FAILURES {
            tracing::warn!("too many wrong passwords: new addresses are refused for a minute");
        }
    }

    /// Records the right password.
    fn succeed(&mut self, client: IpAddr, mac: Mac<Sha256>) {
        self.last = Some(mac);
        self.failures.remove(&client);
        if self.known.len() >= MAX_ADDRESSES {
            self.known.clear();
        }
        self.known.insert(client);
    }
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
    /// The address has sent too many wrong passwords, or many addresses have together.
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
            Password::Hash(Hash::parse(password)?)
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
    /// password, because programs send one first. Takes tens of milliseconds if the password is stored as a hash, and waits for
    /// all checks that are under way.
    pub fn check(&self, client: IpAddr, given: Option<(&str, &str)>) -> Verdict {
        let Some((user, password)) = given else {
            return if self.is_refused(client) {
                Verdict::TooMany
            } else {
                Verdict::Wrong
            };
        };
        let mut mac = Hmac::<Sha256>::new(&self.key);
        for part in [user, ":", password] {
            mac.update(part.as_bytes());
        }
        let mac = mac.finalize();
        if let Some(verdict) = self.known(client, mac) {
            return verdict;
        }
        // A panic while it was held left nothing inconsistent.
        let mut memory = GATE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = self.known(client, mac) {
            return verdict;
        }
        let is_user: bool = user.as_bytes().ct_eq(self.user.as_bytes()).into();
        let is_right = self.is_password(password, &mut memory) & is_user;
        let mut state = self.state();
        if is_right {
            state.succeed(client, mac);
            Verdict::Right
        } else {
            state.fail(client, Instant::now());
            Verdict::Wrong
        }
    }

    /// Returns the verdict if it needs no check: the address is refused, or the name and password are those that were last right.
    fn known(&self, client: IpAddr, mac: Mac<Sha256>) -> Option<Verdict> {
        if self.is_refused(client) {
            return Some(Verdict::TooMany);
        }
        let last = self.state().last?;
        last.verify(mac.as_bytes()).is_ok().then(|| {
            self.state().succeed(client, mac);
            Verdict::Right
        })
    }

    fn is_refused(&self, client: IpAddr) -> bool {
        let is_refused = self.state().is_refused(client, Instant::now());
        if is_refused {
            tracing::debug!(%client, "refused after too many wrong passwords");
        }
        is_refused
    }

    fn is_password(&self, given: &str, memory: &mut Vec<Block>) -> bool {
        match &self.password {
            Password::Plain(password) => password.as_bytes().ct_eq(given.as_bytes()).into(),
            Password::Hash(hash) => hash.is_of(given, memory),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock leaves the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hash {
    /// Reads a hash in the PHC format, and checks that it takes bounded memory and time.
    fn parse(text: &str) -> Result<Self, LoginError> {
        let invalid = |error: &dyn fmt::Display| LoginError::Hash(error.to_string());
        let hash = PasswordHash::new(text).map_err(|error| invalid(&error))?;
        let params = Params::try_from(&hash).map_err(|error| invalid(&error))?;
        if params.m_cost() > MAX_HASH_COST.0 || params.t_cost() > MAX_HASH_COST.1 {
            return Err(LoginError::Cost);
        }
        let algorithm = Algorithm::try_from(hash.algorithm.as_str());
        let algorithm = algorithm.map_err(|error| invalid(&error))?;
        let version = hash
            .version
            .map_or(Ok(Version::default()), Version::try_from);
        let version = version.map_err(|error| invalid(&error))?;
        let (Some(salt), Some(digest)) = (&hash.salt, &hash.hash) else {
            return Err(invalid(&"it has no salt or no digest"));
        };
        Ok(Self {
            function: Argon2::new(algorithm, version, params),
            salt: salt.to_vec(),
            digest: digest.as_bytes().to_vec(),
        })
    }

    fn is_of(&self, password: &str, memory: &mut Vec<Block>) -> bool {
        let n_blocks = self.function.params().block_count();
        if memory.len() < n_blocks {
            memory.resize(n_blocks, Block::new());
        }
        let blocks = &mut memory[..n_blocks];
        let mut digest = vec![0; self.digest.len()];
        let hashed = self.function.hash_password_into_with_memory(
            password.as_bytes(),
            &self.salt,
            &mut digest,
            &mut *blocks,
        );
        // They depend on the password.
        blocks.fill(Block::new());
        let is_equal: bool = digest.ct_eq(&self.digest).into();
        hashed.is_ok() && is_equal
    }
}
