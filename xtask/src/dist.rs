//! Everything that is published: static programs, packages, and what other distributions build from (docs/releasing.md).
//!
//! The same commit gives the same bytes: times are that of the commit, and no path of the machine is in a program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use xshell::{Cmd, Shell, cmd};

use crate::project::Project;
use crate::python::{self, path_with};

/// The folder of what is built here.
const DIST: &str = "target/packages";
/// The licences of what is compiled in, and the bills of materials.
const NOTICES: &str = "target/packages/notices";
/// The environment with the packer and with the checks of dist/test.
const TOOLS: &str = "target/packages/tools";
const STATIC_LIBTORRENT: &str = "target/libtorrent";
/// What packages are built from for this machine. dist/third-party has the same features. hashlane-net has GPUs, because the
/// program `hashlane` is static, and cannot load their drivers.
const HOST_CRATES: &str = "--package hashlane-capi --package hashlane-libmd --package hashlane-pkcs11 --package hashlane-net \
    --features hashlane-net/libtorrent,hashlane-net/gpu";
/// The libraries of `make install`.
const LIBRARIES: [&str; 4] = [
    "libhashlane.so",
    "libhashlane.a",
    "libhashlane_pkcs11.so",
    "libmd.so.0",
];
/// The formats of packages, with their folders of libraries. Debian's depends on the machine. apk has only the static program.
const FORMATS: [(&str, &str); 4] = [
    ("deb", ""),
    ("rpm", "usr/lib64"),
    ("apk", "usr/lib"),
    ("archlinux", "usr/lib"),
];
/// What `dist` and `test-dist` need, besides the packages of `make setup`.
const PACKAGES: &str = "musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-mingw-w64-x86-64 mingw-w64-common zip \
    xz-utils python3-venv dpkg-dev cmake ninja-build libboost-dev libssl-dev debhelper lintian mmdebstrap systemd-container \
    qemu-user-static wine wine64 zsh rpm pacman-package-manager";

/// The targets of the program without libtorrent, with their compilers and what installs these.
const STATIC: Target = Target {
    name: "x86_64-unknown-linux-musl",
    program: "hashlane",
    tools: &["musl-gcc"],
    strip: "strip",
    packages: "musl-tools",
};
const STATIC_ARM: Target = Target {
    name: "aarch64-unknown-linux-musl",
    program: "hashlane",
    tools: &["aarch64-linux-gnu-gcc"],
    strip: "aarch64-linux-gnu-strip",
    packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
};
const WINDOWS: Target = Target {
    name: "x86_64-pc-windows-gnu",
    program: "hashlane.exe",
    tools: &["x86_64-w64-mingw32-gcc", "zip"],
    strip: "x86_64-w64-mingw32-strip",
    packages: "gcc-mingw-w64-x86-64 mingw-w64-common zip",
};

