//! The tables of JSON lines in `docs/reference/json.md`, from the types of the lines.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The start of the line before a table. The name of the command and the type of the line follow.
const MARK: &str = "<!-- fields ";

/// Returns the page with its tables.
pub(crate) fn page(page: &str) -> Result<String> {
    let commands = hashlane_cli::json_lines();
    let mut result = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        result += line;
        result.push('\n');
        let Some(names) = line.strip_prefix(MARK) else {
            continue;
        };
        let names = names.trim_end_matches(" -->").split_once(' ');
        let (command, name) = names.context("a command and a type")?;
        let schema = commands.iter().find(|(known, _)| *known == command);
        let (_, schema) = schema.with_context(|| format!("{line}: unknown command"))?;
        let table = table(schema.as_value(), name);
        result += &table.with_context(|| line.to_owned())?;
        // The table of before ends at an empty line.
        lines.by_ref().find(|line| line.is_empty());
        result.push('\n');
    }
    Ok(result)
}

/// Returns the table of a line, or of an object in lines.
fn table(root: &Value, name: &str) -> Result<String> {
    let variants = root["oneOf"].as_array().into_iter().flatten();
    let mut variants = variants.filter(|line| line["properties"]["type"]["const"] == name);
    let schema = variants.next().unwrap_or(&root["$defs"][name]);
    let schema = resolved(root, schema);
    let fields = schema["properties"].as_object().context("no such type")?;
    let required = schema["required"].as_array().into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let absent = fields.keys().map(String::as_str);
    let absent = absent.filter(|name| !required.contains(name));
    let mut text = "| field | type | meaning |\n|---|---|---|\n".to_owned();
    for name in required.iter().copied().chain(absent) {
        if name == "type" {
            continue;
        }
        let meaning = fields[name]["description"].as_str();
        let meaning = meaning.and_then(|text| text.split("\n\n").next());
        let Some(meaning) = meaning else {
            bail!("{name}: the field has no comment");
        };
        let meaning = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut kind = kind(root, &fields[name]);
        if !required.contains(&name) {
            // It is left out where it would be null.
            kind = kind.trim_end_matches(" or null").to_owned() + ", or absent";
        }
        let meaning = meaning.replace('|', "\\|");
        let _ = writeln!(text, "| `{name}` | {kind} | {meaning} |");
    }
    Ok(text)
}

/// Returns the schema that a reference names.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let path = schema["$ref"].as_str();
    let path = path.and_then(|path| root.pointer(path.trim_start_matches('#')));
    path.unwrap_or(schema)
}

/// Returns the type of a value in words.
fn kind(root: &Value, schema: &Value) -> String {
    let schema = resolved(root, schema);
    let mut kinds: Vec<String> = Vec::new();
    let mut add = |kind: String| {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    };
    for choice in ["oneOf", "anyOf"] {
        let schemas = schema[choice].as_array().into_iter().flatten();
        schemas.for_each(|schema| add(kind(root, schema)));
    }
    let names = match &schema["type"] {
        Value::Array(names) => names.clone(),
        name => vec![name.clone()],
    };
    for name in names.iter().filter_map(Value::as_str) {
        add(match name {
            "array" => format!("list of {}", plural(&kind(root, &schema["items"]))),
            name => name.to_owned(),
        });
    }
    kinds.join(" or ")
}

fn plural(kind: &str) -> String {
    match kind.split_once(' ') {
        Some(("list", rest)) => format!("lists {rest}"),
        _ => format!("{kind}s"),
    }
}
