//! `make install-lib`, and programs that find the installed library with pkg-config and with `CMake`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{C99, is_installed, library, package, run};

/// Returns `false` and reports it if one of these programs is missing, which are packages of the same name, or the compiler.
fn have_all(what: &str, programs: &[&str]) -> bool {
    programs
        .iter()
        .all(|program| is_installed(program, program))
        && C99.is_possible(what)
}

/// Returns the command that installs the library of a folder below `DESTDIR`, without Cargo.
fn install_from(library: &Path, destdir: &str, prefix: &Path) -> Command {
    let root = package()
        .ancestors()
        .nth(2)
        .expect("the package is in crates/ of the workspace");
    let mut make = Command::new("make");
    // Dependencies that other packages have changed since the library was built.
    make.current_dir(root)
        .args(["--assume-old=Cargo.lock", "CARGO=false", "install-lib"]);
    make.arg(format!("LIBRARY={}", library.display()));
    make.arg(format!("PREFIX={}", prefix.display()))
        .arg(format!("DESTDIR={destdir}"));
    // Variables of a make that runs this test.
    make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    make
}

/// Installs the library of the test build below `DESTDIR`. The library is built, so Cargo does not run: under sudo, the
/// user often has none.
fn install(destdir: &str, prefix: &Path) {
    run(&mut install_from(library(), destdir, prefix));
}

/// Runs the example `hash_many`, as it was built against the installed library.
fn check(program: &Path, libraries: &Path) {
    let output = run(Command::new(program).env("LD_LIBRARY_PATH", libraries));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("  message 999\n"),
        "{output:?}"
    );
}

#[test]
fn every_file_is_installed_below_destdir() {
    if !have_all("make install-lib", &["make"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let destdir = folder.path().display().to_string();
    install(&destdir, Path::new("/opt/hashlane"));
    let installed = folder.path().join("opt/hashlane");
    let version = env!("CARGO_PKG_VERSION");
    for (link, target) in [
        ("lib/libhashlane.so", "libhashlane.so.0".to_owned()),
        ("lib/libhashlane.so.0", format!("libhashlane.so.{version}")),
    ] {
        let found = fs::read_link(installed.join(link)).expect(link);
        assert_eq!(found, Path::new(&target), "{link}");
    }
    assert!(installed.join("lib/libhashlane.a").is_file());
    assert!(installed.join("include/hashlane.h").is_file());
    for file in [
        "lib/pkgconfig/hashlane.pc",
        "lib/cmake/hashlane/hashlaneConfig.cmake",
        "lib/cmake/hashlane/hashlaneConfigVersion.cmake",
    ] {
        let text = fs::read_to_string(installed.join(file)).expect(file);
        assert!(text.contains(version), "{file}: {text}");
        assert!(
            !text.contains('@') && !text.contains(&destdir),
            "{file}: {text}"
        );
    }
}

#[test]
fn a_library_that_is_not_built_is_not_installed() {
    if !have_all("make install-lib", &["make"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let destdir = folder.path().display().to_string();
    let output = install_from(folder.path(), &destdir, Path::new("/opt"))
        .output()
        .expect("make starts");
    assert!(!output.status.success(), "{output:?}");
    assert!(!folder.path().join("opt").exists());
}

#[test]
fn pkg_config_finds_the_library() {
    if !have_all("pkg-config", &["make", "pkg-config"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    install("", folder.path());
    let libraries = folder.path().join("lib");
    for link in [&["--libs"][..], &["--libs", "--static"]] {
        let mut query = Command::new("pkg-config");
        query.env("PKG_CONFIG_PATH", libraries.join("pkgconfig"));
        let flags = run(query.arg("--cflags").args(link).arg("hashlane")).stdout;
        let flags = String::from_utf8(flags).expect("flags are UTF-8");
        let program = folder.path().join("program");
        let mut compiler = Command::new("cc");
        compiler
            .arg(package().join("examples/hash_many.c"))
            .args(flags.split_whitespace());
        run(compiler.arg("-o").arg(&program));
        check(&program, &libraries);
    }
}

/// The tutorial for developers installs in the home folder, which neither pkg-config nor the dynamic linker searches.
#[test]
fn the_tutorial_builds_and_runs_the_example() {
    if !have_all("pkg-config", &["make", "pkg-config"]) {
        return;
    }
    let checkout = package().ancestors().nth(2).expect("a workspace");
    // The package has no pages.
    let Ok(page) = fs::read_to_string(checkout.join("docs/start/developer.md")) else {
        return;
    };
    let start = "after `make install PREFIX=$HOME/.local`:\n\n```sh\n";
    let (_, rest) = page.split_once(start).expect("the commands");
    let (commands, _) = rest.split_once("```").expect("the end of the commands");
    let home = tempfile::tempdir().expect("a temporary folder");
    install("", &home.path().join(".local"));
    std::os::unix::fs::symlink(checkout.join("crates"), home.path().join("crates"))
        .expect("a link");
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", commands]).current_dir(home.path());
    shell.env("HOME", home.path());
    shell
        .env_remove("PKG_CONFIG_PATH")
        .env_remove("LD_LIBRARY_PATH");
    let output = run(&mut shell);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("  message 999\n"), "{printed}");
    assert!(page.contains(&*printed), "{printed}");
}

#[test]
fn cmake_finds_the_library() {
    if !have_all("CMake", &["make", "cmake"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    install("", &folder.path().join("installed"));
    // The installed folders can be moved.
    let moved = folder.path().join("moved");
    fs::rename(folder.path().join("installed"), &moved).expect("a rename");
    let project = folder.path().join("project");
    fs::create_dir(&project).expect("a folder");
    let source = package().join("examples/hash_many.c");
    let text = format!(
        "cmake_minimum_required(VERSION 3.10)\n\
         project(example C)\n\
         find_package(hashlane 0.1 REQUIRED)\n\
         add_executable(with_shared {source})\n\
         target_link_libraries(with_shared hashlane::hashlane)\n\
         add_executable(with_static {source})\n\
         target_link_libraries(with_static hashlane::static)\n",
        source = source.display()
    );
    fs::write(project.join("CMakeLists.txt"), text).expect("a file");
    let build = folder.path().join("build");
    let mut cmake = Command::new("cmake");
    cmake.arg("-S").arg(&project).arg("-B").arg(&build);
    run(cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", moved.display())));
    run(Command::new("cmake").arg("--build").arg(&build));
    for program in ["with_shared", "with_static"] {
        check(&build.join(program), &moved.join("lib"));
    }
}
