//! The start of a client by a program.

use std::path::Path;
use std::sync::Arc;

use crate::client::Client;
use crate::config::{Config, Download, Mode};
use crate::error::Error;

impl Client {
    /// Returns the settings of a new client, which runs until it is stopped.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

/// Settings of a client that will be started; see [`Client::builder`].
#[derive(Debug, Default)]
pub struct Builder {
    config: Config,
}

impl Builder {
    /// Replaces all settings. Later calls change them.
    #[must_use]
    pub fn config(self, config: Config) -> Self {
        Self { config }
    }

    /// Downloads torrents to this folder, unless they are added with another mode. A download is not served after its end.
    #[must_use]
    pub fn folder(self, folder: impl AsRef<Path>) -> Self {
        self.mode(Mode::Download(Arc::new(Download::to(folder))))
    }

    /// Sets the mode of torrents that are added without one.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.config.additions.mode = Some(mode);
        self
    }

    /// Starts the client, which has no torrents yet. It runs until it is stopped or dropped.
    ///
    /// # Errors
    /// Those of [`Client::start`].
    pub fn start(mut self) -> Result<Client, Error> {
        self.config.additions.runs_on = true;
        let (client, _) = Client::start(self.config, Vec::new())?;
        Ok(client)
    }
}
