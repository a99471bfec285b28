//! `doctord._native`: what of `doctord-native` Python sees.

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use doctord_native::batch::Batch;
    #[pymodule_export]
    use doctord_native::call_counter::CallCounter;
    #[pymodule_export]
    use doctord_native::calltrace::{analyse_trace, call_class, trace_kind, trace_parts};
    #[pymodule_export]
    use doctord_native::histograms::histograms;
    #[pymodule_export]
    use doctord_native::host::HostSampler;
    #[pymodule_export]
    use doctord_native::host::processes::command::command_name;
    #[pymodule_export]
    use doctord_native::host::rarely::RareSampler;
    #[pymodule_export]
    use doctord_native::identity::act_as;
    #[pymodule_export]
    use doctord_native::lake::{
        SegmentWriter, add_checks, damaged_row_groups, give_back_memory, read_checks, read_segment, seal_segment,
    };
    #[pymodule_export]
    use doctord_native::latency::LatencyGrid;
    #[pymodule_export]
    use doctord_native::oracle_report::{LongNames, ReportFigure, ReportTable, html_tables, text_tables};
    #[pymodule_export]
    use doctord_native::rows::Rows;
    #[pymodule_export]
    use doctord_native::sar::{SarScanner, SarVocabulary};
    #[pymodule_export]
    use doctord_native::scrub::scrubbed;
    #[pymodule_export]
    use doctord_native::server_log::{ServerLog, foreign_severities, refusal_in_english};
    #[pymodule_export]
    use doctord_native::sql_trace::SqlTrace;
    #[pymodule_export]
    use doctord_native::syscalls::{syscall_name, syscall_number};
}
