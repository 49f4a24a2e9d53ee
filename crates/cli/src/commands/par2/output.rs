//! Results as text and as JSON lines. docs/reference/json.md specifies the latter.

use std::path::Path;

use hashlane_api::Size;
use hashlane_par2::{
    Created, FileReport, RecoverySet, Repaired, RepairedFile, State, Verification,
};
use hashlane_sums::bytes_of;
use serde::Serialize;

use crate::Env;
use crate::options::Output;
use crate::output::json_lines::{self, PathText};
use crate::output::text::{Escaped, Shown, count};

/// A result. Each has the set as it was given.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    Created {
        set: String,
        files: usize,
        bytes: u64,
        slices: usize,
        slice_size: u64,
        recovery_slices: usize,
        written: usize,
        passes: usize,
    },
    File {
        set: String,
        #[serde(flatten)]
        path: PathText,
        state: &'static str,
        slices: usize,
        found: usize,
        renamed_from: Option<String>,
    },
    Verified {
        set: String,
        verdict: &'static str,
        files: usize,
        intact: usize,
        slices: usize,
        missing: usize,
        recovery_slices: usize,
    },
    RepairedFile {
        set: String,
        #[serde(flatten)]
        path: PathText,
        damaged: Option<String>,
        renamed_from: Option<String>,
    },
    Repaired {
        set: String,
        files: usize,
        computed: usize,
        passes: usize,
    },
}

fn text_of(path: &Path) -> String {
    String::from_utf8_lossy(&bytes_of(path)).into_owned()
}

impl Line {
    pub(super) fn created(set: &Path, created: &Created) -> Self {
        Self::Created {
            set: text_of(set),
            files: created.n_files,
            bytes: created.n_bytes,
            slices: created.n_slices,
            slice_size: created.slice_len,
            recovery_slices: created.n_recovery,
            written: created.written.len(),
            passes: created.n_passes,
        }
    }

    pub(super) fn file(given: &Path, set: &RecoverySet, report: &FileReport) -> Self {
        let file = &set.files[report.file];
        let (state, renamed_from) = match &report.state {
            State::Intact => ("intact", None),
            State::Renamed(from) => ("renamed", Some(text_of(from))),
            State::Damaged => ("damaged", None),
            State::Missing => ("missing", None),
            State::Unreadable(_) => ("unreadable", None),
        };
        Self::File {
            set: text_of(given),
            path: PathText::of_bytes(&bytes_of(&file.path)),
            state,
            slices: file.n_slices,
            found: report.n_found,
            renamed_from,
        }
    }

    pub(super) fn verified(given: &Path, set: &RecoverySet, found: &Verification) -> Self {
        let is_intact = |report: &&FileReport| report.state == State::Intact;
        Self::Verified {
            set: text_of(given),
            verdict: match () {
                () if found.is_intact() => "intact",
                () if found.is_repairable(set) => "repairable",
                () => "not_repairable",
            },
            files: set.files.len(),
            intact: found.files.iter().filter(is_intact).count(),
            slices: set.n_slices,
            missing: found.n_missing,
            recovery_slices: set.recovery.len(),
        }
    }

    pub(super) fn repaired_file(given: &Path, set: &RecoverySet, file: &RepairedFile) -> Self {
        Self::RepairedFile {
            set: text_of(given),
            path: PathText::of_bytes(&bytes_of(&set.files[file.file].path)),
            damaged: file.damaged.as_deref().map(text_of),
            renamed_from: file.renamed_from.as_deref().map(text_of),
        }
    }

    pub(super) fn repaired(given: &Path, repaired: &Repaired) -> Self {
        Self::Repaired {
            set: text_of(given),
            files: repaired.files.len(),
            computed: repaired.n_computed,
            passes: repaired.n_passes,
        }
    }

    pub(super) fn print(&self, env: &mut Env, output: &Output) -> anyhow::Result<()> {
        if output.is_json() {
            return json_lines::print(env, self);
        }
        if let Some(text) = self.text().filter(|_| !output.quiet || self.is_problem()) {
            writeln!(env.stdout, "{text}")?;
        }
        Ok(())
    }

    /// Returns `true` for results that `--quiet` prints too.
    fn is_problem(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    #[expect(clippy::too_many_lines, reason = "one kind of line after the other")]
    fn text(&self) -> Option<String> {
        Some(match self {
            Self::Created {
                set,
                files,
                bytes,
                slices,
                slice_size,
                recovery_slices,
                passes,
                ..
            } => {
                let passes = match passes {
                    1 => String::new(),
                    n => format!(", in {n} passes"),
                };
                format!(
                    "{}: created, {} ({}), {} of {}, {}{passes}",
                    Shown(set.as_ref()),
                    count(*files as u64, "file"),
                    Size(*bytes),
                    count(*slices as u64, "slice"),
                    Size(*slice_size),
                    count(*recovery_slices as u64, "recovery slice"),
                )
            }
            Self::File {
                state: "intact", ..
            } => return None,
            Self::File {
                path,
                state,
                slices,
                found,
                renamed_from,
                ..
            } => {
                let path = Escaped(path.text());
                let slices = count(*slices as u64, "slice");
                renamed_from.as_ref().map_or_else(
                    || format!("{path}: {state}, {found} of {slices} found"),
                    |from| format!("{path}: renamed to {}", Escaped(from)),
                )
            }
            Self::Verified {
                set,
                verdict,
                files,
                intact,
                missing,
                recovery_slices,
                ..
            } => {
                let verdict = match *verdict {
                    "intact" => "intact".to_owned(),
                    verdict => format!(
                        "{}, {} missing, {}",
                        verdict.replace('_', " "),
                        count(*missing as u64, "slice"),
                        count(*recovery_slices as u64, "recovery slice"),
                    ),
                };
                let files = count(*files as u64, "file");
                format!(
                    "{}: {verdict}, {intact} of {files} intact",
                    Shown(set.as_ref())
                )
            }
            Self::RepairedFile {
                path,
                damaged,
                renamed_from,
                ..
            } => {
                let how = match (damaged, renamed_from) {
                    (_, Some(from)) => format!("renamed from {}", Escaped(from)),
                    (Some(damaged), _) => {
                        format!("repaired; the damaged file is {}", Escaped(damaged))
                    }
                    _ => "repaired".to_owned(),
                };
                format!("{}: {how}", Escaped(path.text()))
            }
            Self::Repaired {
                set,
                files,
                computed,
                ..
            } => format!(
                "{}: repaired, {}, {} computed",
                Shown(set.as_ref()),
                count(*files as u64, "file"),
                count(*computed as u64, "slice"),
            ),
        })
    }
}
