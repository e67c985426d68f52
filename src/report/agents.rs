//! `agents.csv`: what each agent did and held under each model, means over replications.

use super::number::Ratio;
use super::summary::csv_field;
use super::{BASIS, PLAN};
use crate::observe::results::{AgentRow, ModelRow, RunResult};

/// Nanoseconds in an hour.
const HOUR_NS: u128 = 3_600_000_000_000;

/// `agents.csv`. Counts, `mean_bytes` and `byte_hours` are means over replications (an agent
/// that did not run in one counts as zero there); `peak_bytes` is the largest of them. Shared
/// prompts belong to no agent.
pub fn csv(result: &RunResult) -> String {
    let mut out = String::from(
        "plan,model,basis,agent,sessions_started,sequences_started,steps,tokens_prefilled,\
         tokens_decoded,tokens_recomputed,snapshots_taken,compactions,rewinds,mean_bytes,\
         peak_bytes,byte_hours\n",
    );
    for row in &result.rows {
        for (index, name) in result.agent_names.iter().enumerate() {
            if let Some(cells) = agent_cells(row, index, result.measure_ns) {
                let (model, agent) = (csv_field(&row.model.label), csv_field(name));
                out += &format!("{PLAN},{model},{BASIS},{agent},{cells}\n");
            }
        }
    }
    out
}

fn agent_cells(row: &ModelRow, index: usize, measure_ns: u64) -> Option<String> {
    let per_replication: Vec<AgentRow> = row
        .replications
        .iter()
        .map(|r| {
            r.agents
                .iter()
                .find(|a| a.agent == index)
                .copied()
                .unwrap_or_default()
        })
        .collect();
    let ran = row
        .replications
        .iter()
        .any(|r| r.agents.iter().any(|a| a.agent == index));
    if !ran {
        return None;
    }
    let mean = |den: u128, get: &dyn Fn(&AgentRow) -> u128| {
        let values: Vec<u128> = per_replication.iter().map(get).collect();
        Ratio::mean(values.into_iter(), den).decimal()
    };
    let counts: [&dyn Fn(&AgentRow) -> u128; 9] = [
        &|a| a.counts.sessions_started.into(),
        &|a| a.counts.sequences_started.into(),
        &|a| a.counts.steps.into(),
        &|a| a.counts.tokens_prefilled.into(),
        &|a| a.counts.tokens_decoded.into(),
        &|a| a.counts.tokens_recomputed.into(),
        &|a| a.counts.snapshots_taken.into(),
        &|a| a.counts.compactions.into(),
        &|a| a.counts.rewinds.into(),
    ];
    let mut cells: Vec<String> = counts.iter().map(|get| mean(1, get)).collect();
    cells.push(mean(measure_ns.into(), &|a| a.byte_ns));
    cells.push(
        per_replication
            .iter()
            .map(|a| a.peak_bytes)
            .max()
            .unwrap_or(0)
            .to_string(),
    );
    cells.push(mean(HOUR_NS, &|a| a.byte_ns));
    Some(cells.join(","))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::observe::results::Counts;

    #[test]
    fn agents_are_averaged_over_replications_and_peaks_are_not() {
        let (_, mut result) = sample::week(1, 2);
        result.agent_names = vec!["idle".into(), "coder, \"new\"".into()];
        result.measure_ns = 7_200_000_000_000;
        let agent = AgentRow {
            agent: 1,
            counts: Counts {
                steps: 5,
                ..Counts::default()
            },
            byte_ns: 36_000_000_000_000,
            peak_bytes: 9,
        };
        result.rows[0].replications[0].agents = vec![agent];
        result.rows[0].replications[1].agents = vec![];
        let text = csv(&result);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<_> = reader.records().map(|r| r.unwrap()).collect();
        assert_eq!(rows.len(), 1);
        let cell = |name: &str| {
            let at = text
                .lines()
                .next()
                .unwrap()
                .split(',')
                .position(|c| c == name)
                .unwrap();
            rows[0][at].to_string()
        };
        assert_eq!(cell("agent"), "coder, \"new\"");
        assert_eq!([cell("steps"), cell("mean_bytes")], ["2.5", "2.5"]);
        assert_eq!([cell("peak_bytes"), cell("byte_hours")], ["9", "5"]);
    }
}
