//! Secret keys: creation, generation, copies, changes and read access.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cryptoki_sys::{
    CK_ATTRIBUTE_TYPE, CK_KEY_TYPE, CK_MECHANISM_TYPE, CK_ULONG, CK_UNAVAILABLE_INFORMATION,
    CKA_ALLOWED_MECHANISMS, CKA_ALWAYS_SENSITIVE, CKA_CLASS, CKA_COPYABLE, CKA_EXTRACTABLE,
    CKA_KEY_GEN_MECHANISM, CKA_KEY_TYPE, CKA_LOCAL, CKA_MODIFIABLE, CKA_NEVER_EXTRACTABLE,
    CKA_SENSITIVE, CKA_TRUSTED, CKA_VALUE, CKA_VALUE_LEN, CKK_GENERIC_SECRET,
    CKM_GENERIC_SECRET_KEY_GEN, CKO_SECRET_KEY, CKR_ACTION_PROHIBITED, CKR_ATTRIBUTE_READ_ONLY,
    CKR_ATTRIBUTE_SENSITIVE, CKR_ATTRIBUTE_TYPE_INVALID, CKR_ATTRIBUTE_VALUE_INVALID,
    CKR_FUNCTION_FAILED, CKR_KEY_SIZE_RANGE, CKR_TEMPLATE_INCOMPLETE, CKR_TEMPLATE_INCONSISTENT,
};
use zeroize::Zeroizing;

use crate::attribute::{NO, Row, Source, TABLE, YES};
use crate::border::{Given, Result};
use crate::mechanism::{KEY_TYPES, MAX_LEN};

/// A secret key with its attributes, which are wiped from memory on drop. Numbers are stored as the
/// bytes of a `CK_ULONG`.
#[derive(Clone)]
pub(crate) struct Key(BTreeMap<CK_ATTRIBUTE_TYPE, Zeroizing<Vec<u8>>>);

