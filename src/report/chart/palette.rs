//! Colours that readers with any colour vision can tell apart, the same for the same thing in
//! every chart.

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// Text and axes.
pub const INK: Rgb = (0x22, 0x22, 0x22);
/// Secondary text.
pub const GREY: Rgb = (0x5c, 0x5c, 0x5c);
/// Grid lines.
pub const GRID: Rgb = (0xe2, 0xe2, 0xe2);
/// Shared prompts, in every stacked chart.
pub const SHARED: Rgb = (0xb8, 0xb8, 0xb8);

/// Models, by row: Okabe and Ito, "Color Universal Design" (2008), with orange and sky blue a
/// little darker for lines on white, and grey in place of yellow.
const MODELS: [Rgb; 8] = [
    (0x00, 0x72, 0xb2),
    (0xd5, 0x5e, 0x00),
    (0x00, 0x9e, 0x73),
    (0xc0, 0x62, 0x98),
    (0xd4, 0x90, 0x00),
    (0x3f, 0xa5, 0xe0),
    (0x00, 0x00, 0x00),
    (0x85, 0x85, 0x85),
];

/// The colour of row `index`.
pub fn model(index: usize) -> Rgb {
    MODELS[index % MODELS.len()]
}

/// The dash of row `index`: rows that repeat a colour differ by it. Lengths of line and gap.
pub fn dash(index: usize) -> Option<[f64; 2]> {
    match index / MODELS.len() {
        0 => None,
        1 => Some([14.0, 7.0]),
        _ => Some([5.0, 5.0]),
    }
}

/// `kv`, `state`, `snapshot`: from the light scheme of P. Tol, "Colour Schemes" (2021).
pub const KIND: [Rgb; 3] = [(0x77, 0xaa, 0xdd), (0xee, 0x88, 0x66), (0xee, 0xdd, 0x88)];
/// `main`, `sync`, `async`: Tol's high-contrast scheme.
pub const OWNER: [Rgb; 3] = [(0x00, 0x44, 0x88), (0xdd, 0xaa, 0x33), (0xbb, 0x55, 0x66)];
/// `running`, `tool`, `blocked`, `user`, `finished`: from Tol's muted scheme.
pub const ACTIVITY: [Rgb; 5] = [
    (0x11, 0x77, 0x33),
    (0xdd, 0xcc, 0x77),
    (0xcc, 0x66, 0x77),
    (0x88, 0xcc, 0xee),
    (0xaa, 0x44, 0x99),
];

/// `color` mixed with white: 1 is the colour, 0 is white.
pub fn tint(color: Rgb, strength: f64) -> Rgb {
    let mix = |c: u8| (255.0 - (255.0 - f64::from(c)) * strength).round() as u8;
    (mix(color.0), mix(color.1), mix(color.2))
}
