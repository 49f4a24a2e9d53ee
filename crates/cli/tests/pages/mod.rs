//! Reads the examples of a page of the documentation. The tests of this crate and those of `hashlane-net` share it.

use std::fs;
use std::path::{Path, PathBuf};

/// One thing that a reader of a page does, or waits for.
pub(crate) enum Step {
    /// `$ COMMAND` in a block of the language `console`, and the lines that it prints there.
    Example(Example),
    /// `<!-- until COMMAND -->`: repeated until it succeeds.
    Until(String),
    /// `<!-- file NAME -->`: the next block is the content of this file.
    File { name: String, text: String },
}

/// A command of a page, and the lines that it prints there.
pub(crate) struct Example {
    pub(crate) command: String,
    /// Whether its comment says that it stays in a terminal of its own.
    pub(crate) is_kept: bool,
    pub(crate) output: Vec<String>,
}

/// Returns the root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn text_of(page: &str) -> String {
    fs::read_to_string(workspace().join(page)).unwrap()
}

/// Returns the blocks of a page in a language.
pub(crate) fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let start = format!("```{language}\n");
    let rests = page.split(&start).skip(1);
    rests
        .map(|rest| rest.split_once("```").expect("the block ends").0)
        .collect()
}

/// Returns what the reader of a page does, in order. Commands after the prompt `#` are for root, and left out.
pub(crate) fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut file = None;
    let mut language = None;
    // Whether the next line of a block is output of the last command.
    let mut is_open = false;
    for line in page.lines() {
        if let Some(marker) = line.strip_prefix("```") {
            is_open = false;
            let is_start = language.is_none();
            language = is_start.then_some(marker);
            if let (true, Some(name)) = (is_start, file.take()) {
                language = Some("file");
                let text = String::new();
                steps.push(Step::File { name, text });
            }
            continue;
        }
        match (language, steps.last_mut()) {
            (None, _) => {
                let marker = line.strip_prefix("<!-- ");
                let marker = marker.and_then(|marker| marker.strip_suffix(" -->"));
                match marker.and_then(|marker| marker.split_once(' ')) {
                    Some(("run", command)) => panic!("a reader does not see this: {command}"),
                    Some(("until", command)) => steps.push(Step::Until(command.to_owned())),
                    Some(("file", name)) => file = Some(name.to_owned()),
                    _ => {}
                }
            }
            (Some("file"), Some(Step::File { text, .. })) => {
                text.push_str(line);
                text.push('\n');
            }
            (Some("console"), last) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    is_open = true;
                    let (command, comment) = without_comment(command);
                    steps.push(Step::Example(Example {
                        command: command.to_owned(),
                        is_kept: comment.contains("terminal"),
                        output: Vec::new(),
                    }));
                } else if line.starts_with("# ") {
                    is_open = false;
                } else if let (true, Some(Step::Example(example))) = (is_open, last) {
                    match line.strip_prefix("> ") {
                        // The continuation of a command that ends with a backslash.
                        Some(line) if example.command.ends_with('\\') => {
                            example.command.push('\n');
                            example.command.push_str(line);
                        }
                        _ => example.output.push(line.to_owned()),
                    }
                }
            }
            _ => {}
        }
    }
    for step in &mut steps {
        if let Step::Example(Example { output, .. }) = step {
            // An empty line before the next command.
            while output.last().is_some_and(String::is_empty) {
                output.pop();
            }
        }
    }
    steps
}

/// Returns a command, and the comment after it. A shell would ignore the comment too.
fn without_comment(command: &str) -> (&str, &str) {
    let mut in_quotes = false;
    let end = command.char_indices().find(|(i, c)| {
        in_quotes ^= *c == '\'';
        *c == '#' && !in_quotes && command[..*i].ends_with(' ')
    });
    let (command, comment) = command.split_at(end.map_or(command.len(), |(i, _)| i));
    (command.trim_end(), comment)
}

/// Returns a line without the time at which a file gets it, the time that the work took, and the rate.
pub(crate) fn without_time(line: &str) -> &str {
    let is_time = |rest: &str| {
        let mut words = rest.split(' ');
        let is_number = words.next().is_some_and(|word| word.parse::<f64>().is_ok());
        is_number && matches!(words.next(), Some("s" | "s," | "ms" | "ms,"))
    };
    let line = match line.split_once(' ') {
        Some((stamp, rest)) if is_stamp(stamp) => rest,
        _ => line,
    };
    match line.rsplit_once(" in ") {
        Some((start, rest)) if is_time(rest) => start,
        _ => line,
    }
}

/// Returns `true` for a local time such as `2026-11-25T19:12:17+01:00`.
fn is_stamp(word: &str) -> bool {
    let form = "0000-00-00T00:00:00";
    let is_form = |(c, expected): (char, char)| match expected {
        '0' => c.is_ascii_digit(),
        _ => c == expected,
    };
    word.len() > form.len() && word.chars().zip(form.chars()).all(is_form)
}
