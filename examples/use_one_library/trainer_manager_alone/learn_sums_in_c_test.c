// A network that learns to add, from C.

#include <stdio.h>

#include "footprint/trainer_manager/c/footprint_trainer.h"

static int Fail(void) {
  fprintf(stderr, "learn_sums_in_c_test: %s\n", footprint_error());
  return 1;
}

int main(void) {
  static const float kRows[] = {0, 0, 0, 1, 1, 0, 1, 1};
  static const float kSums[] = {0, 1, 1, 2};
  const int64_t extents[] = {4, 2};
  footprint_network* network = NULL;
  footprint_trainer* trainer = NULL;
  float loss = 1;
  int step;
  if (footprint_network_create(&network) ||
      footprint_network_add_input(network, "rows", FOOTPRINT_FLOAT, extents,
                                  2) ||
      footprint_network_add_layer(network, "fully_connected", "sum", "rows",
                                  "unit=1") ||
      footprint_network_add_layer(network, "mse", "loss", "sum", NULL) ||
      footprint_trainer_plan(network, "optimizer=sgd, learning_rate=0.3",
                             &trainer) ||
      footprint_trainer_create(trainer) ||
      footprint_trainer_set_floats(trainer, 0, kRows, 8) ||
      footprint_trainer_set_floats(trainer, FOOTPRINT_LABEL, kSums, 4)) {
    return Fail();
  }
  for (step = 0; step < 200; ++step) {
    if (footprint_trainer_step(trainer, &loss)) return Fail();
  }
  footprint_trainer_free(trainer);
  footprint_network_free(network);
  return loss < 1e-4f ? 0 : 1;
}
