//! Templates of the PKCS#11 module, as a C program passes them: no call crashes or writes to a template that it only
//! reads. The attributes of a key are those of the template, a refused call changes nothing, and a secret stays secret.

#![no_main]

use std::collections::BTreeMap;
use std::ptr::{dangling_mut, null_mut};
use std::sync::LazyLock;

use arbitrary::{Arbitrary, Unstructured};
use cryptoki_sys::{
    CK_ATTRIBUTE, CK_ATTRIBUTE_TYPE, CK_FALSE, CK_FUNCTION_LIST, CK_MECHANISM, CK_OBJECT_HANDLE,
    CK_RV, CK_SESSION_HANDLE, CK_TRUE, CK_ULONG, CK_UNAVAILABLE_INFORMATION,
    CKA_ALLOWED_MECHANISMS, CKA_ALWAYS_SENSITIVE, CKA_CLASS, CKA_COPYABLE, CKA_DECRYPT, CKA_DERIVE,
    CKA_DESTROYABLE, CKA_ENCRYPT, CKA_END_DATE, CKA_EXTRACTABLE, CKA_ID, CKA_KEY_GEN_MECHANISM,
    CKA_KEY_TYPE, CKA_LABEL, CKA_LOCAL, CKA_MODIFIABLE, CKA_NEVER_EXTRACTABLE, CKA_PRIVATE,
    CKA_SENSITIVE, CKA_SIGN, CKA_START_DATE, CKA_TOKEN, CKA_TRUSTED, CKA_UNWRAP, CKA_VALUE,
    CKA_VALUE_LEN, CKA_VERIFY, CKA_WRAP, CKA_WRAP_WITH_TRUSTED, CKF_SERIAL_SESSION,
    CKK_GENERIC_SECRET, CKM_GENERIC_SECRET_KEY_GEN, CKO_SECRET_KEY, CKR_ARGUMENTS_BAD,
    CKR_ATTRIBUTE_SENSITIVE, CKR_ATTRIBUTE_TYPE_INVALID, CKR_BUFFER_TOO_SMALL, CKR_GENERAL_ERROR,
    CKR_OBJECT_HANDLE_INVALID, CKR_OK,
};
use hashlane_pkcs11::lists::C_GetFunctionList;
use libfuzzer_sys::fuzz_target;

/// Maximum number of calls, because all attributes of all keys are read after each call.
const MAX_CALLS: usize = 40;

/// The value of keys with a complete template.
const VALUE: &[u8] = b"value";

/// Content of a buffer before a call.
const UNTOUCHED: u8 = 0xa5;

/// The attributes of a key.
const ATTRIBUTES: [CK_ATTRIBUTE_TYPE; 29] = [
    CKA_CLASS,
    CKA_KEY_TYPE,
    CKA_VALUE,
    CKA_VALUE_LEN,
    CKA_TOKEN,
    CKA_PRIVATE,
    CKA_MODIFIABLE,
    CKA_DESTROYABLE,
    CKA_COPYABLE,
    CKA_LABEL,
    CKA_ID,
    CKA_START_DATE,
    CKA_END_DATE,
    CKA_SIGN,
    CKA_VERIFY,
    CKA_ENCRYPT,
    CKA_DECRYPT,
    CKA_WRAP,
    CKA_UNWRAP,
    CKA_DERIVE,
    CKA_SENSITIVE,
    CKA_EXTRACTABLE,
    CKA_WRAP_WITH_TRUSTED,
    CKA_ALLOWED_MECHANISMS,
    CKA_TRUSTED,
    CKA_LOCAL,
    CKA_KEY_GEN_MECHANISM,
    CKA_ALWAYS_SENSITIVE,
    CKA_NEVER_EXTRACTABLE,
];