impl Key {
    /// Returns a key with the value in the template.
    pub(crate) fn create(template: &[Given<'_>]) -> Result<Self> {
        let mut key = Self::from_template(template)?;
        key.check_class()?;
        let key_type = key.number(CKA_KEY_TYPE).ok_or(CKR_TEMPLATE_INCOMPLETE)?;
        if !KEY_TYPES.iter().any(|(known, _)| *known == key_type) {
            return Err(CKR_ATTRIBUTE_VALUE_INVALID);
        }
        if key.0.contains_key(&CKA_VALUE_LEN) {
            return Err(CKR_TEMPLATE_INCONSISTENT);
        }
        let len = key.0.get(&CKA_VALUE).ok_or(CKR_TEMPLATE_INCOMPLETE)?.len();
        if len == 0 {
            return Err(CKR_ATTRIBUTE_VALUE_INVALID);
        }
        key.set_number(CKA_VALUE_LEN, len as CK_ULONG);
        key.set(CKA_LOCAL, NO);
        key.set_number(CKA_KEY_GEN_MECHANISM, CK_UNAVAILABLE_INFORMATION);
        key.set(CKA_ALWAYS_SENSITIVE, NO);
        key.set(CKA_NEVER_EXTRACTABLE, NO);
        Ok(key)
    }

    /// Returns a generic secret of random bytes, with the length in the template.
    pub(crate) fn generate(template: &[Given<'_>]) -> Result<Self> {
        let mut key = Self::from_template(template)?;
        if key.0.contains_key(&CKA_CLASS) {
            key.check_class().map_err(|_| CKR_TEMPLATE_INCONSISTENT)?;
        }
        let key_type = key.number(CKA_KEY_TYPE).unwrap_or(CKK_GENERIC_SECRET);
        if key_type != CKK_GENERIC_SECRET || key.0.contains_key(&CKA_VALUE) {
            return Err(CKR_TEMPLATE_INCONSISTENT);
        }
        let len = key.number(CKA_VALUE_LEN).ok_or(CKR_TEMPLATE_INCOMPLETE)?;
        let len = usize::try_from(len).map_err(|_| CKR_KEY_SIZE_RANGE)?;
        if !(1..=MAX_LEN).contains(&len) {
            return Err(CKR_KEY_SIZE_RANGE);
        }
        let mut value = Zeroizing::new(vec![0; len]);
        getrandom::fill(&mut value).map_err(|_| CKR_FUNCTION_FAILED)?;
        key.0.insert(CKA_VALUE, value);
        key.set_number(CKA_CLASS, CKO_SECRET_KEY);
        key.set_number(CKA_KEY_TYPE, key_type);
        key.set(CKA_LOCAL, YES);
        key.set_number(CKA_KEY_GEN_MECHANISM, CKM_GENERIC_SECRET_KEY_GEN);
        let is_sensitive = key.flag(CKA_SENSITIVE);
        let is_extractable = key.flag(CKA_EXTRACTABLE);
        key.set(CKA_ALWAYS_SENSITIVE, if is_sensitive { YES } else { NO });
        key.set(CKA_NEVER_EXTRACTABLE, if is_extractable { NO } else { YES });
        Ok(key)
    }

    /// Returns a copy with the changes of the template.
    pub(crate) fn copy(&self, template: &[Given<'_>]) -> Result<Self> {
        if !self.flag(CKA_COPYABLE) {
            return Err(CKR_ACTION_PROHIBITED);
        }
        self.changed(template, true)
    }

    /// Returns the key with the changes of the template.
    pub(crate) fn modified(&self, template: &[Given<'_>]) -> Result<Self> {
        if !self.flag(CKA_MODIFIABLE) {
            return Err(CKR_ACTION_PROHIBITED);
        }
        self.changed(template, false)
    }

    fn changed(&self, template: &[Given<'_>], is_copy: bool) -> Result<Self> {
        let mut key = self.clone();
        for &(attribute, value) in template {
            let old = self.0.get(&attribute).ok_or(CKR_ATTRIBUTE_TYPE_INVALID)?;
            Row::of(attribute)?.check_change(old, value, is_copy)?;
            key.set(attribute, value);
        }
        Ok(key)
    }

    /// Returns a key with the attributes of the template and all defaults, without the attributes
    /// that `create` and `generate` add.
    fn from_template(template: &[Given<'_>]) -> Result<Self> {
        let mut attributes = BTreeMap::new();
        for &(attribute, value) in template {
            let row = Row::of(attribute)?;
            if matches!(row.source, Source::Token) {
                return Err(CKR_ATTRIBUTE_READ_ONLY);
            }
            row.check(value)?;
            match attributes.entry(attribute) {
                Entry::Vacant(entry) => entry.insert(Zeroizing::new(value.to_vec())),
                Entry::Occupied(_) => return Err(CKR_TEMPLATE_INCONSISTENT),
            };
        }
        for row in &TABLE {
            if let Source::Caller(default) = row.source {
                let entry = attributes.entry(row.attribute);
                entry.or_insert_with(|| Zeroizing::new(default.to_vec()));
            }
        }
        attributes.insert(CKA_TRUSTED, Zeroizing::new(NO.to_vec()));
        Ok(Self(attributes))
    }

    fn check_class(&self) -> Result {
        match self.number(CKA_CLASS) {
            Some(CKO_SECRET_KEY) => Ok(()),
            Some(_) => Err(CKR_ATTRIBUTE_VALUE_INVALID),
            None => Err(CKR_TEMPLATE_INCOMPLETE),
        }
    }

    fn set(&mut self, attribute: CK_ATTRIBUTE_TYPE, value: &[u8]) {
        self.0.insert(attribute, Zeroizing::new(value.to_vec()));
    }

    fn set_number(&mut self, attribute: CK_ATTRIBUTE_TYPE, number: CK_ULONG) {
        self.set(attribute, &number.to_ne_bytes());
    }

    fn number(&self, attribute: CK_ATTRIBUTE_TYPE) -> Option<CK_ULONG> {
        let bytes = self.0.get(&attribute)?;
        Some(CK_ULONG::from_ne_bytes(bytes.as_slice().try_into().ok()?))
    }

    /// Returns `true` if the key has this attribute and it is true.
    pub(crate) fn flag(&self, attribute: CK_ATTRIBUTE_TYPE) -> bool {
        let value = self.0.get(&attribute);
        value.is_some_and(|value| value.as_slice() == YES)
    }

    pub(crate) fn key_type(&self) -> Option<CK_KEY_TYPE> {
        self.number(CKA_KEY_TYPE)
    }

    /// Returns `true` if the key may be used with some mechanisms only.
    pub(crate) fn is_restricted(&self) -> bool {
        !self.allowed_mechanisms().is_empty()
    }

    pub(crate) fn allows(&self, mechanism: CK_MECHANISM_TYPE) -> bool {
        let mut allowed = self
            .allowed_mechanisms()
            .chunks_exact(size_of::<CK_MECHANISM_TYPE>());
        !self.is_restricted() || allowed.any(|number| number == mechanism.to_ne_bytes())
    }

    fn allowed_mechanisms(&self) -> &[u8] {
        let value = self.0.get(&CKA_ALLOWED_MECHANISMS);
        value.map_or(&[], |value| value)
    }

    /// Returns the bytes of the key. Only [`Self::read`] passes them to callers.
    pub(crate) fn value(&self) -> &[u8] {
        self.0.get(&CKA_VALUE).map_or(&[], |value| value)
    }

    /// Returns the bytes of an attribute to a caller, unless they are secret.
    pub(crate) fn read(&self, attribute: CK_ATTRIBUTE_TYPE) -> Result<&[u8]> {
        let value = self.0.get(&attribute).ok_or(CKR_ATTRIBUTE_TYPE_INVALID)?;
        let is_readable = !self.flag(CKA_SENSITIVE) && self.flag(CKA_EXTRACTABLE);
        if attribute == CKA_VALUE && !is_readable {
            return Err(CKR_ATTRIBUTE_SENSITIVE);
        }
        Ok(value)
    }

    /// Returns `true` if all attributes of the template are readable and have these values.
    pub(crate) fn matches(&self, template: &[Given<'_>]) -> bool {
        let mut attributes = template.iter();
        attributes.all(|&(attribute, value)| self.read(attribute) == Ok(value))
    }

    /// Returns the total length of all attribute values, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.0.values().map(|value| value.len()).sum()
    }
}
