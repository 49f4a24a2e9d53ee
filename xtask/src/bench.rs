//! The benchmarks. bench/README.md says what each measures, and how to read the tables that they write.

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use xshell::cmd;

use crate::project::Project;
use crate::python;

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Run a benchmark with the options of its script; without a name, list all
    Bench {
        name: Option<String>,
        /// Options of the script, for example --out bench/zen4/SUM.md
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// What is built before a benchmark.
#[derive(Clone, Copy, PartialEq)]
enum Build {
    Nothing,
    /// The programs in target/release.
    Programs,
    /// The program with GPUs, in a folder of its own: that in target/release may have none.
    Gpu,
    /// The libraries that the engine is compared with, and the C library.
    Engine,
    Libmd,
    Pkcs11,
    Python,
    Ladder,
}

struct Bench {
    name: &'static str,
    about: &'static str,
    build: Build,
    /// The script with its options; `{hashlane}` and others are paths of what was built.
    run: &'static str,
    /// Options that apply unless they are given.
    defaults: &'static str,
}

const fn bench(
    name: &'static str,
    about: &'static str,
    build: Build,
    run: &'static str,
    defaults: &'static str,
) -> Bench {
    Bench {
        name,
        about,
        build,
        run,
        defaults,
    }
}

const HASHLANE: &str = "target/release/hashlane";
const ENGINE: &str = "target/bench-sha/release/hashlane-bench-sha";
const ENGINE_BUILD: &str = "--manifest-path bench/sha/Cargo.toml --target-dir target/bench-sha";
const LADDER_BUILD: &str =
    "--manifest-path bench/ladder/Cargo.toml --target-dir target/ladder-rust";

#[rustfmt::skip]
const BENCHES: &[Bench] = &[
    bench("torrents", "verifying and creating torrents, with other tools: RESULTS.md", Build::Programs, "bench/compare.py --hashlane {hashlane}", "--out bench"),
    bench("quick", "check that the benchmark of torrents works, with a small file", Build::Programs, "bench/compare.py --hashlane {hashlane} --quick", "--out target/bench-quick"),
    bench("against", "this build and an older one: --old PROGRAM", Build::Programs, "bench/against.py --new {hashlane}", "--rounds 11"),
    bench("sha", "the engine and other libraries: SHA.md and its charts", Build::Engine, "bench/engine.py --program {engine}", "--out bench"),
    bench("sha-quick", "check that the benchmark of the engine works, and that no kernel is below its floor", Build::Engine, "bench/engine.py --program {engine} --quick", "--out target/bench-sha-quick"),
    bench("sha-criterion", "criterion benchmarks of the engine; a filter, such as sha1_x8_avx2/16KiB, selects some", Build::Nothing, "", ""),
    bench("ports", "the kernels and the ports of CPUs: PORTS.md (needs llvm-19, binutils-aarch64-linux-gnu)", Build::Nothing, "tools/ports", ""),
    bench("kernels", "the rate of each kernel in this build and an older one: --old PROGRAM", Build::Programs, "bench/kernels.py --new {hashlane}", "--rounds 21"),
    bench("ladder", "programs in C and Rust with each way of hashing, in debug and release builds: LADDER.md (needs libssl-dev)", Build::Ladder, "bench/ladder.py --hashlane {hashlane} --library target/release", "--out bench"),
    bench("recover", "recovery of Base58Check strings: RECOVER.md", Build::Engine, "bench/recover.py --program {engine}", ""),
    bench("gpu", "recovery on each device, and the share of the bound of a GPU; --full for 2^40 candidates", Build::Gpu, "bench/gpu_rates.py --hashlane target/gpu/release/hashlane", "--rounds 5"),
    bench("swarm", "get and seed on loopback: SWARM.md (needs libtorrent and its Python binding)", Build::Programs, "bench/swarm.py --hashlane {hashlane}", ""),
    bench("daemon", "a daemon with many torrents (needs libtorrent)", Build::Programs, "bench/daemon.py --hashlane {hashlane}", "--torrents 5000"),
    bench("page", "the page with 5,000 torrents in Chromium: PAGE.md (needs chromium-driver)", Build::Nothing, "bench/page.py", ""),
    bench("capi", "the cost of calling the C library: CAPI.md", Build::Engine, "bench/pairs.py capi {engine} border target/release/libhashlane.so", ""),
    bench("python", "the Python package, Rust, hashlib, torf, fsspec and the program: python.md", Build::Python, "bench/python.py --hashlane {hashlane} --library target/release/libhashlane.so", ""),
    bench("libmd", "libmd.so.0 and the system's libmd: LIBMD.md (needs libmd-dev)", Build::Libmd, "bench/pairs.py libmd target/bench-libmd {libmd} target/release/libmd.so.0", ""),
    bench("pkcs11", "the PKCS#11 module and SoftHSM2: PKCS11.md (needs softhsm2, libp11-kit-dev)", Build::Pkcs11, "bench/pairs.py pkcs11 target/bench-pkcs11 {softhsm2} target/release/libhashlane_pkcs11.so", ""),
    bench("sum", "sum and other checksum tools: SUM.md", Build::Programs, "bench/sum.py --hashlane {hashlane}", "--out bench/SUM.md"),
    bench("trees", "tree hashes and the programs that define them: trees.md", Build::Programs, "bench/trees.py --hashlane {hashlane}", "--out bench/trees.md"),
    bench("git", "the verification of a Git pack, and that of Git: git.md", Build::Programs, "bench/git.py --hashlane {hashlane}", "--out bench/git.md"),
    bench("gix-hash", "the hasher of gix-hash, before and after the patch of docs/guides/adopting.md: gix-hash.md", Build::Nothing, "bench/gix_hash.py", ""),
    bench("library", "the verification of 10,000 small torrents in one run: library.md", Build::Programs, "bench/library.py --hashlane {hashlane}", "--out bench/library.md"),
    bench("find", "the search for renamed content, whose files take 8 GB: find.md", Build::Programs, "bench/find.py --hashlane {hashlane} --max-len 400000 --data 16000", "--files 300000 --out bench/find.md"),
    bench("find-peers", "what find and autotorrent2 make of renamed and damaged content: find-peers.md", Build::Programs, "bench/find_peers.py --hashlane {hashlane}", "--out bench/find-peers.md"),
    bench("duplicates", "the search for duplicates, fclones, jdupes and rmlint: duplicates.md", Build::Programs, "bench/duplicates.py --hashlane {hashlane}", "--out bench/duplicates.md"),
    bench("known", "checks of stores and packages, sha256sum, huggingface_hub and debsums: known.md", Build::Programs, "bench/known.py --hashlane {hashlane}", "--out bench/known.md"),
    bench("archive", "an update of unchanged files, and find -ls: archive.md", Build::Programs, "bench/archive.py --hashlane {hashlane}", "--files 1000000 --out bench/archive.md"),
    bench("disk", "reads past the page cache, and fio: disk.md", Build::Programs, "bench/disk.py --hashlane {hashlane}", "--out bench/disk.md"),
    bench("import", "the import of 10,000 torrents of qBittorrent", Build::Programs, "bench/import.py --hashlane {hashlane}", ""),
    bench("start", "the start of commands, and that of GNU's sha256sum", Build::Programs, "bench/start.py --hashlane {hashlane}", ""),
];

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        let Self::Bench { name, arguments } = self;
        let Some(name) = name else {
            for bench in BENCHES {
                println!("  cargo xtask bench {:13} {}", bench.name, bench.about);
            }
            return Ok(());
        };
        let bench = BENCHES.iter().find(|bench| bench.name == name);
        let bench = bench.with_context(|| {
            format!("{name}: no such benchmark; `cargo xtask bench` lists them")
        })?;
        if name == "sha-criterion" {
            return Ok(project
                .cargo(&format!("bench --locked {ENGINE_BUILD} --"))
                .args(arguments)
                .run()?);
        }
        bench.build(project)?;
        bench.start(project, &arguments)
    }
}

