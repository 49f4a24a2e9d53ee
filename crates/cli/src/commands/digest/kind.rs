//! The two programs, and their help.

use hashlane_sums::Algorithm;

const DIGEST_USAGE: &str = "usage: digest -l | [-v] -a <algorithm> [file...]\n";

const MAC_USAGE: &str = "\
usage: mac -l | [-v] -a <algorithm> [-k <keyfile>] [file...]
       other keys: --key-file <file>, --key-env <variable>, --key-hex <digits>
       --verify <digits>: checks that the one message has this MAC
       --bits <bits>: prints or checks a MAC that is truncated to this length
";

const HELP: &str = "
  -l            list the algorithms
  -a ALGORITHM  algorithm of the list
  -v            print the algorithm and the file name before each result

A result is printed for each file, or for the standard input if there is none.
";

const MAC_HELP: &str = "
Keys: all bytes of the file after -k or --key-file, the value of the environment
variable after --key-env, or the bytes after --key-hex, which other users can see
in the list of processes. Without one of these options, mac asks for a passphrase
and derives the key from it. A key has one byte or more.

--bits is for protocols that truncate MACs, for example 128 for HMAC-SHA256-128.
A MAC has at least 80 bits, and at least half of its whole length (RFC 2104).
";

const EXIT_STATUS: &str = "
Exit status:
  0  done; with --verify, the MAC is right
  1  unknown algorithm, a key that is invalid or cannot be read, a file that
     cannot be read to its end, or a MAC that does not match
  2  wrong usage, a file that cannot be opened, or results that cannot be
     written
";

/// One of the two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Digest,
    Mac,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Digest => "digest",
            Self::Mac => "mac",
        }
    }

    /// Returns the name after `-a` of the algorithm with this hash function.
    pub(super) fn algorithm(self, function: Algorithm) -> String {
        match self {
            Self::Digest => function.name().into(),
            Self::Mac => format!("{}_hmac", function.name()),
        }
    }

    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::Digest => DIGEST_USAGE,
            Self::Mac => MAC_USAGE,
        }
    }

    pub(super) fn help(self) -> String {
        let keys = match self {
            Self::Digest => "",
            Self::Mac => MAC_HELP,
        };
        [self.usage(), HELP, keys, EXIT_STATUS].concat()
    }
}
