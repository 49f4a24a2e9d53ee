//! Runs the shared library in C programs. It is compared with the system's libmd, and it replaces
//! libmd in a program of these tests and in programs of Debian.
//!
//! The tests need a C compiler and libmd with its headers. `HASHLANE_TEST_REQUIRE_LIBMD=1` requires them.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::not_run::{is_installed, not_run_unless_required};

const LIBRARY: &str = "libmd.so.0";
/// What the tests need in `HASHLANE_TEST_REQUIRE_...`.
const REQUIRED: &str = "LIBMD";
const SIGABRT: i32 = 6;
/// Options for `AddressSanitizer`, which also checks that allocations and frees match and that
/// nothing leaks.
const SANITIZER: &[&str] = &["-fsanitize=address", "-fno-omit-frame-pointer"];

/// The tools and libraries that exist on this machine.
struct Setup {
    folder: TempDir,
    /// The path of the system's library.
    system: PathBuf,
}

static SETUP: LazyLock<Option<Setup>> = LazyLock::new(|| match set_up() {
    Ok(setup) => Some(setup),
    Err(why) => {
        not_run_unless_required(
            REQUIRED,
            "all tests of libmd.so.0",
            &why,
            "apt-get install gcc libmd-dev",
        );
        None
    }
});

/// Links the library from the archive that Cargo has built for this test.
fn set_up() -> Result<Setup, String> {
    let located = Command::new("cc")
        .arg("-print-file-name=libmd.so")
        .output()
        .map_err(|error| format!("cc: {error}"))?;
    let system = PathBuf::from(String::from_utf8_lossy(&located.stdout).trim());
    if !system.is_absolute() || !Path::new("/usr/include/sha2.h").exists() {
        return Err("libmd-dev is not installed".into());
    }
    let folder = tempfile::tempdir().expect("a folder for the library");
    let linked = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("link"))
        .args([&archive(), &folder.path().join(LIBRARY)])
        .output()
        .expect("the linker script runs");
    assert!(linked.status.success(), "{}", text(&linked.stderr));
    let content: Vec<u8> = (0..400_000_u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    std::fs::create_dir(folder.path().join("files")).expect("a folder of files to hash");
    std::fs::write(folder.path().join("files/content"), content).expect("a file to hash");
    Ok(Setup { folder, system })
}

/// Returns the newest archive beside the test program.
fn archive() -> PathBuf {
    let program = std::env::current_exe().expect("the path of the test program");
    let folder = program.parent().expect("the folder of the test program");
    std::fs::read_dir(folder)
        .expect("the folder of the test program is readable")
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension() == Some(OsStr::new("a")))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("libhashlane_md-")
        })
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok())
        .expect("Cargo builds the archive for the tests")
}

