ROOMS = {
 "trainer_manager/math": {"trainer_manager": "math_backend fast_math product_blocks shifted_images vector_functions finite_values"},
 "trainer_manager/planner/planner": {"trainer_manager": "brute_force_planner exact_search generated_requests hill_climb layout_picture lower_bound ordered_placement outward_sweep placement_problem plan plan_arena plan_csv plan_proto plan_proto_conversion plan_validator planner planner_benchmark planner_example planner_table"},
 "trainer_manager/layers": {"trainer_manager": "activations attention convolution2d fully_connected layer layer_harness losses normalization optimizer pooling shape structure_layers"},
 "trainer_manager/networks": {"trainer_manager": "network random_network reference_networks"},
 "trainer_manager/execution": {"trainer_manager": "execution_plan execution_steps execution_types option_subset plan_search print_reference_bounds recomputation step_writer storage_sharing training_picture"},
 "trainer_manager/runtime": {"trainer_manager": "gradient_steps manager parameter_file parameter_map parameters plan_watch sliced_step step_table step_time swap_file training_benchmark training_example training_harness training_steps golden_losses_test huge_shapes_test manager_gradients_test manager_finite_test manager_heap_test manager_swap_test option_subsets_test large_option_subsets_test resnet18_training_profile vgg16_training_profile training_benchmark_profile"},
}
FILES = {"docs/results/vgg16_memory.png": "docs/results/vgg16_memory.png"}
DOCS = {
 "trainer_manager/math": "Products, convolutions and functions of arrays, on vector instructions, with a plain reference.",
 "trainer_manager/planner/planner": "Tensors with lifespans placed in one arena, with a lower bound that anyone can check.",
 "trainer_manager/layers": "Layers, losses and optimizers, and the tensors that each declares.",
 "trainer_manager/networks": "Networks of layers.",
 "trainer_manager/execution": "The plan of a training or an inference: its steps, and the tensors of each.",
 "trainer_manager/runtime": "The Manager, which trains and infers in planned memory.",
}
