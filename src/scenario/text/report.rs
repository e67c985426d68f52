//! What is wrong, where, and what would be right.

use super::node::shorten;
use super::{Node, Sources, Span};
use std::fmt;
use std::fmt::Write;

/// Reports shown at most; the rest are counted.
const SHOWN: usize = 50;
/// Characters of a line shown at most.
const WIDTH: usize = 100;

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What is wrong, in one line.
    pub title: String,
    /// Where; `None` for the file as a whole.
    pub span: Option<Span>,
    /// What stands under the carets.
    pub label: String,
    /// A second place that belongs to it.
    pub other: Option<Box<(Span, String)>>,
    /// `= kind: text` lines.
    pub notes: Vec<(&'static str, String)>,
    /// Where in the tree (`agents.coder.turns`), filled in when it is shown.
    pub field: Option<String>,
}

impl Report {
    /// A finding at `span`.
    pub fn new(span: Span, title: impl Into<String>) -> Report {
        Report {
            span: Some(span),
            ..Report::whole(title)
        }
    }

    /// A finding about the file as a whole.
    pub fn whole(title: impl Into<String>) -> Report {
        Report {
            title: title.into(),
            span: None,
            label: String::new(),
            other: None,
            notes: Vec::new(),
            field: None,
        }
    }

    /// Text under the carets.
    pub fn label(mut self, label: impl Into<String>) -> Report {
        self.label = label.into();
        self
    }

    /// A second place.
    pub fn other(mut self, span: Span, label: impl Into<String>) -> Report {
        self.other = Some(Box::new((span, label.into())));
        self
    }

    /// Something that explains the finding.
    pub fn note(mut self, text: impl Into<String>) -> Report {
        self.notes.push(("note", text.into()));
        self
    }

    /// What would be right.
    pub fn help(mut self, text: impl Into<String>) -> Report {
        self.notes.push(("help", text.into()));
        self
    }

    /// The allowed values.
    pub fn allowed<S: AsRef<str>>(mut self, names: &[S]) -> Report {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        self.notes.push(("allowed", list(&names)));
        self
    }

    /// The allowed values, and the nearest of them to what was found.
    pub fn names<S: AsRef<str>>(self, found: &str, names: &[S]) -> Report {
        match nearest(found, names) {
            Some(name) => {
                let help = format!("did you mean `{name}`?");
                self.allowed(names).help(help)
            }
            None => self.allowed(names),
        }
    }
}

fn list(names: &[&str]) -> String {
    const MOST: usize = 40;
    let mut text = names
        .iter()
        .take(MOST)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MOST {
        let _ = write!(text, " and {} more", names.len() - MOST);
    }
    text
}

