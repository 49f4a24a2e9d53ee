//! `hashlane kernels`: lists CPU features and kernels, and measures each kernel.

use std::hint::black_box;
use std::time::{Duration, Instant};

use clap::Args;
use hashlane_base58::{CpuBackend, SearchBackend, Sha256dKernel};
use hashlane_gpu::{Adapter, DeviceError, GpuBackend, Limits};
use hashlane_sha::{
    Algorithm, Backend, Engine, KernelName, Md5, Md5Kernel, Sha1, Sha1Digest, Sha256, Sha512,
    Sha512Kernel, cpu_features, sha1_checked,
};
use serde::Serialize;

use crate::network::other_program;
use crate::options::Json;
use crate::output::json_lines;
use crate::output::text::{Palette, Styled};
use crate::{Env, Exit};

/// Show the CPU features, the kernel in use for each job, and the measured rate of each kernel
///
/// The devices that `recover --device` can select are listed and measured too.
#[derive(Debug, Args)]
pub(crate) struct Kernels {
    #[command(flatten)]
    form: Json,
}

/// Length of the messages to measure with: a leaf of BEP 52. The messages of all lanes fit into the core's cache.
const MESSAGE_LEN: usize = 16 << 10;

/// Duration of a measurement. The best of [`N_MEASUREMENTS`] is reported, because other work can only slow a
/// measurement down.
const MEASUREMENT: Duration = Duration::from_millis(15);
const N_MEASUREMENTS: usize = 3;

/// Numbers of available messages for which the chosen kernels are shown.
const JOBS: [(usize, &str); 4] = [
    (1, "one message"),
    (2, "two messages"),
    (4, "four messages"),
    (MANY, "many messages: pieces, leaves"),
];

/// As many messages as the widest kernel has lanes.
const MANY: usize = 16;

/// One line of `--json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Feature {
        name: &'static str,
        available: bool,
    },
    Backend {
        name: &'static str,
        available: bool,
    },
    Job {
        algorithm: &'static str,
        messages: usize,
        kernel: String,
        basis: Basis,
        fastest: String,
        gain: f64,
    },
    Kernel {
        name: String,
        backend: &'static str,
        lanes: usize,
        gb_per_second: f64,
    },
    SearchKernel {
        name: String,
        backend: &'static str,
        lanes: usize,
        hashes_per_second: f64,
    },
    Device {
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        driver: Option<String>,
        software: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        hashes_per_second: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

impl Kernels {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let engine = Engine::detect();
        if self.form.json {
            print_json(env, engine)
        } else {
            print_table(env, engine)
        }?;
        Ok(Exit::Good)
    }
}

/// Returns the text of `hashlane --version`: the version and the kernels in use.
pub(crate) fn long_version() -> String {
    let engine = Engine::detect();
    format!(
        "{}\nSHA-1:   {} for many messages, {} for one\nSHA-256: {} for many messages, {} for one",
        env!("CARGO_PKG_VERSION"),
        engine.kernel::<Sha1>(usize::MAX),
        engine.kernel::<Sha1>(1),
        engine.kernel::<Sha256>(usize::MAX),
        engine.kernel::<Sha256>(1),
    )
}

