//! What is said of wrong values: units, ranges, laws.

use super::line;

#[test]
fn missing_and_wrong_units() {
    line(
        "24h",
        "24",
        &[
            "s.yaml:1:10",
            "measure: `24` has no unit",
            "ns, us, ms, s, m, h, d",
            "write `24s`",
        ],
    );
    line(
        "24h",
        "24hours",
        &[
            "s.yaml:1:12",
            "measure: `hours` is not a unit of time",
            "^^^^^ a time needs one of ns",
        ],
    );
    line("24h", "24K", &["s.yaml:1:12", "`K` is not a unit of time"]);
    line(
        "turns: 3",
        "output: 5s",
        &[
            "s.yaml:4:20",
            "agents.coder.output: `s` is not a unit of tokens",
            "K (1e3), M (1e6)",
        ],
    );
    line(
        "turns: 3",
        "output: 20KB",
        &[
            "s.yaml:4:21",
            "`KB` is not a unit of tokens",
            "write `20`, `20K` or `20M`",
        ],
    );
    line(
        "turns: 3",
        "think: {median: 9, p90: 74s}",
        &["s.yaml:4:27", "agents.coder.think.median: `9` has no unit"],
    );
    line(
        "turns: 3",
        "serving: {decode: 60}",
        &[
            "s.yaml:4:29",
            "agents.coder.serving.decode: `60` has no unit",
            "write `60 tok/s`",
        ],
    );
    line(
        "turns: 3",
        "serving: {decode: 60 tok/m}",
        &["s.yaml:4:32", "`tok/m` is not a unit of token rates"],
    );
    line(
        "at: [0s]",
        "rate: 1200",
        &[
            "s.yaml:6:30",
            "workload.main.rate: `1200` has no unit",
            "/s, /m, /h, /d",
            "write `1200/h`",
        ],
    );
    line(
        "turns: 3",
        "ttl: {user: 0}",
        &[
            "s.yaml:4:23",
            "agents.coder.ttl.user: `0` has no unit",
            "or `never`",
            "write `0s`",
        ],
    );
    line(
        "turns: 3",
        "output: 1.5",
        &["s.yaml:4:19", "`1.5` is not a whole number of tokens"],
    );
    line(
        "turns: 3",
        "limit: {tokens: 5G}",
        &[
            "s.yaml:4:27",
            "agents.coder.limit.tokens: `5G` is too large for a context",
            "4294967295",
        ],
    );
}

#[test]
fn numbers_out_of_range() {
    line(
        "24h",
        "-24h",
        &["s.yaml:1:10", "measure: `-24h` is a negative time"],
    );
    line(
        "24h",
        "0s",
        &["s.yaml:1:10", "measure: a window of no length"],
    );
    line("24h", "999999d", &["s.yaml:1:10", "too long", "36500d"]);
    line(
        "24h",
        ".nan",
        &["s.yaml:1:10", "measure: `.nan` is not a finite time"],
    );
    line(
        "turns: 3",
        "turns: .nan",
        &[
            "s.yaml:4:18",
            "agents.coder.turns: `.nan` is not a finite number",
        ],
    );
    line(
        "turns: 3",
        "turns: .inf",
        &["agents.coder.turns: `.inf` is not a finite number"],
    );
    line(
        "turns: 3",
        "output: -5",
        &["agents.coder.output: `-5` is negative"],
    );
    line(
        "turns: 3",
        "limit: {tokens: 1M, at: 0}",
        &[
            "s.yaml:4:35",
            "agents.coder.limit.at: `0` is not a fraction in (0, 1]",
        ],
    );
    line(
        "turns: 3",
        "limit: {tokens: 1M, at: 1.1}",
        &["`1.1` is not a fraction in (0, 1]"],
    );
    line(
        "turns: 3",
        "rewind: {probability: 1.5, depth: 3}",
        &[
            "rewind.probability: `1.5` is not a probability",
            "from 0 to 1",
        ],
    );
    line(
        "turns: 3",
        "rewind: {probability: .nan, depth: 3}",
        &["`.nan` is not a finite number"],
    );
    line(
        "at: [0s]",
        "rate: 0/h",
        &["workload.main.rate: a rate of 0"],
    );
    line(
        "turns: 3",
        "serving: {prefill: 0 tok/s}",
        &["serving.prefill: a rate of 0"],
    );
    line(
        "at: [0s]",
        "users: 0, sessions_per_day: 3",
        &["workload.main.users: `0` is too small", "at least 1"],
    );
    line(
        "at: [0s]",
        "users: 5, sessions_per_day: 0",
        &["workload.main.sessions_per_day: 0 sessions a day"],
    );
    line(
        "at: [0s]",
        "rate: 1/h, cv: 0",
        &["workload.main.cv", "1 is Poisson"],
    );
    line(
        "at: [0s]",
        "at: [0s, 24h]",
        &[
            "s.yaml:6:33",
            "workload.main.at[1]: an arrival after the window",
        ],
    );
    line(
        "24h\n",
        "24h\nreplications: 0\n",
        &["replications: `0` is too small"],
    );
    line(
        "24h\n",
        "24h\nseed: -1\n",
        &["seed: `-1` is not a whole number"],
    );
    line(
        "turns: 3",
        "decode_block: 0",
        &["agents.coder.decode_block: `0` is too small"],
    );
    line(
        "turns: 3",
        "snapshots: {every: 0}",
        &["snapshots.every: a snapshot every 0 tokens"],
    );
    line(
        "turns: 3",
        "snapshots: {keep: 0}",
        &["snapshots.keep: `keep: 0` keeps no snapshot", "every: none"],
    );
    line(
        "at: [0s]",
        "rate: 1/h, profile: [1, 2, 3]",
        &[
            "workload.main.profile: a profile of 3 numbers",
            "24 are needed",
        ],
    );
    line(
        "at: [0s]",
        "rate: 1/h, profile: [2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]",
        &["the multipliers have a mean of 2.0000"],
    );
    line(
        "at: [0s]",
        "rate: 1/h, timezone: Asia/Tokyo",
        &["workload.main.timezone", "for example `+9`"],
    );
    line(
        "at: [0s]",
        "rate: 1/h, weekdays: [monday]",
        &["weekdays[0]: `monday` is not a day", "did you mean `mon`?"],
    );
}

