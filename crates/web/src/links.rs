//! Links to content for players, which send no header: a token in the query.
//!
//! A token is good for reading the content of one torrent, and for nothing else. Reading does not extend its life, so that a URL
//! which somebody else has seen ends. Tokens are random and long, so guesses are not counted, as for the token of the API.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use hashlane_server::Endpoint;

use super::credentials::Token;

/// Time after which a token is refused, since it was requested last.
pub(super) const LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Maximum number of tokens. A further one replaces the one that ends first.
const MAX_TOKENS: usize = 1000;

/// The name of a token in a query.
const TOKEN: &str = "token";

/// The links of a session. Its servers share them.
#[derive(Clone, Default)]
pub struct Links(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// The tokens by the numbers of their torrents, which are never used again.
    tokens: Mutex<HashMap<usize, Lent>>,
    /// The origin of the first server that players can reach.
    origin: OnceLock<String>,
}

/// A token, and the time after which it is refused.
struct Lent {
    token: Token,
    end: Instant,
}

/// Without the tokens.
impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").finish_non_exhaustive()
    }
}

impl Links {
    /// Returns the token of a torrent, which lasts for [`LIFETIME`] from now on. A player that has it already can continue.
    pub(super) fn token(&self, number: usize, now: Instant) -> io::Result<Token> {
        let mut tokens = self.tokens();
        tokens.retain(|_, lent| lent.end > now);
        let end = now + LIFETIME;
        if let Some(lent) = tokens.get_mut(&number) {
            lent.end = end;
            return Ok(lent.token.clone());
        }
        let token = Token::random()?;
        if tokens.len() >= MAX_TOKENS
            && let Some(first) = tokens.iter().min_by_key(|(_, lent)| lent.end)
        {
            let first = *first.0;
            tokens.remove(&first);
        }
        let lent = Lent {
            token: token.clone(),
            end,
        };
        tokens.insert(number, lent);
        Ok(token)
    }

    /// Returns `true` if a text is the token of a torrent. The comparison takes constant time.
    pub(super) fn is_token(&self, number: usize, given: &str, now: Instant) -> bool {
        let tokens = self.tokens();
        let lent = tokens.get(&number);
        lent.is_some_and(|lent| lent.end > now && lent.token.is(given))
    }

    /// Notes that players reach a server. It is the first one, unless an earlier one is known.
    pub(super) fn add_server(&self, endpoint: &Endpoint, origins: &[String]) {
        let of_address = || {
            let mut address = endpoint.address()?;
            if address.ip().is_unspecified() {
                address.set_ip(match address {
                    SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                    SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
                });
            }
            Some(format!("http://{address}"))
        };
        if let Some(origin) = origins.first().cloned().or_else(of_address) {
            self.0.origin.get_or_init(|| origin);
        }
    }

    /// Returns the origin of the first server that players reach.
    pub(super) fn origin(&self) -> Option<&String> {
        self.0.origin.get()
    }

    fn tokens(&self) -> MutexGuard<'_, HashMap<usize, Lent>> {
        // No code that holds the lock leaves the tokens inconsistent.
        self.0.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the host of an origin, with the port if it is no default one.
pub(super) fn host_of(origin: &str) -> &str {
    origin.split_once("://").map_or("", |(_, host)| host)
}

/// Returns the token in a query.
pub(super) fn token_in(query: Option<&str>) -> Option<String> {
    let mut fields = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let found = fields.find(|(name, _)| name == TOKEN);
    found.map(|(_, token)| token.into_owned())
}

/// Returns the URL of a path of a torrent. The path and the token need no escapes.
pub(super) fn url(origin: &str, number: usize, path: &str, token: &str) -> String {
    format!("{origin}/api/v1/torrents/{number}/{path}?{TOKEN}={token}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_for_one_torrent_until_its_end() {
        let (links, start) = (Links::default(), Instant::now());
        let halfway = start + LIFETIME / 2;
        let (one, other) = (
            links.token(1, start).unwrap(),
            links.token(2, start).unwrap(),
        );
        let is_token = |number, token: &Token, at| links.is_token(number, token.secret(), at);
        assert!(is_token(1, &one, start) && is_token(1, &one, halfway));
        assert!(!is_token(1, &other, start) && !is_token(2, &one, start));
        assert!(!is_token(3, &one, start) && !links.is_token(1, "", start));
        assert!(!is_token(1, &one, start + LIFETIME));
        // Another request extends the life of the same token, reading does not.
        assert!(links.token(1, halfway).unwrap() == one);
        assert!(is_token(1, &one, start + LIFETIME) && !is_token(1, &one, halfway + LIFETIME));
        assert!(links.token(2, start + LIFETIME).unwrap() != other);
        assert!(!format!("{links:?}{one:?}").contains(one.secret()));
    }

    #[test]
    fn the_number_of_tokens_is_limited() {
        let (links, start) = (Links::default(), Instant::now());
        let at = |number| start + Duration::from_millis(number as u64);
        let first = links.token(0, at(0)).unwrap();
        for number in 1..MAX_TOKENS + 10 {
            links.token(number, at(number)).unwrap();
        }
        assert_eq!(links.tokens().len(), MAX_TOKENS);
        assert!(!links.is_token(0, first.secret(), start));
        links.token(0, start + 2 * LIFETIME).unwrap();
        assert_eq!(links.tokens().len(), 1);
    }

    #[test]
    fn links_lead_to_the_first_server_that_players_reach() {
        let origin = |servers: &[(&str, &[&str])]| {
            let links = Links::default();
            for (address, origins) in servers {
                let endpoint = match address.parse() {
                    Ok(address) => Endpoint::Tcp(vec![address]),
                    Err(_) => Endpoint::Unix((*address).into()),
                };
                let origins: Vec<_> = origins.iter().map(|&origin| origin.to_owned()).collect();
                links.add_server(&endpoint, &origins);
            }
            links.origin().cloned()
        };
        let name = "https://torrents.example";
        for (address, origins, expected) in [
            ("127.0.0.1:8080", &[][..], Some("http://127.0.0.1:8080")),
            ("0.0.0.0:8080", &[], Some("http://127.0.0.1:8080")),
            ("[::]:8080", &[], Some("http://[::1]:8080")),
            ("0.0.0.0:8080", &[name], Some(name)),
            ("page", &[name], Some(name)),
            ("page", &[], None),
        ] {
            let found = origin(&[(address, origins), ("socket", &[])]);
            assert_eq!(found.as_deref(), expected, "{address}");
        }
    }
}
