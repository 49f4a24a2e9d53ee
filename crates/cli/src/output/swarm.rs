//! The output of `get` and `seed`.

mod json;
pub(crate) mod reporter;
mod terminal;
mod watchdog;
