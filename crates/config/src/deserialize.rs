//! Values as types of serde. An error keeps the place of the innermost value that it is about.

use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};

use crate::error::unknown;
use crate::typed::{FILE_PATH, SHELL_COMMAND};
use crate::{Data, Origin, Table, Value};

/// An error, before the caller knows its place.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) origin: Option<Origin>,
    pub(crate) reason: String,
}

impl Problem {
    /// Adds the place, unless a value further inside has added its own.
    fn at(mut self, origin: &Origin) -> Self {
        self.origin.get_or_insert_with(|| origin.clone());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Problem {}

impl serde::de::Error for Problem {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self {
            origin: None,
            reason: reason.to_string(),
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(unknown("key", field, expected))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(unknown("value", variant, expected))
    }
}

/// Deserializes a value.
pub(crate) struct ValueDeserializer {
    data: Data,
    /// The place, which the values of a whole table do not share.
    origin: Option<Origin>,
}

impl ValueDeserializer {
    pub(crate) fn of_table(table: Table) -> Self {
        Self {
            data: Data::Table(table),
            origin: None,
        }
    }

    pub(crate) fn of(value: Value) -> Self {
        Self {
            data: value.data,
            origin: Some(value.origin),
        }
    }

    /// Parses the text of a variable.
    fn parsed<T: FromStr<Err: fmt::Display>>(text: &OsStr) -> Result<T, Problem> {
        let text = utf8(text)?;
        text.trim()
            .parse()
            .map_err(|error| Problem::custom(format!("invalid value `{text}`: {error}")))
    }
}

fn utf8(text: &OsStr) -> Result<&str, Problem> {
    text.to_str()
        .ok_or_else(|| Problem::custom("is not UTF-8 text"))
}

/// Reads a switch in a variable.
fn switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" | "y" | "t" => Some(true),
        "0" | "false" | "no" | "off" | "n" | "f" => Some(false),
        _ => None,
    }
}

impl IntoDeserializer<'_, Problem> for ValueDeserializer {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Deserializes numbers: those of variables are texts.
macro_rules! numbers {
    ($($method:ident $visit:ident $number:ty;)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            match &self.data {
                Data::Variable(text) => visitor.$visit(Self::parsed::<$number>(text)?),
                _ => self.deserialize_any(visitor),
            }
        }
    )* };
}

impl<'de> Deserializer<'de> for ValueDeserializer {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.data {
            Data::Bool(value) => visitor.visit_bool(value),
            Data::Integer(number) => visitor.visit_i64(number),
            Data::Float(number) => visitor.visit_f64(number),
            Data::String(text) | Data::Datetime(text) => visitor.visit_string(text),
            Data::Variable(text) => visitor.visit_str(utf8(&text)?),
            Data::Array(items) => visitor.visit_seq(Items(items.into_iter())),
            Data::Table(table) => visitor.visit_map(Entries::of(table)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let Data::Variable(text) = &self.data else {
            return self.deserialize_any(visitor);
        };
        let text = utf8(text)?;
        match switch(text) {
            Some(value) => visitor.visit_bool(value),
            None => Err(Problem::custom(format!(
                "`{text}` is neither true nor false"
            ))),
        }
    }

    numbers! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
        deserialize_f32 visit_f32 f32;
        deserialize_f64 visit_f64 f64;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_some(self)
    }

    /// A single value is a list of one, and each line of a variable is an item: as for an option that can be repeated.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let (data, Some(origin)) = (&self.data, &self.origin) else {
            return self.deserialize_any(visitor);
        };
        let items = match data {
            Data::Array(_) | Data::Table(_) => return self.deserialize_any(visitor),
            Data::Variable(text) => {
                let lines = utf8(text)?.lines();
                lines.map(|line| Data::Variable(line.into())).collect()
            }
            data => vec![data.clone()],
        };
        let items = items.into_iter().map(|data| Value {
            data,
            origin: origin.clone(),
        });
        let items: Vec<Value> = items.collect();
        visitor.visit_seq(Items(items.into_iter()))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let text = match &self.data {
            Data::String(text) => OsStr::new(text),
            Data::Variable(text) => text,
            _ if [FILE_PATH, SHELL_COMMAND].contains(&name) => {
                return self.deserialize_any(visitor);
            }
            _ => return visitor.visit_newtype_struct(self),
        };
        match (name, &self.origin) {
            (FILE_PATH, Some(origin)) => visitor.visit_str(utf8(origin.resolve(text).as_ref())?),
            (SHELL_COMMAND, Some(origin)) => {
                origin.check_owner().map_err(Problem::custom)?;
                visitor.visit_str(utf8(text)?)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match self.data {
            Data::String(text) => visitor.visit_enum(text.into_deserializer()),
            Data::Variable(text) => visitor.visit_enum(utf8(&text)?.into_deserializer()),
            Data::Table(table) => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries::of(table)))
            }
            _ => Err(Problem::custom(format!(
                "expected a text, found {}",
                self.data.type_name()
            ))),
        }
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

/// The items of an array.
struct Items(std::vec::IntoIter<Value>);

impl<'de> SeqAccess<'de> for Items {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        let Some(item) = self.0.next() else {
            return Ok(None);
        };
        let origin = item.origin.clone();
        let item = seed.deserialize(ValueDeserializer::of(item));
        item.map(Some).map_err(|problem| problem.at(&origin))
    }
}

/// The keys and values of a table.
struct Entries {
    entries: std::collections::btree_map::IntoIter<String, Value>,
    value: Option<(String, Value)>,
}

impl Entries {
    fn of(table: Table) -> Self {
        Self {
            entries: table.into_iter(),
            value: None,
        }
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        let Some((key, value)) = self.entries.next() else {
            return Ok(None);
        };
        let result = seed.deserialize(key.clone().into_deserializer());
        let result = result.map_err(|problem: Problem| problem.at(&value.origin));
        self.value = Some((key, value));
        result.map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        let (key, value) = self
            .value
            .take()
            .ok_or_else(|| Problem::custom("a value without a key"))?;
        let origin = value.origin.clone();
        seed.deserialize(ValueDeserializer::of(value))
            .map_err(|mut problem| {
                if problem.origin.is_none() {
                    problem.reason = format!("{key}: {}", problem.reason);
                }
                problem.at(&origin)
            })
    }
}
