//! The armor of signed lists: clear-signed ones of OpenPGP (RFC 9580, section 7), and those of signify. No signature is checked.

use super::entry::Line;

/// A reader of the lines around the text of a signed list.
#[derive(Clone, Debug, Default)]
pub(super) struct SignedLines {
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Before the first line.
    #[default]
    Start,
    /// Outside of signed text.
    Outside,
    /// Between the first line of signed text and the empty line after it.
    Headers,
    Text,
    /// In a signature of OpenPGP.
    Signature,
    /// Before the line with a signature of signify.
    Signify,
}

impl SignedLines {
    /// Returns the text of a line, or the meaning of a line that belongs to the armor. A line that cannot be part of a signature
    /// is text, so that a signature without an end hides no entry.
    pub(super) fn read<'t>(&mut self, text: &'t [u8]) -> Result<&'t [u8], Line> {
        let is_signature = || Line::Unchecked("the signature is not checked".into());
        let (state, read) = match (self.state, text) {
            (State::Start, _) if text.starts_with(b"untrusted comment: ") => {
                (State::Signify, Err(Line::Ignored))
            }
            (State::Signify, _) if text.len() >= 64 && is_base64(text) => {
                (State::Outside, Err(is_signature()))
            }
            (State::Start | State::Outside, b"-----BEGIN PGP SIGNED MESSAGE-----") => {
                (State::Headers, Err(Line::Ignored))
            }
            (State::Headers, b"") => (State::Text, Err(Line::Ignored)),
            (State::Headers, _) if is_header(text) => (State::Headers, Err(Line::Ignored)),
            (State::Headers | State::Text, b"-----BEGIN PGP SIGNATURE-----") => {
                (State::Signature, Err(is_signature()))
            }
            // Lines that start with a dash have it twice.
            (State::Headers | State::Text, _) => {
                (State::Text, Ok(text.strip_prefix(b"- ").unwrap_or(text)))
            }
            (State::Signature, b"-----END PGP SIGNATURE-----") => {
                (State::Outside, Err(Line::Ignored))
            }
            (State::Signature, _) if is_base64(text) || is_header(text) => {
                (State::Signature, Err(Line::Ignored))
            }
            (State::Signature, _) => (State::Signature, Ok(text)),
            (State::Start | State::Outside | State::Signify, _) => (State::Outside, Ok(text)),
        };
        self.state = state;
        read
    }
}

/// Returns `true` for a line of base64, or an empty one.
fn is_base64(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}

/// Returns `true` for a header of an armor. Others could be lines of an SFV file.
fn is_header(text: &[u8]) -> bool {
    [
        &b"Hash: "[..],
        b"Version: ",
        b"Comment: ",
        b"MessageID: ",
        b"Charset: ",
    ]
    .iter()
    .any(|key| text.starts_with(key))
}
