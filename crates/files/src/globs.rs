//! Patterns of paths, such as `*.tmp` and `/cache`.

use std::path::Path;

/// An invalid pattern.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GlobError {
    /// The pattern is empty.
    #[error("an empty pattern")]
    Empty,
    /// A bracket or brace is not closed, or nothing follows a backslash.
    #[error(transparent)]
    Syntax(#[from] fast_glob::Error),
}

/// A set of patterns of relative paths.
///
/// `*` and `?` match within one name, `**` matches any number of folders, and `[a-z]` and `{a,b}`
/// match alternatives. Names are bytes: `?` matches one byte of a character in UTF-8.
///
/// A pattern with a slash starts at the top folder; a pattern without a slash matches a name in any
/// folder. `./` at the start and a slash at the end have no effect; `/` alone matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Globs {
    patterns: Vec<String>,
    ignores_case: bool,
}

impl Globs {
    /// Returns an empty set whose patterns match upper-case and lower-case letters alike.
    pub fn ignoring_case() -> Self {
        Self {
            patterns: Vec::new(),
            ignores_case: true,
        }
    }

    /// Adds a pattern.
    ///
    /// # Errors
    ///
    /// `Empty` for an empty pattern, `Syntax` for an invalid one.
    pub fn add(&mut self, pattern: &str) -> Result<(), GlobError> {
        if pattern.is_empty() {
            return Err(GlobError::Empty);
        }
        fast_glob::validate(pattern)?;
        let folded = self.ignores_case.then(|| lower_case_pattern(pattern));
        let pattern = folded.as_deref().unwrap_or(pattern);
        let name = pattern.trim_end_matches('/');
        let from_top = name.strip_prefix('.').filter(|rest| rest.starts_with('/'));
        let path = from_top.unwrap_or(name).trim_start_matches('/');
        self.patterns.push(if matches!(name, "" | ".") {
            // The top folder with its contents.
            "**".to_owned()
        } else if !name.contains('/') {
            format!("**/{name}")
        } else if path.starts_with('!') {
            // A leading `!` would negate the pattern.
            format!("\\{path}")
        } else {
            path.to_owned()
        });
        Ok(())
    }

    /// Returns `true` if the set has no pattern.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns `true` if a pattern matches `path`, which is relative to the top folder, or a folder that contains it.
    pub fn is_match_or_inside(&self, path: impl AsRef<Path>) -> bool {
        // The last ancestor is the top folder, which has no name.
        let paths = path.as_ref().ancestors();
        let mut paths = paths.filter(|path| path.file_name().is_some());
        paths.any(|path| self.is_match(path))
    }

    /// Returns `true` if a pattern matches the whole of `path`, which is relative to the top
    /// folder.
    pub fn is_match(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref().as_os_str().as_encoded_bytes();
        let folded = self.ignores_case.then(|| lower_case(path));
        let path = folded.as_deref().unwrap_or(path);
        self.patterns
            .iter()
            .any(|pattern| fast_glob::glob_match(pattern, path))
    }
}

/// Returns a path in lower case. Bytes that are not UTF-8 stay as they are.
fn lower_case(path: &[u8]) -> Vec<u8> {
    let mut folded = Vec::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        folded.extend(chunk.valid().to_lowercase().bytes());
        folded.extend(chunk.invalid());
    }
    folded
}

/// Returns a pattern that matches text in lower case where `pattern` matches it in any case.
fn lower_case_pattern(pattern: &str) -> String {
    let mut folded = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(c) = split_char(&mut rest) {
        folded += &lower_case_char(c);
        if c == "[" {
            lower_case_class(&mut rest, &mut folded);
        }
    }
    folded
}

/// Appends the part of a character class after its `[`. A range of ASCII characters stays as it is, because it can have
/// other characters between its letters (`[A-z]`), and is followed by its capitals in lower case.
fn lower_case_class(rest: &mut &str, folded: &mut String) {
    if let Some(class) = rest.strip_prefix(['!', '^']) {
        *folded += &rest[..1];
        *rest = class;
    }
    let mut is_first = true;
    while let Some(low) = split_char(rest) {
        // A class has at least one character.
        if low == "]" && !is_first {
            folded.push(']');
            return;
        }
        is_first = false;
        let mut after = rest.strip_prefix('-').unwrap_or_default();
        let high = split_char(&mut after).filter(|high| *high != "]");
        let Some(high) = high else {
            *folded += &lower_case_char(low);
            continue;
        };
        *rest = after;
        if let (Some(first), Some(last)) = (ascii(low), ascii(high)) {
            folded.extend([low, "-", high]);
            let (first, last) = (first.max('A'), last.min('Z'));
            if first <= last {
                let [first, last] = [first, last].map(|c| c.to_ascii_lowercase());
                folded.extend([first, '-', last]);
            }
        } else {
            folded.extend([&lower_case_char(low), "-", &lower_case_char(high)]);
        }
    }
}

/// Takes a character from the start of a pattern, with the backslash before it.
fn split_char<'p>(rest: &mut &'p str) -> Option<&'p str> {
    let mut chars = rest.chars();
    if chars.next()? == '\\' {
        chars.next();
    }
    let (c, after) = rest.split_at(rest.len() - chars.as_str().len());
    *rest = after;
    Some(c)
}

