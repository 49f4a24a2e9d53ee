//! The packages of Debian: `*.md5sums` in `/var/lib/dpkg/info`, and the configuration files in `/var/lib/dpkg/status`.
//!
//! Sources: deb-md5sums(5), dpkg-divert(1), dpkg(1) with `--path-exclude`, and deb-src-control(5) for the fields of the status file.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobMatcher};
use hashlane_sums::{Algorithm, path_of};

use crate::file::KnownFile;
use crate::text;

/// Maximum length of a file of dpkg in bytes.
const MAX_LEN: u64 = 64 << 20;

/// The files of installed packages.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Packages {
    /// The files with known digests, in the order of the packages. The paths are relative to the root folder.
    pub files: Vec<KnownFile>,
    /// Packages with files, but without digests.
    pub without_digests: Vec<String>,
    /// Lines that cannot be used.
    pub improper: Vec<Improper>,
}

/// A line that cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub struct Improper {
    /// The file with the line.
    pub path: PathBuf,
    /// The number of the line, from 1.
    pub line: usize,
}

/// The reason why packages cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of dpkg cannot be read.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// A named package is not installed.
    #[error("{0}: is not installed")]
    NotInstalled(String),
    /// A pattern of `path-exclude` or `path-include`.
    #[error("{}: {error}", .path.display())]
    Pattern {
        /// The configuration file.
        path: PathBuf,
        /// The problem.
        error: globset::Error,
    },
}

/// Reads what dpkg knows of installed packages, or of those with these names, for example `libc6` or `libc6:amd64`. `root` is the root
/// folder of the system.
///
/// Files that another package has taken over or diverted, and configuration files that were to be removed, are left out. So are absent
/// files that dpkg was configured not to install.
///
/// # Errors
/// See [`Error`].
pub fn read(root: &Path, names: &[String]) -> Result<Packages, Error> {
    let admin = root.join("var/lib/dpkg");
    let reader = Reader {
        root,
        info: admin.join("info"),
        diversions: diversions(&admin.join("diversions"))?,
        exclusions: Exclusions::read(&root.join("etc/dpkg"))?,
    };
    let installed = installed(&admin.join("status"))?;
    let is_named = |name: &String, package: &Package| {
        *name == package.name || *name == format!("{}:{}", package.name, package.architecture)
    };
    for name in names {
        if !installed.iter().any(|package| is_named(name, package)) {
            return Err(Error::NotInstalled(name.clone()));
        }
    }
    let mut packages = Packages::default();
    for package in installed {
        if names.is_empty() || names.iter().any(|name| is_named(name, &package)) {
            reader.add(package, &mut packages)?;
        }
    }
    Ok(packages)
}

/// An installed package.
#[derive(Default)]
struct Package {
    name: String,
    architecture: String,
    is_installed: bool,
    config_files: Vec<KnownFile>,
}

/// Reads the status file: paragraphs of fields, separated by empty lines.
fn installed(status: &Path) -> Result<Vec<Package>, Error> {
    let mut packages = Vec::new();
    let mut package = Package::default();
    let mut is_in_config_files = false;
    let mut end = |package: &mut Package| {
        let package = std::mem::take(package);
        if package.is_installed && !package.name.is_empty() {
            packages.push(package);
        }
    };
    for line in lines(status)? {
        if line.is_empty() {
            end(&mut package);
            continue;
        }
        if let Some(value) = line.strip_prefix(b" ") {
            if is_in_config_files && let Some(file) = config_file(value) {
                package.config_files.push(file);
            }
            continue;
        }
        is_in_config_files = line.starts_with(b"Conffiles:");
        let value = |field: &str| {
            let value = line.strip_prefix(field.as_bytes())?;
            Some(String::from_utf8_lossy(value.trim_ascii()).into_owned())
        };
        if let Some(name) = value("Package:") {
            package.name = name;
        } else if let Some(architecture) = value("Architecture:") {
            package.architecture = architecture;
        } else if let Some(state) = value("Status:") {
            let state = state.rsplit(' ').next();
            let without_files = ["not-installed", "config-files", "half-installed"];
            package.is_installed = state.is_some_and(|state| !without_files.contains(&state));
        }
    }
    end(&mut package);
    Ok(packages)
}

/// Returns the file of a line of `Conffiles`: the path, the digest, and possibly remarks.
fn config_file(line: &[u8]) -> Option<KnownFile> {
    // Only the remarks at the end have spaces for sure: a path may contain some.
    let line = line.strip_suffix(b" obsolete").unwrap_or(line);
    let (path, digest) = line.split_at(line.iter().rposition(|byte| *byte == b' ')?);
    // `newconffile` stands for a digest that is not known yet, and `remove-on-upgrade` for a file that is to be absent.
    known(path, &digest[1..])
}

/// Returns the file with a path of dpkg and an MD5 sum.
fn known(path: &[u8], digest: &[u8]) -> Option<KnownFile> {
    let path = path_of(path.strip_prefix(b"/").unwrap_or(path));
    let digest = text::digest(Algorithm::Md5, digest)?;
    text::stays_inside(&path).then_some(KnownFile {
        path,
        len_bytes: None,
        digest,
    })
}