struct Target {
    name: &'static str,
    program: &'static str,
    /// The C compiler is the first one.
    tools: &'static [&'static str],
    strip: &'static str,
    packages: &'static str,
}

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Build everything that is published in target/packages/VERSION: static programs and packages (docs/releasing.md)
    Dist(Options),
    /// Prepare Debian for dist and test-dist, as `make setup` does for `make install`
    DistSetup,
    /// Print the version, which releases compare with their tag
    Version,
    /// Build the static program without libtorrent, for x86-64 (needs musl-tools)
    DistStatic(Out),
    /// Build the static program for 64-bit ARM (needs gcc-aarch64-linux-gnu, and downloads musl-dev)
    DistStaticArm(Out),
    /// Build the program without libtorrent for Windows (needs gcc-mingw-w64-x86-64 and zip)
    DistWindows(Out),
    /// Build the program without libtorrent for a target, without its archive
    #[command(hide = true)]
    DistProgram {
        #[arg(long, value_name = "TARGET", value_parser = [STATIC.name, STATIC_ARM.name, WINDOWS.name])]
        target: String,
    },
    /// Pack a program that is built, and its licences
    #[command(hide = true)]
    DistArchive {
        /// Target of the program; that of this machine has hashlane-net, too
        #[arg(long, value_name = "TARGET")]
        target: String,
        #[command(flatten)]
        options: Options,
    },
    /// Build the pinned libtorrent in target/libtorrent, once, for hashlane-net (takes ten minutes of a processor)
    DistLibtorrent,
    /// Build the libraries and hashlane-net for packages
    #[command(hide = true)]
    DistPrograms(Options),
    /// Write the licences and the bill of materials of each package
    #[command(hide = true)]
    DistNotices(Options),
    /// Build the packages for Debian, Fedora, Alpine and Arch Linux
    DistPackages(Options),
    /// Pack what is built, for Debian
    DistDeb(Options),
    /// Pack what is built, for Fedora
    DistRpm(Options),
    /// Pack what is built, for Alpine
    DistApk(Options),
    /// Pack what is built, for Arch Linux
    DistArchlinux(Options),
    /// Install what only packages of Debian have: the service, and the source of the module
    #[command(hide = true)]
    DistDebianFiles {
        /// The folder usr of the package
        #[arg(long, value_name = "FOLDER")]
        tree: PathBuf,
    },
    /// Fill in the address and the version in the recipes of packaging/, in target/packages/recipes
    DistRecipes,
    /// Build the source package for Debian in target/packages/source (packaging/debian)
    DistDebianSource,
    /// Lay out what the image is built from, in target/packages/container (packaging/container/Containerfile)
    DistContainer(Out),
    /// Test what dist has built: the static program, the packages and the units (as root; needs lintian, mmdebstrap)
    TestDist {
        #[command(flatten)]
        options: Options,
        /// Run only tests whose name contains one of these
        tests: Vec<String>,
    },
    /// Compile the static program again in another folder, and compare all bytes (a part of test-dist)
    TestDistBytes(Out),
    /// Pack what `make install` installs for Debian, and run the tests of packages (two minutes; needs lintian)
    TestDistQuick,
}

#[derive(Args, Default)]
pub(crate) struct Out {
    /// Folder of the archives and packages [default: target/packages/VERSION]
    #[arg(long, value_name = "FOLDER")]
    out: Option<String>,
}

