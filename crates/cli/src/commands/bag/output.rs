//! Results as text and as JSON lines. docs/reference/json.md specifies the latter.

use std::path::Path;

use hashlane_bagit::{Created, Depth, Error, Problem, ProblemKind, Updated, Validation, Verdict};
use hashlane_sums::{Algorithm, bytes_of};
use serde::Serialize;

use crate::Env;
use crate::options::Output;
use crate::output::json_lines::{self, PathText};
use crate::output::text::{Escaped, Shown, count};
use hashlane_api::Size;

/// A result. Each has the bag as it was given.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    Created {
        bag: String,
        files: u64,
        bytes: u64,
        algorithms: Vec<&'static str>,
    },
    Problem {
        bag: String,
        #[serde(flatten)]
        path: PathText,
        problem: &'static str,
        message: String,
        #[serde(skip)]
        text: String,
    },
    Validated {
        bag: String,
        verdict: &'static str,
        depth: &'static str,
        version: String,
        files: u64,
        bytes: u64,
        algorithms: Vec<&'static str>,
        invalid: u64,
        not_fetched: u64,
        unchecked: u64,
        other_forms: usize,
    },
    File {
        bag: String,
        #[serde(flatten)]
        path: PathText,
        change: &'static str,
        #[serde(skip)]
        text: String,
    },
    Updated {
        bag: String,
        files: u64,
        bytes: u64,
        added: usize,
        changed: usize,
        removed: usize,
    },
    Error {
        bag: String,
        message: String,
    },
}

fn names(algorithms: &[Algorithm]) -> Vec<&'static str> {
    algorithms
        .iter()
        .map(|algorithm| algorithm.name())
        .collect()
}

impl Line {
    pub(super) fn created(bag: &Path, created: &Created, algorithms: &[Algorithm]) -> Self {
        Self::Created {
            bag: text_of(bag),
            files: created.n_files,
            bytes: created.n_bytes,
            algorithms: names(algorithms),
        }
    }

    pub(super) fn problem(bag: &Path, problem: &Problem) -> Self {
        let name = match &problem.kind {
            ProblemKind::Missing(_) => "missing",
            ProblemKind::NotFetched => "not_fetched",
            ProblemKind::Changed(_) => "changed",
            ProblemKind::Unlisted(_) => "unlisted",
            ProblemKind::Line(..) => "line",
            ProblemKind::Oxum { .. } | ProblemKind::OxumForm(_) => "oxum",
            ProblemKind::Required => "required",
            ProblemKind::NotAFile(_) => "not_a_file",
            ProblemKind::UnknownAlgorithm => "unknown_algorithm",
            ProblemKind::Unreadable(_) => "unreadable",
            _ => "other",
        };
        Self::Problem {
            bag: text_of(bag),
            path: PathText::of_bytes(problem.path.as_bytes()),
            problem: name,
            message: problem.kind.to_string(),
            text: format!("{}: {}", bag.join(&problem.path).display(), problem.kind),
        }
    }

    pub(super) fn validated(bag: &Path, depth: Depth, found: &Validation) -> Self {
        Self::Validated {
            bag: text_of(bag),
            verdict: match found.verdict() {
                Verdict::Valid => "valid",
                Verdict::Incomplete => "incomplete",
                Verdict::Invalid => "invalid",
                Verdict::NotChecked => "not_checked",
            },
            depth: match depth {
                Depth::Oxum => "oxum",
                Depth::Completeness => "completeness",
                _ => "digests",
            },
            version: found.version.to_string(),
            files: found.n_files,
            bytes: found.n_bytes,
            algorithms: names(&found.algorithms),
            invalid: found.n_invalid,
            not_fetched: found.n_not_fetched,
            unchecked: found.n_unchecked,
            other_forms: found.other_forms.len(),
        }
    }

    pub(super) fn updated(bag: &Path, updated: &Updated) -> Vec<Self> {
        let lists = [
            ("added", &updated.added),
            ("changed", &updated.changed),
            ("removed", &updated.removed),
        ];
        let files = lists.into_iter().flat_map(|(change, paths)| {
            paths.iter().map(move |path| Self::File {
                bag: text_of(bag),
                path: PathText::of_bytes(path.as_bytes()),
                change,
                text: path.clone(),
            })
        });
        let total = Self::Updated {
            bag: text_of(bag),
            files: updated.n_files,
            bytes: updated.n_bytes,
            added: updated.added.len(),
            changed: updated.changed.len(),
            removed: updated.removed.len(),
        };
        files.chain([total]).collect()
    }

    pub(super) fn error(bag: &Path, error: &Error) -> Self {
        Self::Error {
            bag: text_of(bag),
            message: error.to_string(),
        }
    }

    /// Prints the line. Problems and errors go to the standard error stream, too.
    pub(super) fn print(&self, env: &mut Env, output: &Output) -> anyhow::Result<()> {
        match self {
            Self::Error { message, .. } => env.error(message),
            Self::Problem {
                text,
                problem: "unreadable" | "unknown_algorithm",
                ..
            } => {
                env.error(text);
            }
            _ => {}
        }
        if output.is_json() {
            return json_lines::print(env, self);
        }
        // Problems are results, as they are for `verify`.
        if let Self::Problem { text, problem, .. } = self
            && !matches!(*problem, "unreadable" | "unknown_algorithm")
        {
            writeln!(env.stdout, "{}", Escaped(text))?;
        }
        if !output.quiet
            && let Some(text) = self.text()
        {
            writeln!(env.stdout, "{text}")?;
        }
        Ok(())
    }

    /// Returns the text of a result that `--quiet` leaves out.
    fn text(&self) -> Option<String> {
        let of = |files: u64, bytes: u64| format!("{} ({})", count(files, "file"), Size(bytes));
        Some(match self {
            Self::Created {
                bag,
                files,
                bytes,
                algorithms,
            } => format!(
                "{}: created, {}, {}",
                Shown(bag.as_ref()),
                of(*files, *bytes),
                algorithms.join(", ")
            ),
            Self::Validated {
                bag,
                verdict,
                depth,
                files,
                bytes,
                algorithms,
                other_forms,
                ..
            } => {
                let how = match *depth {
                    "oxum" => "only their number and length compared".to_owned(),
                    "completeness" => "only their names compared".to_owned(),
                    _ => algorithms.join(", "),
                };
                let verdict = verdict.replace('_', " ");
                let forms = match other_forms {
                    0 => String::new(),
                    1 => ", 1 name in another Unicode form than in the manifests".to_owned(),
                    n => format!(", {n} names in another Unicode form than in the manifests"),
                };
                format!(
                    "{}: {verdict}, {}, {how}{forms}",
                    Shown(bag.as_ref()),
                    of(*files, *bytes)
                )
            }
            Self::File { change, text, .. } => format!("  {change:<8}{}", Escaped(text)),
            Self::Updated {
                bag,
                files,
                bytes,
                added,
                changed,
                removed,
            } => format!(
                "{}: updated, {}, {added} added, {changed} changed, {removed} removed",
                Shown(bag.as_ref()),
                of(*files, *bytes)
            ),
            Self::Problem { .. } | Self::Error { .. } => return None,
        })
    }
}

fn text_of(bag: &Path) -> String {
    String::from_utf8_lossy(&bytes_of(bag)).into_owned()
}
