//! The tests of the workspace, and selections of them with settings of their own.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use crate::ci::bare;
use crate::not_run::not_run;
use crate::project::Project;
use crate::report::{JUNIT, JUNIT_BARE, LACKED, Report};

/// Many tests wait for other processes, and use no processor meanwhile.
const MIN_THREADS: usize = 6;

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Run all tests of the workspace, by cargo-nextest if it is installed: `make test`
    Test {
        /// Options and filters for cargo-nextest, or for `cargo test`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run all tests where only Rust, a C compiler, make and git are found, and then those that lacked something
    TestTwice,
    /// Test the scripts of the page without a browser (needs Node.js 20 or later)
    TestPage,
    /// Check by their instructions that commands take twice the work for twice the files (needs valgrind)
    TestGrowth,
    /// Kill each download 100 times, and the daemon and the writer of its folder 300 times
    TestKills,
    /// Add and remove 100,000 torrents in a client, and compare its memory
    TestClientMemory,
    /// Recover random strings of each kind (takes hours)
    TestRecover {
        /// Strings of each kind
        #[arg(long, default_value_t = 10_000)]
        cases: u32,
    },
    /// Run the tests of get, seed and the daemon with the address and undefined behaviour sanitizers over the C++ part (takes long)
    TestAsanSwarm,
    /// Renew the screenshots of the page in docs/images (needs Chromium and chromedriver)
    Screenshots,
}

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        match self {
            Self::Test { arguments } => test(project, &arguments),
            Self::TestTwice => test_twice(project),
            Self::TestPage => page(project),
            Self::TestGrowth => growth(project),
            Self::TestKills => kills(project),
            Self::TestClientMemory => client_memory(project),
            Self::TestRecover { cases } => Ok(project
                .cargo("test --release --package hashlane-base58 --test it every_kind:: -- --nocapture")
                .env("HASHLANE_TEST_RECOVER", cases.to_string())
                .run()?),
            Self::TestAsanSwarm => asan_swarm(project),
            Self::Screenshots => screenshots(project),
        }
    }
}

/// Runs every test of the workspace once, and reports what was not run.
fn test(project: &Project, arguments: &[String]) -> Result<()> {
    let mut report = Report::default();
    if arguments.is_empty() {
        page(project)?;
        if !project.has("node") {
            report.add(
                "the tests of the page's scripts",
                "Node.js is missing",
                "apt-get install nodejs",
            );
        }
    }
    if !project.has_libtorrent() {
        report.add(
            "the tests of get, seed and daemon",
            "libtorrent-rasterbar 2.0.8 or later, pkg-config or a C++ compiler is missing",
            "sudo make setup",
        );
    }
    let passed = if project.has("cargo-nextest") {
        nextest(project, arguments, &mut report)?
    } else {
        cargo_test(project, arguments, &mut report)?
    };
    report.print();
    if !passed {
        bail!("tests failed");
    }
    report.check()
}

/// Runs each test once or twice: in a bare environment, and with everything that is installed if it said there that something is
/// missing. Others would only do the same again.
fn test_twice(project: &Project) -> Result<()> {
    // Where `bare` runs nothing, each test runs once.
    if !project.has("cargo-nextest") || !project.has("dpkg-query") {
        return test(project, &[]);
    }
    let (junit, junit_bare) = (project.path(JUNIT), project.path(JUNIT_BARE));
    project.shell.remove_path(&junit)?;
    project.shell.remove_path(&junit_bare)?;
    project
        .cargo("nextest run --workspace --no-run")
        .args(project.features().split_whitespace())
        .run()?;
    let words = ["make", "test"].map(str::to_owned);
    let bare = bare::run(project, true, &words);
    std::fs::rename(&junit, &junit_bare).context("cargo-nextest has written no results")?;
    let mut report = Report::default();
    let left = report.lacking_tests(&junit_bare)?;
    println!("== {} {LACKED}", left.len());
    page(project)?;
    let mut passed = true;
    if !left.is_empty() {
        let filter = left
            .iter()
            .map(|(binary, name)| format!("(binary_id(={binary}) & test(={name}))"));
        let filter = [
            "--filterset".to_owned(),
            filter.collect::<Vec<_>>().join(" | "),
        ];
        passed = nextest(project, &filter, &mut report)?;
    }
    report.print();
    bare?;
    if !passed {
        bail!("tests failed");
    }
    report.check()
}

/// Runs the tests by cargo-nextest: each in a process of its own, all test programs at once. Then those in documentation, which it
/// does not run.
fn nextest(project: &Project, arguments: &[String], report: &mut Report) -> Result<bool> {
    let junit = project.path(JUNIT);
    project.shell.remove_path(&junit)?;
    let threads = n_threads().to_string();
    let mut passed = project
        .cargo("nextest run --workspace --no-tests=fail --test-threads")
        .arg(threads)
        .args(project.features().split_whitespace())
        .args(arguments)
        .env("HASHLANE_CONFIG", "/dev/null")
        .run()
        .is_ok();
    report
        .add_junit(&junit, false)
        .context("cargo-nextest has written no results")?;
    if arguments.is_empty() {
        passed &= doc_tests(project);
    }
    Ok(passed)
}

