//! The engine as a module of the Linux kernel.

use anyhow::Result;
use clap::Subcommand;
use xshell::cmd;

use crate::project::Project;

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Build the Linux module in target/kernel/build (kernel/README.md)
    Kernel {
        /// Folder of the kernel that is built for; /lib/modules/RELEASE/build of the running kernel by default
        #[arg(long, value_name = "FOLDER")]
        kdir: Option<String>,
    },
    /// Test the module in QEMU (needs qemu-system-x86, busybox-static, cpio, rust-src)
    TestKernel {
        /// Kernel of Debian: 6.1, or 6.12 of the backports with their QEMU 10
        #[arg(long, default_value = "6.1")]
        release: String,
    },
    /// Check that the object of the module is as fast in user space as a normal build
    BenchKernel,
}

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        let shell = &project.shell;
        match self {
            Self::Kernel { kdir } => {
                let kdir = match kdir {
                    Some(folder) => folder,
                    None => format!("/lib/modules/{}/build", cmd!(shell, "uname -r").read()?),
                };
                cmd!(shell, "kernel/build {kdir} target/kernel/build").run()?;
                println!("built target/kernel/build/module/hashlane.ko");
            }
            Self::TestKernel { release } => cmd!(shell, "kernel/test/run {release}").run()?,
            Self::BenchKernel => cmd!(shell, "kernel/test/bench").run()?,
        }
        Ok(())
    }
}