impl Setup {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Compiles `tests/c/NAME.c` and returns the program.
    fn compile(&self, name: &str, program: &str, options: &[&str]) -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/c/{name}.c"));
        let output = self.path(program);
        let compiled = Command::new("cc")
            .args(["-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror"])
            .args(options)
            .arg(source)
            .args(["-lmd", "-ldl", "-o"])
            .arg(&output)
            .output()
            .expect("cc runs");
        assert!(compiled.status.success(), "{}", text(&compiled.stderr));
        output
    }

    /// Returns the environments in which the dynamic linker uses this library as libmd.
    fn ways(&self) -> [(&'static str, PathBuf); 2] {
        [
            ("LD_PRELOAD", self.path(LIBRARY)),
            ("LD_LIBRARY_PATH", self.folder.path().into()),
        ]
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn assert_success(output: &Output) {
    assert!(
        output.status.success(),
        "{}: {}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
}

/// Runs `tests/c/compare.c`, which compares all functions and continues each message with the other
/// library.
fn compare(program: &str, options: &[&str]) {
    let Some(setup) = &*SETUP else { return };
    let compare = setup.compile("compare", program, options);
    let output = run(Command::new(compare)
        .arg(&setup.system)
        .arg(setup.path(LIBRARY))
        .arg(setup.path("files/content")));
    assert_success(&output);
    assert_eq!(text(&output.stdout), "same\n");
}

#[test]
fn functions_and_contexts_are_those_of_libmd() {
    compare("compare", &["-O2"]);
}

#[test]
fn functions_and_contexts_are_those_of_libmd_under_address_sanitizer() {
    compare("compare-asan", SANITIZER);
}

#[test]
#[ignore = "takes long: cargo xtask test-valgrind"]
fn valgrind_finds_no_error() {
    let Some(setup) = &*SETUP else { return };
    if !is_installed(REQUIRED, "valgrind", "valgrind") {
        return;
    }
    let compare = setup.compile("compare", "compare-valgrind", &[]);
    // Valgrind 3.19 has neither AVX-512 nor the SHA instructions.
    let output = run(Command::new("valgrind")
        .args(["--quiet", "--error-exitcode=9", "--leak-check=full"])
        .arg(compare)
        .arg(&setup.system)
        .arg(setup.path(LIBRARY))
        .arg(setup.path("files/content"))
        .arg("quick"));
    assert_success(&output);
    assert_eq!(text(&output.stdout), "same\n");
}

#[test]
fn exports_eighteen_functions_with_the_version_of_libmd() {
    let Some(setup) = &*SETUP else { return };
    let listed = run(Command::new("nm")
        .args([
            "--dynamic",
            "--defined-only",
            "--with-symbol-versions",
            "--format=posix",
        ])
        .arg(setup.path(LIBRARY)));
    assert_success(&listed);
    let stdout = text(&listed.stdout);
    let mut symbols: Vec<&str> = stdout
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    symbols.sort_unstable();
    // Newer versions of libmd have three more versions of symbols, whose functions only the
    // system's libmd has.
    let versions = ["LIBMD_0.0", "LIBMD_0.1", "LIBMD_0.2", "LIBMD_0.3"];
    let mut expected = versions.map(str::to_owned).to_vec();
    for algorithm in ["SHA1", "SHA256"] {
        for function in [
            "Data",
            "End",
            "File",
            "FileChunk",
            "Final",
            "Init",
            "Pad",
            "Transform",
            "Update",
        ] {
            expected.push(format!("{algorithm}{function}@@LIBMD_0.0"));
        }
    }
    expected.sort_unstable();
    assert_eq!(symbols, expected);
    let dynamic = run(Command::new("readelf")
        .arg("--dynamic")
        .arg(setup.path(LIBRARY)));
    assert!(text(&dynamic.stdout).contains("Library soname: [libmd.so.0]"));
}

/// Links the library on a system whose libmd is `system`. `cc` prints that name alone if there is none.
fn link_beside(setup: &Setup, system: &Path, output: &Path) -> Output {
    let folder = tempfile::tempdir_in(setup.folder.path()).expect("a folder for the compiler");
    let compiler = folder.path().join("cc");
    let script = format!(
        "#!/bin/sh\ncase $1 in -print-file-name=*) echo '{}' ;; *) exec cc \"$@\" ;; esac\n",
        system.display()
    );
    std::fs::write(&compiler, script).expect("a script");
    std::fs::set_permissions(&compiler, Permissions::from_mode(0o755)).expect("a script that runs");
    let linked = run(
        Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("link"))
            .args([&archive(), output])
            .env("CC", compiler),
    );
    assert_success(&linked);
    linked
}

/// Programs that need functions of libmd 1.1, 1.2 or 1.3 take them from the system's libmd, here a library with the
/// versions of libmd 1.3.
#[test]
fn programs_for_newer_versions_of_libmd_start() {
    const MAP: &str = "LIBMD_0.0 { global: SHA256Init; local: *; };\n\
        LIBMD_0.1 { global: SHA224Init; } LIBMD_0.0;\n\
        LIBMD_0.2 { global: SHA3_256_Init; } LIBMD_0.1;\n\
        LIBMD_0.3 { global: SHA512_224Init; } LIBMD_0.2;\n";
    const LIBRARY_SOURCE: &str = "void SHA256Init(unsigned *context) { context[0] = 1; }\n\
        void SHA224Init(unsigned *context) { context[0] = 2; }\n\
        void SHA3_256_Init(unsigned *context) { context[0] = 3; }\n\
        void SHA512_224Init(unsigned *context) { context[0] = 4; }\n";
    const PROGRAM: &str = "#include <stdio.h>\n\
        void SHA256Init(unsigned *), SHA224Init(unsigned *), SHA3_256_Init(unsigned *), SHA512_224Init(unsigned *);\n\
        int main(void) {\n\
            static unsigned a[64], b[64], c[64], d[64];\n\
            SHA256Init(a), SHA224Init(b), SHA3_256_Init(c), SHA512_224Init(d);\n\
            printf(\"%x %x %x %x\", a[0], b[0], c[0], d[0]);\n\
            return 0;\n\
        }\n";
    let Some(setup) = &*SETUP else { return };
    let path = |name: &str| setup.path("newer").join(name);
    for folder in [path("system"), path("ours")] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    let (map, library, source) = (path("libmd.map"), path("libmd.c"), path("main.c"));
    std::fs::write(&map, MAP).expect("a file");
    std::fs::write(&library, LIBRARY_SOURCE).expect("a file");
    std::fs::write(&source, PROGRAM).expect("a file");
    let (system, ours) = (path("system").join(LIBRARY), path("ours").join(LIBRARY));
    let compile = |arguments: &[&OsStr], output: &Path| {
        let mut compiler = Command::new("cc");
        assert_success(&run(compiler.args(arguments).arg("-o").arg(output)));
    };
    let script = format!("-Wl,-soname,{LIBRARY},--version-script={}", map.display());
    let options = ["-shared", "-fPIC", &script].map(OsStr::new);
    compile(&[&options[..], &[library.as_os_str()]].concat(), &system);
    compile(&[source.as_os_str(), system.as_os_str()], &path("main"));
    link_beside(setup, &system, &ours);
    for (variable, value, first) in [
        ("LD_LIBRARY_PATH", path("system"), "1"),
        ("LD_LIBRARY_PATH", path("ours"), "6a09e667"),
        ("LD_PRELOAD", ours, "6a09e667"),
    ] {
        let mut command = Command::new(path("main"));
        command.env("LD_LIBRARY_PATH", path("system"));
        let output = run(command.env(variable, value));
        assert_success(&output);
        assert_eq!(text(&output.stdout), format!("{first} 2 3 4"), "{variable}");
    }
}

#[test]
fn links_without_a_libmd_of_the_system_and_warns() {
    let Some(setup) = &*SETUP else { return };
    let output = setup.path("alone.so");
    let linked = link_beside(setup, Path::new(LIBRARY), &output);
    assert!(text(&linked.stderr).contains("no libmd.so.0 is installed"));
    let dynamic = run(Command::new("readelf").arg("--dynamic").arg(output));
    assert_success(&dynamic);
    assert_eq!(
        text(&dynamic.stdout).matches("libmd.so.0]").count(),
        1,
        "only the soname"
    );
}

#[test]
fn a_program_linked_with_libmd_runs_on_it() {
    let Some(setup) = &*SETUP else { return };
    for (program, options) in [("program", &["-O2"][..]), ("program-asan", SANITIZER)] {
        let compiled = setup.compile("program", program, options);
        let command = || {
            let mut command = Command::new(&compiled);
            // The sanitizer's library is not the first one if another is preloaded.
            command
                .arg(setup.path("files/content"))
                .env("ASAN_OPTIONS", "verify_asan_link_order=0");
            command
        };
        let expected = run(&mut command());
        assert_success(&expected);
        assert!(!text(&expected.stderr).contains(setup.folder.path().to_str().expect("UTF-8")));
        for (variable, value) in setup.ways() {
            let output = run(command().env(variable, value));
            assert_success(&output);
            assert_eq!(text(&output.stdout), text(&expected.stdout), "{variable}");
            let library = setup.path(LIBRARY);
            assert_eq!(
                text(&output.stderr).trim(),
                library.to_str().expect("UTF-8")
            );
        }
    }
}

#[test]
fn undefined_calls_end_the_process_with_a_message() {
    let Some(setup) = &*SETUP else { return };
    let misuse = setup.compile(
        "misuse",
        "misuse",
        &["-Wno-nonnull", "-Wno-stringop-overread"],
    );
    for case in 0..17 {
        let output = run(Command::new(&misuse)
            .arg(case.to_string())
            .env("LD_LIBRARY_PATH", setup.folder.path()));
        assert_eq!(output.status.signal(), Some(SIGABRT), "case {case}");
        assert!(
            text(&output.stderr).starts_with("libmd: SHA"),
            "case {case}"
        );
    }
    for case in 100..104 {
        let output = run(Command::new(&misuse)
            .arg(case.to_string())
            .env("LD_LIBRARY_PATH", setup.folder.path()));
        assert_success(&output);
    }
}

#[test]
fn eight_threads_hash_at_once() {
    let Some(setup) = &*SETUP else { return };
    for (program, options) in [
        ("threads", &["-O2", "-pthread"][..]),
        ("threads-asan", SANITIZER),
    ] {
        let threads = setup.compile("threads", program, options);
        let output = run(Command::new(threads).env("LD_LIBRARY_PATH", setup.folder.path()));
        assert_success(&output);
    }
}

/// Runs a program of a package of Debian without and with the library. The output must be the same, and the dynamic linker
/// must report that the program takes `ours` from the library, and `others` from the system's.
fn debian_program(
    (program, package): (&str, &str),
    arguments: &[&str],
    ours: &[&str],
    others: &[&str],
) {
    let Some(setup) = &*SETUP else { return };
    if !is_installed(REQUIRED, program, package) {
        return;
    }
    let command = || {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(setup.path("files"));
        command
    };
    let expected = run(&mut command());
    assert_success(&expected);
    for (variable, value) in setup.ways() {
        let output = run(command().env(variable, &value));
        assert_success(&output);
        let what = format!("{program}, {variable}");
        assert_eq!(
            without_comments(&output),
            without_comments(&expected),
            "{what}"
        );
        let traced = run(command().env(variable, value).env("LD_DEBUG", "bindings"));
        let trace = text(&traced.stderr);
        let origin = |function: &str| {
            let symbol = format!(": normal symbol `{function}' [LIBMD_0.0]");
            let from = format!("binding file {program} [0] to ");
            let line = trace
                .lines()
                .find(|line| line.contains(&from) && line.ends_with(&symbol));
            let line = line.unwrap_or_else(|| panic!("{what}: no call of {function}\n{trace}"));
            line.contains(&format!(" to {} [0]", setup.path(LIBRARY).display()))
        };
        for function in ours {
            assert!(origin(function), "{what}: {function}");
        }
        for function in others {
            assert!(!origin(function), "{what}: {function}");
        }
    }
}

/// Returns the standard output without comments: mtree writes the time and the machine there.
fn without_comments(output: &Output) -> String {
    let stdout = text(&output.stdout);
    let lines = stdout.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn mtree_of_debian_runs_on_it() {
    debian_program(
        ("mtree", "mtree-netbsd"),
        &["-c", "-k", "sha1,sha256,md5,sha512"],
        &["SHA1File", "SHA256File"],
        &["MD5File", "SHA512File"],
    );
}

#[test]
fn pgpring_of_debian_runs_on_it() {
    let keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
    if !Path::new(keys).exists() {
        return not_run_unless_required(
            REQUIRED,
            "tests with pgpring",
            "the keys of Debian's archive are not installed",
            "apt-get install debian-archive-keyring",
        );
    }
    let functions = ["SHA1Init", "SHA1Update", "SHA1Final"];
    let pgpring = ("pgpring", "signing-party");
    debian_program(pgpring, &["-S", "-k", keys], &functions, &[]);
}

/// dpkg needs only MD5, which only the system's libmd has. dpkg must still start.
#[test]
fn dpkg_of_debian_runs_on_it() {
    let status = Command::new("dpkg").args(["--status", "libmd0"]).output();
    if !status.is_ok_and(|output| output.status.success()) {
        return not_run_unless_required(
            REQUIRED,
            "tests with dpkg",
            "it does not know libmd0",
            "use Debian",
        );
    }
    debian_program(
        ("dpkg", "dpkg"),
        &["--verify", "libmd0"],
        &[],
        &["MD5Init", "MD5Update", "MD5Final"],
    );
}
