//! The known name that is nearest to an unknown one.

/// Similarity from which a name is suggested. clap suggests options from the same value.
const MIN_SIMILARITY: f64 = 0.7;

/// Returns the known name that an unknown name was probably meant to be, if one is similar.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let rated = known
        .into_iter()
        .map(|known| (strsim::jaro(name, known), known));
    let similar = rated.filter(|(similarity, _)| *similarity > MIN_SIMILARITY);
    let best = similar.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, known)| known)
}

/// Returns the message about an unknown name: with the nearest known one, or with all if none is near.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(known) => format!("unknown {what} `{name}`; did you mean `{known}`?"),
        None => format!(
            "unknown {what} `{name}`; expected one of {}",
            known.join(", ")
        ),
    }
}