impl Bench {
    fn build(&self, project: &Project) -> Result<()> {
        let shell = &project.shell;
        let compile = |source: &str, out: &str, flags: &str| {
            project
                .command(&format!(
                    "cc -O2 -Wall -Wextra {flags} {source} -o {out} -ldl"
                ))
                .run()
        };
        match self.build {
            Build::Nothing => {}
            Build::Programs => project.make("build").run()?,
            Build::Gpu => project
                .cargo("build --release --target-dir target/gpu --package hashlane --features gpu")
                .run()?,
            Build::Engine => {
                project.make("build-lib").run()?;
                project
                    .cargo(&format!("build --locked --release {ENGINE_BUILD}"))
                    .run()?;
            }
            Build::Libmd => {
                project.make("libmd").run()?;
                compile("bench/libmd.c", "target/bench-libmd", "")?;
            }
            Build::Pkcs11 => {
                project.make("pkcs11").run()?;
                let flags = cmd!(shell, "pkg-config --cflags p11-kit-1").read()?;
                compile("bench/pkcs11.c", "target/bench-pkcs11", &flags)?;
                shell.create_dir("target/softhsm2")?;
                shell.write_file(
                    "target/softhsm2.conf",
                    "directories.tokendir = target/softhsm2\n",
                )?;
            }
            Build::Python => {
                project.make("build build-lib").run()?;
                python::Job::Python.run(project)?;
                let wheel = python::wheel(project, "target/wheels", "hashlane-")?;
                cmd!(shell, "python3 -m venv target/python/bench").run()?;
                cmd!(shell, "target/python/bench/bin/pip install --quiet --force-reinstall {wheel} numpy fsspec torf").run()?;
            }
            Build::Ladder => {
                project.need_nightly("ladder")?;
                project.make("build build-lib").run()?;
                let host = project.host()?;
                project.cargo("build --package hashlane").run()?;
                project
                    .cargo(&format!("build --locked {LADDER_BUILD}"))
                    .run()?;
                project
                    .cargo(&format!("build --locked --release {LADDER_BUILD}"))
                    .run()?;
                for build in [
                    "--target-dir target/ladder --package hashlane".to_owned(),
                    format!("--locked {LADDER_BUILD}"),
                ] {
                    project
                        .cargo(&format!("+nightly build --target {host} {build}"))
                        .env("RUSTFLAGS", "-Zsanitizer=address")
                        .run()?;
                }
            }
        }
        Ok(())
    }

