//! A client that openapi-python-client generates from docs/reference/openapi.json.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::daemon::folder;
use super::daemon_api::Api;
use super::peers::Content;
use crate::not_run::not_run_unless_required;

/// Runs a program, which succeeds, and returns what it prints.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {printed}{errors}");
    printed
}

/// The description is valid, and a client that is generated from it controls a daemon.
#[test]
fn a_generated_client_controls_the_daemon() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = package.join("../../target/openapi/bin");
    if !programs.join("openapi-python-client").exists() {
        return not_run_unless_required(
            "OPENAPI",
            "a generated client of the HTTP API",
            "openapi-python-client is not installed",
            "cargo xtask counterparts",
        );
    }
    let description = package.join("../../docs/reference/openapi.json");
    let python = || Command::new(programs.join("python"));
    run(python()
        .args(["-m", "openapi_spec_validator"])
        .arg(&description));
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let (place, state) = folder();
    let client = place.path().join("hashlane_client");
    let mut generate = Command::new(programs.join("openapi-python-client"));
    generate.args(["generate", "--meta", "none", "--fail-on-warning"]);
    generate.arg("--path").arg(&description);
    generate.arg("--output-path").arg(&client);
    let config = package.join("tests/it/generated_client.yaml");
    run(generate.arg("--config").arg(config));
    let downloads = place.path().join("downloads");
    fs::create_dir(&downloads).unwrap();
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(content.path().join("tree"));
    run(copy.arg(&downloads));
    let api = Api::start(&state, &downloads, &["--remote-delete"]);
    let token = api.bearer.trim_start_matches("Bearer ");
    let mut script = python();
    script.env("PYTHONPATH", place.path());
    script.arg(package.join("tests/it/use_generated_client.py"));
    script.arg(format!("http://{}", api.address)).arg(token);
    let printed = run(script.arg(&torrent).arg(&downloads));
    assert_eq!(printed, "ok\n");
    api.daemon.terminate();
}