#[derive(Debug, Arbitrary)]
enum Call {
    Create {
        /// Whether the template lacks the attributes that every key needs.
        #[arbitrary(with = rarely)]
        is_incomplete: bool,
        template: Template,
    },
    Generate(Template),
    Copy(u8, Template),
    Set(u8, Template),
    Find(Template),
    /// Searches for keys that have the same values as a key.
    FindSame(u8, Vec<Type>),
    Get(u8, Vec<Buffer>, #[arbitrary(with = array)] Array),
    Destroy(u8),
}

#[derive(Debug, Arbitrary)]
struct Template {
    attributes: Vec<(Type, Value)>,
    #[arbitrary(with = array)]
    array: Array,
}

/// The pointer to an array, and the number of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Arbitrary)]
enum Array {
    Whole,
    Null,
    Misaligned,
    /// The number of elements exceeds the address space.
    TooLong,
}

#[derive(Debug)]
struct Type(CK_ATTRIBUTE_TYPE);

#[derive(Debug)]
enum Value {
    /// A value in the form of the attribute.
    Fitting(u8),
    Bytes(Vec<u8>),
    Null(u64),
    /// The length exceeds the address space.
    TooLong,
}

/// A buffer for the value of an attribute.
#[derive(Debug, Arbitrary)]
struct Buffer {
    attribute: Type,
    /// The length of the buffer. Without one, the pointer is null.
    len: Option<u8>,
    /// The length in the template if the pointer is null.
    len_of_null: u64,
}

/// Returns `true` for few inputs, because a call that is refused early tests little.
fn rarely(input: &mut Unstructured<'_>) -> arbitrary::Result<bool> {
    input.ratio(1_u8, 16_u8)
}

fn array(input: &mut Unstructured<'_>) -> arbitrary::Result<Array> {
    if rarely(input)? {
        Array::arbitrary(input)
    } else {
        Ok(Array::Whole)
    }
}

impl<'a> Arbitrary<'a> for Type {
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self(if rarely(input)? {
            u64::arbitrary(input)? as CK_ATTRIBUTE_TYPE
        } else {
            *input.choose(&ATTRIBUTES)?
        }))
    }
}

impl<'a> Arbitrary<'a> for Value {
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        if !rarely(input)? {
            return Ok(Self::Fitting(input.arbitrary()?));
        }
        Ok(match input.int_in_range(0..=2)? {
            0 => Self::Bytes(input.arbitrary()?),
            1 => Self::Null(input.arbitrary()?),
            _ => Self::TooLong,
        })
    }
}

/// Returns a value in the form of an attribute.
fn fitting(kind: CK_ATTRIBUTE_TYPE, choice: u8) -> Vec<u8> {
    match kind {
        CKA_CLASS
        | CKA_KEY_TYPE
        | CKA_VALUE_LEN
        | CKA_KEY_GEN_MECHANISM
        | CKA_ALLOWED_MECHANISMS => CK_ULONG::from(choice).to_ne_bytes().into(),
        CKA_START_DATE | CKA_END_DATE => format!("{}1123", 2000 + u16::from(choice)).into(),
        CKA_VALUE | CKA_LABEL | CKA_ID => vec![choice; choice.into()],
        _ => vec![if choice % 2 == 0 { CK_TRUE } else { CK_FALSE }],
    }
}

/// Attributes and their values. The address sanitizer reports an access beyond a value.
struct Given {
    attributes: Vec<CK_ATTRIBUTE>,
    values: Vec<(CK_ATTRIBUTE_TYPE, Option<Vec<u8>>)>,
    array: Array,
}

impl Given {
    fn empty(array: Array) -> Self {
        Self {
            attributes: Vec::new(),
            values: Vec::new(),
            array,
        }
    }

    fn new(template: &Template, more: &[(CK_ATTRIBUTE_TYPE, &[u8])]) -> Self {
        let mut given = Self::empty(template.array);
        for (kind, value) in more {
            given.add(*kind, value);
        }
        for (kind, value) in &template.attributes {
            let kind = kind.0;
            match value {
                Value::Fitting(choice) => given.add(kind, &fitting(kind, *choice)),
                Value::Bytes(bytes) => given.add(kind, bytes),
                Value::Null(len) => given.add_invalid(kind, null_mut(), *len as CK_ULONG),
                Value::TooLong => given.add_invalid(kind, dangling_mut(), CK_ULONG::MAX),
            }
        }
        given
    }

