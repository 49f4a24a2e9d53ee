//! The result of a check.

use serde::Serialize;

use crate::Exit;
use crate::output::text::count;

/// Counts of files and lines.
#[derive(Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Counts {
    /// Number of files that are right.
    pub(super) right: u64,
    /// Number of files whose first bytes are right, and whose others no digest covers.
    pub(super) partly: u64,
    /// Number of files whose bytes are not those of the list.
    pub(super) changed: u64,
    /// Number of files that do not exist.
    pub(super) missing: u64,
    /// Number of files that could not be read.
    pub(super) unreadable: u64,
    /// Number of files that no list has.
    pub(super) extra: u64,
    /// Number of files that have another name than in the list.
    pub(super) moved: u64,
    /// Number of files of the lists that `--exclude` leaves out.
    pub(super) excluded: u64,
    /// Number of files whose names are in another Unicode form than in the list, as in a copy by macOS.
    pub(super) other_forms: u64,
    /// Number of lines with something that no digest checks, such as a signature or a link; standard error names them.
    pub(super) unchecked: u64,
    /// Number of lines without a digest and a name.
    #[serde(rename = "improper_lines")]
    pub(super) improper: u64,
}

impl Counts {
    /// Returns the exit status of the check.
    pub(super) fn exit(&self) -> Exit {
        if self.unreadable > 0 || self.improper > 0 {
            Exit::NotChecked
        } else if self.changed + self.missing + self.extra + self.moved > 0 {
            Exit::Bad
        } else if self.right + self.partly > 0 {
            Exit::Good
        } else {
            // Ctrl-C came before the first result, or every file is excluded.
            Exit::NotChecked
        }
    }

    /// Returns the summary for people.
    pub(super) fn text(&self) -> String {
        let right = format!("{} right", count(self.right, "file"));
        let others = [
            (self.partly, "partly right"),
            (self.changed, "changed"),
            (self.missing, "missing"),
            (self.moved, "moved"),
            (self.extra, "extra"),
            (self.unreadable, "unreadable"),
            (self.excluded, "excluded"),
            (self.other_forms, "named in another Unicode form"),
            (self.unchecked, "not checked"),
        ];
        let others = others.into_iter().filter(|(n, _)| *n > 0);
        let others = others.map(|(n, state)| format!("{n} {state}"));
        let lines = format!("{} without a digest", count(self.improper, "line"));
        let lines = (self.improper > 0).then_some(lines);
        let parts: Vec<String> = [right].into_iter().chain(others).chain(lines).collect();
        parts.join(", ")
    }
}
