//! The reasons for which nothing changes.

/// The reason for which a command is refused. It is shown to people, and has no secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such torrent.
    #[error("no such torrent")]
    Absent,
    /// The command has a value that cannot be used.
    #[error("{0}")]
    Invalid(String),
    /// The settings do not permit the command.
    #[error("{0}")]
    Forbidden(String),
    /// The command does not apply to the torrent as it is, or it failed.
    #[error("{0}")]
    Conflict(String),
    /// The program is ending, or does too much at once.
    #[error("{0}")]
    Unavailable(String),
}

impl Refusal {
    /// Returns the reason why content that is only served has no priorities of files.
    pub fn only_downloads() -> Self {
        Self::Conflict("only downloads have priorities".into())
    }
}
