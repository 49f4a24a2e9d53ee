//! Runs the README, the tutorials and the guides as their readers do, and compares what the programs print with the pages.
//!
//! Each page is one session of a shell, in a folder, a network, a `/srv` and a list of processes of its own. All commands of
//! a page run, except those that only root may run: they have the prompt `#`, and `cargo xtask test-dist` runs those that install.
//! Every command must exit with status 0, unless the page prints its status by `echo $?`.
//!
//! A line `...` of a page stands for any lines, and `...` in a line for any text. Durations and rates are not compared.
//! `crates/cli/tests/pages` describes the marks for files and for what takes time. Nothing else runs: the folder has the `demo` of a
//! checkout, and pages show how to make what they need.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use super::network::report_no_namespace;
use crate::not_run::{is_in_path, is_installed};
use crate::pages::{Example, Step, steps, text_of, without_time, workspace};

/// What a page needs besides Hashlane: the name in `HASHLANE_TEST_REQUIRE_*`, the program, and its package of Debian.
type Program = (&'static str, &'static str, &'static str);

/// The start of the script. Whatever a page starts ends with the first process of its list.
const START: &str = r#"
ip link set lo up || exit 1
mount --bind "$ROOT/srv" /srv || exit 1
cd "$ROOT/home" || exit 1
# Pages copy from these folders. Some change files of `demo`.
cp -r "$CHECKOUT/demo" demo && ln -s "$CHECKOUT/crates" crates || exit 1
# Waits until a command succeeds, for at most a minute.
await() {
    for _ in $(seq 600); do
        "$@" && return
        sleep 0.1
    done
    return 1
}
has_lines() { [ "$(wc -l < "$1")" -ge "$2" ]; }
# Gives the next command the status of the one before.
last=0
status() { return "$last"; }
"#;

/// Returns `true` if the namespaces of a page can be made.
fn can_isolate() -> bool {
    let can = Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "true"])
        .stderr(Stdio::null())
        .status();
    // The script configures the network by `ip`.
    can.is_ok_and(|status| status.success()) && is_in_path("ip")
}

/// Returns the script of a page, which writes the output and the status of step N to files in the folder of results.
fn script(steps: &[Step], results: &Path) -> String {
    let mut script = START.to_owned();
    for (n, step) in steps.iter().enumerate() {
        let out = format!("\"$RESULTS/{n}.out\"");
        let status = format!("last=$?; echo $last > \"$RESULTS/{n}.status\"");
        match step {
            Step::File { name, text } => {
                fs::write(results.join(format!("{n}.file")), text).unwrap();
                let copy = format!("mkdir -p \"$(dirname {name})\" && cp \"$RESULTS/{n}.file\" {name}");
                writeln!(script, "{{ {copy}; }} > {out} 2>&1\n{status}")
            }
            Step::Until(command) => writeln!(
                script,
                "attempt() {{ {command}\n}} > {out} 2>&1\nawait attempt\n{status}"
            ),
            Step::Example(example) if example.is_kept => {
                let command = &example.command;
                let n_lines = before_ellipsis(&example.output);
                writeln!(
                    script,
                    "{{ {command}\n}} > {out} 2>&1 < /dev/null &\nawait has_lines {out} {n_lines}\n{status}"
                )
            }
            Step::Example(Example { command, .. }) => {
                writeln!(script, "status\n{{ {command}\n}} > {out} 2>&1 < /dev/null\n{status}")
            }
        }
        .unwrap();
    }
    script
}

/// Returns the number of lines before the first line `...`.
fn before_ellipsis(lines: &[String]) -> usize {
    let ellipsis = lines.iter().position(|line| line == "...");
    ellipsis.unwrap_or(lines.len())
}

/// Returns `true` if a line is as a page shows it.
fn is_line(expected: &str, line: &str) -> bool {
    let (expected, line) = (without_time(expected), without_time(line));
    let mut parts = expected.split("...");
    let Some(mut rest) = parts.next().and_then(|start| line.strip_prefix(start)) else {
        return false;
    };
    let mut has_ellipsis = false;
    let mut last = "";
    for part in parts {
        has_ellipsis = true;
        last = part;
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || (has_ellipsis && (last.is_empty() || line.ends_with(last)))
}

/// Returns `true` if lines are as a page shows them.
fn are_lines(expected: &[&str], lines: &[&str]) -> bool {
    match (expected.split_first(), lines.split_first()) {
        (None, None) => true,
        (Some((&"...", rest)), _) => (0..=lines.len()).any(|n| are_lines(rest, &lines[n..])),
        (Some((first, expected)), Some((line, lines))) => {
            is_line(first, line) && are_lines(expected, lines)
        }
        _ => false,
    }
}

#[test]
fn ellipses_stand_for_any_text() {
    for (expected, line, is_so) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("a...", "ab", true),
        ("a...c", "abc", true),
        ("a...c", "abcd", false),
        ("a...c", "abcbc", true),
        ("1 s in 0.5 s", "1 s in 7 s", true),
        ("b...", "ab", false),
    ] {
        assert_eq!(is_line(expected, line), is_so, "{expected:?} {line:?}");
    }
    assert!(are_lines(&["a", "...", "c"], &["a", "b", "b", "c"]));
    assert!(are_lines(&["a", "..."], &["a"]));
    assert!(!are_lines(&["a", "...", "c"], &["a", "b"]));
    assert!(!are_lines(&["a"], &["a", "b"]));
}

/// What a step printed, and its exit status.
struct Ended {
    printed: String,
    status: String,
}

