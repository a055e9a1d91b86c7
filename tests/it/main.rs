//! One binary for all native integration tests.

#[cfg(feature = "cli")]
mod import;
