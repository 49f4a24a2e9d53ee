//! The engine on other systems, with other features and under checkers: each of these builds it again.

use std::collections::HashSet;

use anyhow::{Result, bail};
use clap::Subcommand;
use xshell::{Cmd, cmd};

use crate::not_run::not_run;
use crate::project::Project;

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Check that the release build compiles all parts of each kernel with its CPU features
    Symbols,
    /// Check the same for 64-bit ARM (needs binutils-aarch64-linux-gnu)
    SymbolsArm,
    /// Check that rust-analyzer finds each hop of a block (takes a minute or two)
    Hops,
    /// Test the engine with all features, overflow checks and debug assertions, without features, and in a workspace of its own
    TestEngine,
    /// Run the tests with the fallbacks for systems other than Linux
    TestPortable,
    /// Run the tests of the engine and of file access with the address sanitizer (needs a nightly compiler)
    TestAsan,
    /// Run the unit tests of the engine and the programs of the C libraries under valgrind, with the kernels that it supports
    TestValgrind,
    /// Run the portable kernels, scheduler, queue and hashers under Miri (needs nightly with Miri)
    TestMiri,
    /// Run the tests of the engine for 64-bit ARM in an emulator (needs a cross linker and QEMU)
    TestArm,
    /// Run the unit tests of the engine for 32-bit x86 and ARM, s390x (big-endian) and WebAssembly
    TestOther,
    /// Run the tests of the engine with the oldest supported compiler, and type-check the rest
    TestMsrv,
    /// Build the engine for bare metal, without std and alloc
    CheckNoStd,
    /// Test the search on a device of Vulkan (needs a GPU, or mesa-vulkan-drivers, which computes on the CPU)
    TestGpu,
    /// Check and test `recover --device` of the program on such a device
    TestGpuProgram,
    /// Check that the tests detect a broken engine (takes long)
    TestMutants {
        /// Mutants whose names contain this, for example avx2
        name: Option<String>,
        /// Test the kernels of 64-bit ARM in an emulator
        #[arg(long)]
        arm: bool,
    },
    /// Type-check the fuzz targets
    CheckFuzz,
    /// Run each fuzz target, one on each processor (needs cargo-fuzz and a nightly compiler)
    Fuzz {
        /// Seconds for each target
        #[arg(long, default_value_t = 600)]
        seconds: u32,
        /// Targets to run instead of all
        targets: Vec<String>,
    },
}

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        match self {
            Self::Symbols => symbols(project),
            Self::SymbolsArm => symbols_arm(project),
            Self::Hops => hops(project),
            Self::TestEngine => test_engine(project),
            Self::TestPortable => test_portable(project),
            Self::TestAsan => test_asan(project),
            Self::TestValgrind => test_valgrind(project),
            Self::TestMiri => test_miri(project),
            Self::TestArm => test_arm(project),
            Self::TestOther => test_other(project),
            Self::TestMsrv => test_msrv(project),
            Self::CheckNoStd => check_no_std(project),
            Self::TestGpu => test_gpu(project),
            Self::TestGpuProgram => test_gpu_program(project),
            Self::TestMutants { name, arm } => {
                let arm = arm.then_some("--arm");
                Ok(cmd!(project.shell, "tools/mutants {arm...} {name...}").run()?)
            }
            Self::CheckFuzz => check_fuzz(project),
            Self::Fuzz { seconds, targets } => fuzz(project, seconds, &targets),
        }
    }
}

/// The packages with code for CPUs: the tokens, and the kernels that use them.
const KERNELS: &str = "--package hashlane-simd --package hashlane-sha --package hashlane-base58";
/// The unit tests of these packages, which test each kernel, and those of their public interface that take seconds.
const TESTS: &str = "--lib --test it --test default_engine";
const SKIPPED: &str = "-- --skip every_kind:: --skip recovery:: --skip vectors::";
const ARM: &str = "aarch64-unknown-linux-gnu";

