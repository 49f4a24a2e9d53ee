//! A bencode writer and a simple reader, for comparison with the crate's reader.

use proptest::prelude::*;

/// A bencoded value that owns its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// The digits of the integer, which may not fit into `i64`.
    Integer(String),
    Bytes(Vec<u8>),
    List(Vec<Model>),
    Dictionary(Vec<(Vec<u8>, Model)>),
}

impl Model {
    pub(crate) fn write(&self) -> Vec<u8> {
        match self {
            Self::Integer(integer) => format!("i{integer}e").into_bytes(),
            Self::Bytes(bytes) => write_bytes(bytes),
            Self::List(items) => {
                let items: Vec<u8> = items.iter().flat_map(Self::write).collect();
                [b"l", &items[..], b"e"].concat()
            }
            Self::Dictionary(entries) => {
                let entries: Vec<u8> = entries
                    .iter()
                    .flat_map(|(key, value)| [write_bytes(key), value.write()].concat())
                    .collect();
                [b"d", &entries[..], b"e"].concat()
            }
        }
    }

    /// Reads all of `document` recursively, with the standard library's number parser and no limit
    /// of depth.
    pub(crate) fn read(document: &[u8]) -> Option<Self> {
        let (value, rest) = Self::read_one(document)?;
        rest.is_empty().then_some(value)
    }

    fn read_one(input: &[u8]) -> Option<(Self, &[u8])> {
        match input.first()? {
            b'i' => {
                let end = input.iter().position(|&byte| byte == b'e')?;
                let text = std::str::from_utf8(&input[1..end]).ok()?;
                let magnitude = text.strip_prefix('-').unwrap_or(text);
                let is_canonical = text == "0"
                    || magnitude.bytes().all(|byte| byte.is_ascii_digit())
                        && magnitude.bytes().next().is_some_and(|first| first != b'0');
                is_canonical.then(|| (Self::Integer(text.to_owned()), &input[end + 1..]))
            }
            b'0'..=b'9' => {
                let (bytes, rest) = read_bytes(input)?;
                Some((Self::Bytes(bytes), rest))
            }
            b'l' => {
                let mut items = Vec::new();
                let mut rest = &input[1..];
                while *rest.first()? != b'e' {
                    let item;
                    (item, rest) = Self::read_one(rest)?;
                    items.push(item);
                }
                Some((Self::List(items), &rest[1..]))
            }
            b'd' => {
                let mut entries = Vec::new();
                let mut rest = &input[1..];
                while *rest.first()? != b'e' {
                    let (key, value);
                    (key, rest) = read_bytes(rest)?;
                    (value, rest) = Self::read_one(rest)?;
                    entries.push((key, value));
                }
                Some((Self::Dictionary(entries), &rest[1..]))
            }
            _ => None,
        }
    }
}

fn write_bytes(bytes: &[u8]) -> Vec<u8> {
    [format!("{}:", bytes.len()).as_bytes(), bytes].concat()
}

fn read_bytes(input: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let colon = input.iter().position(|&byte| byte == b':')?;
    let text = std::str::from_utf8(&input[..colon]).ok()?;
    let length: usize = text.parse().ok()?;
    let bytes = input[colon + 1..].get(..length)?;
    (length.to_string() == text).then_some((bytes.to_vec(), &input[colon + 1 + length..]))
}

/// Any value of moderate depth.
pub(crate) fn any_model() -> impl Strategy<Value = Model> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..12);
    let leaf = prop_oneof![
        any::<i64>().prop_map(|integer| Model::Integer(integer.to_string())),
        (-2..2_i64).prop_map(|integer| Model::Integer(integer.to_string())),
        bytes().prop_map(Model::Bytes),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Model::List),
            proptest::collection::vec((bytes(), inner), 0..6).prop_map(Model::Dictionary),
        ]
    })
}
