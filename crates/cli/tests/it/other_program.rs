//! The program `hashlane-net`, which `hashlane` executes for the commands that need libtorrent, and for searches on GPUs if it
//! was built without them.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::fixture::{Ended, end, hashlane};

/// The commands that need libtorrent.
const COMMANDS: [&[&str]; 3] = [
    &["get", "a b.torrent", "--max-up", "1"],
    &["seed", "--json", "é.torrent"],
    &[
        "magnet",
        "--fetch",
        "magnet:?xt=urn:btih:0123456789012345678901234567890123456789",
    ],
];

/// A command that needs the driver of a GPU.
#[cfg(not(feature = "gpu"))]
const ON_GPUS: &[&str] = &["recover", "-q", "--device", "gpu", "1aaa"];

/// A folder of programs, with `hashlane` in `bin`.
fn installed() -> tempfile::TempDir {
    let built = Path::new(env!("CARGO_BIN_EXE_hashlane"));
    // The same file system, for the hard link.
    let folder = tempfile::tempdir_in(built.parent().unwrap()).unwrap();
    fs::create_dir_all(folder.path().join("bin")).unwrap();
    fs::hard_link(built, folder.path().join("bin/hashlane")).unwrap();
    folder
}

/// Writes a program by another process: a file that this process has open for writing could not be executed.
fn write_program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "printf '#!/bin/sh\\n%s\\n' \"$2\" >\"$1\" && chmod +x \"$1\"",
        "sh",
    ]);
    assert!(shell.arg(path).arg(script).status().unwrap().success());
}

fn run(folder: &Path, args: &[&str]) -> Ended {
    end(Command::new(folder.join("bin/hashlane")).args(args))
}

#[test]
fn the_other_program_gets_the_arguments_and_gives_the_exit_status() {
    let version = end(hashlane().arg("-V")).stdout;
    let version = version.trim().strip_prefix("hashlane ").unwrap();
    for place in ["bin/hashlane-net", "libexec/hashlane/hashlane-net"] {
        let folder = installed();
        let script = "printf '<%s>' \"$@\"; echo \" $HASHLANE_CALLER\"; exit 7";
        write_program(&folder.path().join(place), script);
        for args in COMMANDS {
            let ended = run(folder.path(), args);
            let args = format!("<{}>", args.join("><"));
            assert_eq!(
                ended.stdout,
                format!("{args} {version}\n"),
                "{place}: {ended:?}"
            );
            assert_eq!(ended.code, Some(7));
        }
        #[cfg(not(feature = "gpu"))]
        {
            let ended = run(folder.path(), ON_GPUS);
            let expected = format!("<{}> {version}\n", ON_GPUS.join("><"));
            assert_eq!((ended.code, ended.stdout), (Some(7), expected));
        }
        // A wrong command line needs no other program, and neither does a search on the CPU.
        let ended = run(folder.path(), &["recover", "-q", "--device", "cpu", "1aaa"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        let ended = run(folder.path(), &["get", "--nonsense"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    }
}

/// Links to the program are followed, and lists of processes show the name that was called.
#[test]
fn the_other_program_is_found_through_a_link() {
    let (folder, links) = (installed(), tempfile::tempdir().unwrap());
    let other = folder.path().join("bin/hashlane-net");
    std::os::unix::fs::symlink("/bin/sh", &other).unwrap();
    let link = links.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("bin/hashlane"), &link).unwrap();
    // The shell reads the script `get`, and reports the name by which it was called.
    fs::write(
        links.path().join("get"),
        "echo \"$1\"; tr '\\0' '\\n' </proc/$$/cmdline",
    )
    .unwrap();
    let mut command = Command::new(&link);
    let ended = end(command
        .arg0("called")
        .args(["get", "a"])
        .current_dir(links.path()));
    assert!(ended.stdout.starts_with("a\n"), "{ended:?}");
    if cfg!(target_os = "linux") {
        assert_eq!(ended.stdout, "a\ncalled\nget\na\n", "{ended:?}");
    }
}

#[test]
fn without_the_other_program_the_error_names_what_to_install() {
    let folder = installed();
    for args in COMMANDS {
        let ended = run(folder.path(), args);
        assert_eq!(ended.code, Some(2));
        for expected in [
            "hashlane: `",
            "bin/hashlane-net",
            "libexec/hashlane/hashlane-net",
            "apt-get install libtorrent-rasterbar-dev",
        ] {
            assert!(ended.stderr.contains(expected), "{expected}: {ended:?}");
        }
    }
}

#[cfg(not(feature = "gpu"))]
#[test]
fn without_the_other_program_a_search_on_gpus_is_refused() {
    let folder = installed();
    let ended = run(folder.path(), ON_GPUS);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    for expected in [
        "--device gpu: this program was built without GPUs, and needs the program hashlane-net",
        "libexec/hashlane/hashlane-net",
        "install the package hashlane-net, or build this program by `make build GPU=1`",
    ] {
        assert!(ended.stderr.contains(expected), "{expected}: {ended:?}");
    }
}

/// Every start of a program loads its libraries. OpenSSL alone takes longer than a digest of a small file.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn no_library_for_the_network_is_loaded() {
    let loaded = end(hashlane().env("LD_TRACE_LOADED_OBJECTS", "1")).stdout;
    assert!(loaded.contains("libc.so."), "{loaded}");
    for library in [
        "libtorrent",
        "libssl",
        "libcrypto",
        "libstdc++",
        "libvulkan",
    ] {
        assert!(!loaded.contains(library), "{loaded}");
    }
}
