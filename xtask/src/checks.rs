//! Checks that run no test: formatting, lints, the order of imports, documentation, packages.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use clap::Subcommand;
use xshell::cmd;

use crate::not_run::not_run;
use crate::project::Project;

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Check what to check before each commit, in less than two minutes: formatting, layering, links, clippy, unit tests
    Check,
    /// Check formatting, clippy, layering, links, the page's types, workflows, Python files and recorded benchmarks
    Lint,
    /// Check that crates and modules import each other only as tools/layering allows
    Layering,
    /// Check licences, sources and advisories of dependencies (needs cargo-deny)
    Deny,
    /// Build the book in target/book (needs mdbook), and the documentation of all crates in target/doc: `make docs`
    Docs,
    /// Write the descriptions that are generated from types and options, such as docs/reference/openapi.json
    Describe,
    /// Type-check for other systems (needs their rustup targets)
    CheckTargets,
    /// Check that each crate can be published, builds without files outside its package, and is documented on docs.rs
    Package,
    /// Compare the public API with that of a commit (needs cargo-semver-checks)
    Semver {
        /// The last release or, before the first release, the last commit that changed the API on purpose
        #[arg(long, default_value = "7cf0dcf")]
        baseline: String,
    },
}

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        match self {
            Self::Check => check(project),
            Self::Lint => lint(project),
            Self::Layering => Ok(project.command("tools/layering").run()?),
            Self::Deny => deny(project),
            Self::Docs => docs(project),
            Self::Describe => describe(project),
            Self::CheckTargets => check_targets(project),
            Self::Package => package(project),
            Self::Semver { baseline } => semver(project, &baseline),
        }
    }
}

/// The quickest checks. The Monte Carlo tests of the kernels take longest, and `make test` runs them.
fn check(project: &Project) -> Result<()> {
    texts(project)?;
    let features = project.features();
    project
        .cargo(&format!("clippy --workspace {features} -- --deny warnings"))
        .run()?;
    let tests = format!("test --workspace {features} --lib -- --skip monte_carlo");
    Ok(project.cargo(&tests).run()?)
}

/// What is checked without a compiler.
fn texts(project: &Project) -> Result<()> {
    reports(project)?;
    if project.has("python3") {
        project.command("tools/layering").run()?;
        project.command("tools/links").run()?;
    } else {
        not_run(
            "the checks of imports and links",
            "Python is missing",
            "apt-get install python3",
        );
    }
    Ok(project.cargo("fmt --all --check").run()?)
}

/// Reports of what was not run have one form, because only these files write them. Records of benchmarks have others.
fn reports(project: &Project) -> Result<()> {
    const WRITERS: [&str; 4] = [
        "dist/test",
        "kernel/test/run",
        "python/tests/conftest.py",
        "tests/not_run.rs",
    ];
    let literal = r#"["']NOT RUN: "#;
    let found = cmd!(
        project.shell,
        "git grep --untracked --files-with-matches --extended-regexp {literal} -- :!bench :!*.toml"
    )
    .quiet()
    .read()?;
    let others: Vec<_> = found
        .lines()
        .filter(|file| !WRITERS.contains(file))
        .collect();
    if !others.is_empty() {
        bail!(
            "use tests/not_run.rs to report what is not run: {}",
            others.join(", ")
        );
    }
    Ok(())
}

/// Packages have the same features in programs and in tests: otherwise Cargo compiles them twice, with everything that imports them.
fn features_of_tests(project: &Project) -> Result<()> {
    let packages = |edges: &str| -> Result<BTreeSet<String>> {
        let tree = format!(
            "tree --workspace {} --edges {edges} --prefix none",
            project.features()
        );
        let text = project
            .cargo(&tree)
            .args(["--format", "{p} [{f}]"])
            .quiet()
            .read()?;
        let lines = text.lines().map(|line| line.trim_end_matches(" (*)"));
        Ok(lines.map(str::to_owned).collect())
    };
    let programs = packages("normal,build")?;
    let tests = packages("normal,build,dev")?;
    let others: Vec<_> = programs.difference(&tests).collect();
    if !others.is_empty() {
        bail!(
            "tests turn on further features of these packages, so add them to Cargo.toml: {others:#?}"
        );
    }
    Ok(())
}

/// Checks that workflows name actions by commits, which nobody can replace, with their versions beside.
fn actions_are_pinned(project: &Project) -> Result<()> {
    for file in project.shell.read_dir(project.path(".github/workflows"))? {
        for line in project.shell.read_file(&file)?.lines() {
            let Some((_, action)) = line.split_once("uses: ") else {
                continue;
            };
            let commit = action.split_once('@').map_or("", |(_, commit)| commit);
            let is_pinned = commit.split_once(" # v").is_some_and(|(commit, _)| {
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
            });
            if !is_pinned {
                bail!(
                    "{}: {action}: write the commit, and the version as a comment",
                    file.display()
                );
            }
        }
    }
    Ok(())
}

