//! The command line of the program `par2`. Each option is one letter with its value behind it. The first operand ends the
//! options, as those of par2cmdline.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use hashlane_par2::{MAX_SLICES, Redundancy, Slices, Volumes};

/// What the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Create,
    Verify,
    Repair,
}

/// The amount of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Noise {
    Silent,
    Quiet,
    Normal,
    /// `-v` adds nothing: what par2cmdline prints then is about its own memory and threads.
    Verbose,
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    File(PathBuf),
    /// A file with names, or the standard input stream.
    List(Option<PathBuf>),
}

/// What a command line asks for.
#[derive(Debug)]
pub(super) enum Request {
    Help,
    Version,
    Run(Arguments),
}

/// The arguments of an action.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option without a value"
)]
pub(super) struct Arguments {
    pub(super) action: Action,
    /// The recovery file, or the file whose name it has.
    pub(super) set: PathBuf,
    pub(super) files: Vec<Operand>,
    /// The folder of the protected files.
    pub(super) base: Option<PathBuf>,
    pub(super) noise: Noise,
    /// Bytes.
    pub(super) memory: Option<u64>,
    pub(super) n_threads: Option<NonZeroUsize>,
    pub(super) slices: Option<Slices>,
    pub(super) redundancy: Option<Redundancy>,
    pub(super) first_slice: usize,
    pub(super) volumes: Option<Volumes>,
    pub(super) n_volumes: Option<usize>,
    pub(super) is_recursive: bool,
    pub(super) follows_links: bool,
    pub(super) removes_recovery_files: bool,
    skips: bool,
}

/// The reason why a command line is refused.
pub(super) type Invalid = String;

/// Options that only one kind of action has.
const OF_CREATE: &[u8] = b"bsrcfulnRL";
const OF_OTHERS: &[u8] = b"pONS";

/// Maximum number of recovery files of `-n`.
const MAX_VOLUMES: u64 = 31;

impl Request {
    /// Reads the arguments after the name of the program.
    pub(super) fn read(name: &str, args: &[OsString]) -> Result<Self, Invalid> {
        match args.first().and_then(|first| first.to_str()) {
            Some("-h" | "--help") => return Ok(Self::Help),
            Some("-V" | "-VV" | "--version") => return Ok(Self::Version),
            _ => {}
        }
        let (action, args) = match name {
            "par2create" => (Action::Create, args),
            "par2verify" => (Action::Verify, args),
            "par2repair" => (Action::Repair, args),
            _ => match args {
                [word, args @ ..] if !args.is_empty() => {
                    let shown = word.to_string_lossy();
                    let action = match shown.to_ascii_lowercase().as_str() {
                        "c" | "create" => Action::Create,
                        "v" | "verify" => Action::Verify,
                        "r" | "repair" => Action::Repair,
                        _ => return Err(format!("Invalid operation specified: {shown}")),
                    };
                    (action, args)
                }
                _ => return Err("Not enough command line arguments.".into()),
            },
        };
        Arguments::read(action, args).map(Self::Run)
    }
}

impl Arguments {
    fn read(action: Action, args: &[OsString]) -> Result<Self, Invalid> {
        let mut read = Self {
            action,
            set: PathBuf::new(),
            files: Vec::new(),
            base: None,
            noise: Noise::Normal,
            memory: None,
            n_threads: None,
            slices: None,
            redundancy: None,
            first_slice: 0,
            volumes: None,
            n_volumes: None,
            is_recursive: false,
            follows_links: false,
            removes_recovery_files: false,
            skips: false,
        };
        let mut args = args.iter().map(OsString::as_os_str);
        let mut has_options = true;
        while let Some(arg) = args.next() {
            match arg.as_encoded_bytes() {
                [] => {}
                b"--" if has_options => has_options = false,
                [b'-', letter, ..] if has_options => read.option(*letter, arg, &mut args)?,
                [b'-'] if has_options => return Err("Invalid option specified: -".into()),
                [b'@', ..] => {
                    let list = rest(arg, 1);
                    let list = (!list.is_empty()).then(|| list.into());
                    read.files.push(Operand::List(list));
                }
                _ => {
                    has_options = false;
                    if read.set.as_os_str().is_empty() {
                        read.name_set(arg)?;
                    } else {
                        read.files.push(Operand::File(arg.into()));
                    }
                }
            }
        }
        if read.set.as_os_str().is_empty() {
            return Err("You must specify a Recovery file.".into());
        }
        Ok(read)
    }

