//! Reads the environment variables as a layer.

use std::ffi::OsString;

use crate::sources::PREFIX;
use crate::{Data, Origin, Table, Value};

/// Returns the name of the variable for a key: `HASHLANE_GET_MAX_DOWN` for `max-down` in `[get]`.
pub fn variable_name(table: &str, key: &str) -> String {
    format!("{PREFIX}{}_{}", shouted(table), shouted(key))
}

fn shouted(name: &str) -> String {
    name.to_ascii_uppercase().replace('-', "_")
}

/// Returns the tables that the variables make. Variables of no known table, and empty ones, are ignored: others with
/// the same prefix belong to the program or to its users.
pub(crate) fn read(variables: &[(OsString, OsString)], tables: &[&str]) -> Table {
    let mut found = Table::new();
    for (name, text) in variables {
        let Some(name) = name.to_str().filter(|_| !text.is_empty()) else {
            continue;
        };
        let split = tables.iter().find_map(|table| {
            let key = name.strip_prefix(&variable_name(table, ""))?;
            Some((*table, key.to_ascii_lowercase().replace('_', "-")))
        });
        let Some((table, key)) = split else {
            continue;
        };
        let origin = Origin::Variable(name.into());
        let value = Value {
            data: Data::Variable(text.clone()),
            origin: origin.clone(),
        };
        let table = found.entry(table.to_owned()).or_insert_with(|| Value {
            data: Data::Table(Table::new()),
            origin,
        });
        if let Data::Table(table) = &mut table.data {
            table.insert(key, value);
        }
    }
    found
}