/// Features of CPUs as /proc/cpuinfo names them, the kernels of SHA-1 and SHA-256 that need each, those of the search, and those of MD5
/// and SHA-512.
const FEATURES: [(&str, &str, &str, &str); 9] = [
    ("sse2", "x1_sse2 x4_sse2", "x4_sse2", "md5_x4_sse2"),
    ("ssse3", "x1_ssse3", "", ""),
    ("avx", "x1_avx x4_avx", "x4_avx", ""),
    (
        "avx2",
        "x1_avx2 x8_avx2",
        "x8_avx2",
        "md5_x8_avx2 md5_x16_avx2 sha512_x4_avx2",
    ),
    (
        "avx512vl",
        "x1_avx512vl x8_avx512vl",
        "x8_avx512vl",
        "md5_x8_avx512vl sha512_x4_avx512vl",
    ),
    (
        "avx512bw",
        "x16_avx512 x32_avx512",
        "x16_avx512",
        "md5_x16_avx512 md5_x32_avx512 md5_x48_avx512 sha512_x8_avx512 sha512_x16_avx512",
    ),
    ("sha_ni", "x1_sha_ni x2_sha_ni x4_sha_ni", "x4_sha_ni", ""),
    ("asimd", "x4_neon", "x4_neon", "md5_x4_neon sha512_x2_neon"),
    ("sha2", "x1_arm_sha x2_arm_sha", "x2_arm_sha", ""),
];

/// Returns the kernels of this CPU whose features are `usable`, as [`required`] does.
pub(crate) fn available(usable: impl Fn(&str) -> bool) -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let of_cpu: HashSet<&str> = info.split_whitespace().collect();
    let (mut sha, mut search) = (vec!["x1_portable"], vec!["x1_portable"]);
    let mut others = String::new();
    for (feature, of_sha, of_search, of_others) in FEATURES {
        if of_cpu.contains(feature) && usable(feature) {
            sha.extend(of_sha.split_whitespace());
            search.extend(of_search.split_whitespace());
            for other in of_others.split_whitespace() {
                others.push(',');
                others.push_str(other);
            }
        }
    }
    required(&sha, &search) + &others
}

/// Returns the kernels as `HASHLANE_TEST_REQUIRE` names them: a test that cannot run one of these fails.
fn required(sha: &[&str], search: &[&str]) -> String {
    let algorithms = ["sha1", "sha256"];
    let sha = sha
        .iter()
        .flat_map(|kernel| algorithms.map(|name| format!("{name}_{kernel}")));
    let search = search.iter().map(|kernel| format!("sha256d_{kernel}"));
    sha.chain(search).collect::<Vec<_>>().join(",")
}

fn symbols(project: &Project) -> Result<()> {
    // Without hashlane-net, which has no kernel of its own.
    project.make("build LIBTORRENT=").run()?;
    Ok(project.command("tools/symbols").run()?)
}

fn symbols_arm(project: &Project) -> Result<()> {
    cmd!(project.shell, "rustup target add {ARM}").run()?;
    Ok(project.command("tools/symbols aarch64").run()?)
}

fn hops(project: &Project) -> Result<()> {
    if project.succeeds("rustup component add rust-analyzer") {
        Ok(project.command("tools/hops").run()?)
    } else {
        not_run(
            "hops",
            "rustup cannot install rust-analyzer",
            "rustup component add rust-analyzer",
        );
        Ok(())
    }
}

/// The workspace builds the engine without overflow checks and debug assertions, for speed.
fn test_engine(project: &Project) -> Result<()> {
    let mut checked = project.cargo("test --package hashlane-sha --all-features");
    for check in ["overflow-checks", "debug-assertions"] {
        checked = checked
            .arg("--config")
            .arg(format!("profile.dev.package.hashlane-sha.{check}=true"));
    }
    checked.run()?;
    project
        .cargo("test --package hashlane-sha --no-default-features")
        .run()?;
    project
        .cargo("test --package hashlane-metainfo --all-features --test it serde")
        .run()?;
    // In the configuration of `make test`, which has compiled it.
    let downstream = format!(
        "test --workspace {} --test it downstream:: -- --ignored",
        project.features()
    );
    Ok(project.cargo(&downstream).run()?)
}

