//! The Python package `hashlane_client`: the client of the crate `hashlane-client` with the shapes that Python programs know.
//! `python/hashlane_client/` documents every function.
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `errors.rs` | errors of the client as Python exceptions |
//! | `wait.rs` | waits that end on Ctrl-C |
//! | `options.rs` | arguments of Python as settings and goals |
//! | `handle.rs` | a torrent of a client |
//! | `event.rs` | events |
//! | `client.rs` | a client and its subscriptions |

#![cfg(all(unix, feature = "libtorrent"))]
#![forbid(unsafe_code)]
#![allow(
    clippy::needless_pass_by_value,
    reason = "functions of Python receive their arguments by value"
)]
#![allow(
    clippy::fn_params_excessive_bools,
    reason = "arguments of Python are keywords"
)]

mod client;
mod errors;
mod event;
mod handle;
mod options;
mod wait;

/// The module `hashlane_client._hashlane_client`.
#[pyo3::pymodule(gil_used = false, name = "_hashlane_client")]
mod module {
    #[pymodule_export]
    use crate::client::{Client, Subscription};
    #[pymodule_export]
    use crate::event::Event;
    #[pymodule_export]
    use crate::handle::TorrentHandle;
}
