//! Memory models against published numbers, and model files as users write them.

mod command;
mod files;
mod properties;
mod table;

use fleetmem::memory::{MemoryModel, Overrides, lookup};

/// Overrides from pairs such as `("kv", "fp8")`.
fn overrides(pairs: &[(&str, &str)]) -> Overrides {
    let mut overrides = Overrides::default();
    for (field, value) in pairs {
        let role = fleetmem::memory::Role::ALL
            .into_iter()
            .find(|r| r.field() == *field);
        overrides.set(role.expect("a role's field"), (*value).to_owned());
    }
    overrides
}

fn model(name: &str, pairs: &[(&str, &str)]) -> MemoryModel {
    lookup(name)
        .unwrap()
        .resolve(&overrides(pairs), name)
        .unwrap()
}
