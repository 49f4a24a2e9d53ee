//! The machine of a run: what it is, and the tools that steps need. `.ci/tools.toml` names each with its version.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;
use xshell::cmd;

use crate::counterparts;
use crate::engine::available;
use crate::not_run::not_run;
use crate::project::Project;

/// `.ci/tools.toml`, without the counterparts of tests.
#[derive(Deserialize)]
struct Tools {
    /// Packages of Debian, by a file that each brings along: an absolute path, or a program in PATH.
    debian: BTreeMap<String, String>,
    /// Packages from pip that contain a program, by its name.
    programs: BTreeMap<String, String>,
    /// Packages from pip that tests import, by their module.
    modules: BTreeMap<String, String>,
    /// Programs that Go builds, by their name.
    go: BTreeMap<String, String>,
    /// Programs that Cargo builds, by their name. Only FULL=1 takes this time.
    cargo: BTreeMap<String, String>,
    /// What must be installed for a test to be required, by its name.
    require: BTreeMap<String, Vec<String>>,
}

impl Tools {
    fn read(project: &Project) -> Result<Self> {
        let text = project.shell.read_file(project.path(".ci/tools.toml"))?;
        toml::from_str(&text).context(".ci/tools.toml")
    }
}

/// The name of the processor.
pub(crate) fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line = info.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(": ")?.1.to_owned())
    };
    let name = value("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    match (value("cpu family"), value("model\t")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name,
    }
}

pub(crate) fn print(project: &Project) {
    println!("== machine: {}", processor());
    for program in [
        "rustc --version",
        "cargo --version",
        "uname -srm",
        "df -h --output=avail .",
    ] {
        let line = project
            .command(program)
            .quiet()
            .ignore_stderr()
            .read()
            .unwrap_or_default();
        println!("{}", line.replace('\n', " "));
    }
}

/// Installs what is missing. What cannot be installed is reported, and the steps that need it say so again.
pub(crate) fn install(project: &Project) -> Result<()> {
    let shell = &project.shell;
    let tools = Tools::read(project)?;
    for component in ["rustfmt", "clippy", "rust-src"] {
        cmd!(shell, "rustup component add {component}")
            .quiet()
            .ignore_stderr()
            .run()
            .ok();
    }
    if !project.succeeds("rustup run nightly rustc --version") {
        cmd!(shell, "rustup toolchain install nightly --profile minimal")
            .run()
            .ok();
    }
    debian(project, &tools.debian);
    others(project, &tools);
    if std::env::var_os("FULL").is_some() {
        for (program, package) in tools
            .cargo
            .iter()
            .filter(|(program, _)| !project.has(program))
        {
            if project
                .cargo(&format!(
                    "install --quiet --locked --debug --no-default-features {package}"
                ))
                .run()
                .is_err()
            {
                not_run(
                    program,
                    "Cargo could not build it",
                    &format!("cargo install --locked {package}"),
                );
            }
        }
    }
    counterparts::install(project)
}

fn debian(project: &Project, packages: &BTreeMap<String, String>) {
    let is_missing = |file: &&String| {
        if file.starts_with('/') {
            !project.path(file).exists()
        } else {
            !project.has(file)
        }
    };
    let missing: Vec<_> = packages.keys().filter(is_missing).collect();
    let names: Vec<_> = missing
        .iter()
        .flat_map(|file| packages[*file].split(' '))
        .collect();
    if names.is_empty() {
        return;
    }
    let list = names.join(" ");
    if !project.has("apt-get") || !project.succeeds("test -w /var/lib/dpkg") {
        not_run(
            "steps with other programs",
            "packages are missing",
            &format!("apt-get install {list}"),
        );
        return;
    }
    project
        .command("apt-get update -q")
        .ignore_stdout()
        .run()
        .ok();
    let install = || {
        project
            .command("apt-get install -q -y --no-install-recommends")
            .args(&names)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .ignore_stdout()
            .run()
    };
    if install().is_err() {
        not_run(
            "steps with other programs",
            "packages could not be installed",
            &format!("apt-get install {list}"),
        );
    }
}

/// Installs programs in a folder of the checkout, which is put in front of PATH, and modules for the Python of this machine.
fn others(project: &Project, tools: &Tools) {
    let shell = &project.shell;
    let folder = project.path("target/checkers");
    let path = shell.var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.join("bin")).chain(std::env::split_paths(&path));
    if let Ok(path) = std::env::join_paths(folders) {
        shell.set_var("PATH", path);
    }
    for (program, package) in tools
        .programs
        .iter()
        .filter(|(program, _)| !project.has(program))
    {
        let pip = cmd!(
            shell,
            "python3 -m pip install --quiet --no-deps --prefix {folder} {package}"
        );
        if pip.run().is_err() {
            not_run(
                program,
                "pip could not install it",
                &format!("pip install {package}"),
            );
        }
    }
    for (program, package) in tools.go.iter().filter(|(program, _)| !project.has(program)) {
        let install = cmd!(shell, "go install {package}").env("GOBIN", folder.join("bin"));
        if install.run().is_err() {
            not_run(
                program,
                "Go could not build it",
                &format!("go install {package}"),
            );
        }
    }
    for (module, package) in &tools.modules {
        if imports(project, module) {
            continue;
        }
        let pip = |options: &[&str]| {
            cmd!(
                shell,
                "python3 -m pip install --quiet {options...} {package}"
            )
            .run()
        };
        // Debian's Python refuses packages of pip without this option.
        if pip(&["--break-system-packages"]).is_err() && pip(&[]).is_err() {
            not_run(
                &format!("tests with {module}"),
                "pip could not install it",
                &format!("pip install {package}"),
            );
        }
    }
}

/// Returns `true` if Python has a module.
fn imports(project: &Project, module: &str) -> bool {
    let code = format!("import {module}");
    let python = cmd!(project.shell, "python3 -c {code}").quiet();
    python.ignore_stdout().ignore_stderr().run().is_ok()
}

/// Returns the variables by which tests know what must not be reported as not run: the kernels that this CPU has, and tests of what is
/// installed.
pub(crate) fn requirements(project: &Project) -> Result<Vec<(String, String)>> {
    let tools = Tools::read(project)?;
    let is_met = |need: &String| match need.split_once(' ') {
        Some(("python", module)) => imports(project, module),
        Some(("$", command)) => project.succeeds(command),
        _ if need.contains('/') => project.path(need).exists(),
        _ => project.has(need),
    };
    let required = tools
        .require
        .iter()
        .filter(|(_, needs)| needs.iter().all(is_met));
    let name = |name: &String| (format!("HASHLANE_TEST_REQUIRE_{name}"), "1".to_owned());
    let mut variables: Vec<_> = required.map(|(variable, _)| name(variable)).collect();
    variables.push(("HASHLANE_TEST_REQUIRE".to_owned(), available(|_| true)));
    Ok(variables)
}
