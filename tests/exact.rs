//! Exact equality: the engine against a brute-force reference, and the reference against fleets
//! whose values were worked out by other programs.

mod reference;

use fleetmem::observe::results::RowReplication;
use fleetmem::scenario::Scenario;
use reference::fleets::{self, S};

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
