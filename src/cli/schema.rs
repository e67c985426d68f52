//! `fleetmem schema`: the JSON Schema of scenario files.

use std::io::Write;

use clap::Args;

use crate::scenario;

/// Arguments of `schema`.
#[derive(Clone, Debug, Args)]
pub struct SchemaArgs {}

/// Prints the JSON Schema (draft 2020-12) of scenario files, for editors.
pub fn run(_args: &SchemaArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "{}",
        serde_json::to_string_pretty(&scenario::schema())?
    )?;
    Ok(())
}
