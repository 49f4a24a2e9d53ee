//! Patterns of paths, such as `*.tmp` and `/cache`.

use std::path::Path;

/// An invalid pattern.
#[derive(Debug, thiserror::Error)]
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
#[derive(Clone, Debug, Default)]
pub struct Globs(Vec<String>);

impl Globs {
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
        let name = pattern.trim_end_matches('/');
        let from_top = name.strip_prefix('.').filter(|rest| rest.starts_with('/'));
        let path = from_top.unwrap_or(name).trim_start_matches('/');
        self.0.push(if matches!(name, "" | ".") {
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
        self.0.is_empty()
    }

    /// Returns `true` if a pattern matches the whole of `path`, which is relative to the top
    /// folder.
    pub fn is_match(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref().as_os_str().as_encoded_bytes();
        self.0
            .iter()
            .any(|pattern| fast_glob::glob_match(pattern, path))
    }
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

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf_8_match() {
        use std::os::unix::ffi::OsStrExt as _;
        let name = Path::new(std::ffi::OsStr::from_bytes(b"a/\xff\xfe.tmp"));
        assert!(globs("*.tmp").is_match(name));
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
