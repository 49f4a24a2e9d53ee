//! The reference of the settings, from the definitions of the options.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use clap::builder::StyledStr;
use clap::{Arg, ArgAction};
use hashlane_cli::{ConfigurationKey, Daemon, configuration_keys};
use hashlane_config::variable_name;

const START: &str = "\
# Settings

The keys of the tables of options. [Configuration](config.md) explains files, variables, their precedence and the daemon's further
tables. A test compares this page with the options: `cargo xtask describe` generates it.

A key is the long name of an option of the commands that read it; `hashlane COMMAND --help` says more about the option. A daemon that
runs applies a changed value at a *reload* (`hashlane ctl reload`, or SIGHUP), or else after a restart.
";

/// The types of values by keys, or by the names that the help has for values: the name of the type, and an example.
const TYPES: [(&str, &str, &str); 23] = [
    ("algorithm", "names of algorithms", "sha256"),
    ("preset", "name", "tracker.example"),
    ("ADDRESS", "address or network interface", "tun0"),
    ("BYTES", "number of bytes", "512KiB"),
    ("COMMAND", "shell command", "logger done"),
    ("DEVICE", "device", "cpu"),
    ("DIR", "path", "~/torrents"),
    ("FILE", "path", "~/hashlane.txt"),
    ("GLOB", "pattern", "*.mkv"),
    ("HOST:PORT", "host and port", "router.example:6881"),
    ("N", "whole number", "4"),
    ("NAME", "text", "alice"),
    ("PATH", "path", "~/torrents"),
    ("PORT", "port", "6900"),
    ("RATIO", "number", "1.5"),
    ("SIZE", "number of bytes", "2MiB"),
    ("TEXT", "text", "made at home"),
    ("TIME", "time", "48h"),
    ("URL", "URL", "https://seed.example/files/"),
    (
        "URL,...",
        "URLs with commas between them",
        "https://t.example/announce",
    ),
    ("WHEN", "seconds since 1970, or `now`", "now"),
    ("WHAT", "text", "size+mtime"),
    ("[HOST:]PORT|unix:PATH", "address of a server", "8080"),
];

/// Returns the page.
pub(crate) fn page() -> Result<String> {
    let mut page = START.to_owned();
    let mut table = "";
    for key in configuration_keys() {
        if key.table != table {
            table = key.table;
            page += &heading(&key);
        }
        page += &row(&key).with_context(|| format!("[{table}] {}", name(&key.option)))?;
    }
    Ok(page)
}

fn heading(key: &ConfigurationKey) -> String {
    let table = key.table;
    let shared = if key.commands.contains(&table) {
        ""
    } else {
        "Several commands share this table. The table of a command can have these keys too, and wins.\n\n"
    };
    format!(
        "\n## `[{table}]`\n\n{shared}| key | meaning | type | default | example | variable | read by | change applied at |\n|---|---|---|---|---|---|---|---|\n"
    )
}

fn name(option: &Arg) -> &str {
    option.get_long().unwrap_or_default()
}

fn is_switch(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::SetTrue) || value_name(option) == "0|1"
}

fn value_name(option: &Arg) -> &str {
    let names = option.get_value_names().unwrap_or_default();
    names.first().map_or("", |name| name.as_str())
}

fn row(key: &ConfigurationKey) -> Result<String> {
    let option = &key.option;
    let help = option.get_help().map(StyledStr::to_string);
    let help = help
        .unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let (meaning, default) = without_default(&help);
    let default = match option.get_default_values() {
        [] if is_switch(option) => match default {
            Some("1") => "`true`".to_owned(),
            Some("0") | None => "`false`".to_owned(),
            Some(default) => default.to_owned(),
        },
        [] => default.unwrap_or("none").to_owned(),
        values => list(values.iter().map(|value| value.display().to_string())),
    };
    let (kind, example) = kind(option, &meaning)?;
    let applied = match key.commands.contains(&"daemon") {
        false => "",
        true if Daemon::RELOADED.contains(&name(option)) => "reload",
        true => "restart",
    };
    let cells = [
        format!("`{}`", name(option)),
        meaning,
        kind,
        default,
        format!("`{} = {example}`", name(option)),
        format!("`{}`", variable_name(key.table, name(option))),
        list(key.commands.iter().map(ToString::to_string)),
        applied.to_owned(),
    ];
    let mut row = String::new();
    for cell in cells {
        let _ = write!(row, "| {} ", cell.replace('|', "\\|"));
    }
    Ok(row + "|\n")
}

fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<_> = words.map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

/// Returns a help text without the default that it names, and the default.
fn without_default(help: &str) -> (String, Option<&str>) {
    let found = help.split_once(" [default: ");
    let found = found.and_then(|(start, rest)| Some((start, rest.split_once(']')?)));
    match found {
        Some((start, (default, end))) => (start.to_owned() + end, Some(default)),
        None => (help.to_owned(), None),
    }
}

/// Returns the type of an option's value, and an example in TOML.
fn kind(option: &Arg, help: &str) -> Result<(String, String)> {
    if is_switch(option) {
        return Ok(("`true` or `false`".to_owned(), "true".to_owned()));
    }
    let possible = option.get_possible_values();
    let words = possible.iter().filter(|value| !value.is_hide_set());
    let words: Vec<_> = words.map(|value| value.get_name().to_owned()).collect();
    let is_default = |word: &String| option.get_default_values().iter().any(|it| it == &**word);
    let other = words.iter().find(|word| !is_default(word));
    let (kind, example) = if let Some(other) = other.or(words.first()) {
        (list(words.iter().cloned()), other.clone())
    } else {
        let names = [name(option), value_name(option)];
        let mut known = names
            .iter()
            .filter_map(|name| TYPES.iter().find(|it| it.0 == *name));
        let Some((_, kind, example)) = known.next() else {
            bail!("no type is known for {}", value_name(option));
        };
        let example = named_example(help).unwrap_or(example);
        ((*kind).to_owned(), example.to_owned())
    };
    // A number needs no quotes.
    let example = match example.parse::<f64>() {
        Ok(_) => example,
        Err(_) => format!("\"{example}\""),
    };
    Ok(match option.get_action() {
        ArgAction::Append => (format!("list: {kind}"), format!("[{example}]")),
        _ => (kind, example),
    })
}

/// Returns the example in a help text.
fn named_example(help: &str) -> Option<&str> {
    let starts = ["for example ", "such as `"];
    let (_, rest) = starts.iter().find_map(|start| help.split_once(start))?;
    let word = rest.split([' ', ',', ';', ')']).next()?;
    Some(word.trim_matches('`').trim_end_matches('.'))
}
