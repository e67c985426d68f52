//! Three fixed fleets, from the scenario file to the numbers that other programs worked out: through
//! the library, and through the program's `summary.csv`.

mod support;

use assert_cmd::Command;
use fleetmem::observe::results::{AgentRow, RunResult};
use support::{S, cell, data, load, rows, simulate};

/// What one model held.
struct Held {
    model: &'static str,
    peak_bytes: u64,
    /// First instant of the peak, ns; where it is known.
    peak_ns: Option<u64>,
    byte_ns: u128,
    snapshots: u64,
    prefilled: u64,
    recomputed: u64,
}

/// A fleet and its values. `None`: not worked out elsewhere.
struct Fleet {
    file: &'static str,
    held: [Held; 3],
    sessions: u64,
    sequences: u64,
    steps: Option<u64>,
    decoded: u64,
    compactions: Option<u64>,
    rewinds: u64,
}

fn held(
    model: &'static str,
    peak_bytes: u64,
    peak_ns: Option<u64>,
    byte_ns: u128,
    snapshots: u64,
    (prefilled, recomputed): (u64, u64),
) -> Held {
    Held {
        model,
        peak_bytes,
        peak_ns,
        byte_ns,
        snapshots,
        prefilled,
        recomputed,
    }
}

fn fleets() -> [Fleet; 3] {
    let (mla, article, kimi) = ("all-mla-93", "kimi-k3-article", "kimi-k3");
    let trees = (2_147_400, 0);
    let at = Some(584_862_500_000);
    let lives = (1_286_400, 521_250);
    let (early, late) = (Some(2_206_456_250_000), Some(2_243_993_750_000));
    let rewound = (1_215_600, 450_450);
    [
        Fleet {
            file: "trees",
            held: [
                held(
                    mla,
                    38_601_100_800,
                    at,
                    111_599_818_493_760_000_000_000,
                    0,
                    trees,
                ),
                held(
                    article,
                    16_907_341_824,
                    at,
                    46_154_935_243_468_800_000_000,
                    76,
                    trees,
                ),
                held(
                    kimi,
                    24_341_483_520,
                    at,
                    64_730_189_505_024_000_000_000,
                    76,
                    trees,
                ),
            ],
            sessions: 2,
            sequences: 56,
            steps: Some(222),
            decoded: 54_528,
            compactions: None,
            rewinds: 0,
        },
        Fleet {
            file: "lifetimes",
            held: [
                held(
                    mla,
                    20_149_067_520,
                    late,
                    33_494_625_938_880_000_000_000,
                    0,
                    lives,
                ),
                held(
                    article,
                    14_029_240_320,
                    early,
                    22_614_588_707_328_000_000_000,
                    255,
                    lives,
                ),
                held(
                    kimi,
                    23_554_234_368,
                    early,
                    37_567_725_857_280_000_000_000,
                    255,
                    lives,
                ),
            ],
            sessions: 3,
            sequences: 75,
            steps: Some(228),
            decoded: 78_960,
            compactions: Some(0),
            rewinds: 0,
        },
        Fleet {
            file: "rewinds",
            held: [
                held(
                    mla,
                    12_357_709_056,
                    None,
                    21_371_412_677_760_000_000_000,
                    0,
                    (1_146_000, 380_850),
                ),
                held(
                    article,
                    12_248_745_984,
                    None,
                    19_137_399_708_672_000_000_000,
                    246,
                    rewound,
                ),
                held(
                    kimi,
                    22_238_373_888,
                    None,
                    33_717_406_832_640_000_000_000,
                    246,
                    rewound,
                ),
            ],
            sessions: 3,
            sequences: 75,
            steps: None,
            decoded: 78_960,
            compactions: None,
            rewinds: 33,
        },
    ]
}

#[test]
fn the_library_gives_every_number() {
    for fleet in fleets() {
        let result = simulate(&load(&data(&format!("fleets/{}.yaml", fleet.file)), &[]));
        assert_eq!(result.rows.len(), 3);
        for (row, want) in result.rows.iter().zip(&fleet.held) {
            let what = format!("{} of {}", want.model, fleet.file);
            assert_eq!(row.model.label, want.model);
            let [got] = &row.replications[..] else {
                panic!("{what}: one replication")
            };
            assert_eq!(got.peak_bytes, want.peak_bytes, "{what}");
            if let Some(at) = want.peak_ns {
                assert_eq!(got.peak_ns, at, "{what}");
            }
            assert_eq!(got.byte_ns, want.byte_ns, "{what}");
            let c = got.counts;
            assert_eq!(c.snapshots_taken, want.snapshots, "{what}");
            assert_eq!(c.tokens_prefilled, want.prefilled, "{what}");
            assert_eq!(c.tokens_recomputed, want.recomputed, "{what}");
            assert_eq!(c.sessions_started, fleet.sessions, "{what}");
            assert_eq!(c.sequences_started, fleet.sequences, "{what}");
            assert_eq!(c.tokens_decoded, fleet.decoded, "{what}");
            assert_eq!(c.rewinds, fleet.rewinds, "{what}");
            if let Some(steps) = fleet.steps {
                assert_eq!(c.steps, steps, "{what}");
            }
            if let Some(compactions) = fleet.compactions {
                assert_eq!(c.compactions, compactions, "{what}");
            }
        }
    }
}

