//! The token: sessions, objects, and the information about slot and token.

use std::collections::BTreeMap;
use std::sync::Arc;

use cryptoki_sys::{
    CK_INFO, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_SESSION_INFO, CK_SLOT_ID, CK_SLOT_INFO,
    CK_TOKEN_INFO, CK_ULONG, CK_UNAVAILABLE_INFORMATION, CK_VERSION, CKA_DESTROYABLE, CKA_PRIVATE,
    CKA_TOKEN, CKF_RNG, CKF_RW_SESSION, CKF_SERIAL_SESSION, CKF_TOKEN_INITIALIZED,
    CKF_TOKEN_PRESENT, CKF_WRITE_PROTECTED, CKR_ACTION_PROHIBITED, CKR_HOST_MEMORY,
    CKR_OBJECT_HANDLE_INVALID, CKR_SESSION_HANDLE_INVALID, CKR_SESSION_READ_ONLY,
    CKR_SLOT_ID_INVALID, CKR_TOKEN_WRITE_PROTECTED, CKR_USER_NOT_LOGGED_IN, CKS_RO_PUBLIC_SESSION,
    CKS_RW_PUBLIC_SESSION,
};

use crate::border::{Given, Result};
use crate::key::Key;
use crate::operation::ActiveOperation;

/// The number of the only slot.
pub(crate) const SLOT: CK_SLOT_ID = 0;
const MANUFACTURER: &str = "Hashlane";
const VERSION: CK_VERSION = CK_VERSION {
    major: number(env!("CARGO_PKG_VERSION_MAJOR")),
    minor: number(env!("CARGO_PKG_VERSION_MINOR")),
};

/// A session of the application.
#[derive(Debug)]
pub(crate) struct Session {
    is_read_write: bool,
    pub(crate) operation: ActiveOperation,
}

/// A key, and the session that it is destroyed with.
struct Object {
    key: Arc<Key>,
    session: CK_SESSION_HANDLE,
}

/// The token of an initialised module. All sessions see all objects.
#[derive(Default)]
pub(crate) struct Token {
    sessions: BTreeMap<CK_SESSION_HANDLE, Arc<Session>>,
    objects: BTreeMap<CK_OBJECT_HANDLE, Object>,
    /// The last handle of a session or an object. Handles are never reused.
    last_handle: CK_ULONG,
}

impl Token {
    pub(crate) fn open_session(&mut self, is_read_write: bool) -> Result<CK_SESSION_HANDLE> {
        let handle = self.next_handle()?;
        let session = Session {
            is_read_write,
            operation: ActiveOperation::default(),
        };
        self.sessions.insert(handle, Arc::new(session));
        Ok(handle)
    }

    /// Closes a session and destroys its objects. Running calls in other threads complete.
    pub(crate) fn close_session(&mut self, handle: CK_SESSION_HANDLE) -> Result {
        let removed = self.sessions.remove(&handle);
        removed.ok_or(CKR_SESSION_HANDLE_INVALID)?;
        self.objects.retain(|_, object| object.session != handle);
        Ok(())
    }

    pub(crate) fn close_all_sessions(&mut self) {
        self.sessions.clear();
        self.objects.clear();
    }

    pub(crate) fn session(&self, handle: CK_SESSION_HANDLE) -> Result<&Arc<Session>> {
        let session = self.sessions.get(&handle);
        session.ok_or(CKR_SESSION_HANDLE_INVALID)
    }

    pub(crate) fn has_sessions(&self) -> bool {
        !self.sessions.is_empty()
    }

    /// Adds a key that was made in a session.
    pub(crate) fn add(&mut self, session: CK_SESSION_HANDLE, key: Key) -> Result<CK_OBJECT_HANDLE> {
        let is_read_write = self.session(session)?.is_read_write;
        if key.flag(CKA_TOKEN) {
            return Err(if is_read_write {
                CKR_TOKEN_WRITE_PROTECTED
            } else {
                CKR_SESSION_READ_ONLY
            });
        }
        // Private objects are for users that have logged in, and the token has no PIN.
        if key.flag(CKA_PRIVATE) {
            return Err(CKR_USER_NOT_LOGGED_IN);
        }
        let handle = self.next_handle()?;
        let key = Arc::new(key);
        self.objects.insert(handle, Object { key, session });
        Ok(handle)
    }

    pub(crate) fn key(&self, handle: CK_OBJECT_HANDLE) -> Result<&Arc<Key>> {
        let object = self.objects.get(&handle);
        Ok(&object.ok_or(CKR_OBJECT_HANDLE_INVALID)?.key)
    }

