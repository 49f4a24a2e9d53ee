//! Access control.
//!
//! Any site that a browser shows can send requests to this machine. Requests of other sites are refused. A site that
//! uses its own name (DNS rebinding) fails because only addresses, `localhost` and the names of known origins are accepted
//! as `Host`. A site that uses this server's name fails because of its `Origin`.
//!
//! A proxy may pass on the name that the browser asked for, or its own address. In both cases the `Origin` is that of the
//! browser, so it must be known.
//!
//! A program shows a token with each request. A page logs in once, and has a session then: its cookie, and for requests that
//! change something a second token, which other sites cannot read.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use super::assets::Kept;
use super::config::Http;
use super::content::Sandboxed;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName,
    HeaderValue, ORIGIN, REFERRER_POLICY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hashlane_server::{Endpoint, Login, Session, Sessions, Verdict, is_address};

use super::credentials::{Auth, Credentials, EVERYBODY, Token};
use super::links::host_of;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The header with the token of a session.
const CSRF_TOKEN: HeaderName = HeaderName::from_static("x-csrf-token");

/// Headers of every response: the page loads resources from this server only.
const HEADERS: [(HeaderName, &str); 5] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// The requests that are allowed.
#[derive(Debug)]
pub(super) struct Access {
    credentials: Credentials,
    /// What requests without credentials may do.
    without: Rights,
    sessions: Sessions,
    /// Origins under which browsers reach this server, besides its address.
    origins: Vec<String>,
}

/// What a request may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rights {
    Nothing,
    Read,
    Change,
}

/// The rights of a request, and its session.
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) rights: Rights,
    pub(super) session: Option<Session>,
}

/// The credentials of a login.
pub(super) enum Given {
    Token(String),
    Password(String, String),
}

impl Access {
    /// Returns the access of a server at these addresses. Warns if everybody has it.
    pub(super) fn new(http: &Http, endpoint: &Endpoint) -> io::Result<Self> {
        let is_local = endpoint.is_local() && http.origins.is_empty();
        let (credentials, without) = match &http.auth {
            Auth::NewToken => {
                let token = Some(Token::random()?);
                let without = if is_local {
                    Rights::Read
                } else {
                    Rights::Nothing
                };
                (Credentials { token, login: None }, without)
            }
            Auth::Credentials(credentials) => {
                if credentials.token.is_none() && credentials.login.is_none() {
                    let reason = "neither a token nor a user name and a password";
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
                }
                (credentials.clone(), Rights::Nothing)
            }
            Auth::Off => {
                // The mode of a Unix socket says who can connect.
                if !matches!(endpoint, Endpoint::Unix(_)) {
                    tracing::warn!(address = %endpoint, "{EVERYBODY}");
                }
                (Credentials::default(), Rights::Change)
            }
        };
        Ok(Self {
            credentials,
            without,
            // Browsers send cookies to all ports of a host.
            sessions: Sessions::new(match endpoint.address() {
                Some(address) => format!("hashlane-{}", address.port()),
                None => "hashlane-unix".to_owned(),
            })?,
            origins: http.origins.clone(),
        })
    }

    /// Returns the token that a request can show in place of a session, if there is one.
    pub(super) fn token(&self) -> Option<&Token> {
        self.credentials.token.as_ref()
    }

    pub(super) fn login(&self) -> Option<&Arc<Login>> {
        self.credentials.login.as_ref()
    }

    /// Returns `true` for the hosts of this server. No other site can have an address or `localhost` as its name.
    fn has_host(&self, host: &str) -> bool {
        let is_known = |origin: &String| host_of(origin).eq_ignore_ascii_case(host);
        is_address(host) || self.origins.iter().any(is_known)
    }

    fn has_origin(&self, origin: &str, host: &str) -> bool {
        origin == format!("http://{host}") || self.origins.iter().any(|known| known == origin)
    }

