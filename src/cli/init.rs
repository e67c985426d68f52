//! `fleetmem init`: a scenario to start from.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::exit::BadInput;
use crate::scenario;

/// Arguments of `init`.
#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// The file to write; one that exists is left alone
    #[arg(default_value = "scenario.yaml")]
    path: PathBuf,
}

/// Writes a commented scenario to start from. Never overwrites a file.
pub fn run(args: &InitArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let path = args.path.display();
    // `create_new` asks the file system, so that no race can overwrite a file.
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&args.path);
    let mut file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let text = format!(
                "{path} exists and is left as it is\n  help: give another path: fleetmem init PATH"
            );
            return Err(BadInput(text).into());
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(BadInput(format!("cannot write {path}: {error}")).into());
        }
        Err(error) => return Err(error).with_context(|| format!("cannot write {path}")),
    };
    file.write_all(scenario::STARTER.as_bytes())
        .with_context(|| format!("cannot write {path}"))?;
    writeln!(
        out,
        "wrote {path}; next: fleetmem check {path}, then fleetmem run {path}"
    )?;
    Ok(())
}
