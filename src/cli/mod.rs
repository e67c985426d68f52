//! The command line: parses arguments, joins the library's parts, maps errors to exit codes.
//! No simulation, memory or chart rule lives here.

pub mod models;

/// Runs the command line and returns the process's exit code.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
