// SPDX-License-Identifier: GPL-2.0-or-later
//! The events that McPAT knows: its statistics by component, and their counts in a description.

use std::collections::BTreeMap;

/// Counts of events in the simulated time, by name (`core.ialu_accesses`, `dcache.read_accesses`).
pub type Counts = BTreeMap<String, u64>;

/// Cycles of the simulated time; with 1 GHz they last 1 ms, so that 1e6 events of 1 pJ are 1 mW.
pub const CYCLES: u64 = 1_000_000;

/// Where McPAT's statistics stand: component, its statistics.
pub const STATISTICS: [(&str, &[&str]); 7] = [
    (
        "core",
        &[
            "total_instructions",
            "int_instructions",
            "fp_instructions",
            "branch_instructions",
            "branch_mispredictions",
            "load_instructions",
            "store_instructions",
            "committed_instructions",
            "committed_int_instructions",
            "committed_fp_instructions",
            "ROB_reads",
            "ROB_writes",
            "rename_reads",
            "rename_writes",
            "fp_rename_reads",
            "fp_rename_writes",
            "inst_window_reads",
            "inst_window_writes",
            "inst_window_wakeup_accesses",
            "fp_inst_window_reads",
            "fp_inst_window_writes",
            "fp_inst_window_wakeup_accesses",
            "int_regfile_reads",
            "float_regfile_reads",
            "int_regfile_writes",
            "float_regfile_writes",
            "function_calls",
            "context_switches",
            "ialu_accesses",
            "fpu_accesses",
            "mul_accesses",
            "cdb_alu_accesses",
            "cdb_mul_accesses",
            "cdb_fpu_accesses",
        ],
    ),
    ("itlb", &["total_accesses", "total_misses"]),
    ("icache", &["read_accesses", "read_misses"]),
    ("dtlb", &["total_accesses", "total_misses"]),
    ("dcache", &["read_accesses", "write_accesses", "read_misses", "write_misses"]),
    ("BTB", &["read_accesses", "write_accesses"]),
    ("L2", &["read_accesses", "write_accesses", "read_misses", "write_misses"]),
];