#[derive(Args, Default)]
pub(crate) struct Options {
    #[command(flatten)]
    out: Out,
    /// libtorrent of hashlane-net: that of this system, or the pinned one, linked statically
    #[arg(long, value_enum, default_value_t)]
    libtorrent: Libtorrent,
    /// Folder of the libraries and of hashlane-net [default: target/HOST/dist]
    #[arg(long, value_name = "FOLDER")]
    host_folder: Option<String>,
    /// Program in the packages [default: target/x86_64-unknown-linux-musl/dist/hashlane]
    #[arg(long, value_name = "FILE")]
    program: Option<String>,
    /// Version of the packages [default: that in Cargo.toml]
    #[arg(long = "version", value_name = "VERSION")]
    packaged_version: Option<String>,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum Libtorrent {
    #[default]
    System,
    Static,
}

impl Libtorrent {
    pub(crate) fn is_static(self) -> bool {
        matches!(self, Self::Static)
    }
}

/// The paths and versions of a build.
struct Settings<'a> {
    project: &'a Project,
    shell: &'a Shell,
    version: String,
    host: String,
    /// The time of the commit.
    epoch: String,
    out: String,
    host_folder: String,
    program: String,
    libtorrent: Libtorrent,
    packaged_version: Option<String>,
}

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        let settings = |options| Settings::new(project, options);
        let defaults = || Settings::new(project, Options::default());
        let only_out = |out: Out| Settings::new(project, out.into());
        match self {
            Self::Dist(options) => settings(options)?.everything(),
            Self::DistSetup => {
                let oldest = project.manifest_value("rust-version")?;
                run(project, format!("tools/setup {oldest} {PACKAGES}"))
            }
            Self::Version => {
                println!("{}", project.manifest_value("version")?);
                Ok(())
            }
            Self::DistStatic(out) => only_out(out)?.archived_program(&STATIC),
            Self::DistStaticArm(out) => only_out(out)?.archived_program(&STATIC_ARM),
            Self::DistWindows(out) => only_out(out)?.archived_program(&WINDOWS),
            Self::DistProgram { target } => defaults()?.program(target_of(&target)?),
            Self::DistArchive { target, options } => settings(options)?.archive(&target),
            Self::DistLibtorrent => build_libtorrent(project),
            Self::DistPrograms(options) => settings(options)?.programs(),
            Self::DistNotices(options) => settings(options)?.notices(),
            Self::DistPackages(options) => settings(options)?.packages(),
            Self::DistDeb(options) => settings(options)?.package("deb"),
            Self::DistRpm(options) => settings(options)?.package("rpm"),
            Self::DistApk(options) => settings(options)?.package("apk"),
            Self::DistArchlinux(options) => settings(options)?.package("archlinux"),
            Self::DistDebianFiles { tree } => defaults()?.debian_files(&tree),
            Self::DistRecipes => defaults()?.recipes(),
            Self::DistDebianSource => defaults()?.debian_source(),
            Self::DistContainer(out) => only_out(out)?.container(),
            Self::TestDist { options, tests } => settings(options)?.test(&tests),
            Self::TestDistBytes(out) => {
                let settings = only_out(out)?;
                settings.archived_program(&STATIC)?;
                settings.test(&["a_second_compilation".to_owned()])
            }
            Self::TestDistQuick => test_quickly(project),
        }
    }
}

impl From<Out> for Options {
    fn from(out: Out) -> Self {
        let rest = Self::default();
        Self { out, ..rest }
    }
}

/// Gives what is built the time of the commit, unless `SOURCE_DATE_EPOCH` has another one, and returns the time.
pub(crate) fn set_source_date(project: &Project) -> String {
    const VARIABLE: &str = "SOURCE_DATE_EPOCH";
    let shell = &project.shell;
    let mut time = shell.var(VARIABLE).unwrap_or_default();
    if time.is_empty() {
        let log = cmd!(shell, "git log -1 --format=%ct").quiet();
        // An archive of the source has no commit.
        time = log.ignore_stderr().read().unwrap_or_default();
    }
    shell.set_var(VARIABLE, &time);
    time
}

/// Returns the variables with which Cargo links a static libtorrent and OpenSSL, which become parts of the program.
pub(crate) fn linked_with(
    project: &Project,
    libtorrent: Libtorrent,
) -> Result<Vec<(&'static str, String)>> {
    if !libtorrent.is_static() {
        return Ok(Vec::new());
    }
    build_libtorrent(project)?;
    let library = format!("{}/lib", project.path(STATIC_LIBTORRENT).display());
    Ok(vec![
        ("PKG_CONFIG_PATH", format!("{library}/pkgconfig")),
        ("LIBTORRENT_RASTERBAR_STATIC", "1".to_owned()),
        ("OPENSSL_STATIC", "1".to_owned()),
        ("OPENSSL_NO_VENDOR", "1".to_owned()),
        ("OPENSSL_INCLUDE_DIR", "/usr/include".to_owned()),
        ("OPENSSL_LIB_DIR", library),
    ])
}

/// Writes the licences and the bills of materials of artefacts into a folder. `names` says which crate each is built from.
pub(crate) fn third_party(
    project: &Project,
    folder: &str,
    target: &str,
    is_static: bool,
    names: &str,
) -> Result<()> {
    let libtorrent = project.path(STATIC_LIBTORRENT);
    let libtorrent = is_static.then(|| format!("--libtorrent={}", libtorrent.display()));
    let command = format!("dist/third-party --target {target} --output {folder} {names}");
    Ok(project.command(&command).args(libtorrent).run()?)
}

