//! The native half of the Python package `hashlane`: the engine, verification and creation of torrents, with the shapes
//! that Python programs know. The other half is `python/hashlane/`, which documents every function.
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `errors.rs` | errors of the crates as Python exceptions |
//! | `buffers.rs` | bytes of Python objects, without a copy |
//! | `arrow.rs` | arrays of the Arrow C data interface, without a copy |
//! | `algorithm.rs` | algorithms by their names |
//! | `hasher.rs` | objects like those of `hashlib` and `hmac` |
//! | `sets.rs` | sets of messages, hashed in lanes and on several threads |
//! | `many.rs` | many messages from iterables, Arrow arrays, rows of a matrix, and chunks of a buffer |
//! | `watch.rs` | progress, cancellation and Ctrl-C of long work |
//! | `files.rs` | digests of whole files |
//! | `lists.rs` | lists of checksums, read and written |
//! | `trees.rs` | tree hashes of files |
//! | `torrent.rs` | .torrent files and magnet links |
//! | `verify.rs` | verification of content on disk, and of content that Python code reads |
//! | `edit.rs` | changes of .torrent files |
//! | `create.rs` | new .torrent files |
//! | `recover.rs` | recovery of damaged Base58Check strings and witness addresses |

#![cfg(unix)]
#![deny(unsafe_code)]
#![allow(
    clippy::doc_markdown,
    reason = "the documentation of Python is in the format of NumPy"
)]
#![allow(
    clippy::needless_pass_by_value,
    reason = "functions of Python receive their arguments by value"
)]

mod algorithm;
mod arrow;
mod buffers;
mod create;
mod edit;
mod errors;
mod files;
mod hasher;
mod lists;
mod many;
mod recover;
mod sets;
mod torrent;
mod trees;
mod verify;
mod watch;

/// The module `hashlane._hashlane`.
#[pyo3::pymodule(gil_used = false, name = "_hashlane")]
mod module {
    #[pymodule_export]
    use crate::algorithm::algorithms;
    #[pymodule_export]
    use crate::create::create;
    #[pymodule_export]
    use crate::edit::edit;
    #[pymodule_export]
    use crate::files::digest_files;
    #[pymodule_export]
    use crate::hasher::{
        Hash, Hmac, blake2b, blake3, hmac_digest, hmac_new, md5, new, sha1, sha224, sha256, sha384,
        sha512,
    };
    #[pymodule_export]
    use crate::lists::{read_sums, sum_line};
    #[pymodule_export]
    use crate::many::{digest_chunks, digest_many, merkle_root};
    #[pymodule_export]
    use crate::recover::{Search, estimate, recover};
    #[pymodule_export]
    use crate::torrent::{Magnet, Torrent};
    #[pymodule_export]
    use crate::trees::{idsig_check, tree_check, tree_digest, tree_names, verity_check};
    #[pymodule_export]
    use crate::verify::{verify, verify_readers};
}
