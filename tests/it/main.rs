//! One binary for all native integration tests.

#[cfg(feature = "cli")]
mod behaviour;
#[cfg(feature = "cli")]
mod command_line;
#[cfg(feature = "cli")]
mod evals;
mod golden;
#[cfg(feature = "cli")]
mod import;
