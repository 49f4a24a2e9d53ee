//! `get` and `seed`: a terminal, JSON lines and a log for [`hashlane_client`].

mod get;
mod log;
mod report;
mod reporter;
mod seed;
mod settings;
mod terminal;