    pub(crate) fn modify(&mut self, handle: CK_OBJECT_HANDLE, template: &[Given<'_>]) -> Result {
        let object = self.objects.get_mut(&handle);
        let object = object.ok_or(CKR_OBJECT_HANDLE_INVALID)?;
        object.key = Arc::new(object.key.modified(template)?);
        Ok(())
    }

    pub(crate) fn destroy(&mut self, handle: CK_OBJECT_HANDLE) -> Result {
        if !self.key(handle)?.flag(CKA_DESTROYABLE) {
            return Err(CKR_ACTION_PROHIBITED);
        }
        self.objects.remove(&handle);
        Ok(())
    }

    pub(crate) fn find(&self, template: &[Given<'_>]) -> Vec<CK_OBJECT_HANDLE> {
        let objects = self.objects.iter();
        let found = objects.filter(|(_, object)| object.key.matches(template));
        found.map(|(handle, _)| *handle).collect()
    }

    fn next_handle(&mut self) -> Result<CK_ULONG> {
        self.last_handle = self.last_handle.checked_add(1).ok_or(CKR_HOST_MEMORY)?;
        Ok(self.last_handle)
    }

    pub(crate) fn info(&self) -> CK_TOKEN_INFO {
        let sessions = self.sessions.values();
        let read_write = sessions.filter(|session| session.is_read_write);
        CK_TOKEN_INFO {
            label: padded(MANUFACTURER),
            manufacturerID: padded(MANUFACTURER),
            model: padded("Software token"),
            serialNumber: padded("1"),
            flags: CKF_RNG | CKF_TOKEN_INITIALIZED | CKF_WRITE_PROTECTED,
            // 0 means that there is no limit.
            ulMaxSessionCount: 0,
            ulSessionCount: self.sessions.len() as CK_ULONG,
            ulMaxRwSessionCount: 0,
            ulRwSessionCount: read_write.count() as CK_ULONG,
            ulMaxPinLen: 0,
            ulMinPinLen: 0,
            ulTotalPublicMemory: CK_UNAVAILABLE_INFORMATION,
            ulFreePublicMemory: CK_UNAVAILABLE_INFORMATION,
            ulTotalPrivateMemory: CK_UNAVAILABLE_INFORMATION,
            ulFreePrivateMemory: CK_UNAVAILABLE_INFORMATION,
            hardwareVersion: VERSION,
            firmwareVersion: VERSION,
            utcTime: padded(""),
        }
    }
}

impl Session {
    pub(crate) fn info(&self) -> CK_SESSION_INFO {
        let (state, flag) = if self.is_read_write {
            (CKS_RW_PUBLIC_SESSION, CKF_RW_SESSION)
        } else {
            (CKS_RO_PUBLIC_SESSION, 0)
        };
        CK_SESSION_INFO {
            slotID: SLOT,
            state,
            flags: CKF_SERIAL_SESSION | flag,
            ulDeviceError: 0,
        }
    }

    pub(crate) fn is_read_write(&self) -> bool {
        self.is_read_write
    }
}

/// Rejects every slot but the only one.
pub(crate) fn check_slot(slot: CK_SLOT_ID) -> Result {
    if slot == SLOT {
        Ok(())
    } else {
        Err(CKR_SLOT_ID_INVALID)
    }
}

/// Returns the information about the library for an interface of this version.
pub(crate) fn library_info(interface: CK_VERSION) -> CK_INFO {
    CK_INFO {
        cryptokiVersion: interface,
        manufacturerID: padded(MANUFACTURER),
        flags: 0,
        libraryDescription: padded("SHA-1, SHA-2 and HMAC"),
        libraryVersion: VERSION,
    }
}

pub(crate) fn slot_info() -> CK_SLOT_INFO {
    CK_SLOT_INFO {
        slotDescription: padded("Hashlane"),
        manufacturerID: padded(MANUFACTURER),
        flags: CKF_TOKEN_PRESENT,
        hardwareVersion: VERSION,
        firmwareVersion: VERSION,
    }
}

/// Returns a text padded with spaces, as the standard requires.
fn padded<const LEN: usize>(text: &str) -> [u8; LEN] {
    let mut bytes = [b' '; LEN];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes
}

/// Parses a component of Cargo's package version.
const fn number(digits: &str) -> u8 {
    match u8::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => panic!("a version has numbers below 256"),
    }
}
