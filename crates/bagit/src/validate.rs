//! Compares a bag with its manifests (RFC 8493, section 3).

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use hashlane_files::nfc;
use hashlane_sums::{Algorithm, Digest};

use crate::contents::Contents;
use crate::declaration::{self, DECLARATION};
use crate::error::Error;
use crate::hash::{Run, ToHash};
use crate::info::{INFO, Info, Oxum};
use crate::manifest::{self, FETCH, Kind, Manifest};
use crate::path::{PAYLOAD, place};
use crate::problem::{LineProblem, Problem, ProblemKind};
use crate::version::Version;

/// How much of a bag is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Depth {
    /// The bytes and the number of the payload files, by `Payload-Oxum`. Nothing is hashed.
    Oxum,
    /// Whether the listed files and no others exist. Nothing is hashed.
    Completeness,
    /// All bytes of all files.
    Digests,
}

/// The result for a whole bag. A program must decide about each, so a new one is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything that was compared is right.
    Valid,
    /// All that is missing has an address in `fetch.txt`.
    Incomplete,
    /// Something is missing, changed or improper.
    Invalid,
    /// Something could not be read or compared, and nothing else is known to be wrong.
    NotChecked,
}

/// The result of a validation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Validation {
    /// The version that the bag declares.
    pub version: Version,
    /// Number of the payload files that exist.
    pub n_files: u64,
    /// Their length in bytes.
    pub n_bytes: u64,
    /// The algorithms of the payload manifests that were compared.
    pub algorithms: Vec<Algorithm>,
    /// Number of files that `fetch.txt` lists and that do not exist.
    pub n_not_fetched: u64,
    /// Number of problems that make the bag invalid.
    pub n_invalid: u64,
    /// Number of files that could not be read or compared.
    pub n_unchecked: u64,
    /// The files whose names are in another Unicode form than in a manifest, as in a copy by macOS. They are right.
    pub other_forms: BTreeSet<String>,
}

impl Validation {
    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            _ if self.n_invalid > 0 => Verdict::Invalid,
            _ if self.n_unchecked > 0 => Verdict::NotChecked,
            _ if self.n_not_fetched > 0 => Verdict::Incomplete,
            _ => Verdict::Valid,
        }
    }
}

/// Validates a bag. `report` gets each problem. Links are not followed, no path leads out of the bag, and nothing is fetched.
///
/// # Errors
/// The folder is no bag, its declaration or `bag-info.txt` cannot be used, [`Error::NoOxum`] with [`Depth::Oxum`],
/// [`Error::Cancelled`], or nothing can be hashed at all.
pub fn validate(
    bag: &Path,
    depth: Depth,
    run: &mut Run<'_>,
    report: &mut dyn FnMut(Problem),
) -> Result<Validation, Error> {
    let version = declaration::read(bag)?;
    let info = Info::read(bag)?;
    let contents = Contents::of(bag);
    let payload = contents
        .files
        .iter()
        .filter(|(path, _)| path.starts_with(PAYLOAD));
    let (mut n_files, mut n_bytes) = (0, 0_u64);
    for (_, stamp) in payload {
        n_files += 1;
        n_bytes = n_bytes.saturating_add(stamp.length());
    }
    let mut check = Check {
        bag,
        files: &contents.files,
        found: Validation {
            version,
            n_files,
            n_bytes,
            algorithms: Vec::new(),
            n_not_fetched: 0,
            n_invalid: 0,
            n_unchecked: 0,
            other_forms: BTreeSet::new(),
        },
        forms: None,
        fetch: BTreeMap::new(),
        expected: BTreeMap::new(),
        report,
    };
    for (path, reason) in &contents.others {
        check.note(&path.to_string_lossy(), ProblemKind::NotAFile(reason));
    }
    for (path, error) in contents.errors {
        check.note(&path.to_string_lossy(), ProblemKind::Unreadable(error));
    }
    if !bag.join("data").is_dir() {
        check.note("data", ProblemKind::Required);
    }
    let oxum = info.as_ref().map_or(Ok(None), Info::oxum);
    let oxum = oxum.unwrap_or_else(|value| {
        check.note(INFO, ProblemKind::OxumForm(value));
        None
    });
    if depth == Depth::Oxum {
        match oxum {
            Some(oxum) => check.compare_oxum(oxum),
            // The form of the value is a problem.
            None if check.found.n_invalid > 0 => {}
            None => return Err(Error::NoOxum(bag.to_owned())),
        }
        return Ok(check.found);
    }
    check.read_manifests()?;
    if let Some(oxum) = oxum.filter(|_| check.found.n_not_fetched == 0) {
        check.compare_oxum(oxum);
    }
    if depth == Depth::Digests {
        check.compare_digests(run)?;
    }
    Ok(check.found)
}

