//! One binary for all native integration tests.

#[cfg(feature = "cli")]
mod behaviour;
#[cfg(feature = "cli")]
mod command_line;
#[cfg(feature = "cli")]
mod evals;
// It reads files, and wasm-pack compiles these tests for wasm as well.
#[cfg(not(target_arch = "wasm32"))]
mod golden;
#[cfg(feature = "cli")]
mod import;
