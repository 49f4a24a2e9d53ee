//! The layers together.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::deserialize::{Problem, ValueDeserializer};
use crate::error::unknown;
use crate::file::{parse, read_file};
use crate::{ConfigFile, Data, Error, Sources, Table, Value, variables};

/// The values of one file, or of the environment.
#[derive(Debug)]
pub struct Layer {
    /// The file, or `None` for the environment.
    pub file: Option<Arc<ConfigFile>>,
    tables: Table,
}

impl Layer {
    /// Returns a table, if the layer has it.
    pub fn table(&self, name: &str) -> Option<&Table> {
        match &self.tables.get(name)?.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the tables of a list such as `[[rules]]`, if the layer has it.
    pub fn list(&self, name: &str) -> Option<&[Value]> {
        match &self.tables.get(name)?.data {
            Data::Array(items) => Some(items),
            _ => None,
        }
    }
}

/// A configuration: layers of values, the strongest first.
#[derive(Debug, Default)]
pub struct Config {
    layers: Vec<Layer>,
}

impl Config {
    /// Reads the files and variables. `tables` are the names of all tables that a file may have. A name in brackets, such as
    /// `[rules]`, is that of a list of tables, which no variable sets. The keys in the tables are checked later, by those who know
    /// them.
    ///
    /// # Errors
    /// A file cannot be read or parsed, has an unknown table, or has a value outside a table.
    pub fn load(sources: &Sources, tables: &[&str]) -> Result<Self, Error> {
        let mut layers = Vec::new();
        let variables = variables::read(&sources.variables, tables);
        if !variables.is_empty() {
            layers.push(Layer {
                file: None,
                tables: variables,
            });
        }
        for path in sources.files() {
            match read_file(path, sources.home.clone())? {
                Some((file, table)) => {
                    check_tables(&table, tables)?;
                    layers.push(Layer {
                        file: Some(file),
                        tables: table,
                    });
                }
                None if sources.file.is_some() => {
                    let error = path.metadata().err();
                    return Err(Error::Unreadable {
                        path: path.clone(),
                        error: error.unwrap_or_else(|| io::ErrorKind::NotFound.into()),
                    });
                }
                None => {}
            }
        }
        Ok(Self { layers })
    }

    /// Reads the bytes of a file that has no owner, so that its commands are refused.
    ///
    /// # Errors
    /// Those of [`Self::load`].
    pub fn parse(path: &Path, bytes: Vec<u8>, tables: &[&str]) -> Result<Self, Error> {
        let file = Arc::new(ConfigFile::without_owner(path.to_owned()));
        let table = parse(&file, bytes)?;
        check_tables(&table, tables)?;
        let layer = Layer {
            file: Some(file),
            tables: table,
        };
        Ok(Self {
            layers: vec![layer],
        })
    }

    /// Returns the layers, the strongest first: the environment, then the user's file, then the system's file. Layers
    /// without values are left out.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Returns the value of a table that its own type describes. Layers are merged key by key, tables in the table too.
    /// An array replaces that of a weaker layer.
    ///
    /// # Errors
    /// A key is unknown to the type, or its value is invalid. The error names the place.
    pub fn table<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        let table = self.merged(name);
        let origin = table.values().next().map(|value| value.origin.clone());
        let result = T::deserialize(ValueDeserializer::of_table(table));
        result.map_err(|Problem { origin: at, reason }| match at.or(origin) {
            Some(origin) => Error::Value { origin, reason },
            None => Error::Table {
                table: name.to_owned(),
                reason,
            },
        })
    }

    /// Returns the tables of a list such as `[[rules]]`, in their order. The list of the strongest layer that has one replaces all
    /// others.
    ///
    /// # Errors
    /// A key is unknown to the type, or its value is invalid. The error names the place.
    pub fn list<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, Error> {
        let item = |value: &Value| {
            let result = T::deserialize(ValueDeserializer::of(value.clone()));
            result.map_err(|Problem { origin, reason }| Error::Value {
                origin: origin.unwrap_or_else(|| value.origin.clone()),
                reason,
            })
        };
        self.items(name).iter().map(item).collect()
    }

    /// Returns the tables of a list as values.
    pub fn items(&self, name: &str) -> &[Value] {
        let lists = self.layers.iter().filter_map(|layer| layer.list(name));
        lists.into_iter().next().unwrap_or_default()
    }

    /// Returns the keys of a table whose values differ from those of another configuration, such as `queue.active`.
    pub fn changed_keys(&self, other: &Self, table: &str) -> Vec<String> {
        let mut keys = Vec::new();
        add_changed(&self.merged(table), &other.merged(table), "", &mut keys);
        keys
    }

    /// Returns the values of a table: of all layers, merged key by key. A key has the origin of its strongest layer.
    pub fn merged(&self, name: &str) -> Table {
        let mut merged = Table::new();
        for table in self
            .layers
            .iter()
            .rev()
            .filter_map(|layer| layer.table(name))
        {
            merge(&mut merged, table);
        }
        merged
    }
}

/// Refuses tables that no program knows, and values outside tables.
fn check_tables(found: &Table, known: &[&str]) -> Result<(), Error> {
    for (name, value) in found {
        let list = format!("[{name}]");
        let is_list = known.contains(&&*list);
        let is_table = |item: &Value| matches!(item.data, Data::Table(_));
        let reason = match &value.data {
            Data::Table(_) if known.contains(&&**name) => continue,
            Data::Array(items) if is_list && items.iter().all(is_table) => continue,
            _ if is_list => format!("`{name}` is a list of tables: write [{list}] before each"),
            Data::Table(_) => unknown("table", name, known),
            _ => format!(
                "`{name}` is {} outside a table; tables are {}",
                value.data.type_name(),
                known.join(", ")
            ),
        };
        let origin = value.origin.clone();
        return Err(Error::Value { origin, reason });
    }
    Ok(())
}

/// Replaces values by those of a stronger layer.
fn merge(weak: &mut Table, strong: &Table) {
    for (key, value) in strong {
        match (weak.get_mut(key).map(|weak| &mut weak.data), &value.data) {
            (Some(Data::Table(weak)), Data::Table(strong)) => merge(weak, strong),
            _ => {
                weak.insert(key.clone(), value.clone());
            }
        }
    }
}

fn add_changed(before: &Table, after: &Table, prefix: &str, changed: &mut Vec<String>) {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let path = format!("{prefix}{key}");
        let data = |table: &Table| table.get(key).map(|value: &Value| value.data.clone());
        match (data(before), data(after)) {
            (before, after) if before == after => {}
            (Some(Data::Table(before)), Some(Data::Table(after))) => {
                add_changed(&before, &after, &format!("{path}."), changed);
            }
            _ => changed.push(path),
        }
    }
}
