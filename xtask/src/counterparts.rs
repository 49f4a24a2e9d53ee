//! The programs that tests compare with, or drive Hashlane by. They are installed in folders of their own below target/, where the
//! tests look for them, and never as a part of a test.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;
use xshell::cmd;

use crate::project::{Project, not_run};

/// The part of `.ci/tools.toml` that this module reads.
#[derive(Deserialize)]
struct Tools {
    /// Packages from pip, by the name of their folder.
    counterparts: BTreeMap<String, Vec<String>>,
}

/// Packages of npm: the folder below target/, and that with the manifest and the lock file.
const NPM: [(&str, &str); 3] = [
    ("axe", "crates/net/tests/swarm/axe"),
    ("tsc", "crates/client/tests/page"),
    ("ipfs", "crates/trees/tests/ipfs"),
];

/// The folder whose tests are in the source archive of the package alone.
const WITH_TESTS: &str = "qbittorrent-api";

/// Installs what is missing or older than its list.
pub(crate) fn install(project: &Project) -> Result<()> {
    let list = project.path(".ci/tools.toml");
    let tools: Tools =
        toml::from_str(&project.shell.read_file(&list)?).context(".ci/tools.toml")?;
    for (name, source) in NPM {
        each(
            project,
            name,
            &format!("{source}/package-lock.json"),
            "npm",
            |folder| npm(project, folder, source),
        )?;
    }
    for (name, packages) in &tools.counterparts {
        each(project, name, ".ci/tools.toml", "pip", |folder| {
            pip(project, name, folder, packages)
        })?;
    }
    Ok(())
}

/// Installs one program, unless its folder is newer than the list. A folder that is not complete is removed.
fn each(
    project: &Project,
    name: &str,
    list: &str,
    tool: &str,
    install: impl FnOnce(&str) -> Result<()>,
) -> Result<()> {
    let shell = &project.shell;
    let folder = format!("target/{name}");
    let stamp = format!("{folder}/.installed");
    let wanted = cmd!(shell, "git hash-object -- {list}").quiet().read()?;
    if shell.read_file(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    shell.remove_path(&folder)?;
    if install(&folder).is_ok() {
        return Ok(shell.write_file(stamp, wanted)?);
    }
    not_run(
        &format!("tests with {name}"),
        &format!("{tool} could not install it"),
        "cargo xtask counterparts",
    );
    Ok(shell.remove_path(folder)?)
}

fn npm(project: &Project, folder: &str, source: &str) -> Result<()> {
    let shell = &project.shell;
    shell.create_dir(folder)?;
    for file in ["package.json", "package-lock.json"] {
        shell.copy_file(format!("{source}/{file}"), folder)?;
    }
    Ok(cmd!(
        shell,
        "npm ci --prefix {folder} --ignore-scripts --no-audit --no-fund"
    )
    .run()?)
}

fn pip(project: &Project, name: &str, folder: &str, packages: &[String]) -> Result<()> {
    let shell = &project.shell;
    let pip = |environment: &str, arguments: &[String]| {
        let pip = format!("{environment}/bin/pip");
        cmd!(
            shell,
            "{pip} --quiet --disable-pip-version-check {arguments...}"
        )
        .run()
    };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    if name != WITH_TESTS {
        cmd!(shell, "python3 -m venv {folder}").run()?;
        return Ok(pip(
            folder,
            &[words("install"), packages.to_vec()].concat(),
        )?);
    }
    let environment = format!("{folder}/venv");
    cmd!(shell, "python3 -m venv {environment}").run()?;
    pip(
        &environment,
        &[words("install"), packages.to_vec()].concat(),
    )?;
    let download = format!(
        "download --no-deps --no-binary :all: --dest {folder} {}",
        packages[0]
    );
    pip(&environment, &words(&download))?;
    // The tests expect this name of their folder.
    let source = format!("{folder}/{WITH_TESTS}");
    shell.create_dir(&source)?;
    let archives = shell.read_dir(folder)?;
    let archive = archives
        .iter()
        .find(|path| path.to_string_lossy().ends_with(".tar.gz"));
    let archive = archive.context("pip has downloaded no archive")?;
    Ok(cmd!(shell, "tar -xzf {archive} --strip-components=1 -C {source}").run()?)
}