fn print_json(env: &mut Env, engine: Engine) -> anyhow::Result<()> {
    let features = cpu_features().map(|feature| Line::Feature {
        name: feature.name,
        available: feature.is_available,
    });
    let backends = Backend::all().map(|backend| Line::Backend {
        name: backend.name(),
        available: backend.is_available(),
    });
    for line in features.chain(backends) {
        json_lines::print(env, &line)?;
    }
    let measured: Vec<_> = all_kernels().collect();
    let searches: Vec<_> = search_kernels().collect();
    for job in Job::all(env, engine, &measured, &searches) {
        let line = Line::Job {
            algorithm: job.kernel.algorithm,
            messages: job.n_messages,
            kernel: job.kernel.to_string(),
            basis: job.basis,
            fastest: job.fastest.kernel.to_string(),
            gain: job.fastest.gain,
        };
        json_lines::print(env, &line)?;
    }
    let measured = measured
        .into_iter()
        .map(|(kernel, gb_per_second)| Line::Kernel {
            name: kernel.to_string(),
            backend: kernel.backend.name(),
            lanes: kernel.lanes,
            gb_per_second,
        });
    let searches = searches
        .into_iter()
        .map(|(kernel, hashes_per_second)| Line::SearchKernel {
            name: kernel.to_string(),
            backend: kernel.backend.name(),
            lanes: kernel.lanes,
            hashes_per_second,
        });
    for line in measured.chain(searches) {
        json_lines::print(env, &line)?;
    }
    for device in devices(env.backend, hashlane_gpu::adapters().unwrap_or_default()) {
        let (hashes_per_second, error) = match device.rate {
            Ok(rate) => (Some(rate), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let line = Line::Device {
            name: device.name,
            driver: device.driver,
            software: device.is_software,
            hashes_per_second,
            error,
        };
        json_lines::print(env, &line)?;
    }
    Ok(())
}

fn print_table(env: &mut Env, engine: Engine) -> anyhow::Result<()> {
    let Palette {
        good, dim, strong, ..
    } = Palette::new(env.color);
    let out = &mut env.stdout;
    writeln!(out, "{}", Styled(strong, "CPU features"))?;
    for feature in cpu_features() {
        let (style, mark) = if feature.is_available {
            (good, "yes")
        } else {
            (dim, "no")
        };
        writeln!(out, "  {:<10} {}", feature.name, Styled(style, mark))?;
    }
    let measured = print_rates(env, "Kernel", "GB/s", 1.0, all_kernels())?;
    for backend in Backend::all().filter(|backend| !backend.is_available()) {
        let why = Styled(dim, "not available on this CPU");
        writeln!(env.stdout, "  {:<24} {:<10} {why}", "", backend.name())?;
    }
    let searches = print_rates(env, "Kernel of `recover`", "M/s", 1e-6, search_kernels())?;
    writeln!(
        env.stdout,
        "\nOne core, messages of 16 KiB in the cache, measured just now. 1 GB is 10^9 bytes. `recover` hashes a short message \
         twice: millions per second."
    )?;
    let heading = format!(
        "{:<32} {:<20} {:<12} Fastest now",
        "Job", "kernel in use", "basis"
    );
    writeln!(env.stdout, "\n{}", Styled(strong, heading))?;
    for job in Job::all(env, engine, &measured, &searches) {
        let (kernel, basis) = (job.kernel.to_string(), job.basis.name());
        let fastest = &job.fastest;
        let note = if fastest.is_noise() {
            Styled(good, "this one".to_owned())
        } else {
            let percent = (fastest.gain - 1.0) * 100.0;
            let backend = fastest.kernel.backend.name();
            let force = format!("HASHLANE_BACKEND={backend}");
            Styled(
                strong,
                format!("{}, {percent:.0} % faster: {force}", fastest.kernel),
            )
        };
        writeln!(
            env.stdout,
            "  {:<30} {kernel:<20} {basis:<12} {note}",
            job.name
        )?;
    }
    writeln!(
        env.stdout,
        "\nA table with a row for each family of CPUs chooses the kernels. Its rates of this family are measured, or estimates in part. \
         `recover`\nmeasures its kernels at each start (now). Differences below 5 % are not shown.\n\
         To use one backend only, set HASHLANE_BACKEND, for example HASHLANE_BACKEND=portable."
    )?;
    print_devices(env)
}

fn print_devices(env: &mut Env) -> anyhow::Result<()> {
    let Palette { dim, strong, .. } = Palette::new(env.color);
    let out = &mut env.stdout;
    let heading = format!("{:<40} Million hashes/s", "Device for recover");
    writeln!(out, "\n{}", Styled(strong, heading))?;
    out.flush()?;
    let gpus = hashlane_gpu::adapters();
    let reason = gpus.as_ref().err().map(ToString::to_string);
    for Device { name, rate, .. } in devices(env.backend, gpus.unwrap_or_default()) {
        match rate {
            Ok(rate) => writeln!(out, "  {name:<38} {:>16.1}", rate / 1e6)?,
            Err(error) => writeln!(out, "  {name:<38} {}", Styled(dim, error.to_string()))?,
        }
        out.flush()?;
    }
    if let Some(reason) = reason {
        writeln!(out, "No GPUs are listed: {reason}.")?;
        if let Some(other) = other_program() {
            writeln!(
                out,
                "If {0} has them, `{0} kernels` lists them.",
                other.display()
            )?;
        }
    }
    Ok(())
}

/// Prints each kernel with its rate, multiplied by `scale`, as soon as it is measured. Returns the rates.
fn print_rates(
    env: &mut Env,
    title: &str,
    unit: &str,
    scale: f64,
    kernels: impl Iterator<Item = (KernelName, f64)>,
) -> anyhow::Result<Vec<(KernelName, f64)>> {
    let Palette { strong, .. } = Palette::new(env.color);
    let out = &mut env.stdout;
    let heading = format!("{title:<26} {:<10} {:>5} {unit:>7}", "backend", "lanes");
    writeln!(out, "\n{}", Styled(strong, heading))?;
    out.flush()?;
    let mut measured = Vec::new();
    for (kernel, rate) in kernels {
        measured.push((kernel, rate));
        let (name, backend, lanes) = (kernel.to_string(), kernel.backend.name(), kernel.lanes);
        writeln!(
            out,
            "  {name:<24} {backend:<10} {lanes:>5} {:>7.2}",
            rate * scale
        )?;
        out.flush()?;
    }
    Ok(measured)
}

/// The reason for which a kernel is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Basis {
    /// Rates that were measured on this family of CPUs.
    Measured,
    /// Rates for this family of CPUs. At least one is an estimate.
    Estimate,
    /// A measurement at the start of the command.
    Now,
}

impl Basis {
    fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Estimate => "estimate",
            Self::Now => "now",
        }
    }
}

