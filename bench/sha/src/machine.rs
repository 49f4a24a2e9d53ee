//! Where and when was measured.

use std::fs;
use std::process::Command;

use hashlane_sha::{Engine, Sha1, Sha256};
use serde::Serialize;

use crate::contenders;

/// What a reader of figures has to know of where they come from.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// The model, as the system tells.
    pub cpu: String,
    /// Its family, model and stepping.
    pub cpu_version: String,
    /// How many cores it has, as far as this process sees.
    pub n_cores: usize,
    /// When, in UTC.
    pub date: String,
    /// Which source, as `git describe` tells.
    pub commit: String,
    /// The compiler.
    pub rustc: String,
    /// The load average before.
    pub load: String,
    /// The kernels that the engine chooses.
    pub engine: String,
    /// Versions of the libraries that tell theirs.
    pub libraries: Vec<(&'static str, String)>,
    /// Who is not compared, and why.
    pub absent: Vec<&'static str>,
}

impl Machine {
    /// This one, now.
    pub fn this() -> Self {
        let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            cpu_info.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                (key.trim_end() == name).then(|| value.trim().to_owned())
            })
        };
        let version = ["cpu family", "model", "stepping"]
            .map(|name| field(name).unwrap_or_else(|| "unknown".into()));
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let engine = Engine::detect();
        let n_many = hashlane_sha::MAX_LANES;
        Self {
            cpu: field("model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
            cpu_version: version.join(", "),
            n_cores: std::thread::available_parallelism().map_or(1, Into::into),
            date: output_of("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
            commit: output_of("git", &["describe", "--always", "--dirty"]),
            rustc: output_of("rustc", &["--version"]),
            load: load.split(' ').next().unwrap_or_default().into(),
            engine: format!(
                "{} and {} for many messages, {} and {} for one",
                engine.kernel::<Sha1>(n_many),
                engine.kernel::<Sha256>(n_many),
                engine.kernel::<Sha1>(1),
                engine.kernel::<Sha256>(1),
            ),
            libraries: contenders::libraries(),
            absent: contenders::absent(),
        }
    }
}

/// The first line that a program prints, or that it told nothing.
fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    match text.lines().next() {
        Some(line) if !line.is_empty() => line.into(),
        _ => "unknown".into(),
    }
}
