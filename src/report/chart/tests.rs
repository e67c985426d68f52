//! Charts as a whole: they decode, keep their texts apart, lose no peak, and survive odd input.

use resvg::usvg;

use super::super::sample;
use super::*;

type Case = (&'static str, (Scenario, RunResult));

const MINUTE_NS: u64 = 60_000_000_000;

fn cases() -> Vec<Case> {
    let day = 1440 * MINUTE_NS;
    let mut cases = vec![
        ("week-3", sample::week(3, 3)),
        ("week-10", sample::week(10, 2)),
        ("week-5", sample::week(5, 1)),
        ("one", sample::week(1, 1)),
        ("empty", sample::empty(2)),
        ("day", sample::fleet(2, 1, day, MINUTE_NS, 5_000_000.0)),
        ("one-bin", sample::fleet(3, 2, MINUTE_NS, MINUTE_NS, 30.0)),
        ("tiny", sample::fleet(2, 2, 90 * MINUTE_NS, MINUTE_NS, 8.0)),
        (
            "odd-window",
            sample::fleet(2, 1, day * 5 / 2, 5 * MINUTE_NS, 80.0),
        ),
        (
            "month",
            sample::fleet(2, 3, 28 * day, 10 * MINUTE_NS, 300.0),
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
    cases
}

fn svg_of(scenario: &Scenario, result: &RunResult, size: (u32, u32), name: &str) -> String {
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
        let pixmap = resvg::tiny_skia::Pixmap::decode_png(&file.bytes).unwrap();
        assert_eq!(
            (pixmap.width(), pixmap.height()),
            (800, 500),
            "{}",
            file.name
        );
        let dark = pixmap.pixels().iter().filter(|p| p.red() < 128).count();
        assert!(dark > 1000, "{} is almost blank", file.name);
    }
    assert_eq!(
        files,
        render_all(&scenario, &result, &options).unwrap(),
        "charts repeat"
    );
}

#[test]
fn sizes_out_of_range_are_refused() {
    let (scenario, result) = sample::week(1, 1);
    for size in [(MIN_SIZE.0 - 1, 900), (1600, MAX_SIZE.1 + 1), (0, 0)] {
        let options = ReportOptions { svg: false, size };
        let error = render_all(&scenario, &result, &options).unwrap_err();
        assert!(matches!(error, ReportError::Size(_)), "{error}");
    }
}

/// Texts and where resvg puts them.
fn texts(group: &usvg::Group, out: &mut Vec<(String, usvg::Rect)>) {
    for node in group.children() {
        match node {
            usvg::Node::Group(g) => texts(g, out),
            usvg::Node::Text(t) => {
                let words: String = t.chunks().iter().map(|c| c.text()).collect();
                out.push((words, t.abs_bounding_box()));
            }
            _ => {}
        }
    }
}

#[test]
fn texts_stay_on_the_page_and_apart() {
    for (case, (scenario, result)) in cases() {
        for size in [(1600, 900), MIN_SIZE, (900, 1200)] {
            for (chart, _) in CHARTS {
                let svg = svg_of(&scenario, &result, size, chart);
                assert!(
                    !svg.contains("NaN") && !svg.contains("inf\""),
                    "{case} {chart}"
                );
                let mut found = Vec::new();
                texts(png::parse(&svg).unwrap().root(), &mut found);
                assert!(!found.is_empty());
                let (w, h) = (size.0 as f32, size.1 as f32);
                for (i, (text, b)) in found.iter().enumerate() {
                    let inside =
                        b.left() >= 0.0 && b.top() >= 0.0 && b.right() <= w && b.bottom() <= h;
                    assert!(
                        inside,
                        "{case} {size:?} {chart}: {text:?} leaves the page: {b:?}"
                    );
                    for (other, o) in &found[..i] {
                        // Boxes hold ascents and descents that most letters lack.
                        let slack = b.height().min(o.height()) * 0.3;
                        let apart = b.right() <= o.left()
                            || o.right() <= b.left()
                            || b.bottom() - slack <= o.top()
                            || o.bottom() - slack <= b.top();
                        assert!(apart, "{case} {size:?} {chart}: {text:?} on {other:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn odd_fleets_draw_without_error() {
    let options = ReportOptions {
        svg: false,
        size: (1600, 900),
    };
    for (case, (scenario, result)) in cases() {
        keep(case, &render_all(&scenario, &result, &options).unwrap());
    }
}

/// Numbers of an attribute, for every element of a kind.
fn numbers(svg: &str, tag: &str, attribute: &str) -> Vec<Vec<f64>> {
    let elements = svg.split('<').filter(|e| e.starts_with(tag));
    let values = elements.filter_map(|e| e.split(&format!(" {attribute}=\"")).nth(1));
    let parse = |v: &str| v.split([',', ' ']).filter_map(|n| n.parse().ok()).collect();
    values
        .map(|v| parse(v.split('"').next().unwrap_or_default()))
        .collect()
}

#[test]
fn a_peak_of_one_bin_is_drawn_at_every_width() {
    let (scenario, mut result) = sample::week(1, 1);
    let replication = &mut result.rows[0].replications[0];
    let spike = 1234;
    let high = replication.peak_bytes * 3;
    let length = u128::from(result.bin_ns);
    let bin = &mut replication.bins[spike];
    bin.max = high;
    bin.kind[0] += u128::from(high) * length - bin.total;
    bin.total = u128::from(high) * length;
    (replication.peak_bytes, replication.peak_ns) = (high, spike as u64 * result.bin_ns);
    for width in (MIN_SIZE.0..2000).step_by(83) {
        let svg = svg_of(&scenario, &result, (width, 900), "fleet-memory");
        // The ring marks the peak: the line and the band must reach it.
        let peak = numbers(&svg, "circle", "cy")[0][0];
        for tag in ["polyline", "polygon"] {
            let points = numbers(&svg, tag, "points");
            let top = points.iter().flat_map(|p| p.iter().skip(1).step_by(2));
            let top = top.copied().fold(f64::INFINITY, f64::min);
            // The veil of the label is above the ring.
            assert!(top <= peak, "{tag} at {width} px: {top} is below {peak}");
            let reaches = points
                .iter()
                .any(|p| p.iter().skip(1).step_by(2).any(|y| *y == peak));
            assert!(reaches, "{tag} at {width} px");
        }
        let stacked = svg_of(&scenario, &result, (width, 900), "by-kind");
        let tops = |tag: &str| {
            // Lines of two points belong to the legend.
            let ys = numbers(&stacked, tag, "points")
                .into_iter()
                .filter(|p| p.len() > 4);
            let ys = ys.flat_map(|p| p.into_iter().skip(1).step_by(2));
            ys.fold(f64::INFINITY, f64::min)
        };
        assert_eq!(tops("polygon"), tops("polyline"), "{width} px");
    }
}

#[test]
fn a_model_has_one_colour_in_every_chart() {
    let (scenario, result) = sample::week(4, 1);
    for chart in [
        "fleet-memory",
        "peaks",
        "bytes-per-sequence",
        "savings-bridge",
    ] {
        let svg = svg_of(&scenario, &result, (1600, 900), chart);
        for row in 0..4 {
            let (r, g, b) = palette::model(row);
            assert!(
                svg.contains(&format!("#{r:02X}{g:02X}{b:02X}")),
                "{chart} row {row}"
            );
        }
    }
    let colours: std::collections::HashSet<_> = (0..24)
        .map(|i| (palette::model(i), palette::dash(i).map(|d| d[0] as u32)))
        .collect();
    assert_eq!(colours.len(), 24, "rows can be told apart");
}

#[test]
fn titles_come_from_the_scenario_and_say_the_basis() {
    let (mut scenario, result) = sample::week(2, 3);
    for (chart, _) in CHARTS {
        let svg = svg_of(&scenario, &result, (1600, 900), chart);
        assert!(
            svg.contains("Coding agents under several memory models"),
            "{chart}"
        );
        assert!(
            svg.contains("demand, logical bytes, ideal layout"),
            "{chart}"
        );
        assert!(svg.contains("3 replications of 7 days"), "{chart}");
    }
    scenario.description = None;
    assert!(svg_of(&scenario, &result, (1600, 900), "peaks").contains(">\ncoding-agents"));
}
