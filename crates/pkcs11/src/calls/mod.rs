//! The functions that C calls, in the order of the standard (v2.40, sections 5.4 to 5.16; v3.0 for
//! three more).
//!
//! The signatures and their contracts are those of the standard. A pointer is null, misaligned, or
//! valid for the bytes that the standard reads or writes there, and nothing else changes these
//! bytes during the call. Each `unsafe` block relies on this. A misaligned pointer, and a null
//! pointer where the standard forbids one, are errors.

pub(crate) mod general;
pub(crate) mod messages;
pub(crate) mod objects;
pub(crate) mod sessions;
pub(crate) mod unsupported;

use std::sync::Arc;

use cryptoki_sys::{CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CKR_KEY_HANDLE_INVALID};

use crate::border::Result;
use crate::key::Key;
use crate::process;
use crate::token::Session;

/// Returns an open session.
fn session(handle: CK_SESSION_HANDLE) -> Result<Arc<Session>> {
    process::read(|token| token.session(handle).cloned())
}

/// Returns an open session, and the key with this handle, if it exists.
fn session_and_key(
    handle: CK_SESSION_HANDLE,
    key: CK_OBJECT_HANDLE,
) -> Result<(Arc<Session>, Result<Arc<Key>>)> {
    process::read(|token| {
        let key = token.key(key).cloned().map_err(|_| CKR_KEY_HANDLE_INVALID);
        Ok((token.session(handle).cloned()?, key))
    })
}