/// The other workspaces of the repository.
const OTHERS: [&str; 3] = ["bench/sha", "bench/ladder", "kernel"];

fn lint(project: &Project) -> Result<()> {
    texts(project)?;
    features_of_tests(project)?;
    page(project)?;
    if project.has("ruff") {
        project.command("ruff check").run()?;
        project.command("ruff format --check bench").run()?;
    } else {
        not_run(
            "the check of the Python files",
            "ruff is missing",
            ".ci/tools.toml names its version",
        );
    }
    if project.has("actionlint") {
        project.command("actionlint").run()?;
    } else {
        not_run(
            "the check of workflows",
            "actionlint is missing",
            ".ci/tools.toml names its version",
        );
    }
    actions_are_pinned(project)?;
    project.command("python3 -B bench/tests.py").run()?;
    project
        .command("tools/mutants --list")
        .ignore_stdout()
        .run()?;
    for other in OTHERS {
        project
            .cargo(&format!("fmt --manifest-path {other}/Cargo.toml --check"))
            .run()?;
    }
    let features = optional_features(project);
    let clippy = |options: &str| {
        project
            .cargo(&format!(
                "clippy --all-targets {options} -- --deny warnings"
            ))
            .run()
    };
    clippy(&format!("--workspace {features}"))?;
    clippy("--package hashlane-simd --package hashlane-sha --no-default-features")?;
    clippy("--locked --manifest-path bench/sha/Cargo.toml --target-dir target/bench-sha")?;
    project
        .cargo("clippy --locked --manifest-path kernel/Cargo.toml --target-dir target/kernel/lint -- --deny warnings")
        .run()?;
    Ok(())
}

/// All features of the workspace that this machine can build.
fn optional_features(project: &Project) -> String {
    let engine = "--features hashlane-sha/digest,hashlane-sha/oid,hashlane-sha/zeroize,hashlane-sha/serde,hashlane-metainfo/serde";
    format!("{engine} {}", project.features())
}

/// The READMEs of crates link to pages of docs.rs, which must exist there.
fn pages_of_crates(project: &Project) -> Result<()> {
    let shell = &project.shell;
    let mut missing = Vec::new();
    for package in shell.read_dir("crates")? {
        let name = package
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let readme = package.join("README.md");
        if !readme.is_file()
            || (!project.has_libtorrent()
                && ["swarm", "client", "session", "web"].contains(&&*name))
        {
            continue;
        }
        let text = shell.read_file(&readme)?;
        for link in text.split("https://docs.rs/hashlane").skip(1) {
            let link = link
                .split([' ', ')', '#', '>', '\n'])
                .next()
                .unwrap_or_default();
            let Some((_, page)) = link.split_once("/latest/") else {
                continue;
            };
            if !project.path("target/doc").join(page).exists() {
                missing.push(format!("{}: docs.rs has no page {page}", readme.display()));
            }
        }
    }
    if !missing.is_empty() {
        bail!("{}", missing.join("\n"));
    }
    Ok(())
}

/// Writes what is generated. A test of the package `hashlane-describe` compares it.
fn describe(project: &Project) -> Result<()> {
    if !project.has_libtorrent() {
        bail!("describe needs libtorrent: apt-get install libtorrent-rasterbar-dev");
    }
    // With the features of the whole workspace, as the tests have them.
    let program = "hashlane-describe";
    let build = format!("build --workspace {} --bin {program}", project.features());
    project.cargo(&build).run()?;
    Ok(project.command(&format!("target/debug/{program}")).run()?)
}

/// Checks the types of the page's scripts.
fn page(project: &Project) -> Result<()> {
    let compiler = "target/tsc/node_modules/.bin/tsc";
    if !project.path(compiler).exists() {
        not_run(
            "the check of the page's types",
            "TypeScript is missing",
            "cargo xtask counterparts",
        );
        return Ok(());
    }
    Ok(cmd!(project.shell, "{compiler} --project crates/web/tests/page").run()?)
}

fn deny(project: &Project) -> Result<()> {
    project.need("deny", &["cargo-deny"], "cargo install --locked cargo-deny")?;
    project.cargo("deny check bans licenses sources").run()?;
    if project
        .cargo("deny fetch db")
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_ok()
    {
        project
            .cargo("deny check --disable-fetch advisories")
            .run()?;
    } else {
        not_run(
            "advisories",
            "cargo-deny could not fetch their database",
            "it needs a network",
        );
    }
    Ok(())
}

fn docs(project: &Project) -> Result<()> {
    options_page(project)?;
    if project.has("mdbook") {
        let folder = project.path("target/book");
        cmd!(project.shell, "mdbook build docs --dest-dir {folder}").run()?;
    } else {
        not_run(
            "the book",
            "mdbook is missing",
            "cargo install --locked --no-default-features mdbook",
        );
    }
    project
        .cargo(&format!(
            "doc --workspace --no-deps --document-private-items {}",
            optional_features(project)
        ))
        .env("RUSTDOCFLAGS", "--deny warnings")
        .run()?;
    pages_of_crates(project)
}

