#!/bin/sh
# The agent life of simple-agents.yaml in fleetmem, nexosim and SimPy: three rounds, interleaved.
# Needs Python 3 with venv, and the package registries. Usage: benches/compare.sh [SCALE]
set -eu
scale="${1:-1}"
here="$(cd "$(dirname "$0")" && pwd)"
build="$here/../target/peers"
mkdir -p "$build"
[ -x "$build/venv/bin/python" ] || python3 -m venv "$build/venv"
"$build/venv/bin/pip" install --quiet --disable-pip-version-check simpy==4.1.2
(cd "$here/peers/nexosim" && CARGO_TARGET_DIR="$build" cargo build --quiet --release --locked)
cargo build --quiet --manifest-path "$here/../Cargo.toml" --release --locked --bench engine
results="$build/results.jsonl"
: > "$results"
for _ in 1 2 3; do
    cargo bench --quiet --manifest-path "$here/../Cargo.toml" --locked --bench engine -- \
        simple --scale "$scale" >> "$results"
    "$build/release/nexosim-agents" "$scale" >> "$results"
    "$build/venv/bin/python" "$here/peers/simpy/agents.py" "$scale" >> "$results"
done
"$build/venv/bin/python" - "$results" <<'PY'
import json, statistics, sys
runs = {}
for line in open(sys.argv[1]):
    run = json.loads(line)
    runs.setdefault(run["program"], []).append(run)
base = None
print(f"{'program':<14} {'events':>10} {'s':>8} {'events/s':>12} {'time':>8}   mean TB, three models")
for program, of in runs.items():
    seconds = statistics.median(r["seconds"] for r in of)
    base = base or seconds
    mean = " ".join(f"{b / 1e12:.2f}" for b in of[0]["mean_bytes"])
    events = of[0]["events"]
    print(f"{program:<14} {events:>10} {seconds:>8.3f} {events / seconds:>12.0f} {seconds / base:>7.1f}x   {mean}")
PY
