//! The table of attributes: form, default, and who may change them.
//!
//! Attributes that are not in the table are refused: the token must not ignore a restriction that a caller relies on.

use cryptoki_sys::{
    CK_ATTRIBUTE_TYPE, CK_FALSE, CK_MECHANISM_TYPE, CK_TRUE, CK_ULONG, CKA_ALLOWED_MECHANISMS,
    CKA_ALWAYS_SENSITIVE, CKA_CLASS, CKA_COPYABLE, CKA_DECRYPT, CKA_DERIVE, CKA_DESTROYABLE,
    CKA_ENCRYPT, CKA_END_DATE, CKA_EXTRACTABLE, CKA_ID, CKA_KEY_GEN_MECHANISM, CKA_KEY_TYPE,
    CKA_LABEL, CKA_LOCAL, CKA_MODIFIABLE, CKA_NEVER_EXTRACTABLE, CKA_PRIVATE, CKA_SENSITIVE,
    CKA_SIGN, CKA_START_DATE, CKA_TOKEN, CKA_TRUSTED, CKA_UNWRAP, CKA_VALUE, CKA_VALUE_LEN,
    CKA_VERIFY, CKA_WRAP, CKA_WRAP_WITH_TRUSTED, CKR_ATTRIBUTE_READ_ONLY,
    CKR_ATTRIBUTE_TYPE_INVALID, CKR_ATTRIBUTE_VALUE_INVALID,
};

use crate::border::Result;
use crate::mechanism::MAX_LEN;

/// A value of `CK_BBOOL` in bytes.
pub(crate) const NO: &[u8] = &[CK_FALSE];
pub(crate) const YES: &[u8] = &[CK_TRUE];

/// The form of a value.
#[derive(Clone, Copy)]
enum Form {
    Flag,
    Number,
    /// Eight digits, or nothing.
    Date,
    Bytes,
    Mechanisms,
}

/// The source of the value of a new key's attribute.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// The template, or this default.
    Caller(&'static [u8]),
    /// The template or the mechanism, by rules in `key.rs`.
    CallerOrMechanism,
    /// The token. Templates must not contain the attribute.
    Token,
}

/// The changes that a template may request.
#[derive(Clone, Copy)]
enum Change {
    Never,
    OnlyInCopies,
    Any,
    /// From false to true.
    OnlyToTrue,
    /// From true to false.
    OnlyToFalse,
}

/// The rules for one attribute.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) attribute: CK_ATTRIBUTE_TYPE,
    form: Form,
    pub(crate) source: Source,
    change: Change,
}

const fn row(attribute: CK_ATTRIBUTE_TYPE, form: Form, source: Source, change: Change) -> Row {
    Row {
        attribute,
        form,
        source,
        change,
    }
}

/// The rules of PKCS#11 v2.40, sections 4.4, 4.7 and 4.10, and of the mechanisms specification,
/// section 2.2.
pub(crate) const TABLE: [Row; 29] = {
    use Change::{Any, Never, OnlyInCopies, OnlyToFalse, OnlyToTrue};
    use Form::{Bytes, Date, Flag, Mechanisms, Number};
    use Source::{Caller, CallerOrMechanism, Token};
    [
        row(CKA_CLASS, Number, CallerOrMechanism, Never),
        row(CKA_KEY_TYPE, Number, CallerOrMechanism, Never),
        row(CKA_VALUE, Bytes, CallerOrMechanism, Never),
        row(CKA_VALUE_LEN, Number, CallerOrMechanism, Never),
        row(CKA_TOKEN, Flag, Caller(NO), OnlyInCopies),
        row(CKA_PRIVATE, Flag, Caller(NO), OnlyInCopies),
        row(CKA_MODIFIABLE, Flag, Caller(YES), OnlyInCopies),
        row(CKA_DESTROYABLE, Flag, Caller(YES), OnlyInCopies),
        row(CKA_COPYABLE, Flag, Caller(YES), OnlyToFalse),
        row(CKA_LABEL, Bytes, Caller(&[]), Any),
        row(CKA_ID, Bytes, Caller(&[]), Any),
        row(CKA_START_DATE, Date, Caller(&[]), Any),
        row(CKA_END_DATE, Date, Caller(&[]), Any),
        row(CKA_SIGN, Flag, Caller(YES), Any),
        row(CKA_VERIFY, Flag, Caller(YES), Any),
        row(CKA_ENCRYPT, Flag, Caller(NO), Any),
        row(CKA_DECRYPT, Flag, Caller(NO), Any),
        row(CKA_WRAP, Flag, Caller(NO), Any),
        row(CKA_UNWRAP, Flag, Caller(NO), Any),
        row(CKA_DERIVE, Flag, Caller(NO), Any),
        row(CKA_SENSITIVE, Flag, Caller(NO), OnlyToTrue),
        row(CKA_EXTRACTABLE, Flag, Caller(YES), OnlyToFalse),
        row(CKA_WRAP_WITH_TRUSTED, Flag, Caller(NO), OnlyToTrue),
        row(CKA_ALLOWED_MECHANISMS, Mechanisms, Caller(&[]), Never),
        row(CKA_TRUSTED, Flag, Token, Never),
        row(CKA_LOCAL, Flag, Token, Never),
        row(CKA_KEY_GEN_MECHANISM, Number, Token, Never),
        row(CKA_ALWAYS_SENSITIVE, Flag, Token, Never),
        row(CKA_NEVER_EXTRACTABLE, Flag, Token, Never),
    ]
};

impl Row {
    pub(crate) fn of(attribute: CK_ATTRIBUTE_TYPE) -> Result<&'static Self> {
        let row = TABLE.iter().find(|row| row.attribute == attribute);
        row.ok_or(CKR_ATTRIBUTE_TYPE_INVALID)
    }

    /// Rejects values that do not have the form of the attribute.
    pub(crate) fn check(&self, value: &[u8]) -> Result {
        let is_well_formed = match self.form {
            Form::Flag => value == NO || value == YES,
            Form::Number => value.len() == size_of::<CK_ULONG>(),
            Form::Date => {
                value.is_empty() || (value.len() == 8 && value.iter().all(u8::is_ascii_digit))
            }
            Form::Bytes => value.len() <= MAX_LEN,
            Form::Mechanisms => {
                value.len() <= MAX_LEN && value.len().is_multiple_of(size_of::<CK_MECHANISM_TYPE>())
            }
        };
        if is_well_formed {
            Ok(())
        } else {
            Err(CKR_ATTRIBUTE_VALUE_INVALID)
        }
    }

    /// Rejects a change of the value that the attribute does not allow.
    pub(crate) fn check_change(&self, old: &[u8], new: &[u8], is_copy: bool) -> Result {
        self.check(new)?;
        let is_allowed = match self.change {
            Change::Never => false,
            Change::OnlyInCopies => is_copy,
            Change::Any => true,
            Change::OnlyToTrue => old == NO || new == YES,
            Change::OnlyToFalse => old == YES || new == NO,
        };
        if is_allowed {
            Ok(())
        } else {
            Err(CKR_ATTRIBUTE_READ_ONLY)
        }
    }
}