/// A job with the kernel in use.
struct Job {
    name: &'static str,
    n_messages: usize,
    kernel: KernelName,
    basis: Basis,
    fastest: Fastest,
}

impl Job {
    /// Returns the jobs of the engine, and the search for Base58Check strings if the backend that the user chose has a
    /// kernel for it.
    fn all(
        env: &Env,
        engine: Engine,
        measured: &[(KernelName, f64)],
        searches: &[(KernelName, f64)],
    ) -> Vec<Self> {
        let basis = if engine.is_estimate() {
            Basis::Estimate
        } else {
            Basis::Measured
        };
        let mut jobs: Vec<Self> = JOBS
            .into_iter()
            .flat_map(|(n_messages, name)| {
                let kernels = [
                    engine.kernel::<Sha1>(n_messages),
                    engine.kernel::<Sha256>(n_messages),
                ];
                kernels.map(|kernel| Self {
                    name,
                    n_messages,
                    kernel,
                    basis,
                    fastest: Fastest::of(measured, kernel, n_messages),
                })
            })
            .collect();
        if let Some(search) = CpuBackend::fastest(env.backend, None) {
            let kernel = search.kernel().name();
            jobs.push(Self {
                name: "search of `recover`",
                n_messages: MANY,
                kernel,
                basis: Basis::Now,
                fastest: Fastest::of(searches, kernel, MANY),
            });
        }
        jobs
    }
}

/// A device for searches, and its measured rate in double hashes per second.
struct Device {
    name: String,
    driver: Option<String>,
    is_software: bool,
    rate: Result<f64, DeviceError>,
}

/// Measures the CPU with one thread, whose rate is multiplied, and each device that `recover --device` can select.
fn devices(chosen: Option<Backend>, gpus: Vec<Adapter>) -> impl Iterator<Item = Device> {
    let cpu = CpuBackend::fastest(chosen, None).or_else(|| CpuBackend::fastest(None, None));
    let gpus = cpu.map(|cpu| gpus.into_iter().map(move |adapter| measured(adapter, cpu)));
    let of_cpu = cpu.map(|cpu| Device {
        name: cpu.name(),
        driver: None,
        is_software: true,
        rate: Ok(cpu.total_hashes_per_second()),
    });
    of_cpu.into_iter().chain(gpus.into_iter().flatten())
}

