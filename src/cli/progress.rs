//! Progress of a long run: a bar with rate and time left on a terminal, a plain line now and then
//! elsewhere. Everything goes to stderr.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::simulate::Watch;

/// Runs shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(400);
/// Between plain lines where there is no terminal.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Does `work` while showing how far `watch` has come, of `total_ns` simulated ns.
pub fn with_progress<T: Send>(
    shown: bool,
    name: &str,
    total_ns: u64,
    watch: &Watch,
    work: impl FnOnce() -> T + Send,
) -> T {
    if !shown {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| show(name, total_ns, watch, &done));
        let result = work();
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        // The watcher only prints; if it failed there is nothing to undo.
        let _ = watcher.join();
        result
    })
}

fn show(name: &str, total_ns: u64, watch: &Watch, done: &AtomicBool) {
    let start = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let mut bar = None;
    let mut last = start;
    while !done.load(Ordering::Relaxed) {
        std::thread::park_timeout(Duration::from_millis(100));
        let spent = start.elapsed();
        if spent < PATIENCE || done.load(Ordering::Relaxed) {
            continue;
        }
        let simulated = watch.simulated_ns.load(Ordering::Relaxed);
        let events = watch.events.load(Ordering::Relaxed);
        let rate = events as f64 / spent.as_secs_f64() / 1e6;
        if terminal {
            let bar = bar.get_or_insert_with(|| new_bar(name, total_ns));
            bar.set_position(simulated.min(total_ns));
            bar.set_message(format!("{rate:.1} M events/s"));
        } else if last.elapsed() >= HEARTBEAT {
            last = Instant::now();
            let share = simulated as f64 / total_ns.max(1) as f64;
            let left = if share > 0.0 {
                spent.as_secs_f64() * (1.0 - share) / share
            } else {
                f64::NAN
            };
            let _ = writeln!(
                std::io::stderr(),
                "{name}: {:.0}% simulated, {:.1} million events, {rate:.1} M/s, about {left:.0} s left",
                share * 100.0,
                events as f64 / 1e6,
            );
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn new_bar(name: &str, total_ns: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total_ns), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3}% {msg}, {eta} left");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(name.to_owned());
    bar
}