/// Writes the page of the book that has the help of every command. It is no part of the repository.
fn options_page(project: &Project) -> Result<()> {
    // As the tests build it.
    let build = format!("build --workspace --bin hashlane {}", project.features());
    project.cargo(&build).run()?;
    let mut text = "# Options\n\nThe output of `--help` of each command. `hashlane man COMMAND` shows the same as a man page, and \
                    `hashlane COMMAND -h` a short list.\n"
        .to_owned();
    append_help(project, &mut text, &[])?;
    Ok(project
        .shell
        .write_file(project.path("docs/reference/options.md"), text)?)
}

/// Appends the help of a command and of its subcommands, each below a heading.
fn append_help(project: &Project, text: &mut String, command: &[&str]) -> Result<()> {
    let program = project.path("target/debug/hashlane");
    let help = cmd!(project.shell, "{program} {command...} --help")
        .quiet()
        .read()?;
    let heading = [&["hashlane"], command].concat().join(" ");
    text.extend(["\n## ", &heading, "\n\n```text\n", &help, "\n```\n"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    // Further lines of a description are indented more.
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for name in names.filter(|name| !name.is_empty() && *name != "help") {
        append_help(project, text, &[command, &[name]].concat())?;
    }
    Ok(())
}

fn check_targets(project: &Project) -> Result<()> {
    const TARGETS: [&str; 3] = [
        "aarch64-unknown-linux-gnu",
        "aarch64-apple-darwin",
        "x86_64-pc-windows-gnu",
    ];
    project.command("rustup target add").args(TARGETS).run()?;
    for target in TARGETS {
        let check =
            "check --workspace --exclude hashlane-python --exclude xtask --target-dir target/other";
        // Types need no C code, for which this machine has no compiler.
        let variable = |name: &str| format!("{name}_{}", target.replace('-', "_"));
        project
            .cargo(&format!("{check} --target {target}"))
            .env(variable("CC"), "true")
            .env(variable("AR"), "true")
            .run()?;
    }
    Ok(())
}

/// Libraries for C, which `make install` and packages install, and jobs.
const UNPUBLISHED: [&str; 6] = [
    "hashlane-capi",
    "hashlane-describe",
    "hashlane-libmd",
    "hashlane-pkcs11",
    "hashlane-python",
    "xtask",
];

fn package(project: &Project) -> Result<()> {
    let shell = &project.shell;
    // As docs.rs builds it.
    project.need_nightly("package")?;
    project
        .cargo("+nightly doc --no-deps --target-dir target/docs --package hashlane-simd --package hashlane-sha --all-features")
        .env("RUSTDOCFLAGS", "--cfg docsrs --deny warnings")
        .run()?;
    // Cargo keeps the unpacked crates of a target folder, and would check new crates against old ones.
    let build = shell.create_temp_dir()?;
    let folder = build.path();
    let mut publish = project
        .cargo("publish --dry-run --allow-dirty --workspace --target-dir")
        .arg(folder);
    for package in UNPUBLISHED {
        publish = publish.args(["--exclude", package]);
    }
    publish.run()?;
    project
        .cargo("package --no-verify --allow-dirty --package hashlane-simd --package hashlane-sha --target-dir")
        .arg(folder)
        .run()?;
    let version = project.manifest_value("version")?;
    let mut unpacked = Vec::new();
    for package in ["hashlane-simd", "hashlane-sha"] {
        let archive = folder.join(format!("package/{package}-{version}.crate"));
        cmd!(shell, "tar -xf {archive} -C {folder}").run()?;
        unpacked.push(folder.join(format!("{package}-{version}")));
    }
    let [simd, sha] = &*unpacked else {
        bail!("two packages")
    };
    project
        .cargo("check --all-targets --all-features --target-dir")
        .arg(folder)
        .arg("--config")
        .arg(format!(
            "patch.crates-io.hashlane-simd.path='{}'",
            simd.display()
        ))
        .arg("--manifest-path")
        .arg(sha.join("Cargo.toml"))
        .run()?;
    Ok(())
}

fn semver(project: &Project, baseline: &str) -> Result<()> {
    const EXCLUDED: &str = "hashlane hashlane-net hashlane-config hashlane-swarm hashlane-client hashlane-session hashlane-web hashlane-remote hashlane-import hashlane-border \
                            hashlane-capi hashlane-describe hashlane-libmd hashlane-pkcs11 xtask";
    project.need(
        "semver",
        &["cargo-semver-checks"],
        "cargo install --locked cargo-semver-checks",
    )?;
    let mut check = project.cargo("semver-checks --workspace");
    for package in EXCLUDED.split_whitespace() {
        check = check.args(["--exclude", package]);
    }
    Ok(check.args(["--baseline-rev", baseline]).run()?)
}