    fn add(&mut self, kind: CK_ATTRIBUTE_TYPE, value: &[u8]) {
        let mut value = value.to_vec();
        self.attributes.push(CK_ATTRIBUTE {
            type_: kind,
            pValue: value.as_mut_ptr().cast(),
            ulValueLen: value.len() as CK_ULONG,
        });
        self.values.push((kind, Some(value)));
    }

    /// Adds an attribute whose pointer must not be used.
    fn add_invalid(&mut self, kind: CK_ATTRIBUTE_TYPE, pointer: *mut u8, len: CK_ULONG) {
        self.attributes.push(CK_ATTRIBUTE {
            type_: kind,
            pValue: pointer.cast(),
            ulValueLen: len,
        });
        self.values.push((kind, None));
    }

    /// Passes the array to a call.
    fn pass(&mut self, call: impl FnOnce(*mut CK_ATTRIBUTE, CK_ULONG) -> CK_RV) -> CK_RV {
        let start = self.attributes.as_mut_ptr();
        let len = self.attributes.len() as CK_ULONG;
        match self.array {
            Array::Whole => call(start, len),
            Array::Null => call(null_mut(), len),
            Array::Misaligned => call(start.wrapping_byte_add(1), len),
            Array::TooLong => call(start, CK_ULONG::MAX),
        }
    }

    /// Passes the array to a call that only reads it.
    fn read(&mut self, call: impl FnOnce(*mut CK_ATTRIBUTE, CK_ULONG) -> CK_RV) -> CK_RV {
        let state = |given: &Self| {
            let attributes = given.attributes.iter();
            let attributes: Vec<_> = attributes
                .map(|one| (one.type_, one.pValue, one.ulValueLen))
                .collect();
            (attributes, given.values.clone())
        };
        let before = state(self);
        let result = self.pass(call);
        assert_eq!(state(self), before);
        assert_ne!(result, CKR_GENERAL_ERROR);
        result
    }

    /// Returns the attributes, or `None` if a pointer or a length is not valid.
    fn valid(&self) -> Option<Vec<(CK_ATTRIBUTE_TYPE, &[u8])>> {
        let is_whole = match self.array {
            Array::Whole => true,
            Array::Null | Array::Misaligned => self.attributes.is_empty(),
            Array::TooLong => false,
        };
        let attributes = self.attributes.iter().zip(&self.values);
        let attributes = attributes.map(|(attribute, (kind, value))| match value {
            Some(value) => Some((*kind, value.as_slice())),
            None => (attribute.ulValueLen == 0).then_some((*kind, &[][..])),
        });
        attributes.collect::<Option<_>>().filter(|_| is_whole)
    }
}

static FUNCTIONS: LazyLock<&'static CK_FUNCTION_LIST> = LazyLock::new(|| {
    let mut list = null_mut();
    // SAFETY: the pointer is writable. The list is never freed.
    unsafe {
        assert_eq!(C_GetFunctionList(&raw mut list), CKR_OK);
        let list: &CK_FUNCTION_LIST = &*list;
        assert_eq!(list.C_Initialize.expect("exists")(null_mut()), CKR_OK);
        list
    }
});

/// Calls a function of the module. Every pointer is null, misaligned, or valid for its length.
macro_rules! call {
    ($function:ident($($argument:expr),*)) => {
        // SAFETY: as above.
        unsafe { FUNCTIONS.$function.expect("exists")($($argument),*) }
    };
}

/// The readable attributes of a key.
type Readable = BTreeMap<CK_ATTRIBUTE_TYPE, Vec<u8>>;

/// A session, and its keys.
struct Session {
    handle: CK_SESSION_HANDLE,
    keys: BTreeMap<CK_OBJECT_HANDLE, Readable>,
}