fn measured(adapter: Adapter, cpu: CpuBackend) -> Device {
    let opened = adapter.open();
    let backend = opened.and_then(|device| GpuBackend::new(device, cpu, Limits::default()));
    Device {
        rate: backend.map(|backend| backend.total_hashes_per_second()),
        name: adapter.name,
        driver: Some(adapter.driver),
        is_software: adapter.is_software,
    }
}

/// The fastest measured kernel for a number of messages.
struct Fastest {
    kernel: KernelName,
    /// Its rate divided by the rate of the kernel in use.
    gain: f64,
}

impl Fastest {
    /// Compares the measured kernels, in GB/s with all lanes busy, with the kernel in use.
    fn of(measured: &[(KernelName, f64)], in_use: KernelName, n_messages: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "at most 16 lanes")]
        let rate = |kernel: KernelName, full: f64| {
            full * n_messages.min(kernel.lanes) as f64 / kernel.lanes as f64
        };
        let rates = || {
            measured
                .iter()
                .filter(|(kernel, _)| kernel.algorithm == in_use.algorithm)
                .map(|(kernel, full)| (*kernel, rate(*kernel, *full)))
        };
        let own = rates().find(|(kernel, _)| *kernel == in_use);
        let best = rates().max_by(|a, b| a.1.total_cmp(&b.1));
        match (own, best) {
            (Some((_, own)), Some((kernel, best))) if best > own => Self {
                kernel,
                gain: best / own,
            },
            _ => Self {
                kernel: in_use,
                gain: 1.0,
            },
        }
    }

    /// Returns `true` if the measurement does not show that another kernel is faster than the one in
    /// use: short measurements of one kernel differ by a few percent.
    fn is_noise(&self) -> bool {
        self.gain < 1.05
    }
}

/// Measures every kernel that this CPU can run, in GB/s.
fn all_kernels() -> impl Iterator<Item = (KernelName, f64)> {
    kernels::<Sha1>()
        .chain(kernels::<Sha256>())
        .chain(checked_kernels())
        .chain(md5_kernels())
        .chain(sha512_kernels())
}

/// Measures the kernels of an algorithm.
fn kernels<A: Algorithm>() -> impl Iterator<Item = (KernelName, f64)> {
    KernelName::available::<A>().map(|kernel| {
        let engine =
            Engine::with_kernel::<A>(kernel.backend, kernel.lanes).expect("this CPU can run it");
        let mut digests = vec![A::Digest::default(); kernel.lanes];
        let measured = rate(kernel.lanes, |messages| {
            engine.digest_many::<A>(messages, &mut digests);
        });
        (kernel, measured)
    })
}

/// Measures the kernels of SHA-1 with the detection of collision attacks.
fn checked_kernels() -> impl Iterator<Item = (KernelName, f64)> {
    sha1_checked::kernels().map(|kernel| {
        let engine = Engine::with(kernel.backend).expect("this CPU can run it");
        let mut digests = vec![Sha1Digest::default(); kernel.lanes];
        let measured = rate(kernel.lanes, |messages| {
            engine.digest_many_checked(messages, &mut digests, |_| {});
        });
        (kernel, measured)
    })
}

/// Measures the kernels of the search for Base58Check strings, in hashes per second.
fn search_kernels() -> impl Iterator<Item = (KernelName, f64)> {
    Sha256dKernel::available().map(|kernel| {
        let measured = CpuBackend::measured(kernel, None);
        (kernel.name(), measured.hashes_per_second(0))
    })
}

/// Measures the kernels of MD5.
fn md5_kernels() -> impl Iterator<Item = (KernelName, f64)> {
    Md5Kernel::available().map(|kernel| {
        let measured = rate_in_lanes(
            kernel.lanes(),
            |hashers, windows, digests: &mut [[u8; 16]]| {
                Md5::update_many(kernel, hashers, windows);
                Md5::finalize_many(kernel, hashers, digests);
            },
        );
        (kernel.into(), measured)
    })
}