#[test]
fn laws_that_make_no_sense() {
    line(
        "turns: 3",
        "output: {median: 9K, p90: 400}",
        &[
            "s.yaml:4:37",
            "agents.coder.output.p90: `p90` is below `median`",
            "s.yaml:4:28",
        ],
    );
    line(
        "turns: 3",
        "output: {median: 0, p90: 400}",
        &["agents.coder.output.median: `median` is not above 0"],
    );
    line(
        "turns: 3",
        "output: {median: 9}",
        &["agents.coder.output: missing field `p90`"],
    );
    line(
        "turns: 3",
        "output: {pareto: {shape: 1, scale: 10}}",
        &[
            "s.yaml:4:19",
            "agents.coder.output: a pareto law of shape 1 has an infinite mean",
            "add `max`",
        ],
    );
    line(
        "turns: 3",
        "output: {loglogistic: {shape: 0.9, scale: 10}}",
        &["has an infinite mean"],
    );
    line(
        "turns: 3",
        "output: {mixture: [{weight: 1, law: {pareto: {shape: 0.5, scale: 1}}}]}",
        &["agents.coder.output.mixture[0].law: a pareto law of shape 0.5 has an infinite mean"],
    );
    line(
        "turns: 3",
        "output: {lognormal: {mean: 5, sigma: 2}}",
        &[
            "agents.coder.output.lognormal: a lognormal law takes one of these sets",
            "found mean + sigma",
            "mean + cv; or mu + sigma",
        ],
    );
    line(
        "turns: 3",
        "output: {mean: 5, cv: 2}",
        &["`mean` is not a law", "{lognormal: {mean: ..., cv: ...}}"],
    );
    line(
        "turns: 3",
        "output: {weibul: {shape: 1, scale: 2}}",
        &["`weibul` is not a law", "did you mean `weibull`?"],
    );
    line(
        "turns: 3",
        "output: {normal: {mean: 1}}",
        &["`normal` is not a law", "did you mean `lognormal`?"],
    );
    line(
        "turns: 3",
        "output: {gamma: {shape: 1, scal: 2}}",
        &["unknown field `scal`", "did you mean `scale`?"],
    );
    line(
        "turns: 3",
        "output: {weibull: {shape: 0, scale: 2}}",
        &["weibull.shape: `shape` is not above 0"],
    );
    line(
        "turns: 3",
        "output: {uniform: {low: 5, high: 2}}",
        &["`high` is below `low`"],
    );
    line(
        "turns: 3",
        "output: {poisson: {mean: 5, min: 5, max: 2}}",
        &["`max` is below `min`"],
    );
    line(
        "turns: 3",
        "output: {poisson: {mean: 5, max: 2}, max: 3}",
        &["`max` is given twice"],
    );
    line(
        "turns: 3",
        "output: {poisson: {mean: 5}, median: 3}",
        &[
            "unknown field `median` beside `poisson`",
            "allowed: min, max",
        ],
    );
    line(
        "turns: 3",
        "output: {poisson: {mean: 5}, gamma: {mean: 5, cv: 1}}",
        &["a second law", "mixture"],
    );
    line(
        "turns: 3",
        "think: {poisson: {mean: 5s}}",
        &["a poisson law counts things; a time is not a count"],
    );
    line(
        "turns: 3",
        "output: {exponential: {rate: 5/s}}",
        &["`rate` makes a time; a token count is needed"],
    );
    line(
        "turns: 3",
        "output: {geometric: {mean: 0.5}}",
        &["a geometric law counts trials"],
    );
    line(
        "turns: 3",
        "output: {geometric: {p: 1.5}}",
        &["a geometric law counts trials"],
    );
    line(
        "turns: 3",
        "output: {geometric: {p: 1e-300}}",
        &["parameters are out of range"],
    );
    line(
        "turns: 3",
        "output: {gamma: {mean: 5, cv: 1e200}}",
        &["parameters are out of range"],
    );
    line(
        "turns: 3",
        "output: {lognormal: {mu: 1000, sigma: 1}}",
        &["parameters are out of range"],
    );
    line("turns: 3", "output: {choice: []}", &["a choice of nothing"]);
    line(
        "turns: 3",
        "output: {choice: [{value: 3, weight: 0}]}",
        &["`weight` is not above 0"],
    );
    line(
        "turns: 3",
        "output: {empirical: []}",
        &["a sample of no values"],
    );
    line(
        "turns: 3",
        "output: [1, 2]",
        &["expected a token count, found a list", "{choice: [...]}"],
    );
    line("turns: 3", "output: 3..1", &["`3..1` is an empty range"]);
    line(
        "turns: 3",
        "session_factor: 0.5..2",
        &["is not a whole number", "uniform"],
    );
}
