//! The output of the commands.

mod executor;
mod json;
pub(crate) mod reporter;
mod terminal;
mod watchdog;
