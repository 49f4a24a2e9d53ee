//! The mechanisms, their parameters and what the token reports about them.

use cryptoki_sys::{
    CK_KEY_TYPE, CK_MAC_GENERAL_PARAMS, CK_MECHANISM_INFO, CK_MECHANISM_TYPE, CK_ULONG, CKF_DIGEST,
    CKF_GENERATE, CKF_SIGN, CKF_VERIFY, CKK_GENERIC_SECRET, CKK_SHA_1_HMAC, CKK_SHA224_HMAC,
    CKK_SHA256_HMAC, CKK_SHA384_HMAC, CKK_SHA512_HMAC, CKM_GENERIC_SECRET_KEY_GEN, CKM_SHA_1,
    CKM_SHA_1_HMAC, CKM_SHA_1_HMAC_GENERAL, CKM_SHA224, CKM_SHA224_HMAC, CKM_SHA224_HMAC_GENERAL,
    CKM_SHA256, CKM_SHA256_HMAC, CKM_SHA256_HMAC_GENERAL, CKM_SHA384, CKM_SHA384_HMAC,
    CKM_SHA384_HMAC_GENERAL, CKM_SHA512, CKM_SHA512_HMAC, CKM_SHA512_HMAC_GENERAL,
    CKR_MECHANISM_INVALID, CKR_MECHANISM_PARAM_INVALID,
};
use hashlane_hashes::Algorithm;

use crate::border::{Request, Result};

/// The maximum length of a key, and of any other attribute, in bytes.
pub(crate) const MAX_LEN: usize = 1 << 16;

/// The types of keys: the hash function whose HMAC accepts them, or `None` for any.
pub(crate) const KEY_TYPES: [(CK_KEY_TYPE, Option<Algorithm>); 6] = [
    (CKK_GENERIC_SECRET, None),
    (CKK_SHA_1_HMAC, Some(Algorithm::Sha1)),
    (CKK_SHA224_HMAC, Some(Algorithm::Sha224)),
    (CKK_SHA256_HMAC, Some(Algorithm::Sha256)),
    (CKK_SHA384_HMAC, Some(Algorithm::Sha384)),
    (CKK_SHA512_HMAC, Some(Algorithm::Sha512)),
];

/// Returns `true` if keys of this type are for an HMAC with this hash function.
pub(crate) fn accepts(hash: Algorithm, key_type: CK_KEY_TYPE) -> bool {
    let known = KEY_TYPES.into_iter().find(|(known, _)| *known == key_type);
    known.is_some_and(|(_, only)| only.is_none_or(|only| only == hash))
}

/// A mechanism of the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mechanism {
    Digest(Algorithm),
    Hmac(Algorithm),
    /// An HMAC whose length the caller chooses.
    HmacGeneral(Algorithm),
    GenerateSecret,
}

/// All mechanisms by their numbers.
pub(crate) const MECHANISMS: [(CK_MECHANISM_TYPE, Mechanism); 16] = {
    use Algorithm::{Sha1, Sha224, Sha256, Sha384, Sha512};
    use Mechanism::{Digest, GenerateSecret, Hmac, HmacGeneral};
    [
        (CKM_SHA_1, Digest(Sha1)),
        (CKM_SHA_1_HMAC, Hmac(Sha1)),
        (CKM_SHA_1_HMAC_GENERAL, HmacGeneral(Sha1)),
        (CKM_SHA224, Digest(Sha224)),
        (CKM_SHA224_HMAC, Hmac(Sha224)),
        (CKM_SHA224_HMAC_GENERAL, HmacGeneral(Sha224)),
        (CKM_SHA256, Digest(Sha256)),
        (CKM_SHA256_HMAC, Hmac(Sha256)),
        (CKM_SHA256_HMAC_GENERAL, HmacGeneral(Sha256)),
        (CKM_SHA384, Digest(Sha384)),
        (CKM_SHA384_HMAC, Hmac(Sha384)),
        (CKM_SHA384_HMAC_GENERAL, HmacGeneral(Sha384)),
        (CKM_SHA512, Digest(Sha512)),
        (CKM_SHA512_HMAC, Hmac(Sha512)),
        (CKM_SHA512_HMAC_GENERAL, HmacGeneral(Sha512)),
        (CKM_GENERIC_SECRET_KEY_GEN, GenerateSecret),
    ]
};

impl Mechanism {
    pub(crate) fn from_number(number: CK_MECHANISM_TYPE) -> Result<Self> {
        let known = MECHANISMS.into_iter().find(|(known, _)| *known == number);
        Ok(known.ok_or(CKR_MECHANISM_INVALID)?.1)
    }

    /// Returns the information that the token reports. Key lengths are in bytes for HMACs, and in
    /// bits for the generation of keys.
    pub(crate) fn info(self) -> CK_MECHANISM_INFO {
        let (min, max, flags) = match self {
            Self::Digest(_) => (0, 0, CKF_DIGEST),
            Self::Hmac(_) | Self::HmacGeneral(_) => (1, MAX_LEN, CKF_SIGN | CKF_VERIFY),
            Self::GenerateSecret => (8, 8 * MAX_LEN, CKF_GENERATE),
        };
        CK_MECHANISM_INFO {
            ulMinKeySize: min,
            ulMaxKeySize: max as CK_ULONG,
            flags,
        }
    }
}

/// Returns the hash function of a digest.
pub(crate) fn digest(request: Request<'_>) -> Result<Algorithm> {
    match Mechanism::from_number(request.mechanism)? {
        Mechanism::Digest(hash) => without_parameter(request, hash),
        _ => Err(CKR_MECHANISM_INVALID),
    }
}

/// Returns the hash function of an HMAC, and the length of the MAC in bytes.
pub(crate) fn hmac(request: Request<'_>) -> Result<(Algorithm, usize)> {
    match Mechanism::from_number(request.mechanism)? {
        Mechanism::Hmac(hash) => without_parameter(request, (hash, hash.digest_len())),
        Mechanism::HmacGeneral(hash) => Ok((hash, mac_len(hash, request.parameter)?)),
        _ => Err(CKR_MECHANISM_INVALID),
    }
}

/// Accepts a mechanism that generates keys.
pub(crate) fn generate(request: Request<'_>) -> Result {
    match Mechanism::from_number(request.mechanism)? {
        Mechanism::GenerateSecret => without_parameter(request, ()),
        _ => Err(CKR_MECHANISM_INVALID),
    }
}

fn without_parameter<T>(request: Request<'_>, found: T) -> Result<T> {
    if request.parameter.is_empty() {
        Ok(found)
    } else {
        Err(CKR_MECHANISM_PARAM_INVALID)
    }
}

/// Parses `CK_MAC_GENERAL_PARAMS`: a length from 1 to the length of a digest.
fn mac_len(hash: Algorithm, parameter: &[u8]) -> Result<usize> {
    let bytes = parameter
        .try_into()
        .map_err(|_| CKR_MECHANISM_PARAM_INVALID)?;
    let len = CK_MAC_GENERAL_PARAMS::from_ne_bytes(bytes);
    match usize::try_from(len) {
        Ok(len) if (1..=hash.digest_len()).contains(&len) => Ok(len),
        _ => Err(CKR_MECHANISM_PARAM_INVALID),
    }
}
