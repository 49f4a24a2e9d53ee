//! The manifest of the workspace and its lock file. A step that names crates depends on a part of them, so that a new dependency
//! of another crate does not run it again.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::project::Project;

pub(super) const LOCK: &str = "Cargo.lock";
pub(super) const MANIFEST: &str = "Cargo.toml";

pub(super) struct Manifests {
    manifest: toml::Table,
    packages: BTreeMap<String, Vec<Package>>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

/// A package of the lock file.
#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    #[serde(default)]
    checksum: String,
    /// `name`, `name version` or `name version (source)`.
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Manifests {
    pub(super) fn read(project: &Project) -> Result<Self> {
        let manifest = project.shell.read_file(project.path(MANIFEST))?;
        let lock = project.shell.read_file(project.path(LOCK))?;
        Self::parse(&manifest, &lock)
    }

    pub(super) fn parse(manifest: &str, lock: &str) -> Result<Self> {
        let lock: Lock = toml::from_str(lock).context(LOCK)?;
        let mut packages: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for package in lock.package {
            let versions = packages.entry(package.name.clone()).or_default();
            versions.push(package);
        }
        Ok(Self {
            manifest: manifest.parse().context(MANIFEST)?,
            packages,
        })
    }

    /// Returns what crates depend on: the locked packages, and the manifest without the dependencies of others.
    pub(super) fn of_crates<'a>(&self, crates: impl Iterator<Item = &'a str>) -> Result<String> {
        let mut names = BTreeSet::new();
        for name in crates {
            self.add_package(name, &mut names);
        }
        let packages = names.iter().filter_map(|name| self.packages.get(*name));
        let lines = packages.flatten().map(|package| {
            let Package {
                name,
                version,
                checksum,
                dependencies,
            } = package;
            format!("{name} {version} {checksum} {}\n", dependencies.join(", "))
        });
        let mut text: String = lines.collect();
        let mut manifest = self.manifest.clone();
        if let Some(workspace) = manifest
            .get_mut("workspace")
            .and_then(toml::Value::as_table_mut)
        {
            // Which crates there are says the list of files.
            workspace.remove("members");
            let dependencies = workspace.get_mut("dependencies");
            if let Some(dependencies) = dependencies.and_then(toml::Value::as_table_mut) {
                dependencies.retain(|key, value| {
                    let package = value.get("package").and_then(toml::Value::as_str);
                    names.contains(package.unwrap_or(key))
                });
            }
        }
        text += &toml::to_string(&manifest)?;
        Ok(text)
    }

    /// Adds a package, in all of its versions, and everything that it depends on.
    fn add_package<'a>(&'a self, name: &str, names: &mut BTreeSet<&'a str>) {
        let Some((name, versions)) = self.packages.get_key_value(name) else {
            return;
        };
        if names.insert(name) {
            let dependencies = versions.iter().flat_map(|package| &package.dependencies);
            for name in dependencies.filter_map(|dependency| dependency.split(' ').next()) {
                self.add_package(name, names);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
        workspace.dependencies = { sha = { path = "sha" }, net = { package = "client", path = "net" }, log = "1.0" }
        profile.dev.debug = false
    "#;

    fn of(manifest: &str, lock: &str, name: &str) -> String {
        let manifests = Manifests::parse(manifest, lock).unwrap();
        manifests.of_crates([name].into_iter()).unwrap()
    }

    fn lock(log: &str, url: &str) -> String {
        let package = |name: &str, version: &str, dependencies: &str| {
            format!(
                "[[package]]\nname = {name:?}\nversion = {version:?}\ndependencies = [{dependencies}]\n"
            )
        };
        package("sha", "0.1.0", r#""log 1.0""#)
            + &package("client", "0.1.0", r#""sha", "url""#)
            + &package("log", log, "")
            + &package("url", url, "")
    }

    #[test]
    fn a_crate_depends_on_its_own_packages() {
        let before = lock("1.0", "2.0");
        let of_sha = |manifest: &str, lock: &str| of(manifest, lock, "sha");
        assert_ne!(
            of_sha(MANIFEST, &before),
            of_sha(MANIFEST, &lock("1.1", "2.0"))
        );
        assert_eq!(
            of_sha(MANIFEST, &before),
            of_sha(MANIFEST, &lock("1.0", "2.1"))
        );
        assert_ne!(
            of(MANIFEST, &before, "client"),
            of(MANIFEST, &lock("1.0", "2.1"), "client")
        );
    }

    #[test]
    fn a_crate_depends_on_the_manifest_without_other_dependencies() {
        let lock = lock("1.0", "2.0");
        let of = |manifest: &str| of(manifest, &lock, "sha");
        let before = of(MANIFEST);
        assert_ne!(
            before,
            of(&MANIFEST.replace("debug = false", "debug = true"))
        );
        assert_ne!(before, of(&MANIFEST.replace("1.0", "1")));
        assert_eq!(
            before,
            of(&MANIFEST.replace("path = \"net\"", "path = \"web\""))
        );
        let with_more = MANIFEST.replace(
            "workspace.dependencies = {",
            "workspace.dependencies = { url = \"2.0\",",
        );
        assert_eq!(before, of(&with_more));
    }
}