/// Runs the steps of a page in a session of its own.
fn run(page: &str, steps: &[Step]) -> Vec<Ended> {
    let root = tempfile::tempdir().unwrap();
    let [bin, home, results] = ["bin", "home", "results"].map(|name| root.path().join(name));
    for folder in [&bin, &home, &results, &root.path().join("srv")] {
        fs::create_dir(folder).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_hashlane-net"), bin.join("hashlane")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("unshare");
    shell
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child"])
        .args(["--mount-proc", "sh", "-c", &script(steps, &results)])
        .env("ROOT", root.path())
        .env("RESULTS", &results)
        .env("CHECKOUT", workspace().canonicalize().unwrap())
        .env("HOME", &home)
        .env("USER", "user")
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null());
    for name in ["CONFIG", "BACKEND"] {
        shell.env_remove(format!("HASHLANE_{name}"));
    }
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "NO_COLOR"] {
        shell.env_remove(name);
    }
    let output = shell.output().unwrap();
    let noise = String::from_utf8_lossy(&output.stderr);
    let read = |n: usize, what: &str| {
        let file = results.join(format!("{n}.{what}"));
        fs::read_to_string(&file).unwrap_or_else(|error| {
            panic!("{page}: step {n}: {}: {error}\n{noise}", file.display())
        })
    };
    let steps = 0..steps.len();
    steps
        .map(|n| Ended {
            printed: read(n, "out"),
            status: read(n, "status").trim().to_owned(),
        })
        .collect()
}

/// Compares what an example printed with the page.
fn assert_printed(place: &str, example: &Example, printed: &str) {
    let mut expected: Vec<&str> = example.output.iter().map(String::as_str).collect();
    if example.is_kept {
        expected.push("...");
    }
    let mut lines: Vec<&str> = printed.lines().map(without_date).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    assert!(
        are_lines(&expected, &lines),
        "{place}: expected\n{}\nprinted\n{printed}",
        expected.join("\n")
    );
}

/// Returns a line without the time in front of it. Pages show the output of a terminal; the output of a test goes to a file, where
/// `get` and `seed` print times.
fn without_date(line: &str) -> &str {
    let pattern = "dddd-dd-ddTdd:dd:dd+dd:dd ";
    let Some((time, rest)) = line.split_at_checked(pattern.len()) else {
        return line;
    };
    let is_time = time
        .chars()
        .zip(pattern.chars())
        .all(|(found, expected)| match expected {
            'd' => found.is_ascii_digit(),
            '+' => found == '+' || found == '-',
            expected => found == expected,
        });
    if is_time { rest } else { line }
}

/// Runs the examples of a page.
fn check(page: &str, programs: &[Program]) {
    let are_installed = programs
        .iter()
        .all(|(name, program, package)| is_installed(name, program, package));
    if !are_installed {
        return;
    }
    if !can_isolate() {
        return report_no_namespace();
    }
    let steps = steps(&text_of(page));
    let mut n_run = 0;
    for (n, ended) in run(page, &steps).into_iter().enumerate() {
        let Ended { printed, status } = ended;
        let (Step::File { name: command, .. }
        | Step::Until(command)
        | Step::Example(Example { command, .. })) = &steps[n];
        let place = format!("{page}: {command}");
        let is_shown =
            matches!(steps.get(n + 1), Some(Step::Example(next)) if next.command == "echo $?");
        assert!(is_shown || status == "0", "{place}: {status}: {printed}");
        if let Step::Example(example) = &steps[n] {
            n_run += 1;
            assert_printed(&place, example, &printed);
        }
    }
    assert!(n_run > 0, "{page}: no examples");
}

/// Declares a test for each page, and the list of all pages.
macro_rules! pages {
    ($($name:ident: $page:literal $([$($require:literal: $program:literal of $package:literal),*])?;)*) => {
        $(
            #[test]
            fn $name() {
                check($page, &[$($(($require, $program, $package)),*)?]);
            }
        )*

        const PAGES: &[&str] = &[$($page),*];
    };
}

pages! {
    readme: "README.md";
    installation: "docs/start/install.md";
    a_downloader: "docs/start/downloader.md";
    a_seedbox: "docs/start/seedbox.md" ["CURL": "curl" of "curl"];
    an_archive: "docs/start/archive.md";
    a_developer: "docs/start/developer.md" ["PYTHON": "python3" of "python3"];
    a_recovery: "docs/start/recovery.md";
    a_service: "docs/guides/service.md";
    media_managers: "docs/guides/media-managers.md"
        ["TRANSMISSION_REMOTE": "transmission-remote" of "transmission-cli", "CURL": "curl" of "curl"];
    moving_from_clients: "docs/guides/moving.md";
    moving_from_tools: "docs/guides/moving-tools.md" ["MKTORRENT": "mktorrent" of "mktorrent"];
    archives: "docs/guides/archives.md";
    private_trackers: "docs/guides/private-trackers.md";
    monitoring: "docs/guides/monitoring.md" ["CURL": "curl" of "curl"];
    tuning: "docs/guides/tuning.md";
}

/// A page with examples is in the list above.
#[test]
fn every_page_with_examples_is_run() {
    for part in ["docs/start", "docs/guides", "docs/explanations"] {
        for entry in fs::read_dir(workspace().join(part)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            let page = format!("{part}/{}", path.file_name().unwrap().display());
            let steps = steps(&text_of(&page));
            let has_examples = steps.iter().any(|step| matches!(step, Step::Example(_)));
            assert_eq!(has_examples, PAGES.contains(&&*page), "{page}");
        }
    }
}
