ROOMS = {
 "gates/judge": {"gates": "gate_proto encode_profile_main environment_difference limit_history evaluate evaluate_benchmark evaluate_property_test evaluate_benchmark_profile gate_input measurement_index producer_failure selector threshold_file update_command"},
 "gates/report": {"gates": "verdict_report"},
 "gates/updating": {"gates": "threshold_edit threshold_update"},
 "gates/programs": {"gates": "check_main command_flags update_main"},
}
FILES = {}
DOCS = {
 "gates/judge": "Profiles and thresholds to a verdict.",
 "gates/report": "A verdict as text and in machine formats.",
 "gates/updating": "Changes of threshold files, with their history.",
 "gates/programs": "The command lines: check and update.",
}