/// The name nearest to `found`, if one is near enough to be meant.
pub fn nearest<'a, S: AsRef<str>>(found: &str, names: &'a [S]) -> Option<&'a str> {
    let found = fold(found);
    names
        .iter()
        .map(AsRef::as_ref)
        .filter_map(|name| {
            let folded = fold(name);
            let distance = strsim::osa_distance(&found, &folded);
            let length = found.chars().count().max(folded.chars().count());
            let part = found.chars().count() >= 3
                && (folded.starts_with(&found) || found.starts_with(&folded));
            (distance * 3 <= length || part).then_some((distance, name))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

fn fold(name: &str) -> String {
    name.chars()
        .take(100)
        .map(|c| {
            if c == '-' {
                '_'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}

/// Everything that is wrong with a scenario, with the texts that it was read from.
///
/// Its `Display` shows each finding with file, line, column and the text in question.
#[derive(Clone, Debug)]
pub struct ScenarioErrors {
    sources: Sources,
    reports: Vec<Report>,
}

impl std::error::Error for ScenarioErrors {}

impl ScenarioErrors {
    /// Findings in file order.
    pub fn new(sources: Sources, mut reports: Vec<Report>) -> ScenarioErrors {
        reports.sort_by_key(|r| r.span);
        reports.dedup();
        ScenarioErrors { sources, reports }
    }

    /// Says of each finding that is shown which field of `root` it is in.
    pub fn with_fields(mut self, root: &Node) -> ScenarioErrors {
        for report in self.reports.iter_mut().take(SHOWN) {
            report.field = report.span.and_then(|span| root.path_of(span));
        }
        self
    }

    /// The findings, in file order; never empty.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// `file:line:column` of a finding, as shown.
    pub fn position(&self, report: &Report) -> Option<String> {
        let place = self.sources.place(report.span?)?;
        Some(format!("{}:{}:{}", place.name, place.line, place.column))
    }
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, report) in self.reports.iter().take(SHOWN).enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            f.write_str(&render(&self.sources, report))?;
        }
        if self.reports.len() > SHOWN {
            writeln!(f, "\nand {} more errors", self.reports.len() - SHOWN)?;
        }
        if self.reports.len() > 1 {
            writeln!(f, "\n{} errors", self.reports.len())?;
        }
        Ok(())
    }
}

/// One finding on one line: `file:line:column: field: title; label`.
pub fn one_line(sources: &Sources, report: &Report) -> String {
    let mut out = String::new();
    if let Some(place) = report.span.and_then(|s| sources.place(s)) {
        let _ = write!(out, "{}:{}:{}: ", place.name, place.line, place.column);
    }
    let _ = write!(out, "{}", headline(report));
    for text in std::iter::once(&report.label).chain(report.notes.iter().map(|(_, t)| t)) {
        if !text.is_empty() {
            let _ = write!(out, "; {text}");
        }
    }
    out
}

fn headline(report: &Report) -> String {
    match report.field.as_deref() {
        Some(field) if !field.is_empty() => format!("{}: {}", shorten(field), report.title),
        _ => report.title.clone(),
    }
}

fn render(sources: &Sources, report: &Report) -> String {
    let mut out = format!("error: {}\n", headline(report));
    let first = report.span.map(|s| (s, report.label.as_str(), "-->"));
    let second = report
        .other
        .as_deref()
        .map(|(s, label)| (*s, label.as_str(), ":::"));
    let places: Vec<_> = first
        .into_iter()
        .chain(second)
        .filter_map(|(span, label, arrow)| Some((sources.place(span)?, label, arrow)))
        .collect();
    let gutter = places
        .iter()
        .map(|(p, ..)| p.line.to_string().len())
        .max()
        .unwrap_or(1);
    for (place, label, arrow) in &places {
        let pad = " ".repeat(gutter);
        let _ = writeln!(
            out,
            "{pad} {arrow} {}:{}:{}",
            place.name, place.line, place.column
        );
        let (text, before, width) = window(place.text, place.range.clone());
        let carets = "^".repeat(width.max(1));
        let _ = writeln!(out, "{pad} |");
        let _ = writeln!(out, "{:>gutter$} | {text}", place.line);
        let under = format!("{}{carets} {label}", " ".repeat(before));
        let _ = writeln!(out, "{pad} | {}", under.trim_end());
    }
    if places.is_empty() && !report.label.is_empty() {
        let _ = writeln!(out, "  = {}", report.label);
    }
    for (kind, text) in &report.notes {
        let _ = writeln!(out, "{} = {kind}: {text}", " ".repeat(gutter));
    }
    out
}

/// The part of a line around `range` that fits the width, with control characters made visible;
/// then the columns before the range and inside it.
fn window(line: &str, range: std::ops::Range<usize>) -> (String, usize, usize) {
    let before: Vec<char> = line[..range.start].chars().collect();
    let inside: Vec<char> = line[range.clone()].chars().collect();
    let after: Vec<char> = line[range.end..].chars().collect();
    let inside_cut = inside.len() > WIDTH;
    let inside = &inside[..inside.len().min(WIDTH)];
    let room = WIDTH - inside.len();
    let keep_after = after.len().min(room / 2);
    let keep_before = before.len().min(room - keep_after);
    let keep_after = after.len().min(room - keep_before);
    let mut text = String::new();
    if keep_before < before.len() {
        text.push('…');
    }
    text.extend(
        before[before.len() - keep_before..]
            .iter()
            .map(|c| visible(*c)),
    );
    let head = width(&text);
    text.extend(inside.iter().map(|c| visible(*c)));
    let middle = width(&text) - head;
    if !inside_cut {
        text.extend(after[..keep_after].iter().map(|c| visible(*c)));
    }
    if inside_cut || keep_after < after.len() {
        text.push('…');
    }
    (text.trim_end().to_owned(), head, middle)
}

fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// Terminal columns: East Asian wide characters and most emoji take two (the wide ranges of
/// Unicode's EastAsianWidth table, coarsely), combining marks and the byte-order mark none.
fn width(text: &str) -> usize {
    text.chars()
        .map(|c| match u32::from(c) {
            0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f | 0xfeff => 0,
            0x1100..=0x115f
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f
            | 0xff00..=0xff60
            | 0xffe0..=0xffe6
            | 0x1f300..=0x1faff
            | 0x20000..=0x3fffd => 2,
            _ => 1,
        })
        .sum()
}
