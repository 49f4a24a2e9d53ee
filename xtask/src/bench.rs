//! Benchmarks (bench/README.md).

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use xshell::cmd;

use crate::project::Project;
use crate::python;

const HASHLANE: &str = "target/release/hashlane";
const SHA: &str = "--manifest-path bench/sha/Cargo.toml --target-dir target/bench-sha";
const LADDER: &str = "--manifest-path bench/ladder/Cargo.toml --target-dir target/ladder-rust";
/// The target of the builds with `AddressSanitizer`, where bench/ladder.py looks for them.
const SANITIZED: &str = "--target x86_64-unknown-linux-gnu";
/// The environment with the packages that the Python package is compared with.
const PEERS: &str = "target/python/bench";
/// The module that `pkcs11` compares with, at its path on Debian.
const SOFTHSM2: &str = "/usr/lib/softhsm/libsofthsm2.so";

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Measure, and compare with other programs: `cargo xtask bench` lists the benchmarks
    // The script of a benchmark has its own --help.
    #[command(after_help = list(), disable_help_flag = true)]
    #[command(override_usage = "cargo xtask bench [NAME [ARGUMENTS]]")]
    Bench {
        /// Benchmark, one of those below, and arguments of its script, which replace the default ones; --help describes them
        #[arg(
            value_name = "NAME",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        words: Vec<String>,
    },
}

/// Something that is built before a benchmark.
#[derive(Clone, Copy)]
enum Build {
    Program,
    DebugProgram,
    /// In a folder of its own: the program in target/release may have no GPUs.
    GpuProgram,
    Library,
    /// The program that measures the engine.
    Engine,
    Libmd,
    Pkcs11,
    Wheel,
    Ladder,
}

/// A name, what is built, the command, and what it measures. In a command, `{hashlane}` is the program, and `{engine}` the one that
/// measures the engine. The arguments of the user come last: of an option that is given twice, the scripts take the last one.
type Benchmark = (&'static str, &'static [Build], &'static str, &'static str);

