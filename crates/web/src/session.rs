//! Logins of the page.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::StatusCode;
use axum::http::header::{HeaderMap, ORIGIN, SET_COOKIE};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};

use super::access::{Access, Given, Rights};

/// What the program that asks may do, and how it can log in.
#[derive(Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Session")
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct SessionView {
    /// Whether requests may read.
    read: bool,
    /// Whether requests may change something.
    change: bool,
    /// The value of the header `X-CSRF-Token` of this session.
    csrf_token: Option<String>,
    /// Whether a token is accepted.
    token_login: bool,
    /// Whether a user name and a password are accepted.
    password_login: bool,
}

/// The credentials of a login.
#[derive(Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Login")
)]
#[serde(untagged)]
pub(super) enum LoginRequest {
    Token(TokenRequest),
    Password(PasswordRequest),
}

#[derive(Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "TokenLogin")
)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenRequest {
    /// The token.
    token: String,
}

#[derive(Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "PasswordLogin")
)]
#[serde(deny_unknown_fields)]
pub(super) struct PasswordRequest {
    /// The user name.
    user: String,
    /// The password.
    password: String,
}

/// Reports the session of a request. A session has the token that it needs to change something.
pub(super) async fn session(State(access): State<Arc<Access>>, headers: HeaderMap) -> Response {
    let granted = access.granted(&headers);
    Json(SessionView {
        read: granted.rights >= Rights::Read,
        change: granted.rights == Rights::Change || granted.session.is_some(),
        csrf_token: granted.session.map(|session| session.token),
        token_login: access.token().is_some(),
        password_login: access.login().is_some(),
    })
    .into_response()
}

/// Starts a session.
pub(super) async fn login(
    State(access): State<Arc<Access>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Json(request): Json<LoginRequest>,
) -> Response {
    let given = match request {
        LoginRequest::Token(request) => Given::Token(request.token),
        LoginRequest::Password(request) => Given::Password(request.user, request.password),
    };
    let session = match access.start_session(client.ip(), given).await {
        Ok(session) => session,
        Err(refusal) => return refusal.into_response(),
    };
    let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    let mut cookie = session.cookie;
    if origin.is_some_and(|origin| origin.starts_with("https://")) {
        cookie += "; Secure";
    }
    let view = SessionView {
        read: true,
        change: true,
        csrf_token: Some(session.token),
        token_login: access.token().is_some(),
        password_login: access.login().is_some(),
    };
    (StatusCode::CREATED, [(SET_COOKIE, cookie)], Json(view)).into_response()
}

/// Ends a session.
pub(super) async fn logout(State(access): State<Arc<Access>>, headers: HeaderMap) -> Response {
    let ended = access.end_session(&headers);
    (StatusCode::NO_CONTENT, [(SET_COOKIE, ended)]).into_response()
}
