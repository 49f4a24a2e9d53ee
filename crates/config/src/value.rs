//! Values with origins.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::Origin;

/// A table of values by their keys.
pub type Table = BTreeMap<String, Value>;

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Value {
    /// The value itself.
    pub data: Data,
    /// The place of its key, or of the value itself in an array.
    pub origin: Origin,
}

/// A value of TOML, or of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    String(String),
    /// A date, a time or both.
    Datetime(String),
    /// Values of any types, in the order of the file.
    Array(Vec<Value>),
    /// A table inside a table, such as `[categories.NAME]`.
    Table(Table),
    /// The text of a variable. Its type is that of the key: an array has an item on each line.
    Variable(OsString),
}

/// Values are equal if their data is, wherever they come from.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl Data {
    /// Returns the name of the type for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "true or false",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::String(_) | Self::Variable(_) => "a text",
            Self::Datetime(_) => "a date or time",
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
        }
    }
}
