//! Packs verified, compared with Git, and hostile packs.

mod git;
mod hostile;
mod not_run;
mod random;
