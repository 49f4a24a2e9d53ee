//! The built library, the C compiler, and what the tests need besides.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::not_run::{self, not_run_unless_required};

/// What the tests need in `HASHLANE_TEST_REQUIRE_...`.
const REQUIRED: &str = "CC";

/// Returns the folder of this package.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns `true` if a program is installed. If not, reports it with its package.
pub(crate) fn is_installed(program: &str, package: &str) -> bool {
    not_run::is_installed(REQUIRED, program, package)
}

/// Returns `true` on Linux. Reports a test that other systems do not run.
pub(crate) fn is_linux(what: &str) -> bool {
    if !cfg!(target_os = "linux") {
        not_run_unless_required(REQUIRED, what, "this system is not Linux", "use Linux");
    }
    cfg!(target_os = "linux")
}

/// Runs a command that must succeed, and returns its output. A failure shows the command and its output.
pub(crate) fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    output
}

/// Returns the folder with the shared library under its installed names, and with the static library.
pub(crate) fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(build)
}

/// Links the libraries, which Cargo has built beside the program of this test.
fn build() -> PathBuf {
    let program = std::env::current_exe().expect("the path of the test program");
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("capi-{profile}"));
    fs::create_dir_all(&folder).expect("a folder below the target folder");
    for (from, to) in [
        ("libhashlane.so", "libhashlane.so.0"),
        ("libhashlane.so", "libhashlane.so"),
        ("libhashlane.a", "libhashlane.a"),
    ] {
        let from = program.with_file_name(from);
        assert!(from.exists(), "{}: Cargo builds it", from.display());
        link(&from, &folder.join(to));
    }
    folder
}

/// Makes a symbolic link, unless an earlier test has made it.
#[cfg(unix)]
fn link(from: &Path, to: &Path) {
    if let Err(error) = std::os::unix::fs::symlink(from, to) {
        assert_eq!(
            error.kind(),
            std::io::ErrorKind::AlreadyExists,
            "{}: {error}",
            to.display()
        );
    }
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) {
    fs::copy(from, to).expect("Cargo has built the library");
}

/// A way to build a C program.
#[derive(Clone, Copy)]
pub(crate) struct Build {
    pub(crate) compiler: &'static str,
    pub(crate) flags: &'static [&'static str],
    pub(crate) is_static: bool,
}

pub(crate) const C99: Build = Build {
    compiler: "cc",
    flags: &["-std=c99", "-D_POSIX_C_SOURCE=200809L"],
    is_static: false,
};

pub(crate) const STATIC: Build = Build {
    is_static: true,
    ..C99
};

pub(crate) const SANITIZED: Build = Build {
    flags: &[
        "-std=c99",
        "-D_POSIX_C_SOURCE=200809L",
        "-g",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ],
    ..C99
};

pub(crate) const CPP: Build = Build {
    compiler: "c++",
    flags: &["-std=c++11", "-x", "c++"],
    ..C99
};

impl Build {
    /// Returns `true` if the compiler can build and run a program in this way. Reports it otherwise.
    pub(crate) fn is_possible(self, what: &str) -> bool {
        if !is_linux(what) {
            return false;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (source, program) = (folder.path().join("main.c"), folder.path().join("main"));
        fs::write(&source, "int main(void) { return 0; }\n").expect("a temporary file");
        let mut compiler = Command::new(self.compiler);
        let is_built = compiler
            .args(self.flags)
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .output();
        let is_built = is_built.is_ok_and(|output| output.status.success());
        let is_run = is_built
            && Command::new(&program)
                .status()
                .is_ok_and(|status| status.success());
        if !is_run {
            let command = format!("{} {}", self.compiler, self.flags.join(" "));
            not_run_unless_required(
                REQUIRED,
                what,
                &format!("`{command}` builds no program"),
                "apt-get install gcc g++",
            );
        }
        is_run
    }

    /// Builds a program from a source file of this package, with all warnings as errors. Returns the program's path.
    pub(crate) fn program(self, source: &str, folder: &Path) -> PathBuf {
        let name = Path::new(source)
            .file_stem()
            .expect("the path names a file");
        let program = folder.join(name);
        let mut compiler = Command::new(self.compiler);
        compiler
            .args(self.flags)
            .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread"]);
        compiler
            .arg("-I")
            .arg(package().join("include"))
            .arg(package().join(source));
        // The program is C++ as `-x` says; the libraries are not.
        compiler.args(["-x", "none"]).arg("-o").arg(&program);
        if self.is_static {
            compiler
                .arg(library().join("libhashlane.a"))
                .args(["-ldl", "-lm"]);
        } else {
            compiler.arg("-L").arg(library()).arg("-lhashlane");
            compiler.arg(format!("-Wl,-rpath,{}", library().display()));
        }
        run(&mut compiler);
        program
    }
}
