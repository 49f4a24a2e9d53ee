//! What a step depends on, and which of these states it has passed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use xshell::cmd;

use super::manifests::{LOCK, MANIFEST, Manifests};
use crate::project::Project;

/// One line for each step: its name, the hash of its inputs, the date and the machine of the pass.
const PASSED: &str = ".ci/passed";

/// What an input begins with that stands for a crate, and all crates that it is built from.
const CRATE: &str = "crate ";

/// The files of the checkout with the hash of their content, and the folders of its crates.
pub(crate) struct Files {
    contents: BTreeMap<String, String>,
    crates: BTreeMap<String, Crate>,
    manifests: Manifests,
}

/// A crate of the workspace.
struct Crate {
    folder: String,
    /// The crates of the workspace that it is built and tested with.
    imports: Vec<String>,
}

impl Files {
    /// Reads the files that Git knows, and those that it does not ignore, as they are in the working tree.
    pub(crate) fn of(project: &Project) -> Result<Self> {
        let shell = &project.shell;
        let mut contents = BTreeMap::new();
        let listed = cmd!(shell, "git ls-files --stage").quiet().read()?;
        for line in listed.lines() {
            let (state, path) = line
                .split_once('\t')
                .context("git ls-files prints no path")?;
            let hash = state
                .split(' ')
                .nth(1)
                .context("git ls-files prints no hash")?;
            contents.insert(path.to_owned(), hash.to_owned());
        }
        let changed = cmd!(shell, "git ls-files --modified --others --exclude-standard")
            .quiet()
            .read()?;
        for path in changed.lines() {
            if !project.path(path).is_file() {
                contents.remove(path);
                continue;
            }
            let hash = cmd!(shell, "git hash-object -- {path}").quiet().read()?;
            contents.insert(path.to_owned(), hash);
        }
        contents.remove(PASSED);
        Ok(Self {
            contents,
            crates: crates(project)?,
            manifests: Manifests::read(project)?,
        })
    }

    /// Returns the lines `HASH PATH` of all files that a step depends on: its inputs, and every file that is an input of no step. Of
    /// the manifest and the lock file, it has the part that the crates of the step need.
    pub(crate) fn of_step(&self, inputs: &[String], all: &[&[String]]) -> Result<Vec<String>> {
        let own = self.paths(inputs)?;
        let mut known = BTreeSet::new();
        for inputs in all {
            known.extend(self.paths(inputs)?);
        }
        let is_input = |path: &str| is_below(path, &own) || !is_below(path, &known);
        let mut crates = inputs
            .iter()
            .filter_map(|input| input.strip_prefix(CRATE))
            .peekable();
        let names_crates = crates.peek().is_some();
        let is_in_part = |path: &str| names_crates && [LOCK, MANIFEST].contains(&path);
        let files = self
            .contents
            .iter()
            .filter(|(path, _)| is_input(path) && !is_in_part(path));
        let mut lines: Vec<_> = files.map(|(path, hash)| format!("{hash} {path}")).collect();
        if names_crates {
            lines.push(self.manifests.of_crates(crates)?);
        }
        Ok(lines)
    }

    /// Returns the paths that inputs stand for.
    fn paths(&self, inputs: &[String]) -> Result<BTreeSet<String>> {
        let mut paths = BTreeSet::new();
        for input in inputs {
            if let Some(name) = input.strip_prefix(CRATE) {
                self.add_crate(name, &mut paths)?;
            } else {
                paths.insert(input.clone());
            }
        }
        Ok(paths)
    }

    /// Adds the folder of a crate, and those of all crates that it imports.
    fn add_crate(&self, name: &str, paths: &mut BTreeSet<String>) -> Result<()> {
        let found = self.crates.get(name);
        let found = found.with_context(|| format!("{name}: the workspace has no such crate"))?;
        if paths.insert(found.folder.clone()) {
            for import in &found.imports {
                self.add_crate(import, paths)?;
            }
        }
        Ok(())
    }
}

/// Returns `true` if a path is one of these files, or in one of these folders.
fn is_below(path: &str, paths: &BTreeSet<String>) -> bool {
    let mut end = path.len();
    loop {
        if paths.contains(&path[..end]) {
            return true;
        }
        match path[..end].rfind('/') {
            Some(at) => end = at,
            None => return false,
        }
    }
}

