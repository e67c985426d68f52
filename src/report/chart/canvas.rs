//! A plotters drawing area that takes pixels as `f64`, lengths in units of the design size, and
//! text by its baseline. The only module that names plotters.

use std::sync::OnceLock;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, FontTransform, register_font};

use super::palette::Rgb;

/// The design size: lengths in [`Canvas::u`] are pixels at this size.
const DESIGN: (f64, f64) = (1600.0, 900.0);

/// The embedded font first; browsers without it fall back to what they have.
const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// plotters writes `size / 1.24` as the font size in em (plotters-svg 0.3.7, `draw_text`).
const PLOTTERS_EM: f64 = 1.24;
/// Ascent plus descent of DejaVu Sans over its em (hhea table: (1901 + 483) / 2048), by which
/// ab_glyph scales.
const DEJAVU_HEIGHT: f64 = 2384.0 / 2048.0;

/// Where a text stands in relation to its point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Align {
    Left,
    Center,
    Right,
}

/// A font.
#[derive(Clone, Copy, Debug)]
pub struct Font {
    /// Size of an em, in design units.
    pub size: f64,
    pub bold: bool,
    pub color: Rgb,
}

/// An axis-aligned box in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    pub x0: f64,
    pub y0: f64,
    pub x1: f64,
    pub y1: f64,
}

impl Area {
    pub fn width(&self) -> f64 {
        self.x1 - self.x0
    }

    pub fn height(&self) -> f64 {
        self.y1 - self.y0
    }

    pub fn overlaps(&self, other: &Area) -> bool {
        self.x0 < other.x1 && other.x0 < self.x1 && self.y0 < other.y1 && other.y0 < self.y1
    }
}

/// A chart being drawn. Errors are kept and reported at the end.
pub struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
    size: (f64, f64),
    unit: f64,
    error: Option<String>,
}

/// Draws on a white canvas and returns the SVG.
pub fn svg(size: (u32, u32), draw: impl FnOnce(&mut Canvas)) -> Result<String, String> {
    register_fonts()?;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let size = (f64::from(size.0), f64::from(size.1));
        let unit = (size.0 / DESIGN.0).min(size.1 / DESIGN.1);
        let mut canvas = Canvas {
            area,
            size,
            unit,
            error: None,
        };
        canvas.rect(canvas.bounds(), (255, 255, 255));
        draw(&mut canvas);
        let presented = canvas.area.present().map_err(|e| e.to_string());
        canvas.error.map_or(presented, Err)?;
    }
    Ok(text)
}

fn register_fonts() -> Result<(), String> {
    static DONE: OnceLock<bool> = OnceLock::new();
    let done = DONE.get_or_init(|| {
        register_font(FAMILY, FontStyle::Normal, dejavu::sans::regular()).is_ok()
            && register_font(FAMILY, FontStyle::Bold, dejavu::sans::bold()).is_ok()
    });
    done.then_some(())
        .ok_or_else(|| "the embedded font cannot be read".to_string())
}

fn font_style(bold: bool) -> FontStyle {
    if bold {
        FontStyle::Bold
    } else {
        FontStyle::Normal
    }
}

