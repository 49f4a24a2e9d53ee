//! The output of `get` and `seed`.

mod executor;
mod json;
pub(crate) mod reporter;
mod terminal;
mod watchdog;
