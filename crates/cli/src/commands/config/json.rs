//! The values as JSON lines. docs/reference/json.md describes them.

use hashlane_config::Origin;
use serde::Serialize;

use super::option_value::{Kind, OptionValue, Place, PlaceState, Source, TableValues};
use crate::Env;
use crate::output::json_lines;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    File {
        path: String,
        state: &'static str,
    },
    Option {
        command: &'l str,
        option: &'l str,
        value: Value<'l>,
        #[serde(flatten)]
        source: SourceOf<'l>,
    },
    Entry {
        name: &'l str,
        key: &'l str,
        value: Value<'l>,
        #[serde(flatten)]
        source: SourceOf<'l>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value<'l> {
    Unset(()),
    Switch(bool),
    One(&'l str),
    List(&'l [String]),
}

#[derive(Serialize)]
#[serde(tag = "source", rename_all = "snake_case")]
enum SourceOf<'l> {
    Default,
    CommandLine,
    Variable {
        variable: &'l str,
    },
    File {
        path: String,
        line: usize,
        table: Option<&'l str>,
    },
}

/// Prints all values.
pub(super) fn print(
    env: &mut Env,
    places: &[Place],
    commands: &[(&str, Vec<OptionValue>)],
    tables: &[TableValues],
) -> anyhow::Result<()> {
    for place in places {
        let path = place.path.display().to_string();
        let state = match place.state {
            PlaceState::Read => "read",
            PlaceState::Absent => "absent",
            PlaceState::Empty => "empty",
        };
        json_lines::print(env, &Line::File { path, state })?;
    }
    for (command, options) in commands {
        for option in options {
            let line = Line::Option {
                command,
                option: &option.name,
                value: value(option),
                source: source(option),
            };
            json_lines::print(env, &line)?;
        }
    }
    for table in tables {
        for shown in &table.values {
            let line = Line::Entry {
                name: &table.path,
                key: &shown.name,
                value: value(shown),
                source: source(shown),
            };
            json_lines::print(env, &line)?;
        }
    }
    Ok(())
}

fn value(option: &OptionValue) -> Value<'_> {
    match (option.kind, &option.values[..]) {
        (Kind::List, values) => Value::List(values),
        (_, []) => Value::Unset(()),
        (Kind::Switch, [text, ..]) => Value::Switch(text == "true" || text == "1"),
        (Kind::One, [text, ..]) => Value::One(text),
    }
}

fn source(option: &OptionValue) -> SourceOf<'_> {
    match &option.source {
        Source::Default => SourceOf::Default,
        Source::CommandLine => SourceOf::CommandLine,
        Source::Config { origin, table } => match origin {
            Origin::Variable(variable) => SourceOf::Variable { variable },
            Origin::File { file, line } => SourceOf::File {
                path: file.path().display().to_string(),
                line: *line,
                table: table.as_deref(),
            },
        },
    }
}
