//! Tables of Oracle's reports, in HTML (`html`) or text (`text`, with `lines`), and the numbers in their cells: see
//! `doctord.read.oracle`.

mod figures;
mod html;
mod lines;
mod reading;
mod tables;
mod text;

pub use html::html_tables;
pub use lines::LongNames;
pub use reading::ReportFigure;
pub use tables::ReportTable;
pub use text::text_tables;
