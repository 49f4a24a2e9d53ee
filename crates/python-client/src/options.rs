//! Arguments of Python as settings and goals.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use hashlane_client::{
    Bind, Download, Existing, Globs, InfoHash, Magnet, Mode, Network, Place, Priority, RatesPatch,
    Seed, SeedLimits, Source,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::wait::seconds;

/// The origin of a torrent: the bytes of a .torrent file, or text or a path that names one.
#[derive(FromPyObject)]
pub(crate) enum Origin {
    #[pyo3(transparent, annotation = "bytes")]
    Bytes(Vec<u8>),
    #[pyo3(transparent, annotation = "str")]
    Text(String),
    #[pyo3(transparent, annotation = "os.PathLike[str]")]
    Path(PathBuf),
}

impl Origin {
    /// Returns the source: a text is a magnet link, a URL, an info-hash or the path of a .torrent file.
    ///
    /// # Errors
    /// `ValueError` for a link that is invalid.
    pub(crate) fn source(self) -> PyResult<(Source, Option<String>)> {
        let text = match self {
            Self::Bytes(bytes) => return Ok((Source::bytes(bytes), None)),
            Self::Path(path) => {
                let label = path.to_string_lossy().into_owned();
                return Ok((Source::file(path), Some(label)));
            }
            Self::Text(text) => text,
        };
        if text.starts_with("magnet:") {
            let magnet: Magnet = text
                .parse()
                .map_err(|error| PyValueError::new_err(format!("magnet link: {error}")))?;
            return Ok((magnet.into(), None));
        }
        if text.starts_with("https://") || text.starts_with("http://") {
            return Ok((Source::Url(text), None));
        }
        if let Ok(info_hash) = text.parse::<InfoHash>() {
            return Ok((Source::info_hash(info_hash), None));
        }
        let label = text.clone();
        Ok((Source::file(text), Some(label)))
    }
}

/// Returns the local end of connections: an address, or the name of an interface.
pub(crate) fn network(bind: Option<&str>, port: u16) -> Network {
    let bind = match bind {
        None => Bind::Any,
        Some(text) => match text.parse() {
            Ok(address) => Bind::Address(address),
            Err(_) => Bind::Interface(text.to_owned()),
        },
    };
    Network { bind, port }
}

/// Returns limits of rates: both are set, `None` and 0 to no limit.
pub(crate) fn limits(max_down: Option<u32>, max_up: Option<u32>) -> RatesPatch {
    RatesPatch {
        max_down: Some(max_down.and_then(NonZeroU32::new)),
        max_up: Some(max_up.and_then(NonZeroU32::new)),
    }
}

/// Returns limits of serving.
///
/// # Errors
/// `ValueError` for a number that is negative or not finite.
pub(crate) fn seed_limits(ratio: Option<f64>, time: Option<f64>) -> PyResult<SeedLimits> {
    if let Some(ratio) = ratio.filter(|ratio| !(ratio.is_finite() && *ratio >= 0.0)) {
        let text = format!("ratio: {ratio} is not a number of at least 0");
        return Err(PyValueError::new_err(text));
    }
    let time = time.map(|time| seconds("seconds", time)).transpose()?;
    Ok(SeedLimits { ratio, time })
}

/// What a download differs in from one of all files, which continues what exists and ends when it is complete.
pub(crate) struct DownloadOptions {
    pub(crate) folder: PathBuf,
    pub(crate) select: Vec<String>,
    pub(crate) sequential: bool,
    pub(crate) overwrite: bool,
    pub(crate) seeding: Option<SeedLimits>,
}

impl DownloadOptions {
    /// # Errors
    /// `ValueError` for a pattern that is invalid.
    pub(crate) fn mode(self) -> PyResult<Mode> {
        let mut selection = Globs::default();
        for pattern in &self.select {
            selection
                .add(pattern)
                .map_err(|error| PyValueError::new_err(format!("select: {pattern}: {error}")))?;
        }
        Ok(Mode::Download(Arc::new(Download {
            selection,
            sequential: self.sequential,
            existing: if self.overwrite {
                Existing::Overwrite
            } else {
                Existing::Resume
            },
            seeding: self.seeding,
            ..Download::to(self.folder)
        })))
    }
}

/// Returns the mode of serving content that exists.
pub(crate) fn serving(content: PathBuf, limits: SeedLimits) -> Mode {
    Mode::Seed(Seed {
        place: Place::Content(content),
        super_seeding: false,
        limits,
        records: None,
        naming: hashlane_client::Naming::default(),
    })
}

/// Returns a priority by its name.
///
/// # Errors
/// `ValueError` for another name.
pub(crate) fn priority(name: &str) -> PyResult<Priority> {
    Ok(match name {
        "skip" => Priority::Skip,
        "low" => Priority::Low,
        "normal" => Priority::Normal,
        "high" => Priority::High,
        _ => {
            let text = format!("priority: {name} is not skip, low, normal or high");
            return Err(PyValueError::new_err(text));
        }
    })
}
