//! Statistical tests of keyed draws (R. L'Ecuyer and R. Simard, "TestU01", ACM TOMS 33 (2007),
//! describe the kinds). All draws are fixed, so a test either always passes or always fails.

use super::*;

const N: u32 = 100_000;

fn root() -> RunKey {
    RunKey::entry(7, 0, "developers")
}

type Sequence = (&'static str, Box<dyn Fn(u32) -> u64>);

/// Draw number i along each coordinate that a simulation counts through.
fn sequences() -> Vec<Sequence> {
    let key = root();
    let session = key.session(5);
    let mut all: Vec<Sequence> = vec![
        (
            "turn",
            Box::new(move |i| session.draw(Field::Think, i, 0, 0)),
        ),
        (
            "step",
            Box::new(move |i| session.draw(Field::Output, 3, i, 0)),
        ),
        (
            "index",
            Box::new(move |i| session.draw(Field::SpawnCount, 3, 4, i)),
        ),
        (
            "session",
            Box::new(move |i| key.session(u64::from(i)).draw(Field::Turns, 0, 0, 0)),
        ),
        (
            "gap",
            Box::new(move |i| key.draw(Field::ArrivalGap, 0, i, 0)),
        ),
        (
            "child",
            Box::new(move |i| {
                session
                    .child(hash_name("explorer"), 1, i / 3, i % 3)
                    .draw(Field::Task, 0, 0, 0)
            }),
        ),
        (
            "grandchild",
            Box::new(move |i| {
                let child = session.child(1, i >> 8, 0, 0);
                child.child(1, 0, i & 255, 0).draw(Field::Turns, 0, 0, 0)
            }),
        ),
        (
            "seed",
            Box::new(|i| RunKey::entry(u64::from(i), 0, "a").draw(Field::ArrivalGap, 0, 0, 0)),
        ),
        (
            "replication",
            Box::new(|i| RunKey::entry(7, i, "a").draw(Field::ArrivalGap, 0, 0, 0)),
        ),
        (
            "entry name",
            Box::new(|i| {
                RunKey::entry(7, 0, &format!("entry-{i}")).draw(Field::ArrivalGap, 0, 0, 0)
            }),
        ),
    ];
    // Neighbouring fields, alternating.
    all.push((
        "field",
        Box::new(move |i| {
            let field = [Field::ToolTokens, Field::ToolTime][i as usize & 1];
            session.draw(field, i >> 9, (i >> 1) & 255, 0)
        }),
    ));
    all
}

/// Chi-squared statistic of equally likely cells, in standard deviations from its mean.
fn chi_squared(counts: &[u32]) -> f64 {
    let total: u32 = counts.iter().sum();
    let mean = f64::from(total) / counts.len() as f64;
    let sum: f64 = counts
        .iter()
        .map(|&c| (f64::from(c) - mean).powi(2) / mean)
        .sum();
    let freedom = counts.len() as f64 - 1.0;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn every_byte_is_uniform() {
    for (name, draw) in sequences() {
        let mut counts = vec![[0_u32; 256]; 8];
        for i in 0..N {
            for (byte, counts) in draw(i).to_le_bytes().into_iter().zip(&mut counts) {
                counts[usize::from(byte)] += 1;
            }
        }
        for (byte, counts) in counts.iter().enumerate() {
            let off = chi_squared(counts);
            assert!(
                off.abs() < 4.5,
                "{name}: byte {byte} is off by {off} deviations"
            );
        }
    }
}

#[test]
fn neighbours_are_independent() {
    let unit = |word: u64| (word >> 11) as f64 / 2.0_f64.powi(53) - 0.5;
    for (name, draw) in sequences() {
        for lag in [1, 2, 3, 16, 256] {
            let mut pairs = vec![0_u32; 1024];
            let mut sum = 0.0;
            for i in 0..N {
                let (a, b) = (draw(i), draw(i + lag));
                sum += unit(a) * unit(b);
                pairs[(a >> 59 << 5 | b >> 59) as usize] += 1;
            }
            // Variance of a product of two centred uniform numbers: 1 / 144.
            let correlation = 12.0 * sum / f64::from(N);
            let limit = 4.5 / f64::from(N).sqrt();
            assert!(
                correlation.abs() < limit,
                "{name}, lag {lag}: correlation {correlation}"
            );
            let off = chi_squared(&pairs);
            assert!(
                off.abs() < 4.5,
                "{name}, lag {lag}: pairs are off by {off} deviations"
            );
        }
    }
}

#[test]
fn flipping_an_input_bit_flips_each_output_bit_half_the_time() {
    const TRIALS: u32 = 4000;
    type Flip = Box<dyn Fn(RunKey, u32, u32, u32) -> u64>;
    let mut flips: Vec<(String, Flip)> = Vec::new();
    let draw = |key: RunKey, turn, step, index| key.draw(Field::Output, turn, step, index);
    for bit in 0..64 {
        let flip = move |key: RunKey, t, s, i| draw(RunKey(key.0 ^ (1 << bit)), t, s, i);
        flips.push((format!("key bit {bit}"), Box::new(flip)));
    }
    for bit in 0..32 {
        flips.push((
            format!("turn bit {bit}"),
            Box::new(move |k, t, s, i| draw(k, t ^ (1 << bit), s, i)),
        ));
        flips.push((
            format!("step bit {bit}"),
            Box::new(move |k, t, s, i| draw(k, t, s ^ (1 << bit), i)),
        ));
        flips.push((
            format!("index bit {bit}"),
            Box::new(move |k, t, s, i| draw(k, t, s, i ^ (1 << bit))),
        ));
    }
    for (name, flip) in flips {
        let mut flipped = [0_u32; 64];
        for trial in 0..TRIALS {
            // Small coordinates, as in a simulation.
            let key = root().session(u64::from(trial));
            let (turn, step, index) = (trial & 15, (trial >> 4) & 15, trial >> 10);
            let mut changed = draw(key, turn, step, index) ^ flip(key, turn, step, index);
            while changed != 0 {
                flipped[changed.trailing_zeros() as usize] += 1;
                changed &= changed - 1;
            }
        }
        // 10,240 binomial counts: five and a half deviations.
        let limit = 5.5 * (f64::from(TRIALS) / 4.0).sqrt();
        for (bit, &count) in flipped.iter().enumerate() {
            let off = f64::from(count) - f64::from(TRIALS) / 2.0;
            assert!(
                off.abs() < limit,
                "{name}: output bit {bit} flips {count} of {TRIALS} times"
            );
        }
    }
}

#[test]
fn a_million_draws_have_no_duplicate() {
    use Field::*;
    let fields = [
        Turns,
        Steps,
        Prompt,
        ToolTokens,
        ToolTime,
        Output,
        Think,
        SpawnHappens,
        SpawnCount,
        Task,
    ];
    let mut words = Vec::with_capacity(1_000_000);
    for session in 0..100 {
        let run = root().session(session);
        for child in 0..10 {
            let key = if child == 0 {
                run
            } else {
                run.child(hash_name("explorer"), 0, 0, child)
            };
            for field in fields {
                for place in 0..100 {
                    words.push(key.draw(field, place / 10, place % 10, 0));
                }
            }
        }
    }
    words.sort_unstable();
    let before = words.len();
    words.dedup();
    assert_eq!((before, words.len()), (1_000_000, 1_000_000));
}

#[test]
fn draws_depend_on_every_part_of_the_place() {
    let key = root().session(1);
    let base = key.draw(Field::Output, 1, 2, 3);
    let others = [
        root().session(2).draw(Field::Output, 1, 2, 3),
        key.draw(Field::Think, 1, 2, 3),
        key.draw(Field::Output, 2, 2, 3),
        key.draw(Field::Output, 2, 1, 3),
        key.draw(Field::Output, 1, 2, 2),
        key.child(1, 1, 2, 3).draw(Field::Output, 1, 2, 3),
        RunKey::entry(8, 0, "developers")
            .session(1)
            .draw(Field::Output, 1, 2, 3),
        RunKey::entry(7, 1, "developers")
            .session(1)
            .draw(Field::Output, 1, 2, 3),
        RunKey::entry(7, 0, "batch")
            .session(1)
            .draw(Field::Output, 1, 2, 3),
    ];
    assert!(others.iter().all(|&other| other != base));
}

/// A change here changes every result of every scenario.
#[test]
fn keyed_words_never_change() {
    let mut hasher = blake3::Hasher::new();
    for (_, draw) in sequences() {
        for i in 0..1000 {
            hasher.update(&draw(i).to_le_bytes());
        }
    }
    assert_eq!(&hasher.finalize().to_hex()[..16], "d7088db7476d7db2");
}
