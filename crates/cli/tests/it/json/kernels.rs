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
        basis: String,
        fastest: String,
        gain: f64,
    },
    Kernel {
        name: String,
        backend: String,
        lanes: usize,
        gb_per_second: f64,
    },
    SearchKernel {
        name: String,
        backend: String,
        lanes: usize,
        hashes_per_second: f64,
    },
    Device {
        name: String,
        driver: Option<String>,
        software: bool,
        hashes_per_second: Option<f64>,
        error: Option<String>,
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
    for algorithm in ["sha1", "sha256", "sha1_checked", "md5"] {
        let kernel = format!("{algorithm}_x1_portable");
        assert!(
            measured.iter().any(|(name, _)| *name == kernel),
            "{kernel}: {measured:?}"
        );
    }
    assert!(measured.iter().all(|(_, rate)| *rate > 0.0), "{measured:?}");
    let searches = lines.iter().filter_map(|line| match line {
        Line::SearchKernel {
            name,
            hashes_per_second,
            ..
        } => Some((name.as_str(), *hashes_per_second)),
        _ => None,
    });
    let searches: Vec<_> = searches.collect();
    assert!(
        searches
            .iter()
            .any(|(name, _)| *name == "sha256d_x1_portable")
    );
    assert!(searches.iter().all(|(_, rate)| *rate > 0.0), "{searches:?}");
    check_devices(&lines);
    let jobs = lines.iter().filter_map(|line| match line {
        Line::Job {
            algorithm,
            basis,
            fastest,
            gain,
            ..
        } => Some((algorithm.as_str(), basis.as_str(), fastest.as_str(), *gain)),
        _ => None,
    });
    let jobs: Vec<_> = jobs.collect();
    assert_eq!(jobs.len(), 9);
    for (algorithm, basis, fastest, gain) in jobs {
        assert!(gain >= 1.0, "{fastest}: {gain}");
        if algorithm == "sha256d" {
            assert_eq!(basis, "now");
            assert!(searches.iter().any(|(name, _)| *name == fastest));
        } else {
            assert!(["measured", "estimate"].contains(&basis), "{basis}");
            assert!(measured.iter().any(|(name, _)| *name == fastest));
        }
    }
}

/// The first device is the CPU.
fn check_devices(lines: &[Line]) {
    let devices = lines.iter().filter_map(|line| match line {
        Line::Device {
            name,
            driver,
            hashes_per_second,
            error,
            ..
        } => Some((name, driver, hashes_per_second, error)),
        _ => None,
    });
    let devices: Vec<_> = devices.collect();
    let [(name, None, Some(rate), None), ..] = devices[..] else {
        panic!("{devices:?}");
    };
    assert!(name.starts_with("sha256d_") && *rate > 0.0, "{devices:?}");
}

/// The variable forces the kernels of the engine and of the search.
#[test]
fn a_forced_backend_is_in_use() {
    let ended = end(hashlane()
        .env("HASHLANE_BACKEND", "portable")
        .args(["kernels", "--json"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines: Vec<Line> = lines(&ended.stdout);
    let device = lines.iter().find_map(|line| match line {
        Line::Device { name, .. } => Some(name.as_str()),
        _ => None,
    });
    assert_eq!(device, Some("sha256d_x1_portable"));
    let kernels: Vec<String> = lines
        .into_iter()
        .filter_map(|line| match line {
            Line::Job { kernel, .. } => Some(kernel),
            _ => None,
        })
        .collect();
    let [sha1, sha256] = ["sha1_x1_portable", "sha256_x1_portable"];
    assert_eq!(
        kernels,
        [
            sha1,
            sha256,
            sha1,
            sha256,
            sha1,
            sha256,
            sha1,
            sha256,
            "sha256d_x1_portable"
        ]
    );
}