    fn name_set(&mut self, name: &OsStr) -> Result<(), Invalid> {
        let name_bytes = name.as_encoded_bytes();
        if name_bytes.is_empty() || name_bytes.iter().any(|byte| b"*?".contains(byte)) {
            return Err("The name of a recovery file has no * and no ?.".into());
        }
        self.set = name.into();
        Ok(())
    }

    fn option<'a>(
        &mut self,
        letter: u8,
        arg: &'a OsStr,
        args: &mut impl Iterator<Item = &'a OsStr>,
    ) -> Result<(), Invalid> {
        let shown = arg.to_string_lossy();
        let invalid = || format!("Invalid option specified: {shown}");
        let conflict = || format!("{shown}: contradicts an option before it");
        if OF_CREATE.contains(&letter) && self.action != Action::Create {
            return Err(format!("{shown}: only for the creation of recovery files"));
        }
        if OF_OTHERS.contains(&letter) && self.action == Action::Create {
            return Err(format!("{shown}: only for verification and repair"));
        }
        let value = rest(arg, 2);
        let bytes = value.as_encoded_bytes();
        let number = |range: std::ops::RangeInclusive<u64>| {
            number(bytes)
                .filter(|n| range.contains(n))
                .ok_or_else(invalid)
        };
        let count = |range| number(range).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        match letter {
            b'a' | b'B' => {
                let value = if bytes.is_empty() {
                    args.next()
                } else {
                    Some(value)
                };
                let value = value.ok_or_else(invalid)?;
                if letter == b'a' {
                    self.name_set(value)?;
                } else {
                    self.base = Some(value.into());
                }
            }
            b'b' | b's' if self.slices.is_some() => return Err(conflict()),
            b'b' => self.slices = Some(Slices::Count(count(1..=MAX_SLICES as u64)?)),
            b's' => self.slices = Some(Slices::Len(number(1..=u64::MAX)?)),
            b'r' | b'c' if self.redundancy.is_some() => return Err(conflict()),
            b'r' => self.redundancy = Some(redundancy(bytes).ok_or_else(invalid)?),
            b'c' => self.redundancy = Some(Redundancy::Count(count(0..=MAX_SLICES as u64)?)),
            b'f' => self.first_slice = count(0..=MAX_SLICES as u64)?,
            b'u' | b'l' if self.volumes.is_some() => return Err(conflict()),
            b'u' => self.volumes = Some(Volumes::Uniform),
            b'l' => self.volumes = Some(Volumes::Limited),
            b'n' if self.n_volumes.is_some() || self.volumes == Some(Volumes::Limited) => {
                return Err(conflict());
            }
            b'n' => {
                self.n_volumes = Some(count(1..=MAX_VOLUMES)?);
                self.volumes = Some(Volumes::Uniform);
            }
            b'm' if self.memory.is_some() => return Err(conflict()),
            b'm' => self.memory = Some(number(1..=u64::MAX >> 20)? << 20),
            b't' => self.n_threads = NonZeroUsize::new(count(1..=u64::from(u16::MAX))?),
            // Slices are hashed side by side, however many files they are from.
            b'T' => {
                count(1..=u64::from(u16::MAX))?;
            }
            b'q' | b'v' => self.noise = noise(self.noise, letter, bytes).ok_or_else(conflict)?,
            b'p' => self.removes_recovery_files = true,
            b'R' => self.is_recursive = true,
            b'L' => self.follows_links = true,
            // A search at all offsets finds what a shorter one finds.
            b'O' => {}
            b'N' => self.skips = true,
            b'S' if self.skips => {
                count(1..=u64::from(u32::MAX))?;
            }
            b'S' => return Err(format!("{shown}: only after -N")),
            _ => return Err(invalid()),
        }
        Ok(())
    }
}

/// Returns an argument without its first bytes, which are ASCII.
fn rest(arg: &OsStr, n: usize) -> &OsStr {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        OsStr::from_bytes(arg.as_bytes().get(n..).unwrap_or_default())
    }
    #[cfg(not(unix))]
    {
        // Names that are no Unicode cannot be cut here.
        OsStr::new(
            arg.to_str()
                .and_then(|arg| arg.get(n..))
                .unwrap_or_default(),
        )
    }
}

