//! The casebook, which is kept apart from this repository.

use std::path::PathBuf;

/// A file of the casebook; null, with a message, where there is none.
///
/// # Panics
///
/// `DOCTORD_CASEBOOK` names a folder that is not there: whoever sets it, as .ci/run does, wants no test skipped.
pub fn casebook(name: &str) -> Option<PathBuf> {
    let named = std::env::var_os("DOCTORD_CASEBOOK");
    let folder = named.as_ref().map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/casebook"),
        PathBuf::from,
    );
    if folder.is_dir() {
        return Some(folder.join(name));
    }
    assert!(
        named.is_none(),
        "DOCTORD_CASEBOOK names {}, which is no folder",
        folder.display()
    );
    eprintln!("skipped: no casebook in {} (set DOCTORD_CASEBOOK)", folder.display());
    None
}