fn test_portable(project: &Project) -> Result<()> {
    // A folder of its own: the program of this build must not be where that of other builds is expected.
    let test = "test --target-dir target/portable --package hashlane-files --package hashlane-verify --package hashlane";
    project
        .cargo(&format!("{test} --lib --test it"))
        .env("RUSTC_WORKSPACE_WRAPPER", project.path("tools/portable"))
        .env("HASHLANE_CONFIG", "/dev/null")
        .run()?;
    Ok(())
}

fn test_asan(project: &Project) -> Result<()> {
    project.need_nightly("test-asan")?;
    let host = project.host()?;
    let test = format!("+nightly test --target {host} --target-dir target/asan");
    project
        .cargo(&format!(
            "{test} --package hashlane-files --package hashlane-sha --package hashlane-base58 {TESTS} {SKIPPED}"
        ))
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .run()?;
    Ok(())
}

/// valgrind 3.19 supports neither AVX-512 nor the SHA extensions. The Monte Carlo tests take longest, and access no memory that the other
/// tests do not access.
fn test_valgrind(project: &Project) -> Result<()> {
    project.need("test-valgrind", &["valgrind"], "apt-get install valgrind")?;
    let kernels = available(|feature| ["sse2", "ssse3", "avx", "avx2"].contains(&feature));
    project
        .cargo(&format!("test {KERNELS} --lib -- --skip monte_carlo"))
        .env(
            runner(&project.host()?),
            "valgrind --quiet --error-exitcode=9",
        )
        .env("HASHLANE_TEST_REQUIRE", kernels)
        .env("PROPTEST_CASES", "16")
        .run()?;
    let programs = "--package hashlane-capi --package hashlane-libmd --test it valgrind";
    project
        .cargo(&format!("test {programs} -- --ignored"))
        .run()?;
    Ok(())
}

/// The variable that names the program by which Cargo runs the tests of a target.
fn runner(target: &str) -> String {
    format!(
        "CARGO_TARGET_{}_RUNNER",
        target.replace('-', "_").to_uppercase()
    )
}

/// The variable that names the linker of a target.
fn linker(target: &str) -> String {
    format!(
        "CARGO_TARGET_{}_LINKER",
        target.replace('-', "_").to_uppercase()
    )
}

/// Only code without intrinsics. NIST's files of long messages would take hours in an interpreter.
fn test_miri(project: &Project) -> Result<()> {
    if !project.succeeds("cargo +nightly miri --version") {
        bail!(
            "test-miri needs: rustup toolchain install nightly --component miri --component rust-src"
        );
    }
    let skipped = "--skip known_answers --skip unequal_lengths --skip chunks --skip tails";
    project
        .cargo(&format!(
            "+nightly miri test --target-dir target/miri {KERNELS} --lib -- _portable:: narrow_kernel hasher:: {skipped}"
        ))
        .env("MIRIFLAGS", "-Zmiri-disable-isolation")
        .env("PROPTEST_CASES", "4")
        .run()?;
    Ok(())
}

fn test_arm(project: &Project) -> Result<()> {
    let packages = "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static";
    project.need(
        "test-arm",
        &["aarch64-linux-gnu-gcc", "qemu-aarch64-static"],
        packages,
    )?;
    cmd!(project.shell, "rustup target add {ARM}").run()?;
    let lanes = ["x4_neon", "x4_neon_sha3"];
    let sha = [&lanes[..], &["x1_arm_sha", "x2_arm_sha"]].concat();
    let search = [&lanes[..], &["x2_arm_sha"]].concat();
    project
        .cargo(&format!(
            "test {KERNELS} {TESTS} --target {ARM} --target-dir target/arm {SKIPPED}"
        ))
        .env(linker(ARM), "aarch64-linux-gnu-gcc")
        .env(runner(ARM), "qemu-aarch64-static -L /usr/aarch64-linux-gnu")
        .env("HASHLANE_TEST_REQUIRE", required(&sha, &search))
        .run()?;
    Ok(())
}

