//! Access control.
//!
//! Any site that a browser shows can send requests to this machine. Requests of other sites are refused. A site that
//! uses its own name (DNS rebinding) fails because only addresses, `localhost` and the names of known origins are accepted
//! as `Host`. A site that uses this server's name fails because of its `Origin`. A request that changes something needs the
//! token that the program prints.
//!
//! A proxy may pass on the name that the browser asked for, or its own address. In both cases the `Origin` is that of the
//! browser, so it must be known.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName,
    HeaderValue, ORIGIN, REFERRER_POLICY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use hashlane_server::is_address;
use subtle::ConstantTimeEq as _;

/// Length of a token in bytes.
const TOKEN_LEN: usize = 16;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Time limit of a request that changes something. Its body arrives after its head.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

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
    /// The token of requests that change something.
    token: String,
    /// Origins under which browsers reach this server, besides its address.
    origins: Vec<String>,
}

impl Access {
    /// Returns the access with a new random token.
    pub(super) fn new(origins: Vec<String>) -> io::Result<Self> {
        let mut bytes = [0; TOKEN_LEN];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let token = HEXLOWER.encode(&bytes);
        Ok(Self { token, origins })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Returns `true` for the hosts of this server. No other site can have an address or `localhost` as its name.
    fn has_host(&self, host: &str) -> bool {
        let is_known = |origin: &String| {
            let known = origin.split_once("://").map_or("", |(_, host)| host);
            known.eq_ignore_ascii_case(host)
        };
        is_address(host) || self.origins.iter().any(is_known)
    }

    fn has_origin(&self, origin: &str, host: &str) -> bool {
        origin == format!("http://{host}") || self.origins.iter().any(|known| known == origin)
    }

    /// Returns `true` if the headers contain the token. The comparison takes constant time.
    fn has_token(&self, headers: &HeaderMap) -> bool {
        let given = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer "));
        given.is_some_and(|given| given.as_bytes().ct_eq(self.token.as_bytes()).into())
    }
}

/// Passes a request on if it is allowed.
pub(super) async fn check(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let refusal = refusal(request.method(), request.headers(), &access);
    let mut response = if let Some(refusal) = refusal {
        refusal.into_response()
    } else {
        let response = tokio::time::timeout(BODY_TIMEOUT, next.run(request));
        response
            .await
            .unwrap_or_else(|_| StatusCode::REQUEST_TIMEOUT.into_response())
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if response.status() == StatusCode::UNAUTHORIZED {
        let headers = response.headers_mut();
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn refusal(
    method: &Method,
    headers: &HeaderMap,
    access: &Access,
) -> Option<(StatusCode, &'static str)> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    let host = text(HOST).unwrap_or("");
    if !access.has_host(host) {
        return Some((
            StatusCode::MISDIRECTED_REQUEST,
            "this server does not have that name\n",
        ));
    }
    // A link from another site may open the page: its request has no Origin.
    let is_other_origin = text(ORIGIN).is_some_and(|origin| !access.has_origin(origin, host));
    let is_reading = [Method::GET, Method::HEAD].contains(method);
    let is_cross_site =
        text(SEC_FETCH_SITE).is_some_and(|site| !["same-origin", "none"].contains(&site));
    let is_navigation =
        is_reading && text(HeaderName::from_static("sec-fetch-mode")) == Some("navigate");
    if is_other_origin || is_cross_site && !is_navigation {
        return Some((
            StatusCode::FORBIDDEN,
            "requests of other sites are refused\n",
        ));
    }
    if !is_reading && !access.has_token(headers) {
        return Some((StatusCode::UNAUTHORIZED, "the token is required\n"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: &Method, headers: &[(&'static str, &str)]) -> Option<u16> {
        let access = Access {
            token: "secret".into(),
            origins: vec![
                "https://torrents.example".into(),
                "http://nas.local:8080".into(),
            ],
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        refusal(method, &map, &access).map(|(status, _)| status.as_u16())
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
        let token = ("authorization", "Bearer secret");
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
                "Bearer secre",
                "Bearer secrets",
                "Basic secret",
                "secret",
            ] {
                assert_eq!(
                    status(&method, &[host, ("authorization", wrong)]),
                    Some(401),
                    "{wrong}"
                );
            }
            assert_eq!(
                status(&method, &[host, ("authorization", "Bearer secret")]),
                None
            );
        }
    }

    #[test]
    fn tokens_differ() {
        let new = || Access::new(Vec::new()).unwrap();
        let (one, other) = (new(), new());
        assert_eq!(one.token().len(), 2 * TOKEN_LEN);
        assert_ne!(one.token(), other.token());
    }
}
