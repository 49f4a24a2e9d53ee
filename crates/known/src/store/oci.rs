//! Layouts of OCI images, and the models of Ollama.
//!
//! Blobs are named by their digests. Manifests, which are JSON, name the digests and lengths of other blobs. The manifests of
//! an OCI layout are blobs, and start at `index.json`; those of Ollama are files of their own.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::is_absent;
use hashlane_sums::Algorithm;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::found::{Found, Name};
use crate::text;

/// Maximum length of a manifest in bytes.
const MAX_MANIFEST_LEN: u64 = 16 << 20;

/// Maximum number of blobs that manifests may name.
const MAX_NAMED: usize = 1 << 20;

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    manifests: Vec<Descriptor>,
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Descriptor {
    digest: String,
    size: Option<u64>,
    #[serde(rename = "mediaType")]
    media_type: Option<String>,
    /// Places outside of the layout.
    #[serde(default)]
    urls: Vec<IgnoredAny>,
}

impl Descriptor {
    /// Returns `true` for a blob with descriptors.
    fn is_manifest(&self) -> bool {
        let is_manifest = |kind: &String| kind.contains("manifest") || kind.contains("index");
        self.media_type.as_ref().is_none_or(is_manifest)
    }
}

/// Returns the algorithm and the digits of a digest such as `sha256:…`.
fn parsed(digest: &str) -> Option<(&str, Algorithm, &str)> {
    let (name, digits) = digest.split_once(':')?;
    let function = function(name)?;
    text::digest(function, digits.as_bytes()).map(|_| (name, function, digits))
}

fn function(name: &str) -> Option<Algorithm> {
    match name {
        "sha256" => Some(Algorithm::Sha256),
        "sha384" => Some(Algorithm::Sha384),
        "sha512" => Some(Algorithm::Sha512),
        _ => None,
    }
}

/// The blobs that manifests name, with their lengths.
struct Named<'f, P> {
    found: &'f mut Found,
    /// Returns the path of a blob by the name of its algorithm and its digits.
    place: P,
    lengths: HashMap<PathBuf, Option<u64>>,
    /// Manifests that are not read yet.
    waiting: Vec<PathBuf>,
}

impl<'f, P: Fn(&str, &str) -> PathBuf> Named<'f, P> {
    fn new(found: &'f mut Found, place: P) -> Self {
        Self {
            found,
            place,
            lengths: HashMap::new(),
            waiting: Vec::new(),
        }
    }

    /// Reads a manifest, and all manifests that it names.
    fn read(&mut self, manifest: PathBuf) {
        self.waiting.push(manifest);
        while let Some(path) = self.waiting.pop() {
            match text::read_json::<Manifest>(&path, MAX_MANIFEST_LEN) {
                Ok(manifest) => self.add(&path, manifest),
                Err(error) => self.found.add_error(&path, error),
            }
        }
    }

    fn add(&mut self, path: &Path, manifest: Manifest) {
        let Manifest {
            manifests,
            config,
            layers,
        } = manifest;
        let below = manifests.into_iter().map(|descriptor| (descriptor, true));
        let parts = config.into_iter().chain(layers);
        for (descriptor, may_be_manifest) in below.chain(parts.map(|part| (part, false))) {
            let Some((algorithm, _, digits)) = parsed(&descriptor.digest) else {
                let reason = format!(
                    "names the digest {:?}, which has no known form",
                    descriptor.digest
                );
                self.found.add_error(path, io::Error::other(reason));
                continue;
            };
            let blob = (self.place)(algorithm, digits);
            if let Some(length) = self.lengths.get_mut(&blob) {
                if *length != descriptor.size {
                    // The digest decides.
                    *length = None;
                }
                continue;
            }
            if self.lengths.len() == MAX_NAMED {
                let reason = format!("names more than {MAX_NAMED} blobs with the other manifests");
                self.found.add_error(path, io::Error::other(reason));
                self.waiting.clear();
                return;
            }
            self.lengths.insert(blob.clone(), descriptor.size);
            match blob.symlink_metadata() {
                Ok(metadata) if metadata.is_file() => {
                    if may_be_manifest && descriptor.is_manifest() {
                        self.waiting.push(blob);
                    }
                }
                // A link is reported where the files are listed.
                Ok(_) => {}
                Err(error) if is_absent(&error) => {
                    if descriptor.urls.is_empty() {
                        self.found.add_missing(&blob);
                    }
                }
                Err(error) => self.found.add_error(&blob, error),
            }
        }
    }

    /// Adds the lengths to the files.
    fn finish(self) {
        for file in &mut self.found.files {
            file.len_bytes = self.lengths.get(&file.path).copied().flatten();
        }
    }
}

/// Reads the models of Ollama.
pub(super) fn read_ollama(folder: &Path, found: &mut Found) {
    let blobs = folder.join("blobs");
    found.add_files(&blobs, |_, name| {
        // Earlier versions wrote a colon.
        let parts = name.split_once(['-', ':']);
        let Some(("sha256", digits)) = parts else {
            return Name::Unknown;
        };
        match text::digest(Algorithm::Sha256, digits.as_bytes()) {
            Some(digest) => Name::Digest(digest),
            None if digits.contains("-partial") => Name::Unfinished,
            None => Name::Unknown,
        }
    });
    let manifests: Vec<_> = hashlane_files::walk_files(&folder.join("manifests"), false).collect();
    let place = |algorithm: &str, digits: &str| {
        let with_colon = blobs.join(format!("{algorithm}:{digits}"));
        if with_colon.is_file() {
            return with_colon;
        }
        blobs.join(format!("{algorithm}-{digits}"))
    };
    let mut named = Named::new(found, place);
    for manifest in manifests {
        if let Some(path) = named.found.file(manifest) {
            named.read(path);
        }
    }
    named.finish();
}

/// Reads a layout of OCI images.
pub(super) fn read_layout(folder: &Path, found: &mut Found) {
    let blobs = folder.join("blobs");
    found.add_files(&blobs, |path, name| {
        let algorithm = path.parent().and_then(Path::file_name);
        let function = algorithm.and_then(|name| name.to_str()).and_then(function);
        let digest = function.and_then(|function| text::digest(function, name.as_bytes()));
        digest.map_or(Name::Unknown, Name::Digest)
    });
    let place = |algorithm: &str, digits: &str| blobs.join(algorithm).join(digits);
    let mut named = Named::new(found, place);
    named.read(folder.join("index.json"));
    named.finish();
}
