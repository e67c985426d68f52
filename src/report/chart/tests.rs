//! Charts as a whole: they decode, hold what they should, and survive odd input.

use super::super::sample;
use super::*;

fn draw_one(scenario: &Scenario, result: &RunResult, size: (u32, u32), name: &str) -> String {
    let timelines = result.rows.iter().map(|row| merge(row, result)).collect();
    let context = Context {
        scenario,
        result,
        timelines,
    };
    let (_, draw) = CHARTS.iter().find(|c| c.0 == name).unwrap();
    svg(&context, size, *draw).unwrap()
}

/// Set FLEETMEM_CHARTS to a directory to look at the charts.
fn keep(case: &str, files: &[OutputFile]) {
    if let Ok(dir) = std::env::var("FLEETMEM_CHARTS") {
        let dir = std::path::Path::new(&dir).join(case);
        std::fs::create_dir_all(&dir).unwrap();
        files
            .iter()
            .for_each(|f| std::fs::write(dir.join(&f.name), &f.bytes).unwrap());
    }
}

fn png_size(bytes: &[u8]) -> (u32, u32) {
    let pixmap = resvg::tiny_skia::Pixmap::decode_png(bytes).unwrap();
    (pixmap.width(), pixmap.height())
}

#[test]
fn every_chart_is_a_png_of_the_asked_size() {
    let (scenario, result) = sample::week(3, 3);
    let options = ReportOptions {
        svg: true,
        size: (800, 500),
    };
    let files = render_all(&scenario, &result, &options).unwrap();
    keep("small", &files);
    let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
    let stems = "fleet-memory by-kind by-owner by-activity peaks bytes-per-sequence savings-bridge";
    let expected: Vec<String> = stems
        .split(' ')
        .flat_map(|s| [format!("{s}.png"), format!("{s}.svg")])
        .collect();
    assert_eq!(names, expected);
    for file in files.iter().filter(|f| f.name.ends_with(".png")) {
        assert_eq!(png_size(&file.bytes), (800, 500), "{}", file.name);
    }
}

#[test]
fn odd_fleets_draw_without_error() {
    let full = ReportOptions {
        svg: true,
        size: (1600, 900),
    };
    let minute = 60_000_000_000;
    let mut cases = vec![
        ("week-3", sample::week(3, 3)),
        ("week-10", sample::week(10, 2)),
        ("week-5", sample::week(5, 1)),
        ("one", sample::week(1, 1)),
        ("empty", sample::empty(2)),
        (
            "day",
            sample::fleet(2, 1, 24 * 60 * minute, minute, 5_000_000.0),
        ),
        ("one-bin", sample::fleet(3, 2, minute, minute, 30.0)),
        ("tiny", sample::fleet(2, 2, 90 * minute, minute, 8.0)),
        (
            "month",
            sample::fleet(2, 3, 28 * 1440 * minute, 10 * minute, 300.0),
        ),
    ];
    let (mut scenario, mut result) = sample::week(3, 2);
    let name = "a <very> long & \"quoted\" name 模型 with\u{1} controls\nand lines ".repeat(5);
    scenario.description = Some(name.clone());
    result.rows[1].model.label = name.clone();
    result.rows[2].model.dtypes = name;
    result.rows[2].fixed = true;
    cases.push(("names", (scenario, result)));
    let (scenario, mut result) = sample::week(2, 1);
    result.rows.clear();
    cases.push(("no-rows", (scenario, result)));
    for (case, (scenario, result)) in cases {
        let files = render_all(&scenario, &result, &full).unwrap();
        keep(case, &files);
        for file in files.iter().filter(|f| f.name.ends_with(".svg")) {
            let text = std::str::from_utf8(&file.bytes).unwrap();
            assert!(
                !text.contains("NaN") && !text.contains("inf\""),
                "{case} {}",
                file.name
            );
        }
    }
}