/// 32-bit x86 with vectors, 32-bit ARM without vectors, big-endian, and WebAssembly.
fn test_other(project: &Project) -> Result<()> {
    const I686: &str = "i686-unknown-linux-gnu";
    const ARMV7: &str = "armv7-unknown-linux-gnueabihf";
    const S390X: &str = "s390x-unknown-linux-gnu";
    const WASM: &str = "wasm32-wasip1";
    let programs = [
        "i686-linux-gnu-gcc",
        "arm-linux-gnueabihf-gcc",
        "s390x-linux-gnu-gcc",
        "qemu-s390x-static",
        "node",
    ];
    let packages = "apt-get install gcc-i686-linux-gnu libc6-dev-i386-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross \
                    gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static nodejs";
    project.need("test-other", &programs, packages)?;
    cmd!(
        project.shell,
        "rustup target add {I686} {ARMV7} {S390X} {WASM}"
    )
    .run()?;
    let test = |target: &str, runner_of: &str, linker_of: Option<&str>| -> Cmd<'_> {
        let test =
            format!("test {KERNELS} --lib --target-dir target/other-tests --target {target}");
        let command = project.cargo(&test).env(runner(target), runner_of);
        match linker_of {
            Some(program) => command.env(linker(target), program),
            None => command,
        }
    };
    let portable = required(&["x1_portable"], &["x1_portable"]);
    let i686 = "/usr/i686-linux-gnu/lib/ld-linux.so.2 --library-path /usr/i686-linux-gnu/lib";
    test(I686, i686, Some("i686-linux-gnu-gcc")).run()?;
    test(
        ARMV7,
        "qemu-arm-static -L /usr/arm-linux-gnueabihf",
        Some("arm-linux-gnueabihf-gcc"),
    )
    .env("HASHLANE_TEST_REQUIRE", &portable)
    .run()?;
    test(
        S390X,
        "qemu-s390x-static -L /usr/s390x-linux-gnu",
        Some("s390x-linux-gnu-gcc"),
    )
    .env("HASHLANE_TEST_REQUIRE", &portable)
    .run()?;
    let wasi = format!(
        "node --no-warnings {}",
        project.path("tools/wasi.mjs").display()
    );
    test(WASM, &wasi, None)
        .env("RUSTFLAGS", "-Ctarget-feature=+simd128")
        .env(
            "HASHLANE_TEST_REQUIRE",
            required(&["x4_simd128"], &["x4_simd128"]),
        )
        .run()?;
    Ok(())
}

fn test_msrv(project: &Project) -> Result<()> {
    let version = project.manifest_value("rust-version")?;
    cmd!(
        project.shell,
        "rustup toolchain install {version} --profile minimal"
    )
    .run()?;
    let cargo = |command: &str| {
        project
            .cargo(&format!("+{version} {command}"))
            .env("RUSTFLAGS", "--cap-lints=warn")
            .run()
    };
    cargo(&format!(
        "test --target-dir target/msrv --all-features --package hashlane-sha --package hashlane-base58 {TESTS} {SKIPPED}"
    ))?;
    Ok(cargo(&format!(
        "check --target-dir target/msrv --workspace {}",
        project.features()
    ))?)
}

fn check_no_std(project: &Project) -> Result<()> {
    const TARGETS: [&str; 3] = [
        "x86_64-unknown-none",
        "aarch64-unknown-none",
        "thumbv6m-none-eabi",
    ];
    project.command("rustup target add").args(TARGETS).run()?;
    for target in TARGETS {
        let build = "build --package hashlane-sha --no-default-features --features digest,oid,zeroize --target-dir target/other";
        project.cargo(&format!("{build} --target {target}")).run()?;
    }
    Ok(())
}

