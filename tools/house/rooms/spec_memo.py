ROOMS = {
 "memo/schedule/schedule": {"memo": "belady_schedule cell_orders exact_schedule memo_trace_proto memo_trace_file schedule schedule_planner schedule_planner_benchmark"},
 "memo/product/product": {"memo": "product product_benchmark product_example product_flags trace_page trace_report run_catching copied_parameter exact_filter plan_in_words planned_sizes"},
}
FILES = {}
DOCS = {
 "memo/schedule/schedule": "When each value is loaded and evicted: orders of cells, budgets, the plan.",
 "memo/product/product": "Benchmarks over combinations of memos, registered with Google Benchmark.",
}
VISIBILITY = {"memo": "//memo:__subpackages__"}