/// Builds a static libtorrent, unless it is built.
fn build_libtorrent(project: &Project) -> Result<()> {
    let folder = project.path(STATIC_LIBTORRENT);
    Ok(cmd!(project.shell, "dist/libtorrent {folder}").run()?)
}

fn target_of(name: &str) -> Result<&'static Target> {
    let mut targets = [&STATIC, &STATIC_ARM, &WINDOWS].into_iter();
    let target = targets.find(|target| target.name == name);
    target.with_context(|| format!("--target {name}: no program is built for this target"))
}

impl<'a> Settings<'a> {
    fn new(project: &'a Project, options: Options) -> Result<Self> {
        let (version, host) = (project.manifest_value("version")?, project.host()?);
        let (out, host_folder) = (options.out.out, options.host_folder);
        Ok(Self {
            project,
            shell: &project.shell,
            epoch: set_source_date(project),
            out: out.unwrap_or_else(|| format!("{DIST}/{version}")),
            host_folder: host_folder.unwrap_or_else(|| format!("target/{host}/dist")),
            program: options.program.unwrap_or_else(|| STATIC.path()),
            libtorrent: options.libtorrent,
            packaged_version: options.packaged_version,
            version,
            host,
        })
    }

    fn everything(&self) -> Result<()> {
        self.archived_program(&STATIC_ARM)?;
        self.archived_program(&WINDOWS)?;
        self.packages()?;
        if self.libtorrent.is_static() {
            self.archive(&self.host)?;
        }
        let _folder = self.shell.push_dir(&self.out);
        let files = self.shell.read_dir(".")?;
        let names = names(&files).filter(|name| !name.starts_with("SHA256SUMS"));
        let sums = cmd!(self.shell, "sha256sum {names...}").read()?;
        Ok(self.shell.write_file("SHA256SUMS", sums + "\n")?)
    }

