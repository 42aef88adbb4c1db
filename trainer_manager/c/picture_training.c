// Learns to tell pictures of bars apart, in C: the example of README.md.
// Stopped in between, it goes on with the same bits; then it infers from the
// file.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/trainer_manager/c/footprint_trainer.h"

enum { kBatch = 16, kPixels = 64, kClasses = 3, kSteps = 150 };

// Ends the program where a call failed.
static void check(footprint_status status) {
  if (status == FOOTPRINT_OK) return;
  fprintf(stderr, "picture_training: %s\n", footprint_error());
  exit(1);
}

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "picture_training: it does not hold that %s\n", what);
  exit(1);
}

// A number below `limit`, the same on every machine.
static uint32_t draw(uint64_t* state, uint32_t limit) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % limit;
}

// Pictures of 8 x 8 with a bar that is level, upright or slanted.
static void draw_batch(uint64_t seed, float* pictures, int32_t* labels) {
  uint64_t state = seed;
  int row, i;
  for (row = 0; row < kBatch; ++row) {
    float* picture = pictures + row * kPixels;
    const int place = (int)draw(&state, 8);
    labels[row] = (int32_t)draw(&state, kClasses);
    for (i = 0; i < kPixels; ++i) picture[i] = (float)draw(&state, 40) / 100.0f;
    for (i = 0; i < 8; ++i) {
      const int pixel = labels[row] == 0   ? place * 8 + i
                        : labels[row] == 1 ? i * 8 + place
                                           : i * 8 + (i + place) % 8;
      picture[pixel] = 1.0f;
    }
  }
}

// region network
static footprint_network* make_network(void) {
  const int64_t extents[] = {kBatch, 1, 8, 8};  // the first is the batch
  footprint_network* network = NULL;
  check(footprint_network_create(&network));
  check(footprint_network_add_input(network, "pictures", FOOTPRINT_FLOAT,
                                    extents, 4));
  check(footprint_network_add_layer(network, "conv2d", "conv", "pictures",
                                    "filters=8, kernel_size=3, padding=1"));
  check(footprint_network_add_layer(network, "activation", "relu", "conv",
                                    "activation=relu"));
  check(footprint_network_add_layer(network, "pooling2d", "pool", "relu",
                                    "pooling=max, pool_size=2"));
  check(footprint_network_add_layer(network, "flatten", "flat", "pool", NULL));
  check(footprint_network_add_layer(network, "fully_connected", "head", "flat",
                                    "unit=3"));
  check(footprint_network_add_layer(network, "cross_softmax", "loss", "head",
                                    NULL));
  return network;
}

static footprint_trainer* make_trainer(const footprint_network* network,
                                       const char* settings) {
  footprint_trainer* trainer = NULL;
  check(footprint_trainer_plan(network, settings, &trainer));
  check(footprint_trainer_create(trainer));
  return trainer;
}

// Trains from step `first` to before step `last`. Returns the last loss.
static float train(footprint_trainer* trainer, int first, int last) {
  float pictures[kBatch * kPixels];
  int32_t labels[kBatch];
  float loss = 0;
  int step;
  for (step = first; step < last; ++step) {
    draw_batch((uint64_t)step, pictures, labels);
    check(footprint_trainer_set_floats(trainer, 0, pictures, kBatch * kPixels));
    check(footprint_trainer_set_ints(trainer, FOOTPRINT_LABEL, labels, kBatch));
    check(footprint_trainer_step(trainer, &loss));
  }
  return loss;
}
// endregion

// Returns the share of pictures that were never trained with and are told
// rightly.
static float measure_accuracy(footprint_trainer* trainer) {
  float pictures[kBatch * kPixels];
  int32_t labels[kBatch];
  const float* outputs = NULL;
  size_t count = 0;
  int right = 0, batch, row, c;
  for (batch = 0; batch < 20; ++batch) {
    draw_batch(1000000 + (uint64_t)batch, pictures, labels);
    check(footprint_trainer_set_floats(trainer, 0, pictures, kBatch * kPixels));
    check(footprint_trainer_infer(trainer));
    check(footprint_trainer_output(trainer, 0, &outputs, &count));
    require(count == kBatch * kClasses, "each picture has a value a class");
    for (row = 0; row < kBatch; ++row) {
      int best = 0;
      for (c = 1; c < kClasses; ++c) {
        if (outputs[row * kClasses + c] > outputs[row * kClasses + best]) {
          best = c;
        }
      }
      right += best == labels[row];
    }
  }
  return (float)right / (20.0f * kBatch);
}

static void require_same_weight(const footprint_trainer* a,
                                const footprint_trainer* b, const char* name) {
  const float* values_a = NULL;
  const float* values_b = NULL;
  size_t count_a = 0, count_b = 0;
  check(footprint_trainer_weight(a, name, &values_a, &count_a));
  check(footprint_trainer_weight(b, name, &values_b, &count_b));
  require(count_a == count_b &&
              memcmp(values_a, values_b, count_a * sizeof(float)) == 0,
          name);
}

int main(int argc, char** argv) {
  static const char kSettings[] =
      "optimizer=adam, learning_rate=0.01, schedule=cosine, last_rate=0.001, "
      "iterations=150";
  const char* const folder = argc > 1                ? argv[1]
                             : getenv("TEST_TMPDIR") ? getenv("TEST_TMPDIR")
                                                     : ".";
  char path[1024];
  footprint_network* network = make_network();
  footprint_trainer* whole = make_trainer(network, kSettings);
  footprint_trainer* begun = make_trainer(network, kSettings);
  footprint_trainer* resumed = make_trainer(network, kSettings);
  footprint_trainer* inference = make_trainer(network, "mode=inference");
  footprint_report report;
  float loss, accuracy;
  const int length =
      snprintf(path, sizeof(path), "%s/pictures.safetensors", folder);
  require(length > 0 && length < (int)sizeof(path), "the folder's name fits");

  // Trains without a break.
  loss = train(whole, 0, kSteps);
  accuracy = measure_accuracy(whole);
  check(footprint_trainer_report(whole, &report, sizeof(report)));
  printf("%lld bytes, of which at least %lld are needed at %s\n",
         (long long)report.planned_bytes, (long long)report.bound_bytes,
         report.largest_step);
  printf("loss %.4f, accuracy %.3f\n", loss, accuracy);
  require(accuracy > 0.97f, "bars are told apart");

  // A training that stops after a step, and continues in another trainer, gives
  // the same bits.
  train(begun, 0, 60);
  check(footprint_trainer_save(begun, path, FOOTPRINT_TRAINING));
  check(footprint_trainer_load(resumed, path));
  require(train(resumed, 60, kSteps) == loss, "the loss has the same bits");
  require_same_weight(whole, resumed, "conv.weight");
  require_same_weight(whole, resumed, "head.bias");

  // Infers with the saved weights.
  check(footprint_trainer_save(whole, path, FOOTPRINT_WEIGHTS));
  check(footprint_trainer_load(inference, path));
  require(fabsf(measure_accuracy(inference) - accuracy) == 0.0f,
          "the file infers as the training does");

  footprint_trainer_free(inference);
  footprint_trainer_free(resumed);
  footprint_trainer_free(begun);
  footprint_trainer_free(whole);
  footprint_network_free(network);
  return fflush(stdout) == 0 ? 0 : 1;
}