/// An expected digest, with the manifest that has it.
type Expected = (Algorithm, Digest, Arc<str>);

struct Check<'c> {
    bag: &'c Path,
    files: &'c BTreeMap<String, hashlane_files::Stamp>,
    found: Validation,
    /// Files that `fetch.txt` lists and that do not exist, with the number of payload manifests that list them.
    fetch: BTreeMap<String, usize>,
    /// The files whose names are not ASCII, by normalization form C; `None` where two fall together. Known when it is needed.
    forms: Option<BTreeMap<String, Option<&'c str>>>,
    /// Expected digests of the files that exist.
    expected: BTreeMap<&'c str, Vec<Expected>>,
    report: &'c mut dyn FnMut(Problem),
}

impl<'c> Check<'c> {
    fn note(&mut self, path: &str, kind: ProblemKind) {
        match &kind {
            ProblemKind::NotFetched => self.found.n_not_fetched += 1,
            kind if kind.is_unchecked() => self.found.n_unchecked += 1,
            _ => self.found.n_invalid += 1,
        }
        (self.report)(Problem {
            path: path.to_owned(),
            kind,
        });
    }

    fn compare_oxum(&mut self, oxum: Oxum) {
        let expected = (oxum.n_bytes, oxum.n_files);
        let found = (self.found.n_bytes, self.found.n_files);
        if expected != found {
            self.note(INFO, ProblemKind::Oxum { expected, found });
        }
    }

    fn read_manifests(&mut self) -> Result<(), Error> {
        self.read_fetch()?;
        let names = self.files.keys();
        let manifests: Vec<Manifest> = names.filter_map(|name| Manifest::of_name(name)).collect();
        let of_payload = |manifest: &&Manifest| manifest.kind == Kind::Payload;
        let payload: Vec<&Manifest> = manifests.iter().filter(of_payload).collect();
        if payload.is_empty() {
            self.note("manifest-sha512.txt", ProblemKind::Required);
        }
        // Files that no payload manifest lists, for version 0.97.
        let mut unlisted: BTreeSet<&str> = self.payload().collect();
        for manifest in &payload {
            self.found.algorithms.extend(manifest.algorithm);
            let listed = self.read_manifest(manifest)?;
            unlisted.retain(|path| !listed.contains(path));
            if self.found.version >= Version::V1_0 {
                let missing = self.payload().filter(|path| !listed.contains(path));
                for path in missing.collect::<Vec<_>>() {
                    self.note(path, ProblemKind::Unlisted(manifest.name.clone()));
                }
            }
        }
        if self.found.version < Version::V1_0 && !payload.is_empty() {
            for path in unlisted {
                self.note(path, ProblemKind::Unlisted("a manifest".into()));
            }
        }
        for manifest in manifests
            .iter()
            .filter(|manifest| manifest.kind == Kind::Tags)
        {
            let listed = self.read_manifest(manifest)?;
            for payload in &payload {
                if !listed.contains(payload.name.as_str()) {
                    self.note(&payload.name, ProblemKind::Unlisted(manifest.name.clone()));
                }
            }
        }
        let needed = match self.found.version {
            Version::V0_97 => 1,
            Version::V1_0 => payload.len().max(1),
        };
        for (path, n_listed) in std::mem::take(&mut self.fetch) {
            let kind = if n_listed < needed {
                ProblemKind::Unlisted("each manifest, which fetch.txt requires".into())
            } else {
                ProblemKind::NotFetched
            };
            self.note(&path, kind);
        }
        Ok(())
    }

    fn payload(&self) -> impl Iterator<Item = &'c str> + use<'c> {
        let payload = self.files.keys().map(String::as_str);
        payload.filter(|path| path.starts_with(PAYLOAD))
    }

