//! Patterns of damaged strings: whatever is written is read or refused, estimated in no time, and what
//! is small is searched.
#![no_main]

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use arbitrary::Arbitrary;
use hashlane_base58::{
    Alphabet, Damage, Event, Kind, Options, Search, decode, decode_check, encode, measure,
};
use libfuzzer_sys::fuzz_target;

/// What takes longer than some milliseconds is only estimated.
const MAX_HASHES: f64 = 10_000.0;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    text: &'a str,
    case: bool,
    glyphs: bool,
    errors: u8,
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
        errors: input.errors % 3,
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
    // Two errors in a long text are many patterns.
    if input.text.len() > 40 && damage.errors > 1 {
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
    for contradiction in search.contradictions() {
        let _ = contradiction.to_string();
    }
    if estimate.hashes > MAX_HASHES || search.n_units().is_ok_and(|n| n > 1000) {
        return;
    }
    let options = Options {
        kernel: measure_once(),
        threads: NonZeroUsize::new(1),
        units: None,
    };
    let outcome = search.run(&options, &AtomicBool::new(false), |event| {
        if let Event::Hit(hit) = event {
            let payload = decode_check(&hit.text, kind.alphabet).expect("it was checked");
            assert!(kind.has(&payload));
            let _ = hit.address_hashes();
        }
    });
    assert!(outcome.is_ok_and(|outcome| outcome.is_complete));
});

fn measure_once() -> hashlane_sha::Sha256dKernel {
    static KERNEL: std::sync::OnceLock<hashlane_sha::Sha256dKernel> = std::sync::OnceLock::new();
    *KERNEL.get_or_init(|| measure(None)[0].kernel)
}