    /// Returns what a request may do. Without the token of its session, a request may only read.
    pub(super) fn granted(&self, headers: &HeaderMap) -> Granted {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = text(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let has_token = bearer
            .zip(self.token())
            .is_some_and(|(bearer, token)| token.is(bearer));
        let session = self.sessions.of(headers);
        let of_session = session.as_ref().map(|session| {
            let is_own = text(CSRF_TOKEN).is_some_and(|token| session.has_token(token));
            if is_own { Rights::Change } else { Rights::Read }
        });
        let rights = if has_token {
            Rights::Change
        } else {
            of_session.unwrap_or(self.without).max(self.without)
        };
        Granted { rights, session }
    }

    /// Starts a session if the credentials are right.
    pub(super) async fn start_session(
        self: &Arc<Self>,
        client: IpAddr,
        given: Given,
    ) -> Result<Session, (StatusCode, &'static str)> {
        let verdict = match (given, &self.credentials) {
            (
                Given::Token(given),
                Credentials {
                    token: Some(token), ..
                },
            ) if token.is(&given) => Verdict::Right,
            (
                Given::Password(user, password),
                Credentials {
                    login: Some(login), ..
                },
            ) => {
                let login = Arc::clone(login);
                let check = move || login.check(client, Some((&user, &password)));
                let checked = tokio::task::spawn_blocking(check).await;
                checked.unwrap_or(Verdict::Wrong)
            }
            _ => Verdict::Wrong,
        };
        match verdict {
            Verdict::Right => self.sessions.start().map_err(|_| {
                let reason = "the system has no random numbers";
                (StatusCode::INTERNAL_SERVER_ERROR, reason)
            }),
            Verdict::Wrong => Err((StatusCode::UNAUTHORIZED, "these credentials are wrong")),
            Verdict::TooMany => {
                let reason = "too many wrong passwords: try again in a minute";
                Err((StatusCode::TOO_MANY_REQUESTS, reason))
            }
        }
    }

    /// Ends the session of a request. Returns the cookie that ends it in the browser.
    pub(super) fn end_session(&self, headers: &HeaderMap) -> String {
        self.sessions.end(headers)
    }
}

/// Passes a request on if it is not of another site.
pub(super) async fn check_site(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match refusal_of_site(request.method(), request.headers(), &access) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    let is_kept = response.extensions().get::<Kept>().is_some();
    let is_sandboxed = response.extensions().get::<Sandboxed>().is_some();
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        let is_own = match name {
            CACHE_CONTROL => is_kept,
            CONTENT_SECURITY_POLICY => is_sandboxed,
            _ => false,
        };
        if !is_own {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    if response.status() == StatusCode::UNAUTHORIZED {
        let headers = response.headers_mut();
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// Passes a request on if it has the right to read, or to change something.
pub(super) async fn check_rights(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    match refusal(request.method(), request.headers(), &access) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

fn is_reading(method: &Method) -> bool {
    [Method::GET, Method::HEAD].contains(method)
}

fn refusal(
    method: &Method,
    headers: &HeaderMap,
    access: &Access,
) -> Option<(StatusCode, &'static str)> {
    let needed = if is_reading(method) {
        Rights::Read
    } else {
        Rights::Change
    };
    let granted = access.granted(headers);
    if granted.rights >= needed {
        return None;
    }
    if granted.session.is_some() {
        let reason = "the header X-CSRF-Token must have the token of the session";
        return Some((StatusCode::FORBIDDEN, reason));
    }
    let reason = "a token or a login is required";
    Some((StatusCode::UNAUTHORIZED, reason))
}

fn refusal_of_site(
    method: &Method,
    headers: &HeaderMap,
    access: &Access,
) -> Option<(StatusCode, &'static str)> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    let host = text(HOST).unwrap_or("");
    if !access.has_host(host) {
        return Some((
            StatusCode::MISDIRECTED_REQUEST,
            "unknown Host header: use an address, localhost, or a name given with --http-origin",
        ));
    }
    // A link from another site may open the page: its request has no Origin.
    let is_other_origin = text(ORIGIN).is_some_and(|origin| !access.has_origin(origin, host));
    let is_cross_site =
        text(SEC_FETCH_SITE).is_some_and(|site| !["same-origin", "none"].contains(&site));
    let is_navigation =
        is_reading(method) && text(HeaderName::from_static("sec-fetch-mode")) == Some("navigate");
    if is_other_origin || is_cross_site && !is_navigation {
        return Some((StatusCode::FORBIDDEN, "requests of other sites are refused"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Links;

    const SECRET: &str = "secret-0123456789";
    const BEARER: &str = "Bearer secret-0123456789";

    fn endpoint(addresses: &[&str]) -> Endpoint {
        let addresses = addresses.iter().map(|address| address.parse().unwrap());
        Endpoint::Tcp(addresses.collect())
    }

    fn access(auth: Auth, address: &str) -> Access {
        let origins = ["https://torrents.example", "http://nas.local:8080"];
        let http = Http {
            endpoint: endpoint(&[address]),
            origins: origins.map(str::to_owned).into(),
            folders: Vec::new(),
            auth,
            fetches_local: false,
            links: Links::default(),
        };
        Access::new(&http, &http.endpoint).unwrap()
    }

    fn with_token() -> Access {
        access(
            Auth::Credentials(Credentials {
                token: Some(Token::new(SECRET).unwrap()),
                login: None,
            }),
            "127.0.0.1:8080",
        )
    }

    fn map(headers: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        map
    }

    /// The status of a request to a server whose token is the secret, if it is refused.
    fn status(method: &Method, headers: &[(&'static str, &str)]) -> Option<u16> {
        let (access, map) = (with_token(), map(headers));
        let of_site = refusal_of_site(method, &map, &access);
        let refusal =
            of_site.or_else(|| refusal(method, &map, &access).filter(|_| !is_reading(method)));
        refusal.map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_addresses_and_localhost_are_accepted() {
        for host in [
            "127.0.0.1:8080",
            "[::1]:8080",
            "localhost:1",
            "192.168.1.2",
            "localhost",
            "[::1]",
            "torrents.example",
            "nas.local:8080",
            "NAS.local:8080",
        ] {
            assert_eq!(status(&Method::GET, &[("host", host)]), None, "{host}");
        }
        for host in [
            "example.com",
            "localhost.example.com:80",
            "127.0.0.1.example.com",
            "[127.0.0.1].example.com",
            "[127.0.0.1]",
            "[::1].example.com",
            "[::1]:80.example.com",
            "[::1",
            "127.0.0.1:80.example.com",
            "localhost:",
            "torrents.example.com",
            "nas.local",
            "",
            "a b",
        ] {
            assert_eq!(status(&Method::GET, &[("host", host)]), Some(421), "{host}");
        }
        assert_eq!(status(&Method::GET, &[]), Some(421));
    }

    #[test]
    fn other_sites_are_refused() {
        let host = ("host", "127.0.0.1:8080");
        let same = ("origin", "http://127.0.0.1:8080");
        assert_eq!(status(&Method::GET, &[host, same]), None);
        for origin in [
            "http://127.0.0.1:8081",
            "https://127.0.0.1:8080",
            "null",
            "http://example.com",
        ] {
            assert_eq!(
                status(&Method::GET, &[host, ("origin", origin)]),
                Some(403),
                "{origin}"
            );
        }
        for site in ["cross-site", "same-site"] {
            let from = ("sec-fetch-site", site);
            assert_eq!(status(&Method::GET, &[host, from]), Some(403));
            let link = ("sec-fetch-mode", "navigate");
            assert_eq!(status(&Method::GET, &[host, from, link]), None);
            assert_eq!(status(&Method::POST, &[host, from, link]), Some(403));
        }
        assert_eq!(
            status(&Method::GET, &[host, ("sec-fetch-site", "none")]),
            None
        );
    }

    /// Through a proxy that passes on the name, and through one that does not.
    #[test]
    fn known_origins_are_accepted() {
        let origin = ("origin", "https://torrents.example");
        let token = ("authorization", BEARER);
        for host in ["torrents.example", "127.0.0.1:8080"] {
            let host = ("host", host);
            assert_eq!(status(&Method::POST, &[host, origin, token]), None);
            assert_eq!(status(&Method::POST, &[host, origin]), Some(401));
            for other in [
                "http://torrents.example:81",
                "https://torrents.example.com",
                "https://torrents.example:8443",
            ] {
                let other = ("origin", other);
                assert_eq!(status(&Method::POST, &[host, other, token]), Some(403));
            }
        }
    }

    #[test]
    fn nothing_is_changed_without_the_token() {
        let host = ("host", "localhost:8080");
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
            assert_eq!(status(&method, &[host]), Some(401));
            for wrong in [
                "Bearer",
                "Bearer ",
                "Bearer secret-012345678",
                "Bearer secret-01234567890",
                "Basic secret-0123456789",
                SECRET,
            ] {
                assert_eq!(
                    status(&method, &[host, ("authorization", wrong)]),
                    Some(401),
                    "{wrong}"
                );
            }
            assert_eq!(status(&method, &[host, ("authorization", BEARER)]), None);
        }
    }

    /// Only a server that no other machine can reach lets requests without credentials read.
    #[test]
    fn reading_needs_credentials_if_other_machines_can_reach_the_server() {
        let local = Http {
            endpoint: endpoint(&["127.0.0.1:1", "[::1]:1"]),
            origins: Vec::new(),
            folders: Vec::new(),
            auth: Auth::NewToken,
            fetches_local: false,
            links: Links::default(),
        };
        let rights = |http: &Http| Access::new(http, &http.endpoint).unwrap().without;
        assert_eq!(rights(&local), Rights::Read);
        let at = |endpoint| Http {
            endpoint,
            ..local.clone()
        };
        assert_eq!(rights(&at(Endpoint::Unix("page".into()))), Rights::Read);
        for address in ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "[::ffff:192.0.2.1]:1"] {
            // One address of a name is enough.
            for addresses in [&[address][..], &["127.0.0.1:1", address]] {
                let http = at(endpoint(addresses));
                assert_eq!(rights(&http), Rights::Nothing, "{addresses:?}");
            }
        }
        let proxy = Http {
            origins: vec!["https://torrents.example".into()],
            ..local.clone()
        };
        assert_eq!(rights(&proxy), Rights::Nothing);
        let open = Http {
            auth: Auth::Off,
            ..local.clone()
        };
        assert_eq!(rights(&open), Rights::Change);
        assert_eq!(with_token().without, Rights::Nothing);
        let none = Http {
            auth: Auth::Credentials(Credentials::default()),
            ..local
        };
        assert!(Access::new(&none, &none.endpoint).is_err());
    }

    /// A session reads. It changes something only with its own token.
    #[test]
    fn sessions_need_their_token_to_change_something() {
        let access = with_token();
        let [one, other] = [(); 2].map(|()| access.sessions.start().unwrap());
        let cookie = one.cookie.split(';').next().unwrap();
        let status = |method: &Method, headers: &[(&'static str, &str)]| {
            refusal(method, &map(headers), &access).map(|(status, _)| status.as_u16())
        };
        let cookie = ("cookie", cookie);
        assert_eq!(status(&Method::GET, &[]), Some(401));
        assert_eq!(status(&Method::GET, &[cookie]), None);
        assert_eq!(status(&Method::POST, &[cookie]), Some(403));
        for (token, expected) in [(&one.token, None), (&other.token, Some(403))] {
            let token = ("x-csrf-token", token.as_str());
            assert_eq!(status(&Method::POST, &[cookie, token]), expected);
            assert_eq!(status(&Method::POST, &[token]), Some(401));
        }
        let bearer = ("authorization", BEARER);
        assert_eq!(status(&Method::POST, &[bearer]), None);
        access.end_session(&map(&[cookie]));
        assert_eq!(status(&Method::GET, &[cookie]), Some(401));
    }
}
