ROOMS = {
 "profiling/schema": {"profiling": "memory_profile_proto memory_profile_file metric_kind profile_merge metric_reading profile_text print_profile"},
 "profiling/heap": {"profiling": "allocation_trace thread_tree thread_entry_points heap_accounting heap_accounting_test heap_accounting_requested_bytes_test heap_ledger jemalloc_options renamed_jemalloc mapped_ranges mapping_entry_points requested_bytes exact_heap exact_heap_with_requested_bytes accounting_cost"},
 "profiling/recording": {"profiling": "memory_environment memory_output_flags memory_phase profile_metrics program_profile"},
 "profiling/google_benchmark": {"profiling": "benchmark_main benchmark_processes awkward_benchmark benchmark_memory_manager benchmark_profiler sample_benchmark sample_benchmark_profile"},
 "profiling/measuring": {"profiling": "failure_text fresh_process measure_program profile_runner repeated_measurement measured_test_program measured_test_program_with_shared_libraries memory_profile_rule_test test_crash_profile test_describe_profile test_exit3_profile test_good_profile test_hang_profile test_no_profile_profile test_read_profile test_vary_profile test_renamed_data_profile test_good_again_profile allocation_loop_bare_jemalloc allocation_loop_exact_heap allocation_loop_requested_bytes allocation_loop_system_malloc"},
}
FILES = {}
DOCS = {
 "profiling/schema": "The profile: its schema, its files, and the merge of several processes.",
 "profiling/heap": "Exact accounting of the heap: counters behind malloc's entry points.",
 "profiling/recording": "Phases of a program, and the profile that it writes.",
 "profiling/google_benchmark": "Google Benchmark's side: each benchmark's profile.",
 "profiling/measuring": "Programs run in fresh processes, and the profile that came of it.",
}
