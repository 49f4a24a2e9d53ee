//! The types of the page's scripts, from the description of the API.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Returns a file of declarations with a type for each schema.
pub(crate) fn declarations(openapi: &Value) -> String {
    let mut text = "// The types of the API. `cargo xtask describe` generates them. They are for `tsc` alone: browsers do not load this file.\n".to_owned();
    let schemas = openapi["components"]["schemas"].as_object();
    for (name, schema) in schemas.into_iter().flatten() {
        text += "\n";
        text += &comment("", schema);
        let _ = match properties(schema) {
            Some(_) => writeln!(text, "export interface {name} {}", interface(schema, "")),
            None => writeln!(text, "export type {name} = {};", kind(schema)),
        };
    }
    text
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

/// Returns the first line of the description as a comment.
fn comment(indent: &str, schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    // Nothing in a description ends the comment.
    let line = line.replace("*/", "* /");
    if line.is_empty() {
        return line;
    }
    format!("{indent}/** {line} */\n")
}

fn interface(schema: &Value, indent: &str) -> String {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let inner = format!("{indent}  ");
    let fields = properties(schema).into_iter().flatten();
    let fields = fields.map(|(name, schema)| {
        let mark = if required.contains(&&**name) { "" } else { "?" };
        let comment = comment(&inner, schema);
        format!("{comment}{inner}{name}{mark}: {};\n", kind(schema))
    });
    format!("{{\n{}{indent}}}", fields.collect::<String>())
}

/// Returns the type of a schema.
fn kind(schema: &Value) -> String {
    let choice = |schemas: &[Value]| {
        let kinds: Vec<_> = schemas.iter().map(kind).collect();
        kinds.join(" | ")
    };
    if let Some(path) = schema["$ref"].as_str() {
        return path.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(word) = schema.get("const") {
        return word.to_string();
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> = words.iter().map(Value::to_string).collect();
        return words.join(" | ");
    }
    for of in ["oneOf", "anyOf"] {
        if let Some(schemas) = schema[of].as_array() {
            return choice(schemas);
        }
    }
    if let Some(items) = schema["prefixItems"].as_array() {
        let items: Vec<_> = items.iter().map(kind).collect();
        return format!("[{}]", items.join(", "));
    }
    if let Some(kinds) = schema["type"].as_array() {
        let kinds = kinds.iter().filter_map(Value::as_str);
        let kinds: Vec<_> = kinds.map(|name| of_type(name, schema)).collect();
        return kinds.join(" | ");
    }
    of_type(schema["type"].as_str().unwrap_or_default(), schema)
}

fn of_type(name: &str, schema: &Value) -> String {
    match name {
        "integer" | "number" => "number".to_owned(),
        "array" => match kind(&schema["items"]) {
            item if item.contains(' ') => format!("({item})[]"),
            item => format!("{item}[]"),
        },
        "object" if properties(schema).is_some() => interface(schema, "  "),
        "object" => "Record<string, unknown>".to_owned(),
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}