    /// Returns a command of Cargo whose programs contain no path of this machine.
    fn cargo(&self, arguments: &str, cflags: &str) -> Result<Cmd<'a>> {
        let home = match self.shell.var("CARGO_HOME") {
            Ok(home) if !home.is_empty() => home,
            _ => self.shell.var("HOME")? + "/.cargo",
        };
        let root = self.project.root.display();
        let maps = |option: &str| format!("{option}={root}=/hashlane {option}={home}=/cargo");
        let for_c = maps("-ffile-prefix-map");
        let command = self.project.cargo(arguments);
        Ok(command
            .env_remove("CARGO_BUILD_TARGET")
            .env("RUSTFLAGS", maps("--remap-path-prefix"))
            .env("CFLAGS", format!("{for_c} {cflags}").trim_end())
            .env("CXXFLAGS", for_c))
    }

    /// Builds the program without libtorrent.
    fn program(&self, target: &Target) -> Result<()> {
        let (name, cc, path) = (target.name, target.tools[0], target.path());
        let how = format!("apt-get install {}", target.packages);
        let job = format!("the program for {name}");
        self.project.need(&job, target.tools, &how)?;
        run(self.project, format!("rustup target add {name}"))?;
        let mut cflags = String::new();
        if name == STATIC_ARM.name {
            cflags = self.musl_for_arm(cc)?;
        }
        let options = format!("--locked --profile dist --target {name} --package hashlane");
        let command = self.cargo(&format!("rustc {options} --bin hashlane"), &cflags)?;
        let command = command.env(format!("CC_{}", name.replace('-', "_")), cc);
        // Of the other targets, Rust knows the linker.
        let linker = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER";
        command.env(linker, STATIC_ARM.tools[0]).run()?;
        run(self.project, format!("{} {path}", target.strip))
    }

    /// Returns the options with which gcc reads the headers of musl: Debian has no musl-gcc for other processors. Rust links
    /// its own musl.
    fn musl_for_arm(&self, cc: &str) -> Result<String> {
        let root = self.project.path("target/musl-arm64");
        if !root.exists() {
            let unpack = "dist/debian bookworm arm64 musl-dev";
            self.project.command(unpack).arg(&root).run()?;
        }
        let musl = root.join("usr/include/aarch64-linux-musl");
        let own = cmd!(self.shell, "{cc} -print-file-name=include").read()?;
        let folders = format!("-isystem {} -isystem {own}", musl.display());
        Ok(format!("-nostdinc {folders} -mno-outline-atomics"))
    }

    fn archived_program(&self, target: &Target) -> Result<()> {
        self.program(target)?;
        self.archive(target.name)
    }

    /// Packs a program and its licences. The archive for this machine has hashlane-net, too: with a static libtorrent, it needs
    /// no library that a small Debian does not have.
    fn archive(&self, target: &str) -> Result<()> {
        let (shell, out, epoch) = (self.shell, &self.out, &self.epoch);
        let name = format!("hashlane-{}", self.version);
        let (work, folder) = (format!("{DIST}/archive"), format!("{DIST}/archive/{name}"));
        let net = format!("{}/hashlane-net", self.host_folder);
        let (built_from, programs) = if target == self.host {
            ("hashlane-net", format!("{} {net}", self.program))
        } else {
            ("hashlane", target_of(target)?.path())
        };
        shell.remove_path(&work)?;
        shell.create_dir(&folder)?;
        shell.create_dir(out)?;
        let (has_net, built_from) = (
            target == self.host,
            format!("hashlane-{target}={built_from}"),
        );
        self.third_party(target, has_net, &built_from)?;
        if target != WINDOWS.name {
            self.share(&folder, has_net)?;
        }
        let notices = format!("{NOTICES}/hashlane-{target}");
        let commands = format!(
            "install -m 755 {programs} {folder}
            install -m 644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE {folder}
            install -m 644 {notices}.THIRD-PARTY {folder}/THIRD-PARTY
            install -m 644 {notices}.cdx.json {out}/{name}-{target}.cdx.json"
        );
        run(self.project, commands)?;
        let packed = self.project.path(&format!("{out}/{name}-{target}"));
        let packed = packed.display();
        if target == WINDOWS.name {
            shell.remove_path(format!("{packed}.zip"))?;
            let _folder = shell.push_dir(&work);
            let found = cmd!(shell, "find {name}").read()?;
            let mut files: Vec<_> = found.lines().collect();
            files.sort_unstable();
            cmd!(shell, "touch -d @{epoch}").args(&files).run()?;
            // The times in a zip are local times.
            let zip = self.project.command(&format!("zip -q -X {packed}.zip -@"));
            zip.env("TZ", "UTC").stdin(files.join("\n")).run()?;
        } else {
            let same = "--sort=name --owner=0 --group=0 --numeric-owner --mode=go-w";
            let files = format!("-C {work} -cJf {packed}.tar.xz {name}");
            run(self.project, format!("tar {same} --mtime=@{epoch} {files}"))?;
        }
        Ok(shell.remove_path(&work)?)
    }

    /// Writes the man pages and completions that `make install` installs, and the unit of a user for the daemon, into the folder
    /// `share` of an archive, for `~/.local` or `/usr/local`. The program for x86-64 writes them: it runs on this machine.
    fn share(&self, folder: &str, has_net: bool) -> Result<()> {
        if !self.shell.path_exists(&self.program) {
            self.program(&STATIC)?;
        }
        let tree = self.project.path(&format!("{DIST}/share"));
        self.shell.remove_path(&tree)?;
        let options = format!("LIBRARIES= LIBTORRENT= HASHLANE={}", self.program);
        let install = format!("install-files CARGO=false PREFIX= {options}");
        let to = format!("DESTDIR={}", tree.display());
        self.project.make(&install).arg(to).run()?;
        run(
            self.project,
            format!("mv {}/share {folder}", tree.display()),
        )?;
        if has_net {
            let unit = self.shell.read_file("dist/user/hashlane.service")?;
            let unit = unit.replace("/usr/bin/", "%h/.local/bin/");
            let to = format!("{folder}/share/systemd/user/hashlane.service");
            self.shell.write_file(to, unit)?;
        }
        Ok(self.shell.remove_path(&tree)?)
    }

    /// Builds the libraries and hashlane-net at once, so that they share their dependencies.
    fn programs(&self) -> Result<()> {
        let (host, built) = (&self.host, &self.host_folder);
        let arguments = format!("build --locked --profile dist --target {host} {HOST_CRATES}");
        let libtorrent = linked_with(self.project, self.libtorrent)?;
        self.cargo(&arguments, "")?.envs(libtorrent).run()?;
        // Cargo strips libraries by the profile, but not the programs whose packages have a profile of their own. Cargo does
        // not write again what has not changed, and `make install-files` compares times.
        let libraries = LIBRARIES.map(|name| format!("{built}/{name}")).join(" ");
        let commands = format!(
            "strip {built}/hashlane-net
            crates/libmd/link {built}/libhashlane_md.a {built}/libmd.so.0
            strip --strip-unneeded {built}/libmd.so.0
            touch -c {libraries}"
        );
        run(self.project, commands)
    }

    fn third_party(&self, target: &str, is_static: bool, names: &str) -> Result<()> {
        third_party(self.project, NOTICES, target, is_static, names)
    }

    fn notices(&self) -> Result<()> {
        const LINKED: &str = "libhashlane0=hashlane-capi libhashlane-dev=hashlane-capi hashlane-libmd=hashlane-libmd \
            hashlane-pkcs11=hashlane-pkcs11 hashlane-net=hashlane-net";
        const PACKAGED: [&str; 6] = [
            "hashlane",
            "libhashlane0",
            "hashlane-libmd",
            "hashlane-pkcs11",
            "hashlane-net",
            "hashlane-dkms",
        ];
        const MODULE: &str = "--manifest kernel/Cargo.toml hashlane-dkms=hashlane-kernel";
        self.third_party(STATIC.name, false, "hashlane=hashlane")?;
        self.third_party(&self.host, self.libtorrent.is_static(), LINKED)?;
        self.third_party(&self.host, false, MODULE)?;
        let (out, version) = (&self.out, &self.version);
        self.shell.create_dir(out)?;
        for name in PACKAGED {
            let paths = format!("{NOTICES}/{name}.cdx.json {out}/{name}-{version}.cdx.json");
            run(self.project, format!("install -m 644 {paths}"))?;
        }
        Ok(())
    }

    fn packages(&self) -> Result<()> {
        self.archived_program(&STATIC)?;
        self.programs()?;
        self.notices()?;
        let mut formats = FORMATS.iter();
        formats.try_for_each(|(format, _)| self.package(format))
    }

    /// Packs what is built.
    fn package(&self, format: &str) -> Result<()> {
        install_tools(self.project)?;
        let (shell, out, built) = (self.shell, &self.out, &self.host_folder);
        let folder = FORMATS.iter().find(|(name, _)| *name == format);
        let mut libdir = folder.context("no such format")?.1.to_owned();
        if libdir.is_empty() {
            let (tool, how) = ("dpkg-architecture", "apt-get install dpkg-dev");
            self.project.need("dist-deb", &[tool], how)?;
            libdir = cmd!(shell, "{tool} -qDEB_HOST_MULTIARCH").read()?;
            libdir.insert_str(0, "usr/lib/");
        }
        let tree = self.project.path(&format!("{DIST}/tree"));
        shell.remove_path(&tree)?;
        // Without Cargo: libraries that are older than their sources are an error here, and not built again with other options.
        let options = format!("CARGO=false PREFIX=/usr LIBDIR=/{libdir} LIBRARY={built}");
        let programs = format!("HASHLANE={} NET={built}/hashlane-net", self.program);
        let install = format!("install-files {options} {programs}");
        let to = format!("DESTDIR={}", tree.display());
        self.project.make(&install).arg(to).run()?;
        if format == "deb" {
            self.debian_files(&tree.join("usr"))?;
        } else {
            shell.remove_path(tree.join("usr/libexec/hashlane/hashlane-net"))?;
        }
        let options = format!("--libdir {libdir} --notices {NOTICES} --output {out}");
        let version = self.packaged_version.as_ref();
        let pack = self
            .project
            .command(&format!("dist/pack --format {format} {options}"));
        pack.arg("--tree")
            .arg(tree)
            .args(version.map(|version| format!("--version={version}")))
            .env("PATH", path_with(self.project, &format!("{TOOLS}/bin"))?)
            .run()?;
        Ok(())
    }

    /// Installs what only packages of Debian have: the service, and the source of the module.
    fn debian_files(&self, usr: &Path) -> Result<()> {
        let sysroot = cmd!(self.shell, "rustc --print sysroot").quiet().read()?;
        if !Path::new(&sysroot)
            .join("lib/rustlib/src/rust/library")
            .exists()
        {
            run(self.project, "rustup component add rust-src")?;
        }
        let source = usr.join(format!("src/hashlane-{}", self.version));
        let module = python::files(self.project, "kernel/module", "", "")?;
        let module = names(&module).map(|name| format!("kernel/module/{name}"));
        let module = module.collect::<Vec<_>>().join(" ");
        let commands = format!(
            "install -D -m 644 dist/hashlane.sysusers {usr}/lib/sysusers.d/hashlane.conf
            install -D -m 644 dist/hashlane.tmpfiles {usr}/lib/tmpfiles.d/hashlane.conf
            install -D -m 644 -t {usr}/lib/systemd/system dist/hashlane.service dist/hashlane.socket
            install -D -m 644 dist/user/hashlane.service {usr}/lib/systemd/user/hashlane.service
            kernel/build
            install -D -m 644 -t {source} {module}
            install -m 644 target/kernel/rust.o {source}/rust.o_shipped",
            usr = usr.display(),
            source = source.display(),
        );
        run(self.project, commands)?;
        self.fill_in("dist/dkms.conf.in", &source.join("dkms.conf"), "")
    }

    /// Writes a file with the version and the address in it.
    fn fill_in(&self, template: &str, to: &Path, repository: &str) -> Result<()> {
        let text = self.shell.read_file(template)?;
        let text = text.replace("@VERSION@", &self.version);
        let text = text.replace("@REPOSITORY@", repository);
        Ok(self.shell.write_file(to, text)?)
    }

    /// Fills in the recipes. They are published in other places, so they contain the address and the version.
    fn recipes(&self) -> Result<()> {
        let repository = self.project.manifest_value("repository")?;
        if repository.is_empty() {
            bail!("dist-recipes: Cargo.toml: repository in [workspace.metadata.release] is empty");
        }
        let find = "find packaging -name *.in -not -path packaging/debian/*";
        for recipe in self.project.command(find).read()?.lines() {
            let name = recipe.trim_start_matches("packaging/");
            let name = name.trim_end_matches(".in");
            let to = self.project.path(&format!("{DIST}/recipes/{name}"));
            self.fill_in(recipe, &to, &repository)?;
        }
        Ok(())
    }

    /// Builds the source package as of the last commit, because Debian builds from what is released. It has all crates, because
    /// Debian builds without a network.
    fn debian_source(&self) -> Result<()> {
        let (shell, name) = (self.shell, format!("hashlane-{}", self.version));
        let folder = format!("{DIST}/source");
        shell.remove_path(&folder)?;
        shell.create_dir(&folder)?;
        let source = cmd!(shell, "git archive --prefix={name}/ HEAD").output()?;
        cmd!(shell, "tar -x -C {folder}")
            .stdin(source.stdout)
            .run()?;
        let debian = format!("{folder}/{name}/debian");
        cmd!(shell, "dist/pack --format source --output {debian}").run()?;
        cmd!(shell, "dist/vendor {folder}/{name}").run()?;
        let _folder = shell.push_dir(&folder);
        Ok(cmd!(shell, "dpkg-source --build {name}").run()?)
    }

    fn container(&self) -> Result<()> {
        let (out, version, folder) = (&self.out, &self.version, format!("{DIST}/container"));
        self.shell.remove_path(&folder)?;
        self.shell.create_dir(&folder)?;
        let commands = format!(
            "install packaging/container/Containerfile packaging/container/entrypoint {folder}
            install -m 644 {out}/hashlane_{version}_amd64.deb {folder}/hashlane.deb
            install -m 644 {out}/hashlane-net_{version}_amd64.deb {folder}/hashlane-net.deb"
        );
        run(self.project, commands)
    }

    /// Tests what is built. The tests pack again, with the same libtorrent.
    fn test(&self, arguments: &[String]) -> Result<()> {
        let libtorrent = self.libtorrent.is_static().then_some("--libtorrent=static");
        let command = format!("dist/test --output {} --version {}", self.out, self.version);
        let command = self.project.command(&command).args(libtorrent);
        Ok(command.args(arguments).run()?)
    }
}

