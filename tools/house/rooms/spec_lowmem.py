ROOMS = {
 "lowmem/workers": {"lowmem": "worker_team step_team"},
 "lowmem/kernels": {"lowmem": "token_panel matrix_product panel_kernels reference_kernels machine_peak kernel_benchmark"},
 "lowmem/weights": {"lowmem": "direct_read panels pinned_store stream_weights_example tile tile_stream weight_file weight_store"},
 "lowmem/checkpoints": {"lowmem": "checkpoint_folder checkpoint_generator config_reader model_family half_float pack"},
 "lowmem/streaming": {"lowmem": "arena_layout float_reader model_run pass_memory streamed_product tile_recorder"},
 "lowmem/models": {"lowmem": "decoder decoder_config decoder_example decoder_pass decoder_plan decoder_tiles decoder_weights encoder encoder_config encoder_example encoder_pass encoder_plan encoder_tiles encoder_weights model_benchmark weight_finder decoder_golden_test encoder_golden_test"},
 "lowmem/modules": {"lowmem": "counted_floats embedding_modules lazy_loading lazy_loading_example module module_loader module_tree panel_activations panel_modules"},
 "lowmem/programs": {"lowmem": "backends_table cgroup_bench lowmem_generate lowmem_pack lowmem_run program_pages command_line weight_tools_test run_table_test"},
 "lowmem/testing": {"lowmem": "test_checkpoint test_decoder"},
}
FILES = {"docs/results/lowmem_backends.md": "docs/results/lowmem_backends.md", "docs/results/lowmem_budgets.svg": "docs/results/lowmem_budgets.svg"}
DOCS = {
 "lowmem/workers": "Threads that work on one step together.",
 "lowmem/kernels": "Products and other arithmetic on blocks of tokens, for every instruction set.",
 "lowmem/weights": "Weights of a safetensors file, a tile at a time, by several backends.",
 "lowmem/checkpoints": "Checkpoint folders: their configuration, their packing, and generated ones.",
 "lowmem/streaming": "A model's pass over weights that are present only while used: arena, schedule, product.",
 "lowmem/models": "Encoders and decoders that run from their file in a budget of bytes.",
 "lowmem/modules": "A model of one's own: a tree of modules whose parameters are loaded on use.",
 "lowmem/programs": "The command lines, and the tables and pictures that are made of their output.",
 "lowmem/testing": "Checkpoints that tests write.",
}
