//! Arbitrary patterns of damaged strings: each text is either rejected or estimated, and small
//! searches run.
#![no_main]

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use arbitrary::Arbitrary;
use hashlane_base58::{
    Alphabet, CpuBackend, Damage, Event, Gap, Kind, Options, Search, decode, decode_check, encode,
};
use libfuzzer_sys::fuzz_target;

/// Maximum number of hashes in a search that runs. Larger searches are only estimated.
const MAX_HASHES: f64 = 10_000.0;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    text: &'a str,
    case: bool,
    glyphs: bool,
    errors: u8,
    gap: u8,
    kind: u8,
    payload_len: u8,
    version: &'a [u8],
    suffix: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    for alphabet in Alphabet::ALL {
        if let Ok(bytes) = decode(input.text, alphabet) {
            assert_eq!(encode(&bytes, alphabet), input.text);
        }
    }
    let damage = Damage {
        case: input.case,
        glyphs: input.glyphs,
        errors: Damage::least(input.text).errors + input.errors % 3,
        gap: [Gap::None, Gap::End, Gap::Start, Gap::Inside][usize::from(input.gap % 4)],
    };
    let all = Kind::all();
    let kind = match all.get(usize::from(input.kind)) {
        Some(kind) => kind.clone(),
        None => {
            let mut kind = Kind::custom(input.payload_len.into(), input.version, Alphabet::Ripple);
            kind.suffix = input.suffix.to_vec().into();
            kind
        }
    };
    // Two errors in a long text make many patterns.
    if input.text.len() > 40 && input.errors % 3 > 1 {
        return;
    }
    let search = match Search::new(input.text, damage, &[kind.clone()]) {
        Ok(search) => search,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    let estimate = search.estimate();
    for mismatch in search.mismatches() {
        let _ = mismatch.to_string();
    }
    let _ = search.hashes_in(&[3..7, 0..u64::MAX]);
    if estimate.hashes > MAX_HASHES || search.n_units().is_ok_and(|n| n > 1000) {
        return;
    }
    let options = Options::default();
    let outcome = search.run(backend(), &options, &AtomicBool::new(false), |event| {
        if let Event::Hit(hit) = event {
            let payload = decode_check(&hit.text, kind.alphabet).expect("it was checked");
            assert!(kind.matches(&payload));
            let _ = hit.address_hashes();
        }
    });
    assert!(outcome.is_ok_and(|outcome| outcome.is_complete));
});

/// Returns the fastest kernel on one thread, measured once.
fn backend() -> &'static CpuBackend {
    static BACKEND: OnceLock<CpuBackend> = OnceLock::new();
    BACKEND.get_or_init(|| {
        CpuBackend::fastest(None, NonZeroUsize::new(1)).expect("a kernel for every CPU")
    })
}