/// Characters that XML cannot hold, and line breaks, would spoil the file or the layout.
fn printable(text: &str) -> String {
    let clean = |c: char| match c {
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if c.is_whitespace() => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(clean).collect()
}

impl Canvas<'_> {
    /// A length of `design` pixels at the design size, px.
    pub fn u(&self, design: f64) -> f64 {
        design * self.unit
    }

    pub fn bounds(&self) -> Area {
        Area {
            x0: 0.0,
            y0: 0.0,
            x1: self.size.0,
            y1: self.size.1,
        }
    }

    fn draw<E>(&mut self, element: &E)
    where
        for<'b> &'b E: plotters::element::PointCollection<'b, (i32, i32)>,
        E: for<'b> plotters::element::Drawable<SVGBackend<'b>>,
    {
        if let Err(e) = self.area.draw(element) {
            self.error.get_or_insert_with(|| e.to_string());
        }
    }

    /// A filled box.
    pub fn rect(&mut self, area: Area, color: Rgb) {
        let corners = [point((area.x0, area.y0)), point((area.x1, area.y1))];
        if corners[0].0 != corners[1].0 && corners[0].1 != corners[1].1 {
            self.draw(&Rectangle::new(corners, rgb(color).filled()));
        }
    }

    /// A thin line that is crisp: a box one or more whole pixels wide.
    pub fn rule(&mut self, from: (f64, f64), to: (f64, f64), color: Rgb, width: f64) {
        let (a, b) = (point(from), point(to));
        let w = self.u(width).round().max(1.0) as i32;
        let end = if a.0 == b.0 {
            (a.0 + w, b.1)
        } else {
            (b.0, a.1 + w)
        };
        self.draw(&Rectangle::new([a, end], rgb(color).filled()));
    }

    /// A line through `points`, `width` design units wide.
    pub fn line(&mut self, points: &[(f64, f64)], color: Rgb, width: f64, alpha: f64) {
        let width = self.u(width).round().max(1.0) as u32;
        let style = ShapeStyle {
            color: rgb(color).mix(alpha),
            filled: false,
            stroke_width: width,
        };
        self.draw(&PathElement::new(pixels(points), style));
    }

    /// [`Canvas::line`] in dashes of the given line and gap lengths.
    pub fn dashed(&mut self, points: &[(f64, f64)], color: Rgb, width: f64, dash: [f64; 2]) {
        let lengths = [self.u(dash[0]).max(2.0), self.u(dash[1]).max(2.0)];
        for piece in dashes(points, lengths) {
            self.line(&piece, color, width, 1.0);
        }
    }

    /// A filled polygon.
    pub fn polygon(&mut self, points: &[(f64, f64)], color: Rgb, alpha: f64) {
        if points.len() > 2 {
            self.draw(&Polygon::new(pixels(points), rgb(color).mix(alpha)));
        }
    }

    /// A disc with a white core.
    pub fn ring(&mut self, center: (f64, f64), radius: f64, color: Rgb) {
        let outer = self.u(radius).round().max(3.0) as i32;
        self.draw(&Circle::new(point(center), outer, rgb(color).filled()));
        self.draw(&Circle::new(
            point(center),
            (outer / 2).max(1),
            rgb((255, 255, 255)).filled(),
        ));
    }

    /// A text whose baseline starts, is centred or ends at `at`.
    pub fn text(&mut self, text: &str, at: (f64, f64), align: Align, font: Font) {
        self.place_text(text, at, align, font, FontTransform::None);
    }

    /// A text that reads upwards, centred on `at`; its baseline runs through it.
    pub fn text_up(&mut self, text: &str, at: (f64, f64), font: Font) {
        self.place_text(text, at, Align::Center, font, FontTransform::Rotate270);
    }

    fn place_text(
        &mut self,
        text: &str,
        (x, y): (f64, f64),
        align: Align,
        font: Font,
        turn: FontTransform,
    ) {
        let em = self.u(font.size);
        let h_pos = match align {
            Align::Left => HPos::Left,
            Align::Center => HPos::Center,
            Align::Right => HPos::Right,
        };
        // The backend lifts text that stands on its bottom by 0.5ex, a quarter of an em.
        let at = match turn {
            FontTransform::None => point((x, y + em / 4.0)),
            _ => point((x + em / 4.0, y)),
        };
        let style = FontDesc::new(
            FontFamily::Name(FAMILY),
            em * PLOTTERS_EM,
            font_style(font.bold),
        )
        .transform(turn)
        .color(&rgb(font.color))
        .pos(Pos::new(h_pos, VPos::Bottom));
        self.draw(&Text::new(printable(text), at, style));
    }

    /// The width of a text, px.
    pub fn text_width(&mut self, text: &str, font: Font) -> f64 {
        // Measured large, because plotters rounds down to whole pixels.
        const LARGE: f64 = 200.0;
        let desc = FontDesc::new(
            FontFamily::Name(FAMILY),
            LARGE * DEJAVU_HEIGHT,
            font_style(font.bold),
        );
        match desc.box_size(&printable(text)) {
            Ok((w, _)) => f64::from(w) * self.u(font.size) / LARGE,
            Err(e) => {
                self.error.get_or_insert_with(|| e.to_string());
                0.0
            }
        }
    }

    /// `text`, cut with an ellipsis so that it is at most `width` px wide.
    pub fn fit(&mut self, text: &str, width: f64, font: Font) -> String {
        if self.text_width(text, font) <= width {
            return text.to_string();
        }
        let chars: Vec<char> = text.chars().collect();
        let cut = |n: usize| chars[..n].iter().collect::<String>().trim_end().to_string() + "…";
        // Widths grow with the number of characters: find the most that fit.
        let (mut fits, mut fails) = (0, chars.len());
        while fits + 1 < fails {
            let middle = (fits + fails) / 2;
            match self.text_width(&cut(middle), font) <= width {
                true => fits = middle,
                false => fails = middle,
            }
        }
        cut(fits)
    }

    /// `text` in at most `lines` lines of at most `width` px, broken after blanks, hyphens,
    /// slashes and commas.
    pub fn wrap(&mut self, text: &str, width: f64, lines: usize, font: Font) -> Vec<String> {
        let mut out = vec![String::new()];
        for word in text.split_inclusive([' ', '-', '/', ',', '_']) {
            let last = out.last_mut().expect("starts with one line");
            let joined = format!("{last}{word}");
            if last.is_empty() || self.text_width(joined.trim_end(), font) <= width {
                *last = joined;
            } else {
                out.push(word.to_string());
            }
        }
        if out.len() > lines {
            let rest: String = out.drain(lines.max(1) - 1..).collect();
            out.push(rest);
        }
        out.iter()
            .map(|line| self.fit(line.trim(), width, font))
            .collect()
    }
}

fn rgb(color: Rgb) -> RGBColor {
    RGBColor(color.0, color.1, color.2)
}

/// Pixels far outside any picture are as good as infinite.
fn point((x, y): (f64, f64)) -> (i32, i32) {
    let whole = |v: f64| v.round().clamp(-1e6, 1e6) as i32;
    (whole(x), whole(y))
}

fn pixels(points: &[(f64, f64)]) -> Vec<(i32, i32)> {
    let mut out: Vec<(i32, i32)> = points.iter().map(|p| point(*p)).collect();
    out.dedup();
    out
}

/// Cuts a line into its dashes.
fn dashes(points: &[(f64, f64)], [on, off]: [f64; 2]) -> Vec<Vec<(f64, f64)>> {
    let (mut out, mut current) = (Vec::new(), Vec::new());
    let (mut drawing, mut left) = (true, on);
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let length = (x1 - x0).hypot(y1 - y0);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let at = (
                x0 + (x1 - x0) * done / length,
                y0 + (y1 - y0) * done / length,
            );
            if drawing {
                if current.is_empty() {
                    current.push((x0, y0));
                }
                current.push(at);
                out.push(std::mem::take(&mut current));
            } else {
                current.push(at);
            }
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
        left -= length - done;
        if drawing {
            if current.is_empty() {
                current.push((x0, y0));
            }
            current.push((x1, y1));
        }
    }
    if current.len() > 1 {
        out.push(current);
    }
    out
}