fuzz_target!(|calls: Vec<Call>| {
    let mut handle = 0;
    let opened = call!(C_OpenSession(
        0,
        CKF_SERIAL_SESSION,
        null_mut(),
        None,
        &raw mut handle
    ));
    assert_eq!(opened, CKR_OK);
    let mut session = Session {
        handle,
        keys: BTreeMap::new(),
    };
    for call in calls.iter().take(MAX_CALLS) {
        session.make(call);
    }
    // Many keys have this value, but a search must not find the secret ones.
    let mut value = Given::empty(Array::Whole);
    value.add(CKA_VALUE, VALUE);
    session.find(value);
    assert_eq!(call!(C_CloseSession(handle)), CKR_OK);
});

impl Session {
    fn make(&mut self, call: &Call) {
        match call {
            Call::Create {
                is_incomplete,
                template,
            } => self.create(template, *is_incomplete),
            Call::Generate(template) => self.generate(template),
            Call::Copy(key, template) => self.copy(self.key(*key), template),
            Call::Set(key, template) => self.set(self.key(*key), template),
            Call::Find(template) => self.find(Given::new(template, &[])),
            Call::FindSame(key, attributes) => self.find_same(self.key(*key), attributes),
            Call::Get(key, buffers, array) => self.get(self.key(*key), buffers, *array),
            Call::Destroy(key) => self.destroy(self.key(*key)),
        }
        for (key, readable) in &self.keys {
            assert_eq!(self.readable(*key).as_ref(), Some(readable));
        }
    }

    /// Returns a key, or an invalid handle if there is none.
    fn key(&self, index: u8) -> CK_OBJECT_HANDLE {
        let n = self.keys.len().max(1);
        let key = self.keys.keys().nth(usize::from(index) % n);
        key.copied().unwrap_or(CK_ULONG::MAX)
    }

    /// Reads all readable attributes of a key.
    fn readable(&self, key: CK_OBJECT_HANDLE) -> Option<Readable> {
        let mut readable = Readable::new();
        for kind in ATTRIBUTES {
            let mut attribute = CK_ATTRIBUTE {
                type_: kind,
                pValue: null_mut(),
                ulValueLen: 0,
            };
            let start = &raw mut attribute;
            let result = call!(C_GetAttributeValue(self.handle, key, start, 1));
            match result {
                CKR_OBJECT_HANDLE_INVALID => return None,
                CKR_ATTRIBUTE_SENSITIVE => {
                    assert_eq!(kind, CKA_VALUE);
                    assert_eq!(attribute.ulValueLen, CK_UNAVAILABLE_INFORMATION);
                    continue;
                }
                result => assert_eq!(result, CKR_OK),
            }
            let mut value = vec![UNTOUCHED; attribute.ulValueLen as usize];
            attribute.pValue = value.as_mut_ptr().cast();
            let start = &raw mut attribute;
            let result = call!(C_GetAttributeValue(self.handle, key, start, 1));
            assert_eq!(
                (result, attribute.ulValueLen as usize),
                (CKR_OK, value.len())
            );
            readable.insert(kind, value);
        }
        assert_eq!(readable.contains_key(&CKA_VALUE), !is_secret(&readable));
        Some(readable)
    }

    /// Records a new key, if the call succeeded, and checks the attributes of its template.
    fn add(&mut self, given: &Given, result: CK_RV, key: CK_OBJECT_HANDLE) -> Option<&Readable> {
        if result != CKR_OK {
            return None;
        }
        let readable = self.readable(key).expect("the key exists");
        let template = given.valid().expect("invalid pointers are refused");
        check_values(&readable, &template);
        assert!(!self.keys.contains_key(&key));
        Some(self.keys.entry(key).or_insert(readable))
    }

