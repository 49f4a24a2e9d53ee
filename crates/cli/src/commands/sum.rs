//! `hashlane sum`: digests of files and folders, and the check of lists of digests.

mod against;
mod arguments;
mod check;
mod counts;
mod digests;
mod json;
mod output;

pub(crate) use arguments::Sum;

use crate::output::stream::AfterFailure;
use crate::{Env, Exit};

impl Sum {
    /// Returns what the command does after its results could not be written. A check continues, because its exit status
    /// is a result.
    pub(crate) fn after_failed_output(&self) -> AfterFailure {
        if self.check {
            AfterFailure::Continue
        } else {
            AfterFailure::Stop
        }
    }

    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let options = self.hashing.options();
        if self.check {
            check::run(&self, env, &options)
        } else {
            digests::run(&self, env, &options)
        }
    }
}
