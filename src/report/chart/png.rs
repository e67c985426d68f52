//! SVG to PNG with the embedded font.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// The embedded fonts, read once.
fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut database = fontdb::Database::new();
        database.load_font_data(dejavu::sans::regular().to_vec());
        database.load_font_data(dejavu::sans::bold().to_vec());
        Arc::new(database)
    };
    Arc::clone(FONTS.get_or_init(load))
}

/// The picture at the SVG's own size.
pub fn render(svg: &str) -> Result<Vec<u8>, String> {
    let options = Options {
        fontdb: fonts(),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|e| e.to_string())?;
    let size = tree.size().to_int_size();
    let mut pixmap =
        Pixmap::new(size.width(), size.height()).ok_or("not enough memory for the picture")?;
    resvg::render(&tree, Transform::identity(), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| e.to_string())
}