    fn create(&mut self, template: &Template, is_incomplete: bool) {
        let (class, kind) = (
            CKO_SECRET_KEY.to_ne_bytes(),
            CKK_GENERIC_SECRET.to_ne_bytes(),
        );
        let needed: [(_, &[u8]); 3] = [
            (CKA_CLASS, &class),
            (CKA_KEY_TYPE, &kind),
            (CKA_VALUE, VALUE),
        ];
        let mut given = Given::new(template, if is_incomplete { &[] } else { &needed });
        let mut key = 0;
        let result = given
            .read(|start, count| call!(C_CreateObject(self.handle, start, count, &raw mut key)));
        self.add(&given, result, key);
    }

    fn generate(&mut self, template: &Template) {
        let mut mechanism = CK_MECHANISM {
            mechanism: CKM_GENERIC_SECRET_KEY_GEN,
            pParameter: null_mut(),
            ulParameterLen: 0,
        };
        let mechanism = &raw mut mechanism;
        let len = CK_ULONG::from(20_u8).to_ne_bytes();
        let mut given = Given::new(template, &[(CKA_VALUE_LEN, &len)]);
        let mut key = 0;
        let result = given.read(|start, count| {
            call!(C_GenerateKey(
                self.handle,
                mechanism,
                start,
                count,
                &raw mut key
            ))
        });
        if let Some(readable) = self.add(&given, result, key) {
            let value = readable.get(&CKA_VALUE);
            assert!(value.is_none_or(|value| value.len() == 20));
        }
    }

    fn copy(&mut self, original: CK_OBJECT_HANDLE, template: &Template) {
        let mut given = Given::new(template, &[]);
        let mut key = 0;
        let result = given.read(|start, count| {
            call!(C_CopyObject(
                self.handle,
                original,
                start,
                count,
                &raw mut key
            ))
        });
        let before = self.keys.get(&original).cloned();
        if let Some(copied) = self.add(&given, result, key) {
            let before = before.expect("an invalid handle is refused");
            assert!(is(&before, CKA_COPYABLE));
            check_change(&before, copied, &given);
        }
    }

    fn set(&mut self, key: CK_OBJECT_HANDLE, template: &Template) {
        let mut given = Given::new(template, &[]);
        let result =
            given.read(|start, count| call!(C_SetAttributeValue(self.handle, key, start, count)));
        if result == CKR_OK {
            let template = given.valid().expect("invalid pointers are refused");
            let after = self.readable(key).expect("the key exists");
            check_values(&after, &template);
            let before = self.keys.insert(key, after.clone());
            let before = before.expect("an invalid handle is refused");
            assert!(is(&before, CKA_MODIFIABLE));
            check_change(&before, &after, &given);
        }
    }

    fn find_same(&self, key: CK_OBJECT_HANDLE, attributes: &[Type]) {
        let mut given = Given::empty(Array::Whole);
        let readable = self.keys.get(&key);
        for &Type(kind) in attributes {
            let value = readable.and_then(|readable| readable.get(&kind));
            given.add(kind, value.map_or(&[], |value| value));
        }
        self.find(given);
    }

