//! The description of the API (`OpenAPI` 3.1), from the routes and from the types of requests and answers.

use std::collections::BTreeMap;

use hashlane_api::{
    Added, Addition, Batch, BatchResults, Command, Files, GroupChange, Groups, Job, Limit, Link,
    LinkRequest, NewTorrent, Reloaded, Rules, Status, Trackers,
};
use hashlane_client::{Snapshot, Space};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::about::{ConfigRequest, ConfigView, StatisticsView};
use super::api::Overview;
use super::detail::Detail;
use super::operation::{Kind, Method, Operation, Part};
use super::problem::Problem;
use super::server::{contents, requests, sessions};
use super::session::{LoginRequest, SessionView};

/// Returns the description of the API.
///
/// # Panics
/// Two types have the same name in the description, or a schema is no object. Both are errors of this crate.
pub fn openapi() -> Value {
    let mut paths = Map::new();
    let operations = requests(0).operations.into_iter();
    let operations = operations.chain(contents().operations);
    for operation in operations.chain(sessions().operations) {
        let methods = paths.entry(operation.path).or_insert(json!({}));
        methods[method(&operation)] = described(&operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Hashlane",
            "version": "1",
            "description": "The HTTP API of `hashlane get`, `hashlane seed` and `hashlane daemon`. http.md explains it.",
            "license": {
                "name": "MIT OR Apache-2.0",
                "identifier": "MIT OR Apache-2.0",
            },
        },
        "servers": [{ "url": "http://127.0.0.1:8080" }],
        "security": [{ "token": [] }, { "session": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token. Requests that only read do not need it if no other machine can reach `get` or `seed`.",
                },
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "hashlane-8080",
                    "description": "The cookie of a login, named after the port. Requests that change something need the header `X-CSRF-Token`, too.",
                },
            },
            "schemas": schemas(),
        },
    })
}

fn method(operation: &Operation) -> &'static str {
    match operation.method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Patch => "patch",
        Method::Delete => "delete",
    }
}

/// Returns the name of an operation, by which generated clients call it: `get_torrents_one_files`.
fn operation_id(operation: &Operation) -> String {
    let path = operation.path.trim_start_matches("/api/v1");
    let path = path.replace(['/', '-', '.'], "_");
    method(operation).to_owned() + &path.replace("{id}", "one").replace("{number}", "one")
}

fn described(operation: &Operation) -> Value {
    let mut parameters = Vec::new();
    let mut answers = errors(operation);
    let mut described = json!({ "operationId": operation_id(operation) });
    if operation.path.contains("{id}") {
        let (kind, text) = match operation.path {
            "/api/v1/jobs/{id}" => (Kind::Number, "The number of the job."),
            _ => (
                Kind::Schema("TorrentId"),
                "An info-hash of the torrent, or its number.",
            ),
        };
        parameters.push(parameter("path", "id", kind, text));
    }
    for part in &operation.description {
        match *part {
            Part::Summary(text) => described["summary"] = text.into(),
            Part::IsOpen => described["security"] = json!([]),
            Part::Parameter(place, name, kind, text) => {
                parameters.push(parameter(place, name, kind, text));
            }
            Part::IsRequired(name) => {
                let named = parameters.iter_mut().find(|it| it["name"] == name);
                named.expect("the parameter is described")["required"] = true.into();
            }
            Part::Body(content_type, kind) => {
                let body = &mut described["requestBody"];
                body["required"] = true.into();
                body["content"][content_type]["schema"] = schema(kind);
            }
            Part::Answer(status, content, text) => {
                let mut answer = json!({ "description": text });
                if let Some((content_type, kind)) = content {
                    answer["content"][content_type]["schema"] = schema(kind);
                }
                answers.insert(status, answer);
            }
            Part::Header(status, name, text) => {
                let answer = answers.get_mut(&status).expect("the answer is described");
                answer["headers"][name] =
                    json!({ "schema": { "type": "string" }, "description": text });
            }
            Part::Error(status, text) => {
                answers.insert(status, error(text));
            }
        }
    }
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    let answers = answers.into_iter();
    let answers = answers.map(|(status, answer)| (status.to_string(), answer));
    described["responses"] = Value::Object(answers.collect());
    described
}

fn parameter(place: &str, name: &str, kind: Kind, text: &str) -> Value {
    json!({
        "name": name,
        "in": place,
        "required": place == "path",
        "schema": schema(kind),
        "description": text,
    })
}

