//! Exact equality: the engine against a brute-force reference, and the reference against fleets
//! whose values were worked out by other programs.

mod reference;

use fleetmem::observe::results::{AgentRow, RowReplication};
use fleetmem::scenario::Scenario;
use fleetmem::simulate::{Prepared, Watch, replicate};
use fleetmem::workload::RunKey;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use reference::fleets::{self, S};
use reference::{properties, strategies, worked};

fn run(scenario: &Scenario) -> Vec<RowReplication> {
    let arrivals = reference::listed_arrivals(scenario, 0);
    reference::simulate(scenario, 0, 0, &arrivals, 600 * S)
}

#[test]
fn trees_without_lifetimes() {
    let rows = run(&fleets::trees());
    let expected = [
        (38_601_100_800, 111_599_818_493_760_000_000_000, 0),
        (16_907_341_824, 46_154_935_243_468_800_000_000, 76),
        (24_341_483_520, 64_730_189_505_024_000_000_000, 76),
    ];
    for (row, (peak_bytes, byte_ns, snapshots)) in rows.iter().zip(expected) {
        assert_eq!((row.peak_bytes, row.peak_ns), (peak_bytes, 584_862_500_000));
        assert_eq!(row.byte_ns, byte_ns);
        let counts = row.counts;
        assert_eq!((counts.sequences_started, counts.steps), (56, 222));
        assert_eq!(
            (counts.tokens_prefilled, counts.tokens_recomputed),
            (2_147_400, 0)
        );
        assert_eq!(
            (counts.tokens_decoded, counts.snapshots_taken),
            (54_528, snapshots)
        );
        assert_eq!(
            (counts.sessions_started, counts.compactions, counts.rewinds),
            (2, 0, 0)
        );
    }
}

#[test]
fn lifetimes_forks_and_shared_prompts() {
    let rows = run(&fleets::lifetimes());
    let expected = [
        (
            20_149_067_520,
            2_243_993_750_000,
            33_494_625_938_880_000_000_000,
            0,
        ),
        (
            14_029_240_320,
            2_206_456_250_000,
            22_614_588_707_328_000_000_000,
            255,
        ),
        (
            23_554_234_368,
            2_206_456_250_000,
            37_567_725_857_280_000_000_000,
            255,
        ),
    ];
    for (row, (peak_bytes, peak_ns, byte_ns, snapshots)) in rows.iter().zip(expected) {
        assert_eq!((row.peak_bytes, row.peak_ns), (peak_bytes, peak_ns));
        assert_eq!(row.byte_ns, byte_ns);
        let counts = row.counts;
        assert_eq!((counts.sequences_started, counts.steps), (75, 228));
        assert_eq!(
            (counts.tokens_prefilled, counts.tokens_recomputed),
            (1_286_400, 521_250)
        );
        assert_eq!(
            (counts.tokens_decoded, counts.snapshots_taken),
            (78_960, snapshots)
        );
        assert_eq!(
            (counts.sessions_started, counts.compactions, counts.rewinds),
            (3, 0, 0)
        );
    }
    assert_eq!(rows[0].kind_byte_ns, [29_630_080_428_480_000_000_000, 0, 0]);
    assert_eq!(rows[0].shared_byte_ns, 3_864_545_510_400_000_000_000);
}

#[test]
fn rewinds_to_snapshots() {
    let rows = run(&fleets::rewinds());
    let expected = [
        (
            12_357_709_056,
            21_371_412_677_760_000_000_000,
            1_146_000,
            380_850,
            0,
        ),
        (
            12_248_745_984,
            19_137_399_708_672_000_000_000,
            1_215_600,
            450_450,
            246,
        ),
        (
            22_238_373_888,
            33_717_406_832_640_000_000_000,
            1_215_600,
            450_450,
            246,
        ),
    ];
    for (row, (peak_bytes, byte_ns, prefilled, recomputed, snapshots)) in rows.iter().zip(expected)
    {
        assert_eq!((row.peak_bytes, row.byte_ns), (peak_bytes, byte_ns));
        let counts = row.counts;
        assert_eq!(
            (counts.tokens_prefilled, counts.tokens_recomputed),
            (prefilled, recomputed)
        );
        assert_eq!((counts.rewinds, counts.sequences_started), (33, 75));
        assert_eq!(
            (counts.tokens_decoded, counts.snapshots_taken),
            (78_960, snapshots)
        );
    }
}