    /// Starts the script. Options that are given replace the defaults.
    fn start(&self, project: &Project, arguments: &[String]) -> Result<()> {
        let libmd = || cmd!(project.shell, "cc -print-file-name=libmd.so.0").read();
        let mut line = self
            .run
            .replace("{hashlane}", HASHLANE)
            .replace("{engine}", ENGINE);
        if line.contains("{libmd}") {
            line = line.replace("{libmd}", &libmd()?);
        }
        if line.contains("{softhsm2}") {
            // The module at its path on Debian.
            let module = project.shell.var("SOFTHSM2");
            let module = module.unwrap_or_else(|_| "/usr/lib/softhsm/libsofthsm2.so".to_owned());
            if !project.path(&module).exists() {
                bail!("{module} does not exist; install softhsm2, or set SOFTHSM2=MODULE");
            }
            line = line.replace("{softhsm2}", &module);
        }
        let python = if self.build == Build::Python {
            "target/python/bench/bin/python"
        } else {
            "python3"
        };
        let mut command = project
            .command(&format!("{python} {line}"))
            .env("SOFTHSM2_CONF", "target/softhsm2.conf");
        let defaults: Vec<_> = self.defaults.split_whitespace().collect();
        for option in defaults.chunks(2) {
            let is_given = |given: &String| {
                given == option[0] || given.starts_with(&format!("{}=", option[0]))
            };
            if !arguments.iter().any(is_given) {
                command = command.args(option);
            }
        }
        Ok(command.args(arguments).run()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_exists() {
        let project = Project::open().unwrap();
        for bench in BENCHES.iter().filter(|bench| !bench.run.is_empty()) {
            let script = bench.run.split(' ').next().unwrap();
            assert!(project.path(script).is_file(), "{}: {script}", bench.name);
        }
    }
}