impl Target {
    /// Returns the path of the built program.
    fn path(&self) -> String {
        format!("target/{}/dist/{}", self.name, self.program)
    }
}

/// Packs the programs that the tests have compiled, because compiling for packages takes too long for CI. What is packed where, and what
/// it needs, is the same.
fn test_quickly(project: &Project) -> Result<()> {
    let (shell, quick) = (&project.shell, format!("{DIST}/quick"));
    let folder = format!("{quick}/programs");
    let out = Some(format!("{quick}/packages"));
    let mut options = Options::from(Out { out });
    options.program = Some(format!("{folder}/hashlane"));
    options.host_folder = Some(folder.clone());
    let settings = Settings::new(project, options)?;
    let features = project.features().split_whitespace();
    // With the tests, whose dependencies have more features, and without which much would be compiled again.
    project
        .cargo("build --workspace --lib --bins --tests")
        .args(features)
        .run()?;
    shell.remove_path(&quick)?;
    shell.create_dir(&folder)?;
    let net = project.has_libtorrent().then_some("hashlane-net");
    let names = LIBRARIES.into_iter().chain(["hashlane"]).chain(net);
    run(
        project,
        "crates/libmd/link target/debug/libhashlane_md.a target/debug/libmd.so.0",
    )?;
    for name in names {
        // With its time, which `make install-files` compares.
        let commands = format!(
            "cp -p target/debug/{name} {folder}
            strip --strip-unneeded --preserve-dates {folder}/{name}"
        );
        run(project, commands)?;
    }
    settings.notices()?;
    settings.package("deb")?;
    settings.test(&["--quick".to_owned()])
}

/// Installs the packer, and the checks of dist/test, unless these versions are installed.
fn install_tools(project: &Project) -> Result<()> {
    let (list, installed) = ("dist/tools.txt", format!("{TOOLS}/installed"));
    let wanted = project.shell.read_file(list)?;
    let found = project.shell.read_file(&installed);
    if found.is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    python::environment(project, TOOLS, &["--requirement", list])?;
    Ok(project.shell.write_file(installed, wanted)?)
}

/// Runs commands, one per line, whose words are separated by white space.
pub(crate) fn run(project: &Project, commands: impl AsRef<str>) -> Result<()> {
    let mut lines = commands.as_ref().lines();
    lines.try_for_each(|line| Ok(project.command(line).run()?))
}

/// Returns the names of files.
fn names(paths: &[PathBuf]) -> impl Iterator<Item = String> {
    let names = paths.iter().filter_map(|path| path.file_name());
    names.map(|name| name.to_string_lossy().into_owned())
}