/// Measures the kernels of SHA-384, SHA-512 and SHA-512/256.
fn sha512_kernels() -> impl Iterator<Item = (KernelName, f64)> {
    Sha512Kernel::available().map(|kernel| {
        let measured = rate_in_lanes(
            kernel.lanes(),
            |hashers, windows, digests: &mut [[u8; 64]]| {
                Sha512::update_many(kernel, hashers, windows);
                Sha512::finalize_many(kernel, hashers, digests);
            },
        );
        (kernel.into(), measured)
    })
}

/// Returns the [`rate`] of a function that hashes whole messages with hashers of its own.
fn rate_in_lanes<H: Clone + Default, const LEN: usize>(
    n_messages: usize,
    mut hash: impl FnMut(&mut [H], &[&[u8]], &mut [[u8; LEN]]),
) -> f64 {
    rate(n_messages, |messages| {
        let mut hashers = vec![H::default(); messages.len()];
        let windows: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let mut digests = vec![[0; LEN]; messages.len()];
        hash(&mut hashers, &windows, black_box(&mut digests));
    })
}

/// Returns bytes per nanosecond, which is GB/s.
fn rate(n_messages: usize, mut digest: impl FnMut(&[Vec<u8>])) -> f64 {
    // Different in every block: the detection of attacks takes longer for some blocks.
    let mut word = 0x5a_u32;
    let mut next_byte = || {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        word.to_be_bytes()[0]
    };
    let mut message = || (0..MESSAGE_LEN).map(|_| next_byte()).collect();
    let messages: Vec<Vec<u8>> = (0..n_messages).map(|_| message()).collect();
    let mut measure = || {
        let started = Instant::now();
        let mut n_bytes = 0;
        while started.elapsed() < MEASUREMENT {
            digest(&messages);
            n_bytes += n_messages * MESSAGE_LEN;
        }
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
        let rate = n_bytes as f64 / started.elapsed().as_nanos() as f64;
        rate
    };
    measure();
    (0..N_MEASUREMENTS).map(|_| measure()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::{Backend, Fastest, KernelName};

    fn kernel(algorithm: &'static str, lanes: usize, backend: Backend) -> KernelName {
        KernelName {
            algorithm,
            lanes,
            backend,
        }
    }

    #[test]
    fn the_fastest_kernel_depends_on_the_number_of_messages() {
        let one = kernel("sha1", 1, Backend::ShaNi);
        let two = kernel("sha1", 2, Backend::ShaNi);
        let sixteen = kernel("sha1", 16, Backend::Avx512);
        let other = kernel("sha256", 1, Backend::Portable);
        let measured = [(one, 2.0), (two, 3.0), (sixteen, 8.0), (other, 99.0)];

        // Two lanes with one message run at half of their rate.
        let fastest = Fastest::of(&measured, one, 1);
        assert_eq!((fastest.kernel, fastest.gain), (one, 1.0));
        let fastest = Fastest::of(&measured, one, 2);
        assert_eq!((fastest.kernel, fastest.gain), (two, 1.5));
        assert!(!fastest.is_noise());
        let fastest = Fastest::of(&measured, two, 4);
        assert_eq!((fastest.kernel, fastest.gain), (two, 1.0));
        assert!(fastest.is_noise());
        let fastest = Fastest::of(&measured, two, 16);
        assert_eq!((fastest.kernel, fastest.gain), (sixteen, 8.0 / 3.0));
    }

    #[test]
    fn a_kernel_that_was_not_measured_stays() {
        let one = kernel("sha1", 1, Backend::ShaNi);
        let two = kernel("sha1", 2, Backend::ShaNi);
        let fastest = Fastest::of(&[(two, 3.0)], one, 2);
        assert_eq!((fastest.kernel, fastest.gain), (one, 1.0));
    }
}
