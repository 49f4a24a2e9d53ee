//! The HTTP API is as docs/reference/openapi.json describes it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;

use serde_json::Value;

use super::http::{Response, ask, open};
use super::page::Page;
use super::peers::{Content, Peer};

fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap()
}

fn description() -> Value {
    let text = fs::read(workspace().join("docs/reference/openapi.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Returns the method and the path of each operation, with its description.
fn operations(description: &Value) -> Vec<(String, String, &Value)> {
    let mut operations = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        for method in METHODS {
            if let Some(operation) = item.get(method) {
                operations.push((method.to_owned(), path.clone(), operation));
            }
        }
    }
    operations
}

#[test]
fn answers_are_as_described() {
    let content = Content::new();
    let options = ["--announce", "http://127.0.0.1:1/announce"];
    let torrent = content.torrent_with("tree", "v1", &options);
    let page = Page::of(Peer::seed_with(
        &[&torrent],
        content.path(),
        &["--http", "0"],
    ));
    page.peer.wait_for_line("verified");
    let description = description();
    for (method, path, operation) in operations(&description) {
        let paths = [("0", true), ("999", false)];
        for (number, exists) in paths {
            // The second file is empty.
            let place = path.replace("{id}", number).replace("{number}", "1");
            if method == "get" {
                let status = check_get(&description, &page, &place, operation);
                let expected = match path.as_str() {
                    "/api/v1/jobs/{id}" => 404,
                    "/api/v1/free-space" => 400,
                    _ if exists || place == path => 200,
                    _ => 404,
                };
                assert_eq!(status, expected, "{place}");
            } else {
                check_change(&page, &method, &place, operation);
            }
        }
    }
}

/// Returns the page of a seed of the content.
fn seeding(content: &Content) -> Page {
    let torrent = content.torrent("tree", "v1");
    let options = ["--http", "0"];
    let page = Page::of(Peer::seed_with(&[&torrent], content.path(), &options));
    page.peer.wait_for_line("verified");
    page
}

/// Malformed numbers and queries, and a body that does not arrive, have the statuses of the description.
#[test]
fn malformed_requests_are_as_described() {
    let content = Content::new();
    let page = seeding(&content);
    let description = description();
    for (method, path, operation) in operations(&description) {
        let method = method.to_uppercase();
        let headers = [("Authorization", page.bearer())];
        let status = |place: &str| {
            // A stream has no end.
            let (_, response) = open(page.address, &format!("{method} {place}"), &headers, "");
            assert_listed(operation, response.status, place);
            response.status
        };
        if path.contains("{id}") {
            status(&path.replace("{id}", "x"));
        }
        for query in ["offset", "limit", "torrent", "folder", "select"] {
            status(&format!(
                "{}?{query}=x",
                path.replace("{id}", if method == "GET" { "0" } else { "999" })
            ));
        }
    }
    let files = "GET /api/v1/torrents/0/files?offset=x";
    assert_eq!(ask(page.address, files, &[], "").status, 400);
    let mut late = TcpStream::connect(page.address).unwrap();
    let (host, bearer) = ("Host: localhost", page.bearer());
    let json = "Content-Type: application/json\r\nContent-Length: 9";
    let head = format!(
        "PATCH /api/v1/config HTTP/1.1\r\n{host}\r\nAuthorization: {bearer}\r\n{json}\r\n\r\n{{"
    );
    late.write_all(head.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(late).read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 408 "), "{line}");
    assert_listed(
        &description["paths"]["/api/v1/config"]["patch"],
        408,
        "config",
    );
}

/// Answers to requests whose bodies are right.
#[test]
fn answers_with_content_are_as_described() {
    let content = Content::new();
    let page = seeding(&content);
    let description = description();
    let folder = content.path().display();
    let unknown = "1".repeat(40);
    let (token, json) = (
        page.bearer().trim_start_matches("Bearer "),
        "application/json",
    );
    for (request, body, expected) in [
        (
            format!("GET /api/v1/free-space?folder={folder}"),
            String::new(),
            200,
        ),
        (
            "GET /api/v1/torrents/0/files?offset=1&limit=1".into(),
            String::new(),
            200,
        ),
        (
            "POST /api/v1/session".into(),
            format!(r#"{{"token": "{token}"}}"#),
            201,
        ),
        (
            "POST /api/v1/torrents".into(),
            format!(r#"{{"link": "{unknown}", "options": {{"paused": true}}}}"#),
            201,
        ),
        (
            "POST /api/v1/torrents".into(),
            format!(r#"{{"link": "{unknown}"}}"#),
            200,
        ),
        (
            "POST /api/v1/torrents".into(),
            r#"{"link": "http://127.0.0.1:1/x"}"#.into(),
            202,
        ),
        ("GET /api/v1/jobs/1".into(), String::new(), 200),
        (
            "POST /api/v1/batch".into(),
            r#"{"all": true, "change": {"action": "pause"}}"#.into(),
            200,
        ),
    ] {
        let headers = [("Authorization", page.bearer()), ("Content-Type", json)];
        let answer = ask(page.address, &request, &headers, &body);
        assert_eq!(answer.status, expected, "{request} {body}: {answer:?}");
        let (method, place) = request.split_once(' ').unwrap();
        let place = place.split('?').next().unwrap();
        let place = place
            .replace("torrents/0", "torrents/{id}")
            .replace("jobs/1", "jobs/{id}");
        let operation = &description["paths"][&place][method.to_lowercase()];
        let response = &operation["responses"][expected.to_string()];
        let schema = &response["content"][json]["schema"];
        assert_valid(&description, schema, &answer.json(), &request);
    }
}

/// Compares the answer of a request with its description. Returns the status.
fn check_get(description: &Value, page: &Page, path: &str, operation: &Value) -> u16 {
    let ok = &operation["responses"]["200"]["content"];
    let (kind, content) = ok.as_object().unwrap().iter().next().unwrap();
    let status = if kind == "text/event-stream" {
        let (mut reader, response) = open(page.address, &format!("GET {path}"), &[], "");
        if response.status == 200 {
            let mut line = String::new();
            while !line.starts_with("data:") {
                line.clear();
                assert_ne!(reader.read_line(&mut line).unwrap(), 0, "{path}: no event");
            }
            let event = line.trim_start_matches("data:").trim();
            let event = serde_json::from_str(event).unwrap();
            assert_valid(description, &content["schema"], &event, path);
        }
        response.status
    } else {
        let response = page.get(path);
        if response.status == 200 {
            let found = response.header("content-type").unwrap_or_default();
            assert!(found.starts_with(kind), "{path}: {found}");
            if kind == "application/json" {
                assert_valid(description, &content["schema"], &response.json(), path);
            }
        }
        response.status
    };
    assert_listed(operation, status, path);
    status
}

/// Sends a change without and with the token, and with bodies of other types, and compares the statuses.
fn check_change(page: &Page, method: &str, path: &str, operation: &Value) {
    let request = format!("{} {path}", method.to_uppercase());
    let answer = ask(page.address, &request, &[], "");
    // Everybody may try to log in.
    if !path.ends_with("/session") {
        assert_eq!(answer.status, 401, "{request}");
    }
    assert_listed(operation, answer.status, path);
    assert_problem(&answer);
    for body in ["", "{}", "x"] {
        for kind in ["application/json", "text/plain"] {
            let headers = [("Authorization", page.bearer()), ("Content-Type", kind)];
            let answer = ask(page.address, &request, &headers, body);
            assert_listed(operation, answer.status, &request);
            assert_problem(&answer);
        }
    }
    let schema = "/requestBody/content/application~1json/schema/$ref";
    let schema = operation.pointer(schema).and_then(Value::as_str);
    if schema == Some("#/components/schemas/Command") {
        check_commands(page, path, operation);
    }
}

/// Sends commands, and compares the statuses.
fn check_commands(page: &Page, path: &str, operation: &Value) {
    for (command, expected) in [
        (r#"{"action": "pause"}"#, 202),
        (r#"{"action": "resume", "now": true}"#, 202),
        (r#"{"action": "set", "labels": ["a"], "max_up": null}"#, 202),
        (r#"{"action": "set", "category": "tv"}"#, 422),
        (r#"{"action": "queue", "to": "top"}"#, 202),
        (r#"{"action": "relocate", "folder": "/absent"}"#, 403),
        (
            r#"{"action": "prioritize", "files": [0], "priority": "low"}"#,
            409,
        ),
        (r#"{"action": "set", "seed_ratio": -1}"#, 422),
        (r#"{"action": "add_tracker", "url": "no url"}"#, 422),
        (r#"{"action": "verify"}"#, 202),
    ] {
        let json = ("Content-Type", "application/json");
        let headers = [("Authorization", page.bearer()), json];
        let answer = ask(page.address, &format!("POST {path}"), &headers, command);
        // An unknown torrent is reported before values that cannot be used.
        let expected = if path.contains("999") { 404 } else { expected };
        assert_eq!(answer.status, expected, "{path} {command}: {answer:?}");
        assert_listed(operation, answer.status, command);
        assert_problem(&answer);
    }
}

/// Checks that an error has problem details (RFC 9457), whose form the description has.
#[track_caller]
fn assert_problem(answer: &Response) {
    if answer.status < 400 {
        return;
    }
    let kind = answer.header("content-type");
    assert_eq!(kind, Some("application/problem+json"), "{answer:?}");
    let (description, problem) = (description(), answer.json());
    let schema = &description["components"]["schemas"]["Problem"];
    assert_valid(&description, schema, &problem, "problem");
    assert_eq!(problem["status"], answer.status);
    for text in ["title", "detail"] {
        assert_ne!(problem[text], "", "{text}: {answer:?}");
    }
}

/// Errors of the router, of the access control and of the handlers alike.
#[test]
fn every_error_has_problem_details() {
    let content = Content::new();
    let page = seeding(&content);
    let bearer = ("Authorization", page.bearer());
    let json = ("Content-Type", "application/json");
    let long = "x".repeat(70 << 10);
    let long = format!(r#"{{"action": "add_tracker", "url": "{long}"}}"#);
    let pause = r#"{"action": "pause"}"#;
    let password = r#"{"user": "a", "password": "b"}"#;
    for (status, request, headers, body) in [
        (404, "GET /nothing", vec![], ""),
        (404, "GET /api/v1/torrents/999", vec![], ""),
        (404, "POST /api/v1/torrents/999", vec![bearer, json], pause),
        (405, "PUT /api/v1/torrents", vec![bearer], ""),
        (413, "POST /api/v1/torrents/0", vec![bearer, json], &long),
        (415, "POST /api/v1/torrents/0", vec![bearer], pause),
        (415, "POST /api/v1/torrents", vec![bearer], "x"),
        (400, "GET /api/v1/torrents/0/files?limit=x", vec![], ""),
        (400, "GET /api/v1/torrents/x", vec![], ""),
        (
            422,
            "PATCH /api/v1/config",
            vec![bearer, json],
            r#"{"x": 1}"#,
        ),
        (409, "POST /api/v1/reload", vec![bearer], ""),
        (401, "POST /api/v1/torrents/0", vec![json], pause),
        (401, "POST /api/v1/session", vec![json], password),
        (
            403,
            "GET /metrics",
            vec![("Origin", "http://example.com")],
            "",
        ),
        (421, "GET /", vec![("Host", "example.com")], ""),
    ] {
        let answer = ask(page.address, request, &headers, body);
        assert_eq!(answer.status, status, "{request}: {answer:?}");
        assert_problem(&answer);
        // The other headers of the answer are kept.
        assert_eq!(
            answer.header("allow").is_some(),
            status == 405,
            "{answer:?}"
        );
        assert_eq!(answer.header("www-authenticate").is_some(), status == 401);
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    let unknown = ask(page.address, "GET /", &[("Host", "example.com")], "").json();
    assert!(
        unknown["detail"]
            .as_str()
            .unwrap()
            .contains("--http-origin"),
        "{unknown}"
    );
}

#[track_caller]
fn assert_listed(operation: &Value, status: u16, what: &str) {
    let responses = &operation["responses"];
    assert!(
        responses.get(status.to_string()).is_some(),
        "{what}: {status}"
    );
}

/// Checks a value against the keywords of JSON Schema that the description uses.
#[track_caller]
fn assert_valid(description: &Value, schema: &Value, value: &Value, place: &str) {
    if let Err(reason) = check(description, schema, value) {
        panic!("{place}: {reason}: {value}");
    }
}

fn check(description: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = description.pointer(name.trim_start_matches('#'));
        return check(description, schema.ok_or(name)?, value);
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(schemas) = schema[choice].as_array() {
            let results = schemas.iter().map(|it| check(description, it, value));
            let reasons = results.map(Result::err).collect::<Option<Vec<_>>>();
            return reasons.map_or(Ok(()), |reasons| Err(reasons.join(", ")));
        }
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        single => vec![single.clone()],
    };
    let fits = |expected: &Value| expected == kind || (expected == "number" && kind == "integer");
    if !types.iter().any(fits) {
        return Err(format!("{kind} is not of {types:?}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{value} is not of {allowed:?}"));
    }
    for item in value.as_array().into_iter().flatten() {
        check(description, &schema["items"], item)?;
    }
    if let Some(fields) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().unwrap();
            fields.get(name).ok_or(format!("{name} is missing"))?;
        }
        for (name, value) in fields {
            let schema = schema["properties"].get(name);
            let schema = schema.ok_or(format!("{name} is not described"))?;
            check(description, schema, value).map_err(|reason| format!("{name}: {reason}"))?;
        }
    }
    Ok(())
}