fn doc_tests(project: &Project) -> bool {
    project
        .cargo("test --quiet --workspace --doc")
        .args(project.features().split_whitespace())
        .env("HASHLANE_CONFIG", "/dev/null")
        .run()
        .is_ok()
}

/// Runs the tests by `cargo test`, one test program after the other. The output of tests that passed is not printed, but searched
/// for what was not run.
fn cargo_test(project: &Project, arguments: &[String], report: &mut Report) -> Result<bool> {
    eprintln!("cargo-nextest is not installed: the test programs run one after the other");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(project.features().split_whitespace())
        .args(arguments);
    if !arguments.iter().any(|argument| argument == "--") {
        command.arg("--");
    }
    command
        .arg("--show-output")
        .env("HASHLANE_CONFIG", "/dev/null")
        .env("RUST_TEST_THREADS", n_threads().to_string())
        .current_dir(&project.root)
        .stdout(Stdio::piped());
    eprintln!("$ {command:?}");
    // Some tests write to standard error itself, past the harness.
    let (reader, writer) = std::io::pipe()?;
    let mut child = command.stderr(writer.try_clone()?).stdout(writer).spawn()?;
    drop(command);
    let mut is_of_passed = false;
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        report.add_output(&line);
        is_of_passed = match &*line {
            "successes:" => true,
            "failures:" => false,
            line => is_of_passed && !line.starts_with("test result: "),
        };
        if !is_of_passed {
            println!("{line}");
        }
    }
    Ok(child.wait()?.success())
}

fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(MIN_THREADS, |n| n.get().max(MIN_THREADS))
}

fn page(project: &Project) -> Result<()> {
    if !project.has("node") {
        not_run(
            "the tests of the page's scripts",
            "Node.js is missing",
            "apt-get install nodejs",
        );
        return Ok(());
    }
    let _folder = project.shell.push_dir("crates/web/tests/page");
    Ok(project.command("node --test").run()?)
}

/// The tests of `get`, `seed` and the daemon.
const NET: &str = "test --workspace --features libtorrent --test it --package hashlane-net";

fn growth(project: &Project) -> Result<()> {
    project.need("test-growth", &["valgrind"], "apt-get install valgrind")?;
    let test = "test --package hashlane --test it growth:: -- --ignored --nocapture";
    Ok(project.cargo(test).run()?)
}

fn kills(project: &Project) -> Result<()> {
    let net = |times: &str, arguments: &str| {
        project
            .cargo(&format!("{NET} {arguments} --nocapture"))
            .env("HASHLANE_TEST_KILLS", times)
            .run()
    };
    net("100", "a_killed -- --skip a_killed_daemon")?;
    net("300", "a_killed_daemon --")?;
    project
        .cargo("test --package hashlane-store --test it kills:: -- --nocapture")
        .env("HASHLANE_TEST_KILLS", "300")
        .run()?;
    Ok(())
}

fn client_memory(project: &Project) -> Result<()> {
    let test = "test --package hashlane-client --features libtorrent --test it memory:: -- --ignored --nocapture";
    Ok(project.cargo(test).run()?)
}

/// Skipped: tests that load a library into the process, which would come before the sanitizer, or limit its memory, and tests with
/// other programs. Leaks count as errors.
fn asan_swarm(project: &Project) -> Result<()> {
    let host = project.host()?;
    let skipped = "--skip unreadable:: --skip threads:: --skip endless_headers --skip foreign:: --skip chromium";
    let variable = host.replace('-', "_");
    project
        .cargo(&format!(
            "test --target {host} --target-dir target/asan-swarm --package hashlane-net --features libtorrent --test it -- {skipped}"
        ))
        .env(
            format!("CXXFLAGS_{variable}"),
            "-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer",
        )
        .env(format!("CARGO_TARGET_{}_LINKER", variable.to_uppercase()), "g++")
        .env(
            format!("CARGO_TARGET_{}_RUSTFLAGS", variable.to_uppercase()),
            "-Cdefault-linker-libraries=yes -Clink-arg=-fsanitize=address,undefined",
        )
        .env("ASAN_OPTIONS", "exitcode=99")
        .env("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1:exitcode=99")
        .run()?;
    Ok(())
}

/// The pictures of the documentation, of all that the tests of the page take.
const PICTURES: [&str; 7] = [
    "overview-desktop-light",
    "overview-desktop-dark",
    "list-phone-light",
    "overview-phone-dark",
    "files-phone-light",
    "list-zoom",
    "overview-contrast",
];

fn screenshots(project: &Project) -> Result<()> {
    let folder = project.path("target/pictures");
    project
        .cargo(&format!("{NET} pictures_in_chromium"))
        .env("HASHLANE_TEST_REQUIRE_BROWSER", "1")
        .env("HASHLANE_TEST_PICTURES", &folder)
        .run()?;
    for picture in PICTURES {
        let name = format!("{picture}.png");
        project
            .shell
            .copy_file(folder.join(&name), project.path("docs/images").join(&name))?;
    }
    Ok(())
}
