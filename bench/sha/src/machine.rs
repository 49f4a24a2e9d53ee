//! The machine, the date and the versions of a measurement.

use std::fs;
use std::process::Command;

use hashlane_sha::{Engine, Sha1, Sha256};
use serde::Serialize;

use crate::contenders;

/// The origin of the figures, for readers of the report.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// The model, as the system reports it.
    pub cpu: String,
    /// Family, model and stepping.
    pub cpu_version: String,
    /// Number of cores available to this process.
    pub n_cores: usize,
    /// Date and time in UTC.
    pub date: String,
    /// The source, as `git describe` reports it.
    pub commit: String,
    /// The compiler.
    pub rustc: String,
    /// The load average before the measurement.
    pub load: String,
    /// The kernels that the engine chooses.
    pub engine: String,
    /// The libraries that report a version, with their versions.
    pub libraries: Vec<(&'static str, String)>,
    /// The libraries that are not compared, with the reasons.
    pub absent: Vec<&'static str>,
}

impl Machine {
    /// Describes this machine, now.
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

/// Returns the first line that a program prints, or a note that it printed nothing.
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