#[rustfmt::skip]
const BENCHMARKS: &[Benchmark] = {
    use Build::{DebugProgram, Engine, GpuProgram, Ladder, Library, Libmd, Pkcs11, Program, Wheel};
    &[
        ("torrents", &[Program, DebugProgram], "python3 bench/compare.py --hashlane {hashlane}",
            "verifying and creating torrents, compared with other tools; writes bench/RESULTS.md"),
        ("against", &[Program], "python3 bench/against.py --new {hashlane}",
            "this build, compared with an older one: --old PROGRAM"),
        ("quick", &[Program], "python3 bench/compare.py --hashlane {hashlane} --quick --out target/bench-quick",
            "check that `torrents` works, with a small file"),
        ("sha", &[Engine], "python3 bench/engine.py --program {engine}",
            "the engine, compared with other libraries; writes bench/SHA.md and its charts"),
        ("sha-quick", &[Engine], "python3 bench/engine.py --program {engine} --quick --out target/bench-sha-quick",
            "check that `sha` works and that no kernel is below its floor"),
        ("sha-criterion", &[], "cargo bench --locked {sha} --",
            "the engine's criterion benchmarks; sha1_x8_avx2/16KiB selects some"),
        ("recover", &[Engine], "python3 bench/recover.py --program {engine}",
            "recovery of Base58Check strings; writes bench/RECOVER.md"),
        ("gpu", &[GpuProgram], "python3 bench/gpu_rates.py --hashlane target/gpu/release/hashlane",
            "`recover` on each device, and the share of the bound of a GPU; --full for 2^40 candidates"),
        ("swarm", &[Program], "python3 bench/swarm.py --hashlane {hashlane}",
            "get and seed on loopback; writes bench/SWARM.md (needs libtorrent and its Python binding)"),
        ("daemon", &[Program], "python3 bench/daemon.py --hashlane {hashlane}",
            "a daemon with 5,000 torrents (needs libtorrent)"),
        ("page", &[], "python3 bench/page.py",
            "the page with 5,000 torrents in Chromium; writes bench/PAGE.md (needs chromium and chromedriver)"),
        ("capi", &[Library, Engine], "python3 bench/pairs.py capi {engine} border target/release/libhashlane.so",
            "the cost of calling the C library; writes bench/CAPI.md"),
        ("python", &[Program, Library, Wheel],
            "target/python/bench/bin/python bench/python.py --hashlane {hashlane} --library target/release/libhashlane.so",
            "the Python package, compared with Rust, hashlib, torf, fsspec and the program; writes bench/python.md"),
        ("libmd", &[Libmd], "python3 bench/pairs.py libmd target/bench-libmd {libmd} target/release/libmd.so.0",
            "libmd.so.0, compared with the system's libmd; writes bench/LIBMD.md (needs libmd-dev)"),
        ("pkcs11", &[Pkcs11],
            "python3 bench/pairs.py pkcs11 target/bench-pkcs11 {softhsm2} target/release/libhashlane_pkcs11.so",
            "the PKCS#11 module, compared with SoftHSM2; writes bench/PKCS11.md (needs softhsm2, libp11-kit-dev)"),
        ("sum", &[Program], "python3 bench/sum.py --hashlane {hashlane}",
            "sum, compared with other checksum tools; writes bench/SUM.md (uses the installed ones)"),
        ("trees", &[Program], "python3 bench/trees.py --hashlane {hashlane} --out bench/trees.md",
            "tree hashes, compared with the programs that define them; writes bench/trees.md (uses fsverity, veritysetup, git, \
            OpenSSL and target/ipfs)"),
        ("git", &[Program], "python3 bench/git.py --hashlane {hashlane} --out bench/git.md",
            "the verification of a Git pack, compared with Git; writes bench/git.md"),
        ("par2", &[Program], "python3 bench/par2.py --hashlane {hashlane} --out bench/par2.md",
            "recovery files, compared with par2cmdline-turbo and par2cmdline; writes bench/par2.md (needs par2 and `cargo xtask \
            counterparts`)"),
        ("gix-hash", &[], "python3 bench/gix_hash.py",
            "the hasher of gix-hash, compared with the patch in docs/guides/adopting.md; writes bench/gix-hash.md"),
        ("library", &[Program], "python3 bench/library.py --hashlane {hashlane} --out bench/library.md",
            "the verification of 10,000 small torrents in one run; writes bench/library.md"),
        ("find", &[Program],
            "python3 bench/find.py --hashlane {hashlane} --files 300000 --max-len 400000 --data 16000 --out bench/find.md",
            "the search for renamed content, 300,000 files that take 8 GB; writes bench/find.md"),
        ("duplicates", &[Program], "python3 bench/duplicates.py --hashlane {hashlane} --out bench/duplicates.md",
            "the search for duplicates, compared with fclones, jdupes and rmlint; writes bench/duplicates.md (uses the installed ones)"),
        ("find-peers", &[Program], "python3 bench/find_peers.py --hashlane {hashlane} --out bench/find-peers.md",
            "find and autotorrent2 on renamed and damaged content; writes bench/find-peers.md (pip install autotorrent2 \
            libtorrent)"),
        ("known", &[Program], "python3 bench/known.py --hashlane {hashlane} --out bench/known.md",
            "checks of stores and packages, compared with sha256sum, huggingface_hub and debsums; writes bench/known.md"),
        ("archive", &[Program], "python3 bench/archive.py --hashlane {hashlane} --out bench/archive.md",
            "an update of 1,000,000 unchanged files, compared with find -ls; writes bench/archive.md"),
        ("disk", &[Program], "python3 bench/disk.py --hashlane {hashlane} --out bench/disk.md",
            "reads past the page cache, compared with fio; --old PROGRAM adds an older build; writes bench/disk.md"),
        ("import", &[Program], "python3 bench/import.py --hashlane {hashlane}",
            "the import of 10,000 torrents of qBittorrent"),
        ("start", &[Program], "python3 bench/start.py --hashlane {hashlane}",
            "the start of commands, compared with GNU's sha256sum; --old PROGRAM adds an older build"),
        ("kernels", &[Program], "python3 bench/kernels.py --new {hashlane}",
            "the rate of each kernel, compared with an older build: --old PROGRAM"),
        ("ports", &[], "tools/ports",
            "the kernels, compared with the ports of CPUs; writes bench/PORTS.md (needs llvm-19, binutils-aarch64-linux-gnu)"),
        ("ladder", &[Program, Library, Ladder], "python3 bench/ladder.py --hashlane {hashlane} --library target/release",
            "programs by each way of hashing, in debug and release builds; writes bench/LADDER.md (needs libssl-dev, and a nightly \
            compiler)"),
    ]
};

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        let Self::Bench { words } = self;
        let help = |word: &String| word == "--help" || word == "-h";
        let Some((name, arguments)) = words.split_first().filter(|(name, _)| !help(name)) else {
            print!("{}", list());
            return Ok(());
        };
        let found = BENCHMARKS.iter().find(|row| row.0 == name);
        let (_, builds, command, _) = found.with_context(|| {
            format!("bench {name}: no such benchmark; `cargo xtask bench` lists them")
        })?;
        if !arguments.iter().any(help) {
            let old = |argument: &String| argument.starts_with("--old");
            if matches!(&**name, "against" | "kernels") && !arguments.iter().any(old) {
                bail!("bench {name}: --old PROGRAM is missing; name the program to compare with");
            }
            builds.iter().try_for_each(|build| build.run(project))?;
        }
        let command = fill_in(project, command)?;
        let command = match command.strip_prefix("cargo ") {
            Some(words) => project.cargo(words),
            None => project.command(&command),
        };
        // `cargo run` sets it, and the loader would search more folders for each program that is measured.
        Ok(command
            .env_remove("LD_LIBRARY_PATH")
            .args(arguments)
            .run()?)
    }
}

