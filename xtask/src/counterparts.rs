//! Programs that tests compare Hashlane with, or drive it by. The repository does not contain them: tests look for them in target/.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;
use xshell::cmd;

use crate::not_run::not_run;
use crate::project::Project;
use crate::python;

/// The file with the versions. Other jobs read its other sections.
const TOOLS: &str = ".ci/tools.toml";
/// The file of a folder that says what is installed there. It is written last.
const INSTALLED: &str = "installed.txt";

#[derive(Deserialize)]
struct Tools {
    counterparts: BTreeMap<String, Counterpart>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counterpart {
    what: String,
    #[serde(default)]
    pip: Vec<String>,
    #[serde(default)]
    npm: Vec<String>,
    archive: Option<String>,
}

/// Installs what is missing, or has other versions than required. One that cannot be installed is reported as not run.
pub(crate) fn install(project: &Project) -> Result<()> {
    let text = project.shell.read_file(TOOLS)?;
    let tools: Tools = toml::from_str(&text).context(TOOLS)?;
    for (name, counterpart) in &tools.counterparts {
        let folder = format!("target/{name}");
        let stamp = format!("{folder}/{INSTALLED}");
        let wanted = counterpart.versions(project)?;
        // By contents, not by time: a checkout gives all files a new time.
        let found = project.shell.read_file(&stamp);
        if found.is_ok_and(|found| found == wanted) {
            continue;
        }
        project.shell.remove_path(&folder)?;
        let done = counterpart.install(project, name, &folder);
        match done.and_then(|()| Ok(project.shell.write_file(&stamp, wanted)?)) {
            Ok(()) => println!("{folder} is installed"),
            Err(error) => {
                // Otherwise, tests would use a part of it.
                project.shell.remove_path(&folder)?;
                let because = format!("{folder} could not be installed ({error:#})");
                not_run(&counterpart.what, &because, "cargo xtask counterparts");
            }
        }
    }
    Ok(())
}

impl Counterpart {
    /// Returns the text that identifies an installation: the packages of `PyPI`, or the files of the package.
    fn versions(&self, project: &Project) -> Result<String> {
        let mut versions = self.pip.join("\n");
        for file in &self.npm {
            versions += &project.shell.read_file(file)?;
        }
        Ok(versions)
    }

    fn install(&self, project: &Project, name: &str, folder: &str) -> Result<()> {
        let shell = &project.shell;
        for file in &self.npm {
            shell.copy_file(file, shell.create_dir(folder)?)?;
        }
        if !self.npm.is_empty() {
            project.need("npm ci", &["npm"], "apt-get install npm")?;
            cmd!(
                shell,
                "npm ci --prefix {folder} --ignore-scripts --no-audit --no-fund"
            )
            .run()?;
        }
        let Some(archive) = &self.archive else {
            if !self.pip.is_empty() {
                python::environment(project, folder, &self.pip)?;
            }
            return Ok(());
        };
        let venv = format!("{folder}/venv");
        python::environment(project, &venv, &self.pip)?;
        let options = "--quiet --disable-pip-version-check --no-deps --no-binary :all:".split(' ');
        cmd!(
            shell,
            "{venv}/bin/pip download {options...} --dest {folder} {archive}"
        )
        .run()?;
        let packed = python::files(project, folder, "", ".tar.gz")?;
        let unpacked = shell.create_dir(format!("{folder}/{name}"))?;
        cmd!(
            shell,
            "tar -xzf {packed...} --strip-components=1 -C {unpacked}"
        )
        .run()?;
        Ok(())
    }
}
