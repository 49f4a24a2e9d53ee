//! Files of patterns, such as `.gitignore`.

use std::path::Path;

use crate::globs::{GlobError, Globs};

/// Lines of patterns in the style of `.gitignore`, for paths relative to one top folder.
///
/// Empty lines and lines that start with `#` are comments. A slash at the end limits a pattern to folders. A leading
/// `!` takes back what earlier lines match: the last matching line decides. Patterns match as those of [`Globs`] do,
/// except that braces are ordinary characters and letter case makes no difference.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    pattern: Globs,
    is_negated: bool,
    folders_only: bool,
}

/// An invalid line.
#[derive(Debug, thiserror::Error)]
#[error("line {line}")]
#[non_exhaustive]
pub struct RulesError {
    /// Number of the line, from 1 on.
    pub line: usize,
    /// The reason.
    #[source]
    pub error: GlobError,
}

impl Rules {
    /// Adds the lines of a file after the existing ones. A byte order mark at the start is not part of the first line.
    ///
    /// # Errors
    /// The first line that is not a pattern.
    pub fn add(&mut self, text: &str) -> Result<(), RulesError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, text) in (1..).zip(text.lines()) {
            let rule = Rule::parse(text).map_err(|error| RulesError { line, error })?;
            self.0.extend(rule);
        }
        Ok(())
    }

    /// Returns `true` if the last rule that matches the path is not negated.
    pub fn is_match(&self, path: &Path, is_folder: bool) -> bool {
        let matches =
            |rule: &&Rule| (is_folder || !rule.folders_only) && rule.pattern.is_match(path);
        let last = self.0.iter().rev().find(matches);
        last.is_some_and(|rule| !rule.is_negated)
    }
}

impl Rule {
    fn parse(line: &str) -> Result<Option<Self>, GlobError> {
        let line = without_trailing_spaces(line);
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let negated = line.strip_prefix('!');
        let text = negated.unwrap_or(line);
        let mut pattern = Globs::ignoring_case();
        pattern.add(&with_literal_braces(text))?;
        Ok(Some(Self {
            pattern,
            is_negated: negated.is_some(),
            folders_only: text.ends_with('/'),
        }))
    }
}

/// Returns a line without the spaces at its end. A backslash keeps the first of them.
fn without_trailing_spaces(line: &str) -> &str {
    let text = line.trim_end_matches([' ', '\t']);
    let keeps_one = text.ends_with('\\') && text.len() < line.len();
    &line[..text.len() + usize::from(keeps_one)]
}

/// Returns a pattern with a backslash before each brace that has none.
fn with_literal_braces(pattern: &str) -> String {
    let mut literal = String::with_capacity(pattern.len());
    let mut is_escaped = false;
    for c in pattern.chars() {
        if !is_escaped && matches!(c, '{' | '}') {
            literal.push('\\');
        }
        literal.push(c);
        is_escaped = !is_escaped && c == '\\';
    }
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Rules {
        let mut rules = Rules::default();
        rules.add(text).unwrap();
        rules
    }

    #[test]
    fn the_last_matching_line_decides() {
        let rules = rules("# comment\n\n*.log\n!keep.log\n/keep.log\r\nbuild/\nA/**\n");
        for (path, is_folder, is_match) in [
            ("x.log", false, true),
            ("a.d/X.LOG", false, true),
            ("b/keep.log", false, false),
            ("keep.log", false, true),
            ("build", true, true),
            ("deep/build", true, true),
            ("build", false, false),
            ("a/b/c", false, true),
            ("# comment", false, false),
        ] {
            assert_eq!(
                rules.is_match(Path::new(path), is_folder),
                is_match,
                "{path}"
            );
        }
    }

    #[test]
    fn special_characters() {
        for (line, path) in [
            ("\\#a", "#a"),
            ("\\!a", "!a"),
            ("a  ", "a"),
            ("a\\ ", "a "),
            ("{a}", "{a}"),
            ("\\{a}", "{a}"),
            ("[{]a", "{a"),
            ("a.[ch]", "a.c"),
        ] {
            assert!(rules(line).is_match(Path::new(path), false), "{line}");
        }
        assert!(!rules("{a,b}").is_match(Path::new("a"), false));
    }

    /// Editors on Windows write a byte order mark, which Git ignores too.
    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_line() {
        assert!(rules("\u{feff}*.log").is_match(Path::new("x.log"), false));
        assert!(!rules("\u{feff}# a\n!\u{feff}b").is_match(Path::new("# a"), false));
        assert!(rules("\u{feff}/a").is_match(Path::new("a"), true));
    }

    #[test]
    fn invalid_lines_are_named() {
        let error = Rules::default().add("a\n\n[b\nc").unwrap_err();
        assert_eq!(error.line, 3);
        assert!(Rules::default().add("!").is_err());
    }
}