fn list() -> String {
    let mut text =
        "Benchmarks. `cargo xtask bench NAME --help` describes the arguments of one:\n".to_owned();
    for (name, _, _, about) in BENCHMARKS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:<14} {about}");
    }
    text
}

fn compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

fn softhsm2() -> String {
    std::env::var("SOFTHSM2").unwrap_or_else(|_| SOFTHSM2.to_owned())
}

/// Returns a command with the paths of this machine.
fn fill_in(project: &Project, command: &str) -> Result<String> {
    let mut command = command
        .replace("{hashlane}", HASHLANE)
        .replace("{engine}", "target/bench-sha/release/hashlane-bench-sha")
        .replace("{sha}", SHA)
        .replace("{softhsm2}", &softhsm2());
    if command.contains("{libmd}") {
        let system = format!("{} -print-file-name=libmd.so.0", compiler());
        command = command.replace("{libmd}", project.command(&system).read()?.trim());
    }
    Ok(command)
}

impl Build {
    fn run(self, project: &Project) -> Result<()> {
        let shell = &project.shell;
        match self {
            Self::Program => project.make("build").run()?,
            Self::DebugProgram => project.cargo("build --package hashlane").run()?,
            Self::GpuProgram => {
                let arguments =
                    "build --release --target-dir target/gpu --package hashlane --features gpu";
                project.cargo(arguments).run()?;
            }
            Self::Library => project.make("build-lib").run()?,
            Self::Engine => project
                .cargo(&format!("build --locked --release {SHA}"))
                .run()?,
            Self::Libmd => {
                project.make("libmd").run()?;
                compile(project, "bench/libmd.c", "target/bench-libmd", "")?;
            }
            Self::Pkcs11 => {
                let module = softhsm2();
                if !shell.path_exists(&module) {
                    bail!(
                        "bench pkcs11: {module} does not exist; install softhsm2, or set SOFTHSM2=MODULE"
                    );
                }
                project.make("pkcs11").run()?;
                let headers = project.command("pkg-config --cflags p11-kit-1").read()?;
                compile(project, "bench/pkcs11.c", "target/bench-pkcs11", &headers)?;
                shell.create_dir("target/softhsm2")?;
                shell.write_file(
                    "target/softhsm2.conf",
                    "directories.tokendir = target/softhsm2\n",
                )?;
                shell.set_var("SOFTHSM2_CONF", "target/softhsm2.conf");
            }
            Self::Wheel => {
                let wheel = python::wheel(project, "release")?;
                python::environment(
                    project,
                    PEERS,
                    &["--force-reinstall", &wheel, "numpy", "fsspec", "torf"],
                )?;
            }
            Self::Ladder => build_ladder(project)?,
        }
        Ok(())
    }
}

fn compile(project: &Project, source: &str, program: &str, options: &str) -> Result<()> {
    let cc = compiler();
    let options = options.split_whitespace();
    Ok(cmd!(
        project.shell,
        "{cc} -O2 -Wall -Wextra {options...} {source} -o {program} -ldl"
    )
    .run()?)
}

/// Builds the programs of the ladder. Those with `AddressSanitizer` need a nightly compiler.
fn build_ladder(project: &Project) -> Result<()> {
    project.need_nightly("bench ladder")?;
    let sanitized = |arguments: String| {
        let command = project.cargo(&format!("+nightly build {SANITIZED} {arguments}"));
        command.env("RUSTFLAGS", "-Zsanitizer=address").run()
    };
    project.cargo("build --package hashlane").run()?;
    sanitized("--target-dir target/ladder --package hashlane".to_owned())?;
    project.cargo(&format!("build --locked {LADDER}")).run()?;
    project
        .cargo(&format!("build --locked --release {LADDER}"))
        .run()?;
    sanitized(format!("--locked {LADDER}"))?;
    Ok(())
}
