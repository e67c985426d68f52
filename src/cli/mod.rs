//! The command line: parses arguments, joins the library's parts, maps errors to exit codes.
//! No simulation, memory or chart rule lives here.

mod check;
mod exit;
mod init;
mod load;
pub mod models;
mod progress;
mod run;
mod schema;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use exit::Exit;

/// How much memory a fleet of LLM agents holds over time, under each memory model.
#[derive(Debug, Parser)]
#[command(name = "fleetmem", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate scenarios and write CSV files, charts and a summary
    Run(run::RunArgs),
    /// List memory models, or compare what they hold at given context lengths
    Models(models::ModelsArgs),
    /// Say whether scenarios are right, and what they say
    Check(check::CheckArgs),
    /// Print the JSON Schema of scenario files, for editors
    Schema(schema::SchemaArgs),
    /// Write a commented scenario to start from
    Init(init::InitArgs),
}

/// How a table is printed to stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a reader, at most 80 columns
    #[default]
    Table,
    /// For a program
    Json,
    /// For a spreadsheet
    Csv,
}

/// Options that every command on scenarios takes.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Change a value of the scenario before it is read, e.g. `replications=3` or
    /// `agents.coder.spawns.explorer.count=4`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Seed of every draw; the same as `--set seed=N`
    #[arg(long)]
    pub seed: Option<u64>,
}

impl Common {
    /// All changes to the scenario, in order.
    pub fn sets(&self) -> Vec<String> {
        let seed = self.seed.map(|s| format!("seed={s}"));
        self.sets.iter().cloned().chain(seed).collect()
    }
}

/// Runs the command line and returns the process's exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = std::io::stdout().lock();
    let result = match &cli.command {
        Command::Run(args) => run::run(args, &mut out),
        Command::Models(args) => models::run(args, &mut out),
        Command::Check(args) => check::run(args, &mut out),
        Command::Schema(args) => schema::run(args, &mut out),
        Command::Init(args) => init::run(args, &mut out),
    };
    exit::report(result)
}
