//! `doctord._native`: what must be fast or small. Python decides, Rust moves the bytes.

pub mod arrays;
pub mod batch;
pub mod calltrace;
pub mod column;
pub mod histograms;
pub mod host;
pub mod lake;
pub mod latency;
pub mod report_figures;
pub mod report_html;
pub mod report_lines;
pub mod report_reading;
pub mod report_tables;
pub mod report_text;
pub mod rows;
pub mod sar;
pub mod scrub;
pub mod server_log;
pub mod sql_tokens;
pub mod sql_trace;
pub mod syscalls;
pub mod table;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::calltrace::{analyse_trace, call_class, trace_kind};
    #[pymodule_export]
    use crate::histograms::histograms;
    #[pymodule_export]
    use crate::host::HostSampler;
    #[pymodule_export]
    use crate::host::command::command_name;
    #[pymodule_export]
    use crate::lake::{
        SegmentWriter, add_checks, damaged_row_groups, give_back_memory, read_checks, read_segment, seal_segment,
    };
    #[pymodule_export]
    use crate::latency::LatencyGrid;
    #[pymodule_export]
    use crate::report_html::html_tables;
    #[pymodule_export]
    use crate::report_lines::Names;
    #[pymodule_export]
    use crate::report_reading::ReportFigure;
    #[pymodule_export]
    use crate::report_tables::ReportTable;
    #[pymodule_export]
    use crate::report_text::text_tables;
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::sar::SarScanner;
    #[pymodule_export]
    use crate::scrub::scrubbed;
    #[pymodule_export]
    use crate::server_log::ServerLog;
    #[pymodule_export]
    use crate::sql_trace::SqlTrace;
    #[pymodule_export]
    use crate::syscalls::{syscall_name, syscall_number};
}
