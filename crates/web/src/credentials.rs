//! Who may use the API: a token, or a user name and a password.

use std::fmt;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use hashlane_server::Login;
use subtle::ConstantTimeEq as _;

/// Length of a generated token in bytes.
const TOKEN_LEN: usize = 16;

/// Minimum number of characters of a token. Wrong tokens are not counted, so a token must be too long to be guessed.
const MIN_TOKEN_LEN: usize = 16;

/// The warning of a server without authentication.
pub const EVERYBODY: &str =
    "everybody who reaches this address controls the client, because there is no login";

/// Who may use the API.
#[derive(Clone, Debug, Default)]
pub enum Auth {
    /// Those who have a token, which is new at each start: [`Server::new_token`](crate::Server::new_token). Requests that
    /// only read need no token if no other machine can reach the API: its address is local, and it has no further origins.
    #[default]
    NewToken,
    /// Those who have one of these credentials, for reading too.
    Credentials(Credentials),
    /// Everybody who can reach the address.
    Off,
}

/// What programs and people show to be allowed to use the API. At least one of them is present.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// The token that programs send as `Bearer`, and with which the page logs in.
    pub token: Option<Token>,
    /// A user name and a password.
    pub login: Option<Arc<Login>>,
}

/// A secret that requests have in the header `Authorization: Bearer` (RFC 6750).
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Arc<str>);

/// A text that is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token has at least {MIN_TOKEN_LEN} characters: letters, digits and `-._~+/=` (RFC 6750)"
)]
pub struct InvalidToken;

/// Without the token.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").finish_non_exhaustive()
    }
}

impl Token {
    /// Returns a token that was chosen.
    ///
    /// # Errors
    /// The text is too short, or cannot stand in a header.
    pub fn new(text: &str) -> Result<Self, InvalidToken> {
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if text.len() < MIN_TOKEN_LEN || !text.bytes().all(is_valid) {
            return Err(InvalidToken);
        }
        Ok(Self(text.into()))
    }

    /// Returns a new random token.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; TOKEN_LEN];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(HEXLOWER.encode(&bytes).into()))
    }

    /// Returns the token as hexadecimal digits. The caller must not log them.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Returns `true` if a text is the token. The comparison takes constant time.
    pub(super) fn is(&self, given: &str) -> bool {
        given.as_bytes().ct_eq(self.0.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.secret().len(), 2 * TOKEN_LEN);
        assert_ne!(one, other);
        assert!(one.is(one.secret()) && !one.is(other.secret()) && !one.is(""));
        assert_eq!(Token::new(one.secret()), Ok(one));
        for text in [
            "",
            "short",
            "with a space 0123456789",
            "0123456789abcdef\u{e4}",
        ] {
            assert_eq!(Token::new(text), Err(InvalidToken), "{text}");
        }
    }
}
