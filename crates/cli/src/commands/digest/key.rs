//! The key of a MAC.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use hashlane_files::read_limited;
use hashlane_sha::{HmacKey, Sha1};
use zeroize::Zeroizing;

use super::passphrase;
use crate::{Env, input};

/// The maximum length of a file with a key, in bytes.
const MAX_FILE_LEN: u64 = 1 << 20;

/// The length of a key that is made from a passphrase.
const LEN: usize = 16;

/// The salt of the key derivation. The salt is the same on all machines (mac(1) of Solaris).
const SALT: [u8; 16] = [0x0a; 16];

const ITERATIONS: u32 = 1000;

/// The source of a key that the user does not type.
#[derive(Debug)]
pub(super) enum KeySource {
    /// All bytes of a file.
    File(OsString),
    /// The value of an environment variable.
    Environment(OsString),
    Bytes(Zeroizing<Vec<u8>>),
}

/// Returns the key from a source, or derives one from a passphrase that the user types. The key is not empty.
///
/// # Errors
/// Returns the reason, without the name of the program.
pub(super) fn read(
    source: Option<&KeySource>,
    env: &mut Env,
) -> Result<Zeroizing<Vec<u8>>, String> {
    let key = match source {
        Some(KeySource::File(path)) => {
            let path = Path::new(path);
            let place = env.resolve(path);
            read_file(&place)
                .map_err(|error| format!("can not read key file {}: {error}", path.display()))?
        }
        Some(KeySource::Environment(name)) => {
            let value = std::env::var_os(name).unwrap_or_default();
            Zeroizing::new(value.into_encoded_bytes())
        }
        Some(KeySource::Bytes(bytes)) => bytes.clone(),
        None => {
            let passphrase = passphrase::ask(env, "Enter key: ");
            let passphrase =
                passphrase.map_err(|error| format!("can not read the key: {error}"))?;
            if passphrase.is_empty() {
                passphrase
            } else {
                derived(&passphrase)
            }
        }
    };
    if key.is_empty() {
        return Err("invalid key.".into());
    }
    Ok(key)
}

/// Returns the bytes of a file. A device that never ends is an error.
fn read_file(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::new());
    if !read_limited(input::open(path)?, MAX_FILE_LEN, &mut bytes)? {
        let message = format!("the file exceeds the maximum of {MAX_FILE_LEN} bytes");
        return Err(io::Error::other(message));
    }
    Ok(bytes)
}

/// Returns the key for a passphrase: the first bytes of PBKDF2 with HMAC-SHA1 (RFC 8018, section 5.2).
fn derived(passphrase: &[u8]) -> Zeroizing<Vec<u8>> {
    let key = pbkdf2(passphrase, &SALT, ITERATIONS);
    Zeroizing::new(key[..LEN].to_vec())
}

/// Returns the first block of PBKDF2 with HMAC-SHA1. A key of 16 bytes needs no further block.
fn pbkdf2(passphrase: &[u8], salt: &[u8], iterations: u32) -> Zeroizing<[u8; 20]> {
    let key = HmacKey::<Sha1>::new(passphrase);
    let mut hmac = key.start();
    hmac.update(salt).update(&1_u32.to_be_bytes());
    let mut u = hmac.finalize();
    let mut block = Zeroizing::new([0; 20]);
    for i in 0..iterations {
        if i > 0 {
            let mut hmac = key.start();
            hmac.update(u.as_bytes());
            u = hmac.finalize();
        }
        for (sum, byte) in block.iter_mut().zip(u.as_bytes()) {
            *sum ^= byte;
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests of RFC 6070 whose result is at most one block.
    #[test]
    fn passphrases_become_keys_as_in_rfc_6070() {
        for (passphrase, salt, iterations, expected) in [
            (
                &b"password"[..],
                &b"salt"[..],
                1,
                "0c60c80f961f0e71f3a9b524af6012062fe037a6",
            ),
            (
                b"password",
                b"salt",
                2,
                "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957",
            ),
            (
                b"password",
                b"salt",
                4096,
                "4b007901b765489abead49d926f721d065a429c1",
            ),
            (
                b"pass\0word",
                b"sa\0lt",
                4096,
                "56fa6aa75548099dcc37d7f03425e0c3",
            ),
        ] {
            let block = pbkdf2(passphrase, salt, iterations);
            let hex = data_encoding::HEXLOWER.encode(&block[..]);
            assert!(hex.starts_with(expected), "{hex}");
        }
    }
}
