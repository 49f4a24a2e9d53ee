//! The values as TOML, with their sources as comments.

use std::fmt::Write as _;

use super::option_value::{Kind, OptionValue, Place, PlaceState, Source, TableValues};
use crate::Env;
use crate::output::text::Escaped;

/// Maximum number of columns before the comments. Longer values push their comment to the right.
const MAX_WIDTH: usize = 40;

/// Prints all values.
pub(super) fn print(
    env: &mut Env,
    places: &[Place],
    commands: &[(&str, Vec<OptionValue>)],
    tables: &[TableValues],
) -> anyhow::Result<()> {
    for place in places {
        let state = match place.state {
            PlaceState::Read => "read",
            PlaceState::Absent => "does not exist",
            PlaceState::Empty => "no configuration",
        };
        writeln!(env.stdout, "# {}: {state}", Escaped(place.path.display()))?;
    }
    for (command, options) in commands {
        print_table(env, command, options)?;
    }
    for table in tables {
        print_table(env, &table.path, &table.values)?;
    }
    Ok(())
}

fn print_table(env: &mut Env, name: &str, values: &[OptionValue]) -> anyhow::Result<()> {
    writeln!(env.stdout, "\n[{}]", Escaped(name))?;
    let lines = values.iter().map(assignment);
    let lines: Vec<String> = lines.collect();
    let widths = lines.iter().map(|line| line.chars().count());
    let width = widths
        .filter(|width| *width <= MAX_WIDTH)
        .max()
        .unwrap_or(0);
    for (line, value) in lines.iter().zip(values) {
        let source = source(value);
        writeln!(
            env.stdout,
            "{}  # {}",
            Escaped(format!("{line:width$}")),
            Escaped(source)
        )?;
    }
    Ok(())
}

/// Returns a key as TOML writes it: quoted if it has other characters than letters, digits, `-` and `_` of ASCII.
pub(super) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// Returns the line of a file that sets an option to its value. A default, and a value that files cannot have, is a
/// comment.
fn assignment(option: &OptionValue) -> String {
    let mark = match option.source {
        Source::Default | Source::Config { table: None, .. } => "# ",
        _ => "",
    };
    let name = &option.name;
    let values = option.values.iter().map(|text| value(text, option.kind));
    let values: Vec<String> = values.collect();
    match (option.kind, &values[..]) {
        (_, []) => format!("{mark}{name}"),
        (Kind::List, values) => format!("{mark}{name} = [{}]", values.join(", ")),
        (_, [value, ..]) => format!("{mark}{name} = {value}"),
    }
}

/// Returns a value in TOML.
fn value(text: &str, kind: Kind) -> String {
    if kind == Kind::Switch {
        return (text == "true" || text == "1").to_string();
    }
    let is_number = text
        .parse::<i64>()
        .is_ok_and(|number| number.to_string() == text);
    if is_number {
        return text.to_owned();
    }
    quoted(text)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn source(option: &OptionValue) -> String {
    match &option.source {
        Source::Default if option.values.is_empty() => "not set".to_owned(),
        Source::Default => "default".to_owned(),
        Source::CommandLine => "command line".to_owned(),
        Source::Config { origin, .. } => origin.to_string(),
    }
}