    /// Returns the file that a list means: in the Unicode form of the list, or in another one that no other file has.
    fn file_of(&mut self, path: &str) -> Option<&'c str> {
        let files = self.files;
        if let Some((path, _)) = files.get_key_value(path) {
            return Some(path);
        }
        if path.is_ascii() {
            return None;
        }
        let forms = self.forms.get_or_insert_with(|| {
            let mut forms = BTreeMap::new();
            for path in files.keys().filter(|path| !path.is_ascii()) {
                let known = forms.entry(nfc(path).into_owned());
                known
                    .and_modify(|known| *known = None)
                    .or_insert(Some(&**path));
            }
            forms
        });
        let path = forms.get(&*nfc(path)).copied().flatten()?;
        self.found.other_forms.insert(path.to_owned());
        Some(path)
    }

    /// Reads the list of files that are not in the bag yet.
    fn read_fetch(&mut self) -> Result<(), Error> {
        manifest::read_fetch(self.bag, self.found.version, |line, path| match path {
            Ok(path) if self.file_of(&path).is_some() => {}
            Ok(path) => {
                self.fetch.insert(path, 0);
            }
            Err(problem) => self.note(FETCH, ProblemKind::Line(line, problem)),
        })
    }

    /// Reads a manifest, and returns the existing files that it lists.
    fn read_manifest(&mut self, manifest: &Manifest) -> Result<BTreeSet<&'c str>, Error> {
        let name: Arc<str> = manifest.name.as_str().into();
        let version = self.found.version;
        let mut listed = BTreeSet::new();
        if manifest.algorithm.is_none() {
            self.note(&name, ProblemKind::UnknownAlgorithm);
        }
        let bag = self.bag;
        manifest::read(bag, manifest, version, |line, entry| {
            let (path, digest) = match entry {
                Ok(entry) => entry,
                Err(problem) => return self.note(&name, ProblemKind::Line(line, problem)),
            };
            let Some(path) = self.file_of(&path) else {
                match self.fetch.get_mut(&path) {
                    Some(n_listed) if manifest.kind == Kind::Payload => *n_listed += 1,
                    _ => self.note_absent(&path, &name),
                }
                return;
            };
            if manifest.kind == Kind::Tags && path.starts_with("tagmanifest-") {
                let problem = LineProblem::Outside(path.to_owned());
                self.note(&name, ProblemKind::Line(line, problem));
                return;
            }
            let is_new = listed.insert(path);
            let expected = self.expected.entry(path).or_default();
            let mut before = expected.iter();
            let same = before.find(|(algorithm, _, _)| manifest.algorithm == Some(*algorithm));
            let is_same = same.is_some_and(|(_, known, _)| *known == digest);
            if !is_new && (version >= Version::V1_0 || !is_same) {
                let problem = LineProblem::Repeated(path.to_owned());
                return self.note(&name, ProblemKind::Line(line, problem));
            }
            if let Some(algorithm) = manifest.algorithm
                && is_new
            {
                expected.push((algorithm, digest, Arc::clone(&name)));
            }
        })?;
        Ok(listed)
    }

    /// Reports a listed file that is not among the files. Links and the like were reported before.
    fn note_absent(&mut self, path: &str, manifest: &str) {
        match place(self.bag, path).symlink_metadata() {
            Ok(metadata) if !metadata.is_dir() => {}
            Err(error) if !is_absent(&error) => self.note(path, ProblemKind::Unreadable(error)),
            _ => self.note(path, ProblemKind::Missing(manifest.to_owned())),
        }
    }

    fn compare_digests(&mut self, run: &mut Run<'_>) -> Result<(), Error> {
        let expected = std::mem::take(&mut self.expected);
        let files = expected
            .into_iter()
            .filter(|(_, digests)| !digests.is_empty());
        let files = files.map(|(path, digests)| ToHash {
            path: place(self.bag, path),
            len_bytes: self.files[path].length(),
            algorithms: digests.iter().map(|(algorithm, _, _)| *algorithm).collect(),
            tag: (path, digests),
        });
        let files: Vec<_> = files.collect();
        run.hash(files, |(path, expected), outcome| match outcome {
            Ok((digests, _)) => {
                for ((_, expected, manifest), digest) in expected.iter().zip(digests) {
                    if *expected != digest {
                        self.note(path, ProblemKind::Changed(manifest.to_string()));
                    }
                }
            }
            Err(error) if is_absent(&error) => {
                for (_, _, manifest) in expected {
                    self.note(path, ProblemKind::Missing(manifest.to_string()));
                }
            }
            Err(error) => self.note(path, ProblemKind::Unreadable(error)),
        })
    }
}

fn is_absent(error: &io::Error) -> bool {
    hashlane_files::is_absent(error)
}

/// Returns `true` if a folder has a declaration.
pub(crate) fn is_bag(folder: &Path) -> bool {
    folder.join(DECLARATION).symlink_metadata().is_ok()
}