/// Reads the manifests of the workspace.
fn crates(project: &Project) -> Result<BTreeMap<String, Crate>> {
    let mut crates = BTreeMap::new();
    let mut folders = project.shell.read_dir(project.path("crates"))?;
    folders.push(project.path("xtask"));
    for folder in folders {
        let Ok(text) = std::fs::read_to_string(folder.join("Cargo.toml")) else {
            continue;
        };
        let manifest: toml::Table = text.parse()?;
        let name = manifest["package"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        let tables = targets.into_iter().flat_map(|targets| targets.values());
        let tables = tables.filter_map(toml::Value::as_table).chain([&manifest]);
        let imports = tables.flat_map(imports).collect();
        let folder = folder
            .strip_prefix(&project.root)?
            .to_string_lossy()
            .into_owned();
        crates.insert(name, Crate { folder, imports });
    }
    Ok(crates)
}

/// The crates of the workspace in the lists of dependencies of a manifest, or of one target in it.
fn imports(table: &toml::Table) -> Vec<String> {
    let lists = ["dependencies", "dev-dependencies", "build-dependencies"];
    let lists = lists.iter().filter_map(|list| table.get(*list)?.as_table());
    lists
        .flat_map(toml::Table::keys)
        .filter(|name| name.starts_with("hashlane"))
        // The package has the name of the program.
        .map(|name| {
            if name == "hashlane-cli" {
                "hashlane".to_owned()
            } else {
                name.clone()
            }
        })
        .collect()
}

/// Returns one hash of texts.
pub(crate) fn key(project: &Project, text: &str, lines: &[String]) -> Result<String> {
    let input = format!("{text}\n{}\n", lines.join("\n"));
    let hash = cmd!(project.shell, "git hash-object --stdin")
        .stdin(input)
        .quiet()
        .read()?;
    Ok(hash)
}

/// The last recorded pass of each step.
pub(crate) struct Passes {
    lines: BTreeMap<String, String>,
    machine: String,
}

impl Passes {
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let text = std::fs::read_to_string(project.path(PASSED)).unwrap_or_default();
        let lines = text.lines().filter_map(|line| {
            let (name, rest) = line.split_once(' ')?;
            Some((name.to_owned(), rest.to_owned()))
        });
        let date = cmd!(project.shell, "date --utc +%Y-%m-%d").quiet().read()?;
        let machine = format!("{date} {}", super::machine::processor());
        Ok(Self {
            lines: lines.collect(),
            machine,
        })
    }

    /// Returns the date and machine of a pass with the same inputs.
    pub(crate) fn find(&self, name: &str, key: &str) -> Option<String> {
        let (recorded, when) = self.lines.get(name)?.split_once(' ')?;
        (recorded == key).then(|| when.to_owned())
    }

    pub(crate) fn add(&mut self, name: &str, key: &str) {
        self.lines
            .insert(name.to_owned(), format!("{key} {}", self.machine));
    }

    pub(crate) fn write(&self, project: &Project) -> Result<()> {
        let lines = self
            .lines
            .iter()
            .map(|(name, rest)| format!("{name} {rest}\n"));
        project
            .shell
            .write_file(project.path(PASSED), lines.collect::<String>())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::steps::Table;

    fn lines(files: &Files, table: &[Vec<String>], at: usize) -> Vec<String> {
        let all: Vec<_> = table.iter().map(Vec::as_slice).collect();
        files.of_step(&table[at], &all).unwrap()
    }

    #[test]
    fn a_file_that_is_an_input_of_no_step_is_one_of_every_step() {
        let project = Project::open().unwrap();
        let files = Files::of(&project).unwrap();
        let steps = Table::read(&project).unwrap();
        let table: Vec<_> = steps
            .choose(&[])
            .unwrap()
            .iter()
            .map(|step| step.inputs.clone())
            .collect();
        let mut paths = BTreeSet::new();
        for inputs in &table {
            paths.extend(files.paths(inputs).unwrap());
        }
        for removed in paths {
            // A file below this path alone, and below no other path of the table.
            let other = |inputs: &Vec<String>| {
                let mut left = files.paths(inputs).unwrap();
                left.remove(&removed);
                left.into_iter().collect::<Vec<_>>()
            };
            let without: Vec<_> = table.iter().map(other).collect();
            let left: BTreeSet<_> = without.iter().flatten().cloned().collect();
            // The manifest and the lock file are inputs in part.
            if [LOCK, MANIFEST].contains(&&*removed) {
                continue;
            }
            let Some(path) = files.contents.keys().find(|path| {
                is_below(path, &BTreeSet::from([removed.clone()])) && !is_below(path, &left)
            }) else {
                continue;
            };
            for at in 0..without.len() {
                let input = lines(&files, &without, at);
                assert!(
                    input.iter().any(|line| line.ends_with(&format!(" {path}"))),
                    "{path}"
                );
            }
        }
    }

    #[test]
    fn a_step_depends_on_its_inputs_and_on_what_its_crates_import() {
        let file = |path: &str| (path.to_owned(), "0".to_owned());
        let imports = vec!["hashlane-sha".to_owned()];
        let files = Files {
            contents: [
                "crates/sha/a",
                "crates/verify/b",
                "crates/net/c",
                "docs/d",
                "e",
            ]
            .map(file)
            .into(),
            crates: [
                ("hashlane-sha", "crates/sha", Vec::new()),
                ("hashlane-verify", "crates/verify", imports),
            ]
            .map(|(name, folder, imports)| {
                (
                    name.to_owned(),
                    Crate {
                        folder: folder.to_owned(),
                        imports,
                    },
                )
            })
            .into(),
            manifests: Manifests::parse("", "package = []").unwrap(),
        };
        let table = vec![
            vec!["crate hashlane-verify".to_owned()],
            vec!["crates".to_owned(), "docs".to_owned()],
        ];
        assert_eq!(
            lines(&files, &table, 0),
            ["0 crates/sha/a", "0 crates/verify/b", "0 e", ""]
        );
        assert_eq!(lines(&files, &table, 1).len(), 5);
    }

    #[test]
    fn a_pass_counts_for_the_same_inputs_alone() {
        let mut passes = Passes {
            lines: BTreeMap::new(),
            machine: "2026-01-01 CPU".to_owned(),
        };
        passes.add("test", "k1");
        assert_eq!(passes.find("test", "k1").as_deref(), Some("2026-01-01 CPU"));
        assert_eq!(passes.find("test", "k2"), None);
        assert_eq!(passes.find("lint", "k1"), None);
    }
}
