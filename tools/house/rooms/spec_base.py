ROOMS = {
 "base/files": {
  "gates": "file_lock",
  "gates/deployments/tabular": "checksum input_file output_file",
  "lowmem": "atomic_file regular_file read_at refuse_system_call test_file",
  "profiling": "whole_file",
  "trainer_manager": "fingerprint unnamed_file",
 },
 "base/memory": {
  "lowmem": "byte_arena",
  "memo": "jemalloc_controls available_memory",
  "profiling": "allocator process_memory allocator_jemalloc_test allocator_other_test",
  "trainer_manager": "alignment mapped_memory memory_block",
 },
 "base/text": {
  "gates": "nearest_name report_escape",
  "lowmem": "near_names progress_bar",
  "profiling": "format_bytes parse_bytes",
 },
 "base/simd": {"lowmem": "vector_math each_vector_target"},
 "base/random": {"profiling": "property_seeds", "trainer_manager": "random_sequence"},
 "base/page": {"profiling": "chart_drawing layout_chart line_chart page stacked_bars"},
 "base/safetensors": {"lowmem": "safetensors safetensors_writer shard_index safetensors_fuzz_test golden_safetensors_test"},
}
FILES = {}
VISIBILITY = {r: "//:__subpackages__" for r in ROOMS}
DOCS = {
 "base/files": "Files that are read whole, written whole or locked: see README.md.",
 "base/memory": "Blocks of memory, the allocator's figures and the process's.",
 "base/text": "Text for people: bytes in units, names that are near, progress.",
 "base/simd": "Mathematics on vector instructions, for every instruction set of the processor.",
 "base/random": "Random numbers that are the same on every machine.",
 "base/page": "Self-contained pages and the charts on them.",
 "base/safetensors": "Files of tensors in the safetensors format.",
}