    fn find(&self, mut given: Given) {
        let result = given.read(|start, count| call!(C_FindObjectsInit(self.handle, start, count)));
        let Some(template) = given.valid() else {
            assert_ne!(result, CKR_OK);
            return;
        };
        assert_eq!(result, CKR_OK);
        let mut found = Vec::new();
        loop {
            let (mut some, mut count) = ([0; 3], 0);
            let start = some.as_mut_ptr();
            let result = call!(C_FindObjects(self.handle, start, 3, &raw mut count));
            assert_eq!(result, CKR_OK);
            if count == 0 {
                break;
            }
            found.extend_from_slice(&some[..count as usize]);
        }
        assert_eq!(call!(C_FindObjectsFinal(self.handle)), CKR_OK);
        let matches = |readable: &Readable| {
            let mut template = template.iter();
            template.all(|(kind, value)| readable.get(kind).is_some_and(|own| own == value))
        };
        let keys = self.keys.iter().filter(|(_, readable)| matches(readable));
        let expected: Vec<CK_OBJECT_HANDLE> = keys.map(|(key, _)| *key).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    fn get(&self, key: CK_OBJECT_HANDLE, buffers: &[Buffer], array: Array) {
        let mut given = Given::empty(array);
        for buffer in buffers {
            let kind = buffer.attribute.0;
            match buffer.len {
                Some(len) => given.add(kind, &vec![UNTOUCHED; len.into()]),
                None => given.add_invalid(kind, null_mut(), buffer.len_of_null as CK_ULONG),
            }
        }
        let result =
            given.pass(|start, count| call!(C_GetAttributeValue(self.handle, key, start, count)));
        let Some(readable) = self.keys.get(&key) else {
            assert_eq!(result, CKR_OBJECT_HANDLE_INVALID);
            return;
        };
        let is_refused = match array {
            Array::Whole => false,
            Array::Null | Array::Misaligned => !buffers.is_empty(),
            Array::TooLong => true,
        };
        if is_refused {
            assert_eq!(result, CKR_ARGUMENTS_BAD);
            return;
        }
        let mut expected = CKR_OK;
        for (attribute, (kind, space)) in given.attributes.iter().zip(&given.values) {
            let outcome = match readable.get(kind) {
                Some(value)
                    if space
                        .as_ref()
                        .is_some_and(|space| space.len() < value.len()) =>
                {
                    Err(CKR_BUFFER_TOO_SMALL)
                }
                Some(value) => Ok(value.as_slice()),
                None if *kind == CKA_VALUE => Err(CKR_ATTRIBUTE_SENSITIVE),
                None => Err(CKR_ATTRIBUTE_TYPE_INVALID),
            };
            let len = outcome.map_or(CK_UNAVAILABLE_INFORMATION, |value| value.len() as CK_ULONG);
            assert_eq!(attribute.ulValueLen, len);
            if let Some(space) = space {
                let value = outcome.unwrap_or_default();
                assert!(space.starts_with(value));
                assert!(space[value.len()..].iter().all(|byte| *byte == UNTOUCHED));
            }
            if expected == CKR_OK {
                expected = outcome.err().unwrap_or(CKR_OK);
            }
        }
        assert_eq!(result, expected);
    }

    fn destroy(&mut self, key: CK_OBJECT_HANDLE) {
        let is_destroyable = self.keys.get(&key).map(|key| is(key, CKA_DESTROYABLE));
        let result = call!(C_DestroyObject(self.handle, key));
        assert_eq!(result == CKR_OK, is_destroyable == Some(true));
        if result == CKR_OK {
            self.keys.remove(&key);
            assert_eq!(self.readable(key), None);
        }
    }
}

fn is(readable: &Readable, flag: CK_ATTRIBUTE_TYPE) -> bool {
    readable[&flag] == [CK_TRUE]
}

/// Returns `true` if the value of a key must not be readable.
fn is_secret(readable: &Readable) -> bool {
    is(readable, CKA_SENSITIVE) || !is(readable, CKA_EXTRACTABLE)
}

/// Checks that the key has the values of the template. The last one counts if an attribute is repeated.
fn check_values(readable: &Readable, template: &[(CK_ATTRIBUTE_TYPE, &[u8])]) {
    let last: BTreeMap<_, _> = template.iter().copied().collect();
    for (kind, value) in last {
        if kind != CKA_VALUE || !is_secret(readable) {
            assert_eq!(readable[&kind], value);
        }
    }
}

/// Checks that a change keeps the other attributes, and that no secret becomes readable.
fn check_change(before: &Readable, after: &Readable, given: &Given) {
    assert!(is_secret(after) || !is_secret(before));
    for kind in ATTRIBUTES {
        let is_given = given.values.iter().any(|(given, _)| *given == kind);
        if !is_given && (kind != CKA_VALUE || !is_secret(after)) {
            assert_eq!(after[&kind], before[&kind]);
        }
    }
}
