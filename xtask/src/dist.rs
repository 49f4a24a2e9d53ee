//! What is published: programs, packages and what belongs to them. `dist/rules.mk` builds them.

use anyhow::Result;
use clap::{Subcommand, ValueEnum};

use crate::project::Project;

/// The libtorrent that `hashlane-net` is linked with.
#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
pub(crate) enum Libtorrent {
    /// That of this system
    #[default]
    System,
    /// Debian's newest one, which becomes a part of the program
    Static,
}

#[derive(Subcommand)]
pub(crate) enum Job {
    /// Build what is published, or a part of it, in target/packages (docs/releasing.md)
    Dist {
        /// A part, for example static or deb: dist-PART in dist/rules.mk; or variables of these rules, as NAME=VALUE
        arguments: Vec<String>,
    },
    /// Pack what `make install` installs for Debian, and run the tests of packages (two minutes; needs lintian)
    TestDistQuick,
    /// Test what `cargo xtask dist` has built (as root; needs lintian, mmdebstrap)
    TestDist { tests: Vec<String> },
}

impl Job {
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        let rules = |words: &str| project.make(&format!("-f dist/rules.mk {words}"));
        match self {
            Self::Dist { arguments } => {
                let (variables, parts): (Vec<_>, Vec<_>) =
                    arguments.into_iter().partition(|word| word.contains('='));
                let parts = parts.iter().map(|part| format!("dist-{part}"));
                rules("").args(parts).args(variables).run()?;
            }
            Self::TestDistQuick => rules("test-dist-quick").run()?,
            Self::TestDist { tests } => rules("test-dist")
                .arg(format!("TESTS={}", tests.join(" ")))
                .run()?,
        }
        Ok(())
    }
}

/// Returns the variables by which crates link with a libtorrent.
pub(crate) fn libtorrent_variables(
    project: &Project,
    libtorrent: Libtorrent,
) -> Vec<(&'static str, String)> {
    if libtorrent == Libtorrent::System {
        return Vec::new();
    }
    let folder = project.path("target/libtorrent").display().to_string();
    vec![
        ("PKG_CONFIG_PATH", format!("{folder}/lib/pkgconfig")),
        ("LIBTORRENT_RASTERBAR_STATIC", "1".to_owned()),
        ("OPENSSL_STATIC", "1".to_owned()),
        ("OPENSSL_NO_VENDOR", "1".to_owned()),
        ("OPENSSL_INCLUDE_DIR", "/usr/include".to_owned()),
        ("OPENSSL_LIB_DIR", format!("{folder}/lib")),
    ]
}
