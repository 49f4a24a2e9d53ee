//! A workspace that depends on Hashlane builds in the dev profile, with optimised kernels. `cargo xtask test-engine` runs the test.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The lines of Cargo.toml that docs/explanations/speed.md shows.
const PROFILE: &str = "\
[profile.dev.package.hashlane-sha]
opt-level = 3
debug-assertions = false
overflow-checks = false
";

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    output
}

#[test]
#[ignore = "builds a workspace, which takes minutes: cargo xtask test-engine"]
fn the_profile_of_the_book_optimises_the_kernels() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(2).unwrap();
    let page = fs::read_to_string(root.join("docs/explanations/speed.md")).unwrap();
    let source = package.join("tests/downstream");
    let manifest = fs::read_to_string(source.join("Cargo.toml")).unwrap();
    assert!(page.contains(PROFILE), "docs/explanations/speed.md");
    assert!(manifest.contains(PROFILE), "tests/downstream/Cargo.toml");

    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("downstream");
    fs::create_dir_all(copy.join("src")).unwrap();
    let manifest = manifest.replace("CRATES", root.join("crates").to_str().unwrap());
    fs::write(copy.join("Cargo.toml"), manifest).unwrap();
    fs::copy(source.join("src/main.rs"), copy.join("src/main.rs")).unwrap();
    // The dependencies of this workspace, which are downloaded already.
    fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();

    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--offline", "--verbose", "--target-dir", "target"]);
    let output = run(build
        .current_dir(&copy)
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("RUSTFLAGS"));
    // A build that changes nothing does not compile the engine again.
    let log = String::from_utf8(output.stderr).unwrap();
    let compiled = log
        .lines()
        .filter(|line| line.contains("--crate-name hashlane_sha "));
    for line in compiled {
        assert!(line.contains(" opt-level=3 "), "{line}");
    }
    assert!(log.contains("hashlane-sha"), "{log}");

    let demo = root.join("demo");
    for (content, expected) in [
        ("good", "20 of 20 pieces\n"),
        ("damaged", "19 of 20 pieces\n"),
    ] {
        let mut program = Command::new(copy.join("target/debug/downstream"));
        let output = run(program
            .arg(demo.join("union-addresses.torrent"))
            .arg(demo.join(content).join("union-addresses")));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}