/// Reads a number of decimal digits.
fn number(digits: &[u8]) -> Option<u64> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Reads the value of `-r`: percent, or the size of all recovery data in KiB, MiB or GiB.
fn redundancy(value: &[u8]) -> Option<Redundancy> {
    let shift = match value.first()? {
        b'k' => 10,
        b'm' => 20,
        b'g' => 30,
        _ => {
            let percent = u32::try_from(number(value)?).ok()?;
            return (percent > 0).then(|| Redundancy::Percent(percent.into()));
        }
    };
    let size = number(&value[1..])?.checked_mul(1 << shift)?;
    (size > 0).then_some(Redundancy::Bytes(size))
}

/// Returns the amount of output after another `-q` or `-v`, or `None` if they contradict each other.
fn noise(before: Noise, letter: u8, value: &[u8]) -> Option<Noise> {
    match (letter, before) {
        (b'q', Noise::Normal) if value.first() == Some(&b'q') => Some(Noise::Silent),
        (b'q', Noise::Normal) => Some(Noise::Quiet),
        (b'q', Noise::Quiet | Noise::Silent) => Some(Noise::Silent),
        (b'v', Noise::Normal | Noise::Verbose) => Some(Noise::Verbose),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments, Invalid> {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match Request::read("par2", &args)? {
            Request::Run(arguments) => Ok(arguments),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn file(name: &str) -> Operand {
        Operand::File(name.into())
    }

    #[test]
    fn letters_have_their_values_behind_them() {
        let found =
            read("c -s500 -rm2 -n3 -m16 -t2 -T4 -q -q -R -L -f7 -B base -aset x @list @ -b1");
        let found = found.unwrap();
        assert_eq!(found.action, Action::Create);
        assert_eq!(found.set, PathBuf::from("set"));
        assert_eq!(found.base, Some("base".into()));
        assert_eq!(found.slices, Some(Slices::Len(500)));
        assert_eq!(found.redundancy, Some(Redundancy::Bytes(2 << 20)));
        assert_eq!(
            (found.volumes, found.n_volumes),
            (Some(Volumes::Uniform), Some(3))
        );
        assert_eq!(
            (found.memory, found.n_threads),
            (Some(16 << 20), NonZeroUsize::new(2))
        );
        assert_eq!((found.noise, found.first_slice), (Noise::Silent, 7));
        assert!(found.is_recursive && found.follows_links);
        // The first operand ends the options.
        let lists = [Operand::List(Some("list".into())), Operand::List(None)];
        assert_eq!(
            found.files,
            [&[file("x")][..], &lists, &[file("-b1")]].concat()
        );
    }

    #[test]
    fn names_choose_the_action() {
        let args = ["-p", "--", "s.par2", "-x"].map(OsString::from);
        let Ok(Request::Run(found)) = Request::read("par2repair", &args) else {
            panic!("the arguments are right");
        };
        assert_eq!(found.action, Action::Repair);
        assert!(found.removes_recovery_files);
        assert_eq!(
            (found.set, found.files),
            ("s.par2".into(), vec![file("-x")])
        );
    }

    #[test]
    fn wrong_options_are_refused() {
        for line in [
            "v",
            "x s",
            "c -",
            "c -a",
            "c -B",
            "c -b",
            "c -b0 x",
            "c -b32769 x",
            "c -b2 -s4 x",
            "c -sx x",
            "c -s0 x",
            "c -r x",
            "c -r0 x",
            "c -rk x",
            "c -r5% x",
            "c -r5 -c5 x",
            "c -c32769 x",
            "c -f32769 x",
            "c -u -l x",
            "c -ux -l x",
            "c -n0 x",
            "c -n32 x",
            "c -l -n2 x",
            "c -m0 x",
            "c -m1 -m1 x",
            "c -t0 x",
            "c -q -v x",
            "c -p x",
            "c -N x",
            "c -Z x",
            "c --recursive x",
            "c a*",
            "c a?",
            "c -q",
            "v -b5 x",
            "v -R x",
            "v -S5 x",
            "v -N -S0 x",
            "v -18446744073709551616 x",
            "c -s18446744073709551616 x",
            "c -rg18446744073709551615 x",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
