//! Runs the module in C programs, in programs that load PKCS#11 modules, and in Python.
//!
//! The tests need a C compiler, p11-kit with its headers, `OpenSC`, `GnuTLS`, valgrind and python-pkcs11.
//! `HASHLANE_TEST_REQUIRE_PKCS11=1` requires all of them.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use data_encoding::HEXLOWER;
use tempfile::TempDir;

use crate::not_run::{self, not_run_unless_required};

const SANITIZERS: &[&str] = &[
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
];
// Digests of "abc" (FIPS 180-4).
const SHA224_OF_ABC: &str = "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7";
const SHA384_OF_ABC: &str = "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded163\
                             1a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7";
const SHA512_OF_ABC: &str = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
const SHA256_OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const SHA1_OF_ABC: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";

/// What the tests need in `HASHLANE_TEST_REQUIRE_...`.
const REQUIRED: &str = "PKCS11";

/// Returns `true` if a program is installed. If not, reports it with its package.
fn is_installed(program: &str, package: &str) -> bool {
    not_run::is_installed(REQUIRED, program, package)
}

/// Returns `true` if the command succeeds.
fn succeeds(command: &mut Command) -> bool {
    let output = command.stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

/// Runs a command that must succeed, and returns its output.
fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the module that Cargo has built for this test, next to the test program.
fn module() -> PathBuf {
    let program = std::env::current_exe().expect("the path of the test program");
    let module = program.with_file_name("libhashlane_pkcs11.so");
    assert!(module.exists(), "Cargo builds the module for the tests");
    module
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compiles `tests/c/NAME.c`. Returns a folder, which is deleted on drop, and the program in it.
/// Returns `None` if the program cannot be compiled.
fn compile(name: &str, options: &[&str]) -> Option<(TempDir, PathBuf)> {
    let what = format!("{name}.c {}", options.join(" "));
    let pkg_config = Command::new("pkg-config")
        .args(["--cflags", "p11-kit-1"])
        .output();
    let Some(flags) = pkg_config.ok().filter(|output| output.status.success()) else {
        not_run_unless_required(
            REQUIRED,
            &what,
            "pkg-config finds no p11-kit-1",
            "apt-get install libp11-kit-dev pkg-config",
        );
        return None;
    };
    let folder = tempfile::tempdir().expect("a folder for the program");
    let source = folder.path().join("main.c");
    fs::write(&source, "int main(void) { return 0; }\n").expect("a temporary file");
    let program = folder.path().join(name);
    let compile = |source: &Path| {
        let mut compiler = Command::new("cc");
        compiler.args([
            "-std=gnu11",
            "-g",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pthread",
        ]);
        compiler
            .args(options)
            .args(text(&flags.stdout).split_whitespace());
        compiler.arg(source).args(["-ldl", "-o"]).arg(&program);
        compiler
    };
    if !succeeds(&mut compile(&source)) {
        not_run_unless_required(
            REQUIRED,
            &what,
            "cc compiles no program",
            "apt-get install gcc libc6-dev",
        );
        return None;
    }
    run(&mut compile(&package().join(format!("tests/c/{name}.c"))));
    Some((folder, program))
}

/// Compiles and runs a program that checks itself.
fn check(name: &str, options: &[&str]) {
    if let Some((_folder, program)) = compile(name, options) {
        run(Command::new(program).arg(module()));
    }
}

/// An option of valgrind. Not for programs that fork: a child would report memory that only threads
/// of the parent refer to.
const LEAKS: &[&str] = &["--leak-check=full"];

/// Runs a program under valgrind.
fn check_memory(name: &str, options: &[&str], arguments: &[&str]) {
    let Some((_folder, program)) = compile(name, &[]) else {
        return;
    };
    if is_installed("valgrind", "valgrind") {
        // Valgrind 3.19 has neither AVX-512 nor the SHA instructions.
        run(Command::new("valgrind")
            .args(["--quiet", "--error-exitcode=9"])
            .args(options)
            .arg(program)
            .arg(module())
            .args(arguments));
    }
}

#[test]
fn calls_follow_the_standard() {
    check("calls", &["-O2"]);
}

#[test]
fn calls_follow_the_standard_under_sanitizers() {
    check("calls", SANITIZERS);
}

#[test]
fn valgrind_finds_no_error_in_calls() {
    check_memory("calls", LEAKS, &[]);
}

#[test]
fn keys_follow_the_standard() {
    check("keys", &["-O2"]);
}

#[test]
fn keys_follow_the_standard_under_sanitizers() {
    check("keys", SANITIZERS);
}

#[test]
fn valgrind_finds_no_error_in_keys() {
    check_memory("keys", LEAKS, &[]);
}

#[test]
fn threads_and_children_use_the_module() {
    check("processes", &["-O2"]);
}

#[test]
fn threads_and_children_use_the_module_under_sanitizers() {
    check("processes", SANITIZERS);
}

#[test]
fn valgrind_finds_no_error_in_threads_and_children() {
    check_memory("processes", &[], &["quick"]);
}

#[test]
fn sessions_hash_without_a_common_lock() {
    check("concurrent", &["-O2"]);
}

#[test]
fn calls_in_random_order_are_harmless() {
    check("random_calls", SANITIZERS);
}

#[test]
fn valgrind_finds_no_error_in_random_calls() {
    check_memory("random_calls", LEAKS, &["3000"]);
}

#[test]
fn keys_are_wiped_from_memory() {
    check("secrets", &["-O2"]);
}

/// Returns the test cases of a file of RFC or NIST vectors: the values of `names`, in this order.
fn cases<const N: usize>(file: &str, names: [&str; N]) -> Vec<[String; N]> {
    let path = package().join("../sha/tests/vectors").join(file);
    let content = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut cases = Vec::new();
    let mut current = [const { String::new() }; N];
    for line in content.lines() {
        let Some((name, value)) = line.split_once(" = ") else {
            continue;
        };
        let Some(place) = names.iter().position(|known| *known == name.trim()) else {
            continue;
        };
        value.trim().clone_into(&mut current[place]);
        if place == N - 1 {
            cases.push(current.clone());
        }
    }
    assert!(cases.len() > 5, "{file}");
    cases
}

/// Returns the input lines of `tests/c/vectors.c`. The numbers of mechanisms are from the standard.
fn vectors() -> Vec<String> {
    let mut lines = Vec::new();
    for (file, mechanism, general) in [
        ("rfc/rfc-2202-sha1.txt", 0x221, 0x222),
        ("rfc/rfc-4231-sha224.txt", 0x256, 0x257),
        ("rfc/rfc-4231-sha256.txt", 0x251, 0x252),
        ("rfc/rfc-4231-sha384.txt", 0x261, 0x262),
        ("rfc/rfc-4231-sha512.txt", 0x271, 0x272),
    ] {
        for [key, message, mac] in cases(file, ["Key", "Msg", "MD"]) {
            lines.push(format!("{mechanism} {key} {message} {mac}"));
            let beginning = &mac[..24];
            lines.push(format!("{general} {key} {message} {beginning}"));
        }
    }
    for (file, mechanism) in [
        ("nist-cavp/SHA1ShortMsg.rsp", 0x220),
        ("nist-cavp/SHA224ShortMsg.rsp", 0x255),
        ("nist-cavp/SHA256ShortMsg.rsp", 0x250),
        ("nist-cavp/SHA384ShortMsg.rsp", 0x260),
        ("nist-cavp/SHA512ShortMsg.rsp", 0x270),
        ("nist-cavp/SHA1LongMsg.rsp", 0x220),
        ("nist-cavp/SHA256LongMsg.rsp", 0x250),
    ] {
        for [len, message, digest] in cases(file, ["Len", "Msg", "MD"]) {
            let message = if len == "0" { "." } else { &message };
            lines.push(format!("{mechanism} - {message} {digest}"));
        }
    }
    lines
}

#[test]
fn digests_and_macs_of_nist_and_of_the_rfcs() {
    let Some((_folder, program)) = compile("vectors", SANITIZERS) else {
        return;
    };
    let lines = vectors();
    let mut child = Command::new(program)
        .arg(module())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    // A program that ends early has printed the reason.
    let _ = input.write_all((lines.join("\n") + "\n").as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(text(&output.stdout), format!("{}\n", lines.len()));
}

#[test]
fn exports_three_functions() {
    if !is_installed("nm", "binutils") {
        return;
    }
    let listed = run(Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=posix"])
        .arg(module()));
    let listing = text(&listed.stdout);
    let names: Vec<_> = listing
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let expected = ["C_GetFunctionList", "C_GetInterface", "C_GetInterfaceList"];
    assert_eq!(names, expected);
}

#[test]
fn make_installs_the_module() {
    if !is_installed("make", "make") {
        return;
    }
    let root = package()
        .ancestors()
        .nth(2)
        .expect("the package is in crates/ of the workspace");
    let folder = tempfile::tempdir().expect("a temporary folder");
    // The module is built, so Cargo does not run: under sudo, the user often has none.
    run(Command::new("make")
        .current_dir(root)
        .args([
            "--assume-old=Cargo.lock",
            "CARGO=false",
            "install-pkcs11",
            "PREFIX=/opt/hashlane",
        ])
        .arg(format!("DESTDIR={}", folder.path().display()))
        .arg(format!("LIBRARY={}", module().with_file_name("").display()))
        // Variables of a make that runs this test.
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL"));
    let installed = folder
        .path()
        .join("opt/hashlane/lib/pkcs11/libhashlane_pkcs11.so");
    let found = fs::read(installed).expect("an installed module");
    assert!(found == fs::read(module()).expect("the module"));
}

/// Returns `pkcs11-tool` with the module, or `None` if it is not installed.
fn pkcs11_tool() -> Option<Command> {
    is_installed("pkcs11-tool", "opensc").then(|| {
        let mut tool = Command::new("pkcs11-tool");
        tool.arg("--module").arg(module());
        tool
    })
}

#[test]
fn pkcs11_tool_of_opensc_hashes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (input, output) = (folder.path().join("abc"), folder.path().join("digest"));
    fs::write(&input, "abc").expect("a temporary file");
    for (mechanism, digest) in [
        ("SHA-1", SHA1_OF_ABC),
        ("SHA224", SHA224_OF_ABC),
        ("SHA256", SHA256_OF_ABC),
        ("SHA384", SHA384_OF_ABC),
        ("SHA512", SHA512_OF_ABC),
    ] {
        let Some(mut tool) = pkcs11_tool() else {
            return;
        };
        run(tool
            .args(["--hash", "--mechanism", mechanism, "--input-file"])
            .arg(&input)
            .arg("--output-file")
            .arg(&output));
        let found = fs::read(&output).expect("a digest");
        assert_eq!(HEXLOWER.encode(&found), digest);
    }
}

#[test]
fn pkcs11_tool_of_opensc_tests_and_lists() {
    for (option, expected) in [
        ("--test", "SHA256: OK"),
        ("--list-mechanisms", "SHA384, digest"),
        (
            "--list-mechanisms",
            "SHA512-HMAC, keySize={1,65536}, sign, verify",
        ),
        ("--test", "No errors"),
        ("--list-slots", "token label        : Hashlane"),
        (
            "--list-mechanisms",
            "SHA-1-HMAC-GENERAL, keySize={1,65536}, sign, verify",
        ),
        (
            "--list-mechanisms",
            "GENERIC-SECRET-KEY-GEN, keySize={8,524288}, generate",
        ),
        ("--show-info", "Cryptoki version 3.0"),
    ] {
        let Some(mut tool) = pkcs11_tool() else {
            return;
        };
        let output = text(&run(tool.arg(option)).stdout);
        assert!(output.contains(expected), "{option}:\n{output}");
    }
}

/// Returns a command that is not run as root, because p11-kit does not read the configuration of root.
fn as_user(program: &str) -> Command {
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--clear-groups", program]);
    command
}

#[test]
fn p11_kit_lists_the_module() {
    if !is_installed("p11-kit", "p11-kit") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder of configuration");
    let everybody = Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), everybody).expect("a folder of this test");
    let copy = folder.path().join("module.so");
    fs::copy(module(), &copy).expect("a copy of the module");
    let modules = folder.path().join("pkcs11/modules");
    fs::create_dir_all(&modules).expect("a folder of modules");
    let configuration = format!("module: {}\n", copy.display());
    fs::write(modules.join("hashlane.module"), configuration).expect("a module file");
    fs::write(
        folder.path().join("pkcs11/pkcs11.conf"),
        "user-config: only\n",
    )
    .expect("a file");
    if !succeeds(as_user("test").arg("-r").arg(&copy)) {
        return not_run_unless_required(
            REQUIRED,
            "the list of modules of p11-kit",
            "another user cannot read temporary files",
            "set TMPDIR to a folder that all users can read",
        );
    }
    let listed = run(as_user("p11-kit")
        .arg("list-modules")
        .env("XDG_CONFIG_HOME", folder.path()));
    let listed = text(&listed.stdout);
    assert!(listed.starts_with("hashlane: "), "{listed}");
    assert!(listed.contains("token: Hashlane\n"), "{listed}");
}

#[test]
fn p11tool_of_gnutls_lists_and_generates() {
    if !is_installed("p11tool", "gnutls-bin") {
        return;
    }
    let provider = format!("--provider={}", module().display());
    let tokens = run(Command::new("p11tool").args([&provider, "--list-tokens"]));
    assert!(text(&tokens.stdout).contains("token=Hashlane"));
    let mechanisms = run(Command::new("p11tool").args([&provider, "--list-mechanisms"]));
    for mechanism in ["CKM_SHA256_HMAC_GENERAL", "CKM_SHA224", "CKM_SHA512_HMAC"] {
        assert!(text(&mechanisms.stdout).contains(mechanism), "{mechanism}");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("random");
    run(Command::new("p11tool")
        .args([&provider, "--generate-random=32", "--outfile"])
        .arg(&file));
    assert_eq!(fs::read(file).expect("random bytes").len(), 32);
}

#[test]
fn python_pkcs11_uses_the_module() {
    if !not_run::has_python_module(REQUIRED, "pkcs11", "python-pkcs11") {
        return;
    }
    let script = package().join("tests/use_module.py");
    let output = run(Command::new("python3").arg(script).arg(module()));
    assert_eq!(text(&output.stdout), "ok\n");
}
