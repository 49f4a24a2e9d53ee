//! Arbitrary bytes as a configuration file, and as environment variables: errors are texts on one line, and values are
//! those that the library `toml` reads.

#![no_main]

use std::path::Path;

use hashlane_config::{Config, Data, FilePath, Origin, ShellCommand, Sources, Table};
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;

const TABLES: [&str; 3] = ["verify", "network", "daemon"];

/// A table with all forms of values.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[allow(dead_code)]
struct Typed {
    number: Option<u16>,
    ratio: f64,
    switch: bool,
    list: Vec<String>,
    word: Option<Word>,
    path: Option<FilePath>,
    command: Option<ShellCommand>,
    inner: Option<Box<Typed>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(dead_code)]
enum Word {
    One,
    TwoWords,
    Number(u8),
}

fuzz_target!(|bytes: &[u8]| {
    match Config::parse(Path::new("config.toml"), bytes.to_vec(), &TABLES) {
        Ok(config) => check(&config, Some(str::from_utf8(bytes).expect("accepted"))),
        Err(error) => {
            let error = error.to_string();
            assert!(error.starts_with("config.toml: line "), "{error}");
        }
    }
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let variables = text.split('\0').filter_map(|pair| pair.split_once('='));
    let sources = Sources {
        variables: variables
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        ..Sources::default()
    };
    // Without files, nothing can fail.
    let config = Config::load(&sources, &TABLES).expect("variables alone");
    check(&config, None);
});

fn check(config: &Config, text: Option<&str>) {
    let n_lines = text.map(|text| text.split('\n').count());
    for table in TABLES {
        assert!(config.changed_keys(config, table).is_empty());
        for table in config
            .layers()
            .iter()
            .filter_map(|layer| layer.table(table))
        {
            check_origins(table, n_lines);
        }
        // No value of a file without an owner is a command.
        if let Ok(typed) = config.table::<Typed>(table) {
            assert!(text.is_none() || typed.command.is_none());
        }
        let value = config.table::<serde_json::Value>(table);
        let Some(text) = text.filter(|_| {
            !config
                .layers()
                .iter()
                .any(|l| l.table(table).is_some_and(has_time))
        }) else {
            continue;
        };
        let mut expected: serde_json::Value = toml::from_str(text).expect("accepted");
        let expected = expected.get_mut(table).map(serde_json::Value::take);
        let expected = expected.unwrap_or_else(|| serde_json::json!({}));
        assert_eq!(value.expect("any value is JSON"), expected);
    }
}

/// Checks that each value has a line of the file, or a variable.
fn check_origins(table: &Table, n_lines: Option<usize>) {
    for value in table.values() {
        match (&value.origin, n_lines) {
            (Origin::File { line, .. }, Some(n_lines)) => assert!((1..=n_lines).contains(line)),
            (Origin::Variable(name), None) => assert!(name.starts_with("HASHLANE_")),
            other => panic!("{other:?}"),
        }
        if let Data::Table(table) = &value.data {
            check_origins(table, n_lines);
        }
    }
}

/// Returns `true` if a table has a date or time, which JSON and `toml` represent differently.
fn has_time(table: &Table) -> bool {
    fn is_time(data: &Data) -> bool {
        match data {
            Data::Datetime(_) => true,
            Data::Array(items) => items.iter().any(|item| is_time(&item.data)),
            Data::Table(table) => has_time(table),
            _ => false,
        }
    }
    table.values().any(|value| is_time(&value.data))
}