fn schema(kind: Kind) -> Value {
    let named = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    match kind {
        Kind::Schema(name) => named(name),
        Kind::List(name) => json!({ "type": "array", "items": named(name) }),
        Kind::Json(name) => json!({
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": named(name),
        }),
        Kind::Number => json!({ "type": "integer", "minimum": 0 }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Bytes => json!({ "type": "string", "format": "binary" }),
    }
}

fn error(text: &str) -> Value {
    let schema = schema(Kind::Schema("Problem"));
    json!({
        "description": text,
        "content": { "application/problem+json": { "schema": schema } },
    })
}

/// Returns the errors that a request has because of its form.
fn errors(operation: &Operation) -> BTreeMap<u16, Value> {
    let has = |is_it: fn(&Part) -> bool| operation.description.iter().any(is_it);
    let has_body = has(|part| matches!(part, Part::Body(..)));
    let has_id = operation.path.contains("{id}");
    let has_query = has(|part| matches!(part, Part::Parameter(..)));
    let is_change = operation.method != Method::Get;
    let errors = [
        (
            has_body || has_id || has_query,
            400,
            "The request is malformed.",
        ),
        (
            !has(|part| matches!(part, Part::IsOpen)),
            401,
            "A token or a login is required, or is wrong.",
        ),
        (
            true,
            403,
            "The request is from another site, or is not permitted.",
        ),
        (has_id, 404, "There is no such torrent."),
        (is_change, 408, "The body did not arrive within 10 seconds."),
        (has_body, 413, "The body is too long."),
        (has_body, 415, "The body is of another content type."),
        (true, 421, "The header Host names another host."),
        (has_body, 422, "The body has a value that cannot be used."),
        (
            has_body,
            503,
            "The program is ending, or does too much at once.",
        ),
    ];
    let errors = errors.into_iter().filter(|(applies, ..)| *applies);
    errors
        .map(|(_, status, text)| (status, error(text)))
        .collect()
}

/// Returns the schemas of requests and answers by their names.
fn schemas() -> Map<String, Value> {
    let settings = || {
        SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
        })
    };
    let mut answers = settings().for_serialize().into_generator();
    add::<(Snapshot, Detail, Overview, Files, Trackers)>(&mut answers);
    add::<(Added, Job, BatchResults, SessionView, Groups, Rules)>(&mut answers);
    add::<(
        ConfigView,
        Reloaded,
        Status,
        Limit,
        Link,
        StatisticsView,
        Space,
    )>(&mut answers);
    add::<Problem<'_>>(&mut answers);
    let mut requests = settings().for_deserialize().into_generator();
    add::<(Addition, NewTorrent, Command, Batch<'_>)>(&mut requests);
    add::<(GroupChange, LinkRequest, ConfigRequest, LoginRequest)>(&mut requests);
    let mut requests = requests.take_definitions(true);
    requests.values_mut().for_each(forbid_null);
    let mut schemas = answers.take_definitions(true);
    for schema in schemas.values_mut() {
        close(schema);
    }
    for (name, schema) in requests {
        let known = schemas.insert(name.clone(), schema.clone());
        assert!(known.is_none_or(|known| known == schema), "{name}");
    }
    schemas.values_mut().for_each(tidy);
    split_variants(&mut schemas);
    let id = json!({
        "type": "string",
        "pattern": "^([0-9]+|[0-9A-Fa-f]{40}|[0-9A-Fa-f]{64})$",
        "description": "An info-hash of version 1 or 2, or the number of the torrent.",
    });
    schemas.insert("TorrentId".to_owned(), id);
    schemas
}

/// Adds the schemas of the types in a tuple, and of the types of their fields.
fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

/// Refuses further fields: answers have none, although the program that reads them would ignore new ones.
fn close(schema: &mut Value) {
    if schema["type"] == "object" && schema.get("properties").is_some() {
        schema["additionalProperties"] = false.into();
    }
}

/// Calls a function for a schema and for all schemas in it, the innermost first.
fn visit(schema: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| visit(field, change));
            change(fields);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, change)),
        _ => {}
    }
}