fn test_gpu(project: &Project) -> Result<()> {
    project
        .cargo(
            "test --target-dir target/gpu --package hashlane-gpu --features vulkan -- --nocapture",
        )
        .env("HASHLANE_CONFIG", "/dev/null")
        .run()?;
    Ok(())
}

fn test_gpu_program(project: &Project) -> Result<()> {
    project
        .cargo("clippy --package hashlane-gpu --features vulkan --all-targets -- --deny warnings")
        .run()?;
    project
        .cargo("test --package hashlane --features gpu --test it recover::device -- --nocapture")
        .env("HASHLANE_CONFIG", "/dev/null")
        .run()?;
    Ok(())
}

/// The targets in fuzz/Cargo.toml, without those that this machine cannot build.
fn fuzz_targets(project: &Project) -> Result<Vec<String>> {
    let manifest: toml::Table =
        toml::from_str(&project.shell.read_file(project.path("fuzz/Cargo.toml"))?)?;
    let programs = manifest.get("bin").and_then(toml::Value::as_array);
    let names = programs
        .into_iter()
        .flatten()
        .filter_map(|program| program.get("name")?.as_str());
    let mut targets: Vec<_> = names.map(str::to_owned).collect();
    if !project.has_libtorrent() {
        not_run(
            "the fuzz target api",
            "libtorrent is missing",
            "sudo make setup",
        );
        targets.retain(|name| name != "api");
    }
    Ok(targets)
}

fn check_fuzz(project: &Project) -> Result<()> {
    let _folder = project.shell.push_dir("fuzz");
    project
        .cargo(&format!("check --locked --bins {}", project.features()))
        .env("RUSTFLAGS", "--cfg fuzzing")
        .run()?;
    Ok(())
}

fn fuzz(project: &Project, seconds: u32, targets: &[String]) -> Result<()> {
    project.need("fuzz", &["cargo-fuzz"], "cargo install --locked cargo-fuzz")?;
    project.need_nightly("fuzz")?;
    let all = fuzz_targets(project)?;
    let targets = if targets.is_empty() { &all } else { targets };
    let _folder = project.shell.push_dir("fuzz");
    let features = project.features();
    let seconds = seconds.to_string();
    let seconds = seconds.as_str();
    project
        .cargo(&format!("+nightly fuzz build {features}"))
        .run()?;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let n_workers = std::thread::available_parallelism()?.get();
    let root = &project.root;
    let run = |name: &str| -> Result<()> {
        // A shell belongs to one thread.
        let shell = xshell::Shell::new()?;
        shell.change_dir(root.join("fuzz"));
        shell.create_dir(format!("corpus/{name}"))?;
        shell.create_dir(format!("seeds/{name}"))?;
        let dictionary = format!("{name}.dict");
        let dictionary = shell
            .path_exists(&dictionary)
            .then(|| format!("-dict={dictionary}"));
        let features = features.split_whitespace();
        cmd!(
            shell,
            "cargo +nightly fuzz run {features...} {name} corpus/{name} seeds/{name} -- -max_total_time={seconds} -max_len=65536
                {dictionary...}"
        )
        .run()?;
        Ok(())
    };
    std::thread::scope(|scope| {
        let worker = || -> Result<()> {
            while let Some(name) =
                targets.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
            {
                run(name)?;
            }
            Ok(())
        };
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            worker
                .join()
                .map_err(|_| anyhow::anyhow!("a worker panicked"))??;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_has_the_portable_kernels() {
        let portable = "sha1_x1_portable,sha256_x1_portable,sha256d_x1_portable";
        assert_eq!(available(|_| false), portable);
        // Kernels of all algorithms, and each once.
        let all = available(|_| true);
        let names: HashSet<&str> = all.split(',').collect();
        assert_eq!(names.len(), all.split(',').count());
        assert!(portable.split(',').all(|name| names.contains(name)));
    }
}
