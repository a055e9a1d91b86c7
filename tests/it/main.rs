//! One binary for all native integration tests.

mod import;
