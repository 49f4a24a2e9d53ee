//! The addresses that belong to a hit, and the hashes in these addresses.

use bech32::{Fe32, Hrp};
use hashlane_sha::{Sha256, digest};
use k256::elliptic_curve::PrimeField as _;
use k256::elliptic_curve::point::DecompactPoint as _;
use k256::elliptic_curve::sec1::ToSec1Point as _;
use k256::{AffinePoint, ProjectivePoint, PublicKey, Scalar, SecretKey};
use ripemd::{Digest as _, Ripemd160};

use crate::check::Alphabet;
use crate::check::encode_check;
use crate::hit::Hit;
use crate::kind::ADDRESS_HASH_LEN;

/// RIPEMD-160 of SHA-256 of a public key or a script.
pub type AddressHash = [u8; ADDRESS_HASH_LEN];

/// An address that a private key owns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Address {
    /// The type of its output script: `p2pkh`, `p2sh-p2wpkh`, `p2wpkh` or `p2tr`.
    pub script: &'static str,
    /// The address.
    pub text: String,
}

/// The parameters of a network's addresses.
struct Network {
    /// The name of the kinds of its private keys, without `-compressed`.
    key: &'static str,
    p2pkh: u8,
    segwit: Option<Segwit>,
}

struct Segwit {
    p2sh: u8,
    human_readable: &'static str,
}

const fn network(key: &'static str, p2pkh: u8, segwit: Option<(u8, &'static str)>) -> Network {
    let segwit = match segwit {
        Some((p2sh, human_readable)) => Some(Segwit {
            p2sh,
            human_readable,
        }),
        None => None,
    };
    Network { key, p2pkh, segwit }
}

/// The versions are those in `kind`. The human-readable parts are from BIP 173 and Litecoin Core.
const NETWORKS: [Network; 5] = [
    network("wif", 0x00, Some((0x05, "bc"))),
    network("testnet-wif", 0x6f, Some((0xc4, "tb"))),
    network("litecoin-wif", 0x30, Some((0x32, "ltc"))),
    network("dogecoin-wif", 0x1e, None),
    network("dash-wif", 0x4c, None),
];

impl Hit {
    /// Returns the hashes in the addresses that belong to this string.
    ///
    /// An address has one hash. A private key has the hash of its public key. If the public key is
    /// compressed, the key also has the hash of the script of a witness program in a script address
    /// (BIP 141). Encrypted keys and seeds have no hashes.
    pub fn address_hashes(&self) -> Vec<AddressHash> {
        if !self.is_secret {
            return self.payload.last_chunk().copied().into_iter().collect();
        }
        let Some((key, is_compressed)) = self.public_key() else {
            return Vec::new();
        };
        let public = hash_of_public_key(&key, is_compressed);
        let mut hashes = vec![public];
        if is_compressed {
            hashes.push(hash_of_witness_script(&public));
        }
        hashes
    }

    /// Returns the addresses that a private key owns on its network, as wallets derive them without
    /// a path. Returns none for other strings.
    ///
    /// A key whose public key is not compressed has one address. Networks with witness programs
    /// have three more: P2WPKH, P2WPKH in a script address (BIP 141), and the key path of BIP 86.
    pub fn addresses(&self) -> Vec<Address> {
        let name = self.kind.strip_suffix("-compressed").unwrap_or(&self.kind);
        let network = NETWORKS.iter().find(|network| network.key == name);
        let (Some(network), Some((key, is_compressed))) = (network, self.public_key()) else {
            return Vec::new();
        };
        let public = hash_of_public_key(&key, is_compressed);
        let address = |script, text| Some(Address { script, text });
        let mut all = vec![address("p2pkh", base58(network.p2pkh, &public))];
        if let Some(segwit) = network.segwit.as_ref().filter(|_| is_compressed) {
            let script = base58(segwit.p2sh, &hash_of_witness_script(&public));
            all.push(address("p2sh-p2wpkh", script));
            let of =
                |script, version, program: &[u8]| address(script, segwit.encode(version, program)?);
            all.push(of("p2wpkh", Fe32::Q, &public));
            all.push(taproot_key(&key).and_then(|key| of("p2tr", Fe32::P, &key)));
        }
        all.into_iter().flatten().collect()
    }

    /// Returns the public key of a private key, and whether addresses use its compressed form.
    fn public_key(&self) -> Option<(PublicKey, bool)> {
        // Version, key, and one more byte if the public key is compressed.
        let is_compressed = match self.payload.len() {
            33 => false,
            34 => true,
            _ => return None,
        };
        // Fails for zero, and for a number that is not less than the order of the curve.
        let key = SecretKey::from_slice(&self.payload[1..33]).ok()?;
        self.is_secret.then(|| (key.public_key(), is_compressed))
    }
}

impl Segwit {
    fn encode(&self, version: Fe32, program: &[u8]) -> Option<String> {
        let human_readable = Hrp::parse(self.human_readable).ok()?;
        bech32::segwit::encode(human_readable, version, program).ok()
    }
}

fn base58(version: u8, hash: &AddressHash) -> String {
    encode_check(&[&[version][..], hash].concat(), Alphabet::Bitcoin)
}

fn hash_of_public_key(key: &PublicKey, is_compressed: bool) -> AddressHash {
    hash160(key.to_sec1_point(is_compressed).as_bytes())
}

/// Returns the hash of the script that pays to a witness program of version 0.
fn hash_of_witness_script(program: &AddressHash) -> AddressHash {
    hash160(&[&[0, ADDRESS_HASH_LEN as u8][..], program].concat())
}

/// Returns the output key of a key path without scripts (BIP 341, `taproot_tweak_pubkey`).
fn taproot_key(internal: &PublicKey) -> Option<[u8; 32]> {
    let x = x_of(internal)?;
    let tag = digest::<Sha256>(b"TapTweak");
    let tag: &[u8] = tag.as_ref();
    let tweak: [u8; 32] = digest::<Sha256>(&[tag, tag, &x].concat()).into();
    let tweak = Option::<Scalar>::from(Scalar::from_repr(tweak.into()))?;
    // The point with an even y coordinate.
    let point = Option::<AffinePoint>::from(AffinePoint::decompact(&x.into()))?;
    let output = ProjectivePoint::from(point) + ProjectivePoint::GENERATOR * tweak;
    x_of(&PublicKey::from_affine(output.to_affine()).ok()?)
}

/// Returns the x coordinate of a point.
fn x_of(key: &PublicKey) -> Option<[u8; 32]> {
    key.to_sec1_point(true).as_bytes().last_chunk().copied()
}

fn hash160(bytes: &[u8]) -> AddressHash {
    Ripemd160::digest(digest::<Sha256>(bytes)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first key of BIP 341's `wallet-test-vectors.json`, which has no script tree.
    #[test]
    fn output_key_of_bip_341() {
        let hex = data_encoding::HEXLOWER;
        let internal = b"02d6889cb081036e0faefa3a35157ad71086b123b2b144b649798b494c300a961d";
        let key = PublicKey::from_sec1_bytes(&hex.decode(internal).unwrap()).unwrap();
        let expected = "53a1f6e454df1aa2776a2814a721372d6258050de330b3c6d10ee8f4e0dda343";
        assert_eq!(hex.encode(&taproot_key(&key).unwrap()), expected);
    }
}
