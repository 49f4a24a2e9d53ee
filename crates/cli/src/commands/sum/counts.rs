//! The result of a check.

use serde::Serialize;

use crate::Exit;
use crate::output::text::count;

/// Counts of files and lines.
#[derive(Clone, Default, Serialize)]
pub(super) struct Counts {
    pub(super) right: u64,
    /// Files whose first bytes are right, and whose others no digest covers.
    pub(super) partly: u64,
    pub(super) changed: u64,
    pub(super) missing: u64,
    pub(super) unreadable: u64,
    pub(super) extra: u64,
    pub(super) moved: u64,
    /// Files of lists that `--exclude` leaves out.
    pub(super) excluded: u64,
    /// Files whose names are in another Unicode form than in a list, as in a copy by macOS.
    pub(super) other_forms: u64,
    /// What lists have and no digest of a file checks, such as signatures and links.
    pub(super) unchecked: u64,
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