/// Returns the other places of diverted files, with the packages whose files keep their place.
fn diversions(path: &Path) -> Result<HashMap<PathBuf, (PathBuf, String)>, Error> {
    if !path.exists() {
        return Ok(HashMap::new());
    }
    let lines = lines(path)?;
    let inside = |path: &[u8]| path_of(path.strip_prefix(b"/").unwrap_or(path));
    let triples = lines.chunks_exact(3);
    let diverted = triples.map(|lines| {
        let package = String::from_utf8_lossy(&lines[2]).into_owned();
        (inside(&lines[0]), (inside(&lines[1]), package))
    });
    let stay_inside = |(from, (to, _)): &(PathBuf, (PathBuf, String))| {
        text::stays_inside(from) && text::stays_inside(to)
    };
    Ok(diverted.filter(stay_inside).collect())
}

/// The files that dpkg was configured not to install.
struct Exclusions(Vec<(GlobMatcher, bool)>);

impl Exclusions {
    /// Reads `path-exclude` and `path-include` in the configuration of dpkg.
    fn read(folder: &Path) -> Result<Self, Error> {
        let mut files = vec![folder.join("dpkg.cfg")];
        let parts = folder.join("dpkg.cfg.d").read_dir();
        let mut parts: Vec<_> = parts
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        parts.sort_unstable();
        files.extend(parts);
        let mut exclusions = Vec::new();
        for path in files.into_iter().filter(|path| path.is_file()) {
            for line in lines(&path)? {
                let line = String::from_utf8_lossy(&line).trim().to_owned();
                let parts = line.split_once(['=', ' ']);
                let Some((option @ ("path-exclude" | "path-include"), pattern)) = parts else {
                    continue;
                };
                // The wildcards of fnmatch(3) match slashes, too.
                let glob = Glob::new(pattern.trim().trim_start_matches('/'));
                let glob = glob.map_err(|error| Error::Pattern {
                    path: path.clone(),
                    error,
                })?;
                exclusions.push((glob.compile_matcher(), option == "path-exclude"));
            }
        }
        Ok(Self(exclusions))
    }

    /// Returns `true` if dpkg does not install this file: the last pattern that matches decides.
    fn contain(&self, path: &Path) -> bool {
        let mut patterns = self.0.iter().rev();
        let last = patterns.find(|(pattern, _)| pattern.is_match(path));
        last.is_some_and(|(_, is_excluded)| *is_excluded)
    }
}

struct Reader<'r> {
    root: &'r Path,
    info: PathBuf,
    diversions: HashMap<PathBuf, (PathBuf, String)>,
    exclusions: Exclusions,
}

impl Reader<'_> {
    /// Adds the files of a package.
    fn add(&self, package: Package, packages: &mut Packages) -> Result<(), Error> {
        let own = self.own_files(&package)?;
        let Some(sums) = self.info_file(&package, "md5sums") else {
            // dpkg lists at least the root folder.
            if own.is_empty() || self.has_file(&own, &package) {
                packages.without_digests.push(package.name);
            }
            return Ok(());
        };
        let mut files = Vec::new();
        for (i, line) in lines(&sums)?.iter().enumerate() {
            let parts = line.split_at_checked(32);
            let file = parts.and_then(|(digest, path)| known(path.strip_prefix(b"  ")?, digest));
            match file {
                Some(file) if own.contains(&file.path) => files.push(file),
                // Another package has taken it over.
                Some(_) => {}
                None => packages.improper.push(Improper {
                    path: sums.clone(),
                    line: i + 1,
                }),
            }
        }
        if own.is_empty() || files.is_empty() && self.has_file(&own, &package) {
            packages.without_digests.push(package.name.clone());
        }
        files.extend(package.config_files);
        for mut file in files {
            if let Some((place, by)) = self.diversions.get(&file.path)
                && by.split(':').next() != Some(&package.name)
            {
                file.path.clone_from(place);
            }
            let is_excluded = self.exclusions.contain(&file.path);
            if !is_excluded || self.root.join(&file.path).exists() {
                packages.files.push(file);
            }
        }
        Ok(())
    }

    /// Returns `true` if the package has a file that is no configuration file. Links have no digests.
    fn has_file(&self, own: &HashSet<PathBuf>, package: &Package) -> bool {
        let config_files = package.config_files.iter();
        own.iter().any(|path| {
            let metadata = self.root.join(path).symlink_metadata();
            metadata.is_ok_and(|metadata| metadata.is_file())
                && !config_files.clone().any(|file| file.path == *path)
        })
    }

    /// Returns the paths that the package owns.
    fn own_files(&self, package: &Package) -> Result<HashSet<PathBuf>, Error> {
        let Some(list) = self.info_file(package, "list") else {
            return Ok(HashSet::new());
        };
        let lines = lines(&list)?.into_iter();
        Ok(lines
            .map(|line| path_of(line.strip_prefix(b"/").unwrap_or(&line)))
            .collect())
    }

    /// Returns a file that dpkg keeps of a package, if it exists. Packages for several architectures have theirs in the name.
    fn info_file(&self, package: &Package, kind: &str) -> Option<PathBuf> {
        let Package {
            name, architecture, ..
        } = package;
        let names = [
            format!("{name}:{architecture}.{kind}"),
            format!("{name}.{kind}"),
        ];
        // A name of the status file is no path.
        let mut names = names.iter().filter(|name| !name.contains('/'));
        names
            .by_ref()
            .map(|name| self.info.join(name))
            .find(|path| path.is_file())
    }
}

/// Returns the lines of a file.
fn lines(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let io_error = |error| Error::Io {
        path: path.to_owned(),
        error,
    };
    if !path.metadata().map_err(io_error)?.is_file() {
        return Err(io_error(io::Error::other("not a regular file")));
    }
    let bytes = text::read(path, MAX_LEN).map_err(io_error)?;
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    Ok(bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect())
}
