//! The output of the commands.

mod json;
pub(crate) mod reporter;
mod terminal;
