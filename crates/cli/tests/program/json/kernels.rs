//! The lines of `kernels`.

use serde::Deserialize;

use super::lines;
use crate::fixture::{end, hashlane};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Feature {
        name: String,
        available: bool,
    },
    Backend {
        name: String,
        available: bool,
    },
    Job {
        algorithm: String,
        messages: usize,
        kernel: String,
        fastest: String,
        gain: f64,
    },
    Kernel {
        name: String,
        backend: String,
        lanes: usize,
        gb_per_second: f64,
    },
}

#[test]
fn kernels() {
    let ended = end(hashlane().args(["kernels", "--json"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines: Vec<Line> = lines(&ended.stdout);
    let portable = Line::Backend {
        name: "portable".into(),
        available: true,
    };
    assert!(lines.contains(&portable));
    let measured = lines.iter().filter_map(|line| match line {
        Line::Kernel {
            name,
            gb_per_second,
            ..
        } => Some((name.as_str(), *gb_per_second)),
        _ => None,
    });
    let measured: Vec<_> = measured.collect();
    assert!(
        measured
            .iter()
            .any(|(name, _)| *name == "sha256_x1_portable")
    );
    assert!(
        measured
            .iter()
            .any(|(name, _)| *name == "sha1_checked_x1_portable")
    );
    assert!(measured.iter().all(|(_, rate)| *rate > 0.0), "{measured:?}");
    let jobs = lines.iter().filter_map(|line| match line {
        Line::Job { fastest, gain, .. } => Some((fastest.as_str(), *gain)),
        _ => None,
    });
    let jobs: Vec<_> = jobs.collect();
    assert_eq!(jobs.len(), 8);
    for (fastest, gain) in jobs {
        assert!(gain >= 1.0, "{fastest}: {gain}");
        assert!(measured.iter().any(|(name, _)| *name == fastest));
    }
}