/// Nanoseconds as the decimal seconds that tables print.
fn seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / S, ns % S);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[test]
fn the_program_writes_every_number() {
    let dir = tempfile::tempdir().unwrap();
    let files = fleets().map(|f| data(&format!("fleets/{}.yaml", f.file)));
    let mut command = Command::cargo_bin("fleetmem").unwrap();
    command.current_dir(dir.path()).arg("run").args(files);
    command.arg("-q").assert().success().stdout("").stderr("");
    for fleet in fleets() {
        let path = dir.path().join("output").join(fleet.file);
        let text = std::fs::read_to_string(path.join("summary.csv")).unwrap();
        let summary = rows(&text);
        for want in &fleet.held {
            let mut expected = vec![
                ("peak_bytes", want.peak_bytes.to_string()),
                ("byte_ns", want.byte_ns.to_string()),
                ("snapshots_taken", want.snapshots.to_string()),
                ("tokens_prefilled", want.prefilled.to_string()),
                ("tokens_recomputed", want.recomputed.to_string()),
                ("sessions_started", fleet.sessions.to_string()),
                ("sequences_started", fleet.sequences.to_string()),
                ("tokens_decoded", fleet.decoded.to_string()),
                ("rewinds", fleet.rewinds.to_string()),
            ];
            let known = [
                ("peak_time", want.peak_ns.map(seconds)),
                ("steps", fleet.steps.map(|n| n.to_string())),
                ("compactions", fleet.compactions.map(|n| n.to_string())),
            ];
            expected.extend(known.into_iter().filter_map(|(m, v)| Some((m, v?))));
            for (metric, value) in expected {
                // One replication: mean, least and most are one number, and there is no interval.
                for column in ["mean", "min", "max"] {
                    let got = cell(&summary, want.model, metric, column);
                    assert_eq!(
                        got, value,
                        "{metric} {column}: {} of {}",
                        want.model, fleet.file
                    );
                }
                for column in ["ci95_low", "ci95_high"] {
                    assert_eq!(cell(&summary, want.model, metric, column), "");
                }
            }
        }
        assert!(
            summary
                .iter()
                .all(|r| r["plan"] == "demand" && r["basis"] == "logical")
        );
    }
}

#[test]
fn what_all_mla_holds_is_split() {
    let result = simulate(&load(&data("fleets/lifetimes.yaml"), &[]));
    let mla = &result.rows[0].replications[0];
    assert_eq!(mla.kind_byte_ns, [29_630_080_428_480_000_000_000, 0, 0]);
    assert_eq!(mla.shared_byte_ns, 3_864_545_510_400_000_000_000);
}

/// Session 0 of the lifetimes fleet alone, over a window that ends at `end_ns`.
fn session_0(end_ns: u64, sets: &[&str]) -> RunResult {
    let measure = format!("measure={}s", seconds(end_ns));
    let mut all = vec!["workload.main.at=[0s]", &measure];
    all.extend(sets);
    simulate(&load(&data("fleets/lifetimes.yaml"), &all))
}

/// What the `lead` agent held under All-MLA.
fn lead(result: &RunResult) -> AgentRow {
    let agents = &result.rows[0].replications[0].agents;
    *agents.iter().find(|a| a.agent == 0).unwrap()
}

/// The longest context of `lead` so far: its own tokens, and the shared prompt's 12,000.
fn context(result: &RunResult) -> u64 {
    let bytes = lead(result).peak_bytes;
    assert_eq!(bytes % 107_136, 0);
    bytes / 107_136 + 12_000
}

#[test]
fn contexts_of_the_first_turn() {
    // The end of a step is its prefill at 8000 tok/s and its decode at 64 tok/s after its start. A
    // scout prefills 5900, decodes 300, is released in its 90 s tool call, prefills all 10200 again
    // and decodes 300: 101.3875 s. All are whole in units of 1/8000 s.
    let tick = S / 8_000;
    let step = |new: u64, output: u64| (new + output * 125) * tick;
    let scout = step(5_900, 300) + 90 * S + step(10_200, 300);
    let first = step(9_000, 700);
    let second = first + scout + step(2_200, 700);
    // The fork, with four steps 50 s apart, returns between the starts of the second and the third
    // step: the third takes its 450 tokens too.
    let third = second + scout + step(2_650, 700);
    for (end, tokens) in [(first, 21_700), (second, 24_600), (third, 27_950)] {
        assert_eq!(context(&session_0(end, &[])), tokens);
        // The last block, of 188 tokens, comes 2.9375 s before the end.
        let before = end - 2_937_500_000;
        assert_eq!(context(&session_0(before, &[])), tokens - 188);
        assert_eq!(context(&session_0(before + 1, &[])), tokens);
    }
}

#[test]
fn last_context_and_last_step() {
    let whole = session_0(14_400 * S, &[]);
    assert_eq!(context(&whole), 54_650);
    assert_eq!(lead(&whole).counts.compactions, 0);
    // Released when its last step ends, the lead holds nothing from then on.
    let end = 2_155_950_000_000;
    let gone = ["agents.lead.ttl={finished: 0s}"];
    let held = |end| lead(&session_0(end, &gone)).byte_ns;
    let (all, until_end) = (held(14_400 * S), held(end));
    assert_eq!(all, until_end);
    let rate = u128::from((54_650 - 12_000) * 107_136_u64);
    assert_eq!(until_end - held(end - 1), rate, "held to the last instant");
}
