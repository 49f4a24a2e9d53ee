//! One message, by level of CPU features. OpenSSL has a setting that disables features, but reads
//! it only when its process starts. Each level is therefore measured in several short child
//! processes, in turns.

use std::env;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use hashlane_sha::{Backend, KernelName, Sha1, Sha256};

use crate::batch::{Batch, Content};
use crate::clock::Clock;
use crate::contenders::{self, Subject};
use crate::measure::{Effort, Group, in_turns};
use crate::results::{LevelSuite, Suite};

/// The environment variable that OpenSSL reads.
pub const VARIABLE: &str = "OPENSSL_ia32cap";

/// The length of the message.
pub const MESSAGE_LEN: usize = 16 * 1024;

/// A level of CPU features.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The name of the level's best feature.
    pub name: &'static str,
    /// The value of [`VARIABLE`], or `None` at the top level.
    pub ia32cap: Option<&'static str>,
    /// The engine's backends that this level adds to the level below.
    backends: &'static [Backend],
}

/// The levels, from the bottom. OpenSSL has no code for SSE2 alone and uses its scalar code there.
/// In the first word, bit 60 is AVX and bit 41 is SSSE3. In the second word, bit 29 is the SHA
/// extensions, bit 5 is AVX2, and bits 3 and 8 are BMI1 and BMI2.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
const LEVELS: [Level; 6] = [
    Level {
        name: "scalar",
        ia32cap: Some("~0x1000020000000000:~0x20000128"),
        backends: &[Backend::Portable],
    },
    Level {
        name: "sse2",
        ia32cap: Some("~0x1000020000000000:~0x20000128"),
        backends: &[Backend::Sse2],
    },
    Level {
        name: "ssse3",
        ia32cap: Some("~0x1000000000000000:~0x20000128"),
        backends: &[Backend::Ssse3],
    },
    Level {
        name: "avx",
        ia32cap: Some("~0x0:~0x20000128"),
        backends: &[Backend::Avx],
    },
    Level {
        name: "avx2",
        ia32cap: Some(":~0x20000000"),
        backends: &[Backend::Avx2],
    },
    Level {
        name: "sha-ni",
        ia32cap: None,
        backends: &[Backend::ShaNi],
    },
];

/// On other architectures, one level with all features.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
const LEVELS: [Level; 1] = [Level {
    name: "all",
    ia32cap: None,
    backends: &[Backend::Portable, Backend::Neon, Backend::ArmSha],
}];

/// Returns the level with this name.
pub fn level(name: &str) -> Option<Level> {
    LEVELS.into_iter().find(|level| level.name == name)
}

impl Level {
    fn is_available(self) -> bool {
        self.backends.iter().any(|backend| backend.is_available())
    }

    /// Returns the single-message kernel that this level adds.
    pub fn own_kernel<S: Subject>(self) -> Option<KernelName> {
        KernelName::available::<S>()
            .filter(|kernel| kernel.lanes == 1 && self.backends.contains(&kernel.backend))
            .last()
    }

    /// Returns the single-message kernels that run on this level.
    fn kernels<S: Subject>(self) -> impl Iterator<Item = KernelName> {
        let up_to_here = LEVELS
            .into_iter()
            .position(|level| level.name == self.name)
            .map_or(LEVELS.len(), |place| place + 1);
        KernelName::available::<S>().filter(move |kernel| {
            let mut backends = LEVELS[..up_to_here].iter().flat_map(|level| level.backends);
            kernel.lanes == 1 && backends.any(|backend| *backend == kernel.backend)
        })
    }
}

/// Measures each level in child processes.
///
/// # Errors
/// If a child process cannot be started, or fails.
pub fn measure(quick: bool) -> Result<Vec<LevelSuite>> {
    let levels = LEVELS.into_iter().filter(|level| level.is_available());
    let levels: Vec<Level> = levels.collect();
    let mut merged: Vec<Vec<Suite>> = levels.iter().map(|_| Vec::new()).collect();
    for _ in 0..if quick { 1 } else { 8 } {
        for (level, suites) in levels.iter().zip(&mut merged) {
            let found = in_child(*level).with_context(|| format!("level {}", level.name))?;
            if suites.is_empty() {
                *suites = found;
                continue;
            }
            for (suite, found) in suites.iter_mut().zip(found) {
                for (row, more) in suite.rows.iter_mut().zip(found.rows) {
                    row.gb_per_s.extend(more.gb_per_s);
                }
            }
        }
    }
    let named = levels.iter().zip(merged).flat_map(|(level, suites)| {
        suites.into_iter().map(|suite| LevelSuite {
            level: level.name.into(),
            suite,
        })
    });
    Ok(named.collect())
}

fn in_child(level: Level) -> Result<Vec<Suite>> {
    let mut child = Command::new(env::current_exe()?);
    child.args(["--level", level.name]).stderr(Stdio::inherit());
    match level.ia32cap {
        Some(value) => child.env(VARIABLE, value),
        None => child.env_remove(VARIABLE),
    };
    let output = child.output()?;
    ensure!(output.status.success(), "{}", output.status);
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Measures this process's level and prints the rows; runs in a child process.
///
/// # Errors
/// If the level does not exist, or the output cannot be written.
pub fn child(name: &str) -> Result<()> {
    let Some(level) = level(name) else {
        bail!("no level is called {name:?}");
    };
    let content = Content::new(MESSAGE_LEN);
    let batch = content.equal(MESSAGE_LEN, 1);
    let groups = vec![group::<Sha1>(level, &batch), group::<Sha256>(level, &batch)];
    let effort = Effort {
        rounds: 7,
        slice: Duration::from_millis(4),
    };
    let suites = in_turns(groups, effort, &mut Clock::default());
    serde_json::to_writer(std::io::stdout(), &suites)?;
    Ok(())
}

fn group<'a, S: Subject>(level: Level, batch: &'a Batch<'a>) -> Group<'a> {
    let mut group = Group::new::<S>();
    let kernels = level.kernels::<S>();
    group.add::<S>(kernels.map(contenders::kernel_stream::<S>), batch);
    group.add::<S>(S::openssl(), batch);
    group
}
