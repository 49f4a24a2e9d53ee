//! The Linux module (kernel/README.md).

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use xshell::cmd;

use crate::project::Project;

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Build the Linux module in target/kernel/build (kernel/README.md)
    Kernel {
        /// Folder that a kernel's modules are built in [default: /lib/modules/VERSION/build of the running kernel]
        #[arg(long, value_name = "FOLDER")]
        kdir: Option<PathBuf>,
    },
    /// Test the Linux module in QEMU on a kernel of Debian (needs qemu-system-x86, busybox-static, cpio, rust-src)
    TestKernel {
        /// Kernel: 6.1 of Debian 12, or 6.12 of its backports with their QEMU 10
        #[arg(long, default_value = "6.1", value_parser = ["6.1", "6.12"])]
        release: String,
    },
    /// Check that the module's object is as fast in user space as a normal build
    BenchKernel,
}

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        let shell = &project.shell;
        match self {
            Self::Kernel { kdir } => {
                let running = cmd!(shell, "uname -r").quiet().read()?;
                let kdir = kdir.unwrap_or_else(|| format!("/lib/modules/{running}/build").into());
                cmd!(shell, "kernel/build {kdir} target/kernel/build").run()?;
                println!("built target/kernel/build/module/hashlane.ko");
            }
            Self::TestKernel { release } => cmd!(shell, "kernel/test/run {release}").run()?,
            Self::BenchKernel => cmd!(shell, "kernel/test/bench").run()?,
        }
        Ok(())
    }
}