#[test]
fn reference_gives_what_was_worked_by_hand() {
    worked::check(properties::reference);
}

fn run_arrivals(scenario: &Scenario, arrivals: &[Vec<(u64, u64)>]) -> Vec<RowReplication> {
    reference::simulate(scenario, 0, 0, arrivals, 1_000 * S)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn reference_splits_add_up(scenario in strategies::small_scenarios(), bin_ns in strategies::bin_ns()) {
        let rows = properties::reference(&scenario, bin_ns);
        properties::splits_add_up(&scenario, &rows, bin_ns);
    }

    #[test]
    fn reference_releases_all(scenario in strategies::small_scenarios()) {
        properties::all_is_released(&scenario, properties::reference);
    }

    #[test]
    fn reference_keeps_no_more_than_all(
        scenario in strategies::small_scenarios(),
        bin_ns in strategies::bin_ns(),
    ) {
        properties::keeping_some_holds_no_more(&scenario, properties::reference, bin_ns);
    }

    #[test]
    fn reference_recomputes_nothing_that_was_held(scenario in strategies::small_scenarios()) {
        properties::never_released_is_never_recomputed(&scenario, properties::reference);
    }

    #[test]
    fn reference_sessions_add_up(scenario in strategies::small_scenarios()) {
        properties::sessions_add_up(&scenario, run_arrivals);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    /// What is held at the end of the warm-up is carried into the window.
    #[test]
    fn reference_windows_add_up(
        scenario in strategies::small_scenarios_with_warmup(),
        permille in prop::collection::vec(0..1_000_u64, 1..6),
    ) {
        let warmup_ns = scenario.warmup_ns.expect("a warm-up");
        let all_ns = warmup_ns + scenario.measure_ns;
        let times = permille.iter().map(|p| all_ns / 1_000 * p);
        let times: Vec<(u64, u64)> = (0..).zip(times).collect();
        let arrivals = vec![times; scenario.workload.len()];
        let run = |warmup_ns, measure_ns| {
            let scenario = Scenario { measure_ns, ..scenario.clone() };
            reference::simulate(&scenario, warmup_ns, 0, &arrivals, 1_000 * S)
        };
        let all = run(0, all_ns);
        let before = run(0, warmup_ns);
        let after = run(warmup_ns, all_ns - warmup_ns);
        for ((all, before), after) in all.iter().zip(&before).zip(&after) {
            assert_eq!(all.byte_ns, before.byte_ns + after.byte_ns);
            assert_eq!(all.token_ns, before.token_ns + after.token_ns);
            assert_eq!(all.peak_bytes, before.peak_bytes.max(after.peak_bytes));
            let counted = |count: fn(&RowReplication) -> u64| (count(all), count(before) + count(after));
            let (whole, parts) = counted(|row| row.counts.tokens_prefilled);
            assert_eq!(whole, parts);
            let (whole, parts) = counted(|row| row.counts.snapshots_taken);
            assert_eq!(whole, parts);
        }
    }
}

/// Runs the engine and the reference on the same arrivals and bins, and compares all they give.
fn engine_equals_reference(scenario: &Scenario) {
    let warmup_ns = scenario.warmup_ns.expect("a warm-up");
    let prepared = Prepared::new(scenario, warmup_ns).expect("few features");
    for replication in 0..scenario.replications {
        let outcome = replicate(&prepared, replication, &Watch::default()).expect("a small run");
        let arrivals: Vec<Vec<(u64, u64)>> = scenario
            .workload
            .iter()
            .map(|entry| {
                let key = RunKey::entry(scenario.seed, replication, &entry.name);
                prepared.arrivals(entry, key).collect()
            })
            .collect();
        let bin_ns = prepared.plan.bin_ns;
        let expected = reference::simulate(scenario, warmup_ns, replication, &arrivals, bin_ns);
        assert_eq!(outcome.rows.len(), expected.len());
        for (row, (mut found, expected)) in outcome.rows.into_iter().zip(expected).enumerate() {
            let quantiles = std::mem::replace(&mut found.quantile_bytes, expected.quantile_bytes);
            // The likeliest first, so that a failure says in a line what differs.
            assert_eq!(found.counts, expected.counts, "row {row}: counts");
            assert_eq!(found.byte_ns, expected.byte_ns, "row {row}: byte_ns");
            assert_eq!(
                found.session_peak_bytes, expected.session_peak_bytes,
                "row {row}: session_peak_bytes"
            );
            found.agents.retain(|agent| {
                *agent
                    != AgentRow {
                        agent: agent.agent,
                        ..AgentRow::default()
                    }
            });
            for (i, (found, expected)) in found.bins.iter().zip(&expected.bins).enumerate() {
                assert_eq!(found, expected, "row {row}, bin {i} of {bin_ns} ns");
            }
            assert_eq!(found, expected, "row {row}");
            for (found, exact) in quantiles.into_iter().zip(expected.quantile_bytes) {
                assert!(
                    found.abs_diff(exact) <= exact / 1_000,
                    "row {row}: quantile {found}, exactly {exact}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 500, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn engine_equals_the_reference(scenario in strategies::small_scenarios()) {
        engine_equals_reference(&scenario);
    }

    #[test]
    fn engine_equals_the_reference_after_a_warmup(
        scenario in strategies::small_scenarios_with_warmup(),
    ) {
        engine_equals_reference(&scenario);
    }

    /// The warm-up's bins are then wider than the window's.
    #[test]
    fn engine_equals_the_reference_in_a_short_window(
        scenario in strategies::small_scenarios_with_warmup(),
    ) {
        engine_equals_reference(&Scenario { measure_ns: 7_000_000, ..scenario });
    }
}

#[test]
fn engine_equals_the_reference_on_known_fleets() {
    for scenario in [fleets::trees(), fleets::lifetimes(), fleets::rewinds()] {
        engine_equals_reference(&scenario);
    }
}

/// The random scenarios are worth running: everything that can happen does, often.
#[test]
fn random_scenarios_reach_every_feature() {
    let mut runner = TestRunner::deterministic();
    let strategy = strategies::small_scenarios();
    let mut reached = std::collections::BTreeMap::<&str, u32>::new();
    for _ in 0..300 {
        let scenario = strategy
            .new_tree(&mut runner)
            .expect("a scenario")
            .current();
        let rows = properties::reference(&scenario, 1_000 * S);
        let any = |test: &dyn Fn(&RowReplication) -> bool| rows.iter().any(test);
        let features = [
            ("compaction", any(&|r| r.counts.compactions > 0)),
            ("rewind", any(&|r| r.counts.rewinds > 0)),
            ("recomputed", rows[0].counts.tokens_recomputed > 0),
            (
                "gap",
                rows[1].counts.tokens_recomputed > rows[0].counts.tokens_recomputed,
            ),
            ("shared prompt", any(&|r| r.shared_byte_ns > 0)),
            ("snapshot", any(&|r| r.counts.snapshots_taken > 0)),
            ("main", any(&|r| r.owner_byte_ns[0] > 0)),
            ("sync", any(&|r| r.owner_byte_ns[1] > 0)),
            ("async", any(&|r| r.owner_byte_ns[2] > 0)),
            ("tool", any(&|r| r.activity_byte_ns[1] > 0)),
            ("blocked", any(&|r| r.activity_byte_ns[2] > 0)),
            ("user", any(&|r| r.activity_byte_ns[3] > 0)),
            ("finished", any(&|r| r.activity_byte_ns[4] > 0)),
            ("fixed model", rows.len() > 4 && rows[4].byte_ns > 0),
            ("tree", rows[0].peak_sequences > 5),
        ];
        for (feature, happened) in features {
            *reached.entry(feature).or_default() += u32::from(happened);
        }
    }
    println!("{reached:?}");
    assert!(
        reached.values().all(|&n| n >= 30),
        "rarely reached: {reached:?}"
    );
}
