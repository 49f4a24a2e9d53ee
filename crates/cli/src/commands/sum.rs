//! `hashlane sum`: digests of files and folders, and the check of lists of digests.

mod arguments;
mod check;
mod digests;
mod json;
mod output;

pub(crate) use arguments::Sum;

use crate::{Env, Exit};

impl Sum {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let options = self.hashing.options()?;
        if self.check {
            check::run(&self, env, &options)
        } else {
            digests::run(&self, env, &options)
        }
    }
}
