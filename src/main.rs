//! The `fleetmem` command: everything is in the library.

fn main() -> std::process::ExitCode {
    fleetmem::cli::main()
}