/// Returns a character of a pattern in lower case. An escaped capital loses its backslash: `\N` is an `n`, and `\n` the
/// end of a line.
fn lower_case_char(c: &str) -> String {
    let capital = c.strip_prefix('\\');
    let capital = capital.filter(|c| c.starts_with(|c: char| c.is_ascii_uppercase()));
    capital.unwrap_or(c).to_lowercase()
}

/// Returns the ASCII character that a character of a pattern stands for.
fn ascii(c: &str) -> Option<char> {
    let c = match c {
        // The escapes of fast-glob.
        "\\b" => '\x08',
        "\\n" => '\n',
        "\\r" => '\r',
        "\\t" => '\t',
        c => c.chars().next_back()?,
    };
    Some(c).filter(char::is_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(pattern: &str) -> Globs {
        let mut globs = Globs::default();
        globs.add(pattern).unwrap();
        globs
    }

    #[test]
    fn patterns_match_names_and_paths() {
        for (pattern, matching, others) in [
            ("*.tmp", "x.tmp|a/x.tmp|a/b/.tmp", "x.tmp2|x.tmp/a"),
            ("/*.tmp", "x.tmp", "a/x.tmp"),
            ("a/*.tmp", "a/x.tmp", "x.tmp|b/a/x.tmp|a/b/x.tmp"),
            ("./a", "a", "b/a|a/a"),
            ("/a/", "a", "b/a"),
            ("a/", "a|b/a", "ab"),
            ("/", "a|b/a", ""),
            ("./", "a|b/a", ""),
            ("**/y.*", "y.x|a/y.x|a/b/y.x", "ay.x"),
            ("a/**/b", "a/b|a/x/b|a/x/y/b", "ab|x/a/b"),
            ("a/**", "a/b|a/b/c", "b|ab"),
            ("[a-c]?", "ax|d/cy", "dx|a"),
            ("[!a]", "b|x/b", "a"),
            ("*.{nfo,txt}", "a.nfo|b/c.txt", "a.nf"),
            ("\\*", "*", "a"),
            ("!a", "!a|b/!a", "a|b"),
            ("!a/b", "!a/b", "a/b|c"),
            ("/!a", "!a", "b|a"),
            ("./!a", "!a", "b|a"),
            ("?.txt", "a.txt", "ab.txt|é.txt"),
            ("??.txt", "ab.txt|é.txt", "a.txt"),
        ] {
            let globs = globs(pattern);
            for path in matching.split('|') {
                assert!(globs.is_match(path), "{pattern} matches {path}");
            }
            for path in others.split('|').filter(|path| !path.is_empty()) {
                assert!(!globs.is_match(path), "{pattern} does not match {path}");
            }
        }
    }

    #[test]
    fn letter_case_makes_no_difference_when_asked() {
        for (pattern, path) in [
            ("*.TMP", "a/x.tmp"),
            ("*.tmp", "X.Tmp"),
            ("/\u{c9}t\u{e9}", "\u{e9}T\u{c9}"),
            ("[A-C]x", "bX"),
            ("\\Nfo", "nFo"),
            ("\\\\N", "\\n"),
            ("\\[N", "[n"),
        ] {
            let mut globs = Globs::ignoring_case();
            globs.add(pattern).unwrap();
            assert!(globs.is_match(path), "{pattern} matches {path}");
        }
        assert!(!globs("*.TMP").is_match("x.tmp"));
    }

    /// A character is in a class if it, or the same letter in the other case, is in the class as it was written.
    #[test]
    fn ranges_keep_the_characters_between_their_letters() {
        for (class, matching, others) in [
            ("[A-z]", "_^[aAzZ", "@{1"),
            ("[Z-a]", "_aAzZ", "bByY"),
            ("[0-Z]", "0:@aZ", "_^[{"),
            ("[!A-z]", "@{1", "_aAzZ"),
            ("[^X-Z]", "_wW", "xZ"),
            ("[a-z]", "aAzZ", "_@"),
            ("[]-a]", "]_aA", "[b\\"),
            ("[A-CX-]", "aCxX-", "d_"),
            ("[A-C-x]", "bB-xX", "d_"),
            ("[\\A-\\z]", "_aZ", "@"),
            ("[\\n-Z]", "0aZ", "_"),
        ] {
            let mut globs = Globs::ignoring_case();
            globs.add(class).unwrap();
            for c in matching.chars() {
                assert!(globs.is_match(c.to_string()), "{class} matches {c}");
            }
            for c in others.chars() {
                assert!(!globs.is_match(c.to_string()), "{class} does not match {c}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf_8_match() {
        use std::os::unix::ffi::OsStrExt as _;
        let name = Path::new(std::ffi::OsStr::from_bytes(b"a/\xff\xfe.tmp"));
        assert!(globs("*.tmp").is_match(name));
        let mut any_case = Globs::ignoring_case();
        any_case.add("A/*.TMP").unwrap();
        assert!(any_case.is_match(name));
        assert!(!globs("b*.tmp").is_match(name));
    }

    #[test]
    fn invalid_patterns_are_errors() {
        for (pattern, reason) in [
            ("", "an empty pattern"),
            ("a[b", "character class at byte 1"),
            ("{a,b", "brace expansion at byte 0"),
            ("a\\", "backslash"),
        ] {
            let error = Globs::default().add(pattern).unwrap_err().to_string();
            assert!(error.contains(reason), "{pattern}: {error}");
        }
    }
}
