//! The grammar: reads tokens, and finds the end of a value. Offsets count from the start of the
//! input.

use super::error::{SyntaxError, SyntaxErrorKind};
use super::{Kind, MAX_DEPTH};

/// A token, the smallest unit of the grammar.
#[derive(Clone, Copy)]
pub(crate) enum Token<'a> {
    /// `None` if the number does not fit into `i64`.
    Integer(Option<i64>),
    ByteString(&'a [u8]),
    ListStart,
    DictionaryStart,
    End,
}

/// Position inside an open list or dictionary.
#[derive(Clone, Copy)]
enum Inside {
    /// At an item of a list, or at its end.
    List,
    /// At a key of a dictionary, or at its end.
    Key,
    /// At the value of a key.
    Value,
}

/// Checks the value at the start of `input`, and returns its length in bytes.
///
/// The open lists and dictionaries are kept in an array, so that deeply nested input cannot
/// overflow the call stack.
pub(super) fn value_end(input: &[u8]) -> Result<usize, SyntaxError> {
    // Most values are strings and integers, which need no array.
    if let Some(b'0'..=b'9' | b'i') = input.first() {
        return Ok(token(input, 0, "a value")?.1);
    }
    let mut open = [Inside::List; MAX_DEPTH];
    let mut depth = 0;
    let mut at = 0;
    loop {
        let inside = open[..depth].last().copied();
        let expected = match inside {
            None | Some(Inside::Value) => "a value",
            Some(Inside::List) => "a value or 'e'",
            Some(Inside::Key) => "a key or 'e'",
        };
        let start = at;
        let (token, end) = token(input, start, expected)?;
        at = end;
        match (token, inside) {
            (Token::End, Some(Inside::List | Inside::Key)) => depth -= 1,
            (Token::End, _) => return Err(unexpected(start, expected, b'e')),
            (Token::ByteString(_), Some(Inside::Key)) => {
                open[depth - 1] = Inside::Value;
                continue;
            }
            (Token::Integer(_), Some(Inside::Key)) => return Err(bad_key(start, Kind::Integer)),
            (Token::ListStart, Some(Inside::Key)) => return Err(bad_key(start, Kind::List)),
            (Token::DictionaryStart, Some(Inside::Key)) => {
                return Err(bad_key(start, Kind::Dictionary));
            }
            (Token::ListStart | Token::DictionaryStart, _) => {
                let Some(slot) = open.get_mut(depth) else {
                    return Err(SyntaxError::new(start, SyntaxErrorKind::TooDeep));
                };
                let is_list = matches!(token, Token::ListStart);
                *slot = if is_list { Inside::List } else { Inside::Key };
                depth += 1;
                continue;
            }
            (Token::Integer(_) | Token::ByteString(_), _) => {}
        }
        // A value is complete here. `depth` is the number of lists and dictionaries around it.
        match open[..depth].last_mut() {
            None => return Ok(at),
            Some(inside @ Inside::Value) => *inside = Inside::Key,
            Some(_) => {}
        }
    }
}

/// Reads the token at `at`, and returns it with the offset after it.
#[inline]
pub(super) fn token<'a>(
    input: &'a [u8],
    at: usize,
    expected: &'static str,
) -> Result<(Token<'a>, usize), SyntaxError> {
    match byte(input, at, expected)? {
        b'i' => integer(input, at + 1),
        b'0'..=b'9' => byte_string(input, at),
        b'l' => Ok((Token::ListStart, at + 1)),
        b'd' => Ok((Token::DictionaryStart, at + 1)),
        b'e' => Ok((Token::End, at + 1)),
        found => Err(unexpected(at, expected, found)),
    }
}

/// Reads an integer after its `i`.
fn integer(input: &[u8], at: usize) -> Result<(Token<'_>, usize), SyntaxError> {
    let negative = byte(input, at, "a digit or '-'")? == b'-';
    let (magnitude, end) = digits(input, at + usize::from(negative))?;
    match byte(input, end, "a digit or 'e'")? {
        b'e' => {}
        found => return Err(unexpected(end, "a digit or 'e'", found)),
    }
    if negative && magnitude == Some(0) {
        return Err(SyntaxError::new(at, SyntaxErrorKind::NegativeZero));
    }
    let integer = magnitude.and_then(|magnitude| {
        if negative {
            0_i64.checked_sub_unsigned(magnitude)
        } else {
            magnitude.try_into().ok()
        }
    });
    Ok((Token::Integer(integer), end + 1))
}

/// Reads a byte string, starting at its length.
fn byte_string(input: &[u8], at: usize) -> Result<(Token<'_>, usize), SyntaxError> {
    let (length, colon) = digits(input, at)?;
    let length = length.ok_or_else(|| SyntaxError::new(at, SyntaxErrorKind::LengthOverflow))?;
    match byte(input, colon, "a digit or ':'")? {
        b':' => {}
        found => return Err(unexpected(colon, "a digit or ':'", found)),
    }
    let rest = &input[colon + 1..];
    let bytes = usize::try_from(length)
        .ok()
        .and_then(|length| rest.get(..length));
    let bytes = bytes.ok_or_else(|| {
        SyntaxError::new(
            at,
            SyntaxErrorKind::BeyondEnd {
                length,
                available: rest.len(),
            },
        )
    })?;
    Ok((Token::ByteString(bytes), colon + 1 + bytes.len()))
}

/// Reads one or more digits, and returns the number with the offset after them. The number is
/// `None` if it does not fit into `u64`.
fn digits(input: &[u8], start: usize) -> Result<(Option<u64>, usize), SyntaxError> {
    let first = byte(input, start, "a digit")?;
    if !first.is_ascii_digit() {
        return Err(unexpected(start, "a digit", first));
    }
    let mut number = Some(u64::from(first - b'0'));
    let mut at = start + 1;
    while let Some(digit) = input.get(at).filter(|byte| byte.is_ascii_digit()) {
        if first == b'0' {
            return Err(SyntaxError::new(start, SyntaxErrorKind::LeadingZero));
        }
        number = number
            .and_then(|number| number.checked_mul(10))
            .and_then(|tens| tens.checked_add(u64::from(digit - b'0')));
        at += 1;
    }
    Ok((number, at))
}

fn byte(input: &[u8], at: usize, expected: &'static str) -> Result<u8, SyntaxError> {
    let found = input.get(at).copied();
    found.ok_or_else(|| SyntaxError::new(at, SyntaxErrorKind::UnexpectedEnd { expected }))
}

fn unexpected(at: usize, expected: &'static str, found: u8) -> SyntaxError {
    SyntaxError::new(at, SyntaxErrorKind::UnexpectedByte { expected, found })
}

fn bad_key(at: usize, found: Kind) -> SyntaxError {
    SyntaxError::new(at, SyntaxErrorKind::KeyNotByteString { found })
}
