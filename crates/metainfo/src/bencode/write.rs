//! Writes bencode.

/// A writer of one bencoded value, from front to back.
///
/// ```
/// use hashlane_metainfo::bencode::Writer;
///
/// let mut writer = Writer::new();
/// writer.begin_dictionary();
/// writer.key("cow").bytes("moo");
/// writer.key("spam").begin_list();
/// writer.integer(-3);
/// writer.end();
/// writer.end();
/// assert_eq!(writer.finish(), b"d3:cow3:moo4:spamli-3eee");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
    /// The range of the last key in `out` for each open dictionary; `None` for an open list.
    open: Vec<Option<std::ops::Range<usize>>>,
}

impl Writer {
    /// Returns an empty writer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes an integer.
    pub fn integer(&mut self, integer: i64) {
        self.out
            .extend_from_slice(format!("i{integer}e").as_bytes());
    }

    /// Writes a byte string.
    pub fn bytes(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.out
            .extend_from_slice(format!("{}:", bytes.len()).as_bytes());
        self.out.extend_from_slice(bytes);
    }

    /// Starts a list. [`Self::end`] ends it.
    pub fn begin_list(&mut self) {
        self.out.push(b'l');
        self.open.push(None);
    }

    /// Starts a dictionary. [`Self::end`] ends it.
    pub fn begin_dictionary(&mut self) {
        self.out.push(b'd');
        let start = self.out.len();
        self.open.push(Some(start..start));
    }

    /// Writes a key of the innermost dictionary. Write its value next.
    ///
    /// # Panics
    /// Panics in debug builds if the key is not greater than the previous key, compared as raw
    /// bytes.
    pub fn key(&mut self, key: impl AsRef<[u8]>) -> &mut Self {
        let key = key.as_ref();
        let last = self.open.last().cloned().flatten().unwrap_or_default();
        debug_assert!(
            self.out
                .get(last.start..last.end)
                .is_none_or(|last| last < key)
                || last.is_empty() && self.out.ends_with(b"d"),
            "keys are sorted"
        );
        self.bytes(key);
        let end = self.out.len();
        if let Some(last) = self.open.last_mut() {
            *last = Some(end - key.len()..end);
        }
        self
    }

    /// Ends the innermost list or dictionary.
    ///
    /// # Panics
    /// Panics if no list or dictionary is open.
    pub fn end(&mut self) {
        assert!(self.open.pop().is_some(), "there is something to end");
        self.out.push(b'e');
    }

    /// Returns the written bytes.
    ///
    /// # Panics
    /// Panics if a list or dictionary is still open.
    pub fn finish(self) -> Vec<u8> {
        assert!(self.open.is_empty(), "everything that was begun has ended");
        self.out
    }
}
