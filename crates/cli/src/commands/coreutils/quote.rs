//! Names in messages, quoted as GNU's tools quote them in the locale C.

/// Returns a name for a message: unchanged, or quoted so that a shell reads the same name.
pub(super) fn shell_quoted(name: &[u8]) -> Vec<u8> {
    if !needs_quotes(name) {
        return name.to_vec();
    }
    let has_apostrophe = name.contains(&b'\'');
    if has_apostrophe
        && name
            .iter()
            .enumerate()
            .all(|(i, byte)| fits_in_double_quotes(name, i, *byte))
    {
        return [b"\"", name, b"\""].concat();
    }
    let mut quoted = vec![b'\''];
    // If the name contains an apostrophe, GNU's tools make two passes. The second pass starts in the state in which the
    // first one ended.
    let mut is_escaping =
        has_apostrophe && name.last().is_some_and(|byte| escape_of(*byte).is_some());
    for byte in name {
        match escape_of(*byte) {
            Some(escape) => {
                if !is_escaping {
                    quoted.extend(b"'$'");
                }
                is_escaping = true;
                quoted.push(b'\\');
                quoted.extend(escape.bytes());
            }
            None if *byte == b'\'' => {
                quoted.extend(b"'\\''");
                is_escaping = false;
            }
            None => {
                if is_escaping {
                    quoted.extend(b"''");
                }
                is_escaping = false;
                quoted.push(*byte);
            }
        }
    }
    quoted.push(b'\'');
    quoted
}

/// Returns an option's value for a message: always in apostrophes, with the escapes of C.
pub(super) fn quoted(value: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in value {
        match (byte, escape_of(*byte)) {
            (_, Some(escape)) => {
                quoted.push(b'\\');
                quoted.extend(escape.bytes());
            }
            (b'\'' | b'\\', None) => quoted.extend([b'\\', *byte]),
            (byte, None) => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

fn needs_quotes(name: &[u8]) -> bool {
    let is_special = |(i, byte): (usize, &u8)| match byte {
        b'{' | b'}' => name.len() == 1,
        b'#' | b'~' => i == 0,
        byte => b" !\"$&'()*:;<=>?[\\^`|".contains(byte) || escape_of(*byte).is_some(),
    };
    name.is_empty() || name.iter().enumerate().any(is_special)
}

/// Returns `true` if a byte means the same between double quotes in a shell and in C.
fn fits_in_double_quotes(name: &[u8], i: usize, byte: u8) -> bool {
    match byte {
        b'{' | b'}' => name.len() == 1,
        b'#' | b'~' => i == 0,
        b' ' | b'\'' | b'%'..=b':' | b'@'..=b'Z' | b']' | b'_' | b'a'..=b'z' => {
            !b"&()*".contains(&byte)
        }
        _ => false,
    }
}

/// Returns the escape of a byte that is not printable, without its backslash.
fn escape_of(byte: u8) -> Option<String> {
    let letter = match byte {
        7 => 'a',
        8 => 'b',
        b'\t' => 't',
        b'\n' => 'n',
        11 => 'v',
        12 => 'f',
        b'\r' => 'r',
        b' '..=b'~' => return None,
        byte => return Some(format!("{byte:03o}")),
    };
    Some(letter.into())
}
