//! Recovers texts of reference implementations.

use hashlane_recover::recover;

use crate::judge;

/// Recovers texts that the functions `make` and `check` of a script make, damage and judge.
pub(crate) fn every_text_is_found(
    name: &str,
    module: &str,
    package: &str,
    script: &str,
    quick: usize,
) {
    judge::every_text_is_found(name, (module, package), script, quick, |damaged| {
        let answer = recover(damaged, None, &|_| true, true).expect("a known kind");
        let hits = answer.unwrap().hits.into_iter();
        hits.map(|hit| hit.text.to_string()).collect()
    });
}