/// Removes null from the types of fields that can be absent. In those that are marked, null and absent differ.
fn forbid_null(schema: &mut Value) {
    visit(schema, &mut |fields| {
        let required = fields.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| {
            let mut names = required.as_array().into_iter().flatten();
            names.any(|required| required == name)
        };
        let Some(Value::Object(properties)) = fields.get_mut("properties") else {
            return;
        };
        for (name, property) in properties {
            let Some(property) = property.as_object_mut() else {
                continue;
            };
            if property.remove("nullable").is_some() || is_required(name) {
                continue;
            }
            if property.get("default") == Some(&Value::Null) {
                property.remove("default");
            }
            if let Some(Value::Array(types)) = property.get_mut("type") {
                types.retain(|kind| kind != "null");
                let kind = types[0].clone();
                property.insert("type".to_owned(), kind);
            }
            if let Some(Value::Array(any)) = property.get_mut("anyOf") {
                any.retain(|schema| schema["type"] != "null");
                if any.len() == 1
                    && let Value::Object(only) = any.remove(0)
                {
                    property.remove("anyOf");
                    property.extend(only);
                }
            }
        }
    });
}

/// Turns documentation for Rust programmers into descriptions of JSON, and types of Rust into those of `OpenAPI`.
fn tidy(schema: &mut Value) {
    visit(schema, &mut |fields| {
        if let Some(Value::String(text)) = fields.get_mut("description") {
            // The paragraphs that follow are for Rust programmers.
            let first = text.split("\n\n").next().unwrap_or_default();
            let words: Vec<_> = first.split_whitespace().collect();
            *text = words
                .join(" ")
                .replace("`Some(None)`", "null")
                .replace("`None`", "null");
        }
        let format = fields.get("format").and_then(Value::as_str);
        let format = match format {
            Some("uint" | "uint64" | "uint32") => Some("int64"),
            Some("uint16" | "uint8") => Some("int32"),
            _ => None,
        };
        if let Some(format) = format {
            fields.insert("format".to_owned(), format.into());
        }
        join_words(fields);
        join_choices(fields);
    });
}

/// Turns a choice of choices into one.
fn join_choices(fields: &mut Map<String, Value>) {
    let Some(Value::Array(outer)) = fields.get_mut("anyOf") else {
        return;
    };
    for schema in std::mem::take(outer) {
        match schema.get("oneOf") {
            Some(Value::Array(inner)) => outer.extend(inner.iter().cloned()),
            _ => outer.push(schema),
        }
    }
}

/// Turns a choice of single words, each with its description, into a list of words with a common one.
fn join_words(fields: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = fields.get("oneOf") else {
        return;
    };
    let word = |variant: &Value| variant["const"].as_str().map(str::to_owned);
    let Some(words) = variants.iter().map(word).collect::<Option<Vec<_>>>() else {
        return;
    };
    let described = words.iter().zip(variants).filter_map(|(word, variant)| {
        let text = variant["description"].as_str()?;
        Some(format!("\n- `{word}`: {text}"))
    });
    let described: String = described.collect();
    let text = fields.get("description").and_then(Value::as_str);
    let text = match text.unwrap_or_default() {
        "" => described.trim_start().to_owned(),
        text if described.is_empty() => text.to_owned(),
        text => format!("{text}\n{described}"),
    };
    fields.remove("oneOf");
    fields.insert("type".to_owned(), "string".into());
    fields.insert("enum".to_owned(), words.into());
    fields.insert("description".to_owned(), text.into());
}

/// Gives the variants of a type with a field `action` schemas of their own, so that generated clients name them.
fn split_variants(schemas: &mut Map<String, Value>) {
    let mut split = Map::new();
    for (name, schema) in schemas.iter_mut() {
        let Some(variants) = schema.get_mut("oneOf").and_then(Value::as_array_mut) else {
            continue;
        };
        let mut mapping = Map::new();
        for variant in variants {
            let Some(action) = variant["properties"]["action"]["const"].as_str() else {
                continue;
            };
            let camel = action.split('_').map(|word| {
                let (first, rest) = word.split_at(1);
                first.to_uppercase() + rest
            });
            let variant_name = name.clone() + &camel.collect::<String>();
            let path = format!("#/components/schemas/{variant_name}");
            mapping.insert(action.to_owned(), path.clone().into());
            split.insert(
                variant_name,
                std::mem::replace(variant, json!({ "$ref": path })),
            );
        }
        if !mapping.is_empty() {
            schema["discriminator"] = json!({ "propertyName": "action", "mapping": mapping });
        }
    }
    schemas.append(&mut split);
}
