// Trains and infers from C, in the memory that was planned.
//
//   footprint_network* network = NULL;
//   footprint_trainer* trainer = NULL;
//   const int64_t extents[] = {4, 2};  // the first is the batch
//   float loss = 0;
//   footprint_network_create(&network);
//   footprint_network_add_input(network, "rows", FOOTPRINT_FLOAT, extents, 2);
//   footprint_network_add_layer(network, "fully_connected", "sum", "rows",
//                               "unit=1");
//   footprint_network_add_layer(network, "mse", "loss", "sum", NULL);
//   footprint_trainer_plan(network, "optimizer=sgd, learning_rate=0.1",
//                          &trainer);
//   footprint_trainer_create(trainer);
//   footprint_trainer_set_floats(trainer, 0, rows, 8);
//   footprint_trainer_set_floats(trainer, FOOTPRINT_LABEL, sums, 4);
//   if (footprint_trainer_step(trainer, &loss) != FOOTPRINT_OK) {
//     fprintf(stderr, "%s\n", footprint_error());
//   }
//   footprint_trainer_free(trainer);
//   footprint_network_free(network);
//
// Each function but the last three returns a status, and footprint_error says
// in words what the calling thread's last failure was. After a failure the
// handles may still be used, and are as they were before the call unless a
// function says otherwise. A handle that is null, of the other type, or already
// freed, is an error (FOOTPRINT_INVALID_ARGUMENT); so is a null pointer to a
// result, unless the function allows it.
//
// The caller frees what it created. Texts, values and networks are copied. A
// handle may be used by one thread at a time, and different handles by
// different threads. No C++ exception leaves a function. Memory: a trainer
// takes what footprint_trainer_report says, once footprint_trainer_create has
// succeeded. An inference also keeps a copy of its inputs. In a training,
// footprint_trainer_infer adds the outputs, and uses the arena of an inference
// instead of the training's.
//
// A C99 header without dependencies. C++ programs have //trainer_manager:train.

#ifndef FOOTPRINT_TRAINER_MANAGER_C_FOOTPRINT_TRAINER_H_
#define FOOTPRINT_TRAINER_MANAGER_C_FOOTPRINT_TRAINER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Numbers stay as they are in later versions.
typedef enum footprint_status {
  FOOTPRINT_OK = 0,
  FOOTPRINT_UNKNOWN = 2,
  // An argument is wrong in itself: a name, a shape, a number of values.
  FOOTPRINT_INVALID_ARGUMENT = 3,
  FOOTPRINT_NOT_FOUND = 5,
  // A name is used twice.
  FOOTPRINT_ALREADY_EXISTS = 6,
  FOOTPRINT_PERMISSION_DENIED = 7,
  // Memory or disk, or the budget, is too small.
  FOOTPRINT_RESOURCE_EXHAUSTED = 8,
  // The call does not fit the state: create comes before set, set before step.
  FOOTPRINT_FAILED_PRECONDITION = 9,
  // A value in the data is wrong: NaN, infinity, or a label that is not a
  // class.
  FOOTPRINT_OUT_OF_RANGE = 11,
  FOOTPRINT_INTERNAL = 13,
  FOOTPRINT_UNAVAILABLE = 14,
  FOOTPRINT_DATA_LOSS = 15
} footprint_status;

typedef enum footprint_type {
  FOOTPRINT_FLOAT = 0,
  FOOTPRINT_INT32 = 1
} footprint_type;

// The contents of a file: the weights alone, or all that a training needs to
// continue with the same bits as if it had not been stopped.
typedef enum footprint_contents {
  FOOTPRINT_WEIGHTS = 0,
  FOOTPRINT_TRAINING = 1
} footprint_contents;

// The slot of the label; inputs have the slots from 0 on, in their order.
enum { FOOTPRINT_LABEL = -1 };

typedef struct footprint_network footprint_network;
typedef struct footprint_trainer footprint_trainer;

// Bytes of a plan. Later versions add fields at the end only.
typedef struct footprint_report {
  int64_t planned_bytes;  // model, arena, and the fixed memory beside them
  int64_t bound_bytes;    // the least that these steps need
  int64_t model_bytes;    // weights and running statistics
  int64_t arena_bytes;    // activations, gradients, scratch
  int64_t iterations;     // steps trained, those of a loaded file included
  int64_t steps;          // the operations of an iteration, or of a micro-batch
  // The name of the operation that needs the most memory, or "" if there is no
  // operation; valid as long as the trainer.
  const char* largest_step;
} footprint_report;

// Makes an empty network. `*network` is null after a failure.
footprint_status footprint_network_create(footprint_network** network);

// Adds an input of `rank` extents, from 1 to 4; the first is the batch. Returns
// FOOTPRINT_INVALID_ARGUMENT for another type or rank, or an extent below 1,
// and FOOTPRINT_OUT_OF_RANGE for more than 2^63 - 1 bytes. Only
// footprint_trainer_plan checks names and connections.
footprint_status footprint_network_add_input(footprint_network* network,
                                             const char* name,
                                             footprint_type type,
                                             const int64_t* extents,
                                             size_t rank);

// Adds a layer of a type such as "conv2d", which reads inputs or layers by
// their names, separated by commas. `properties` are "filters=16,
// kernel_size=3", or null. named_layers.h lists types and properties; others
// are FOOTPRINT_INVALID_ARGUMENT.
footprint_status footprint_network_add_layer(footprint_network* network,
                                             const char* type, const char* name,
                                             const char* inputs,
                                             const char* properties);

// Does not train the parameters whose names match, such as "conv*": training
// then takes less memory. Only whole layers can be frozen;
// footprint_trainer_plan checks that.
footprint_status footprint_network_freeze(footprint_network* network,
                                          const char* pattern);

// Plans a training or an inference, and allocates none of the memory that the
// plan counts. `settings` is a list such as "optimizer=adam,
// learning_rate=0.001, budget=24 MB"; trainer_settings.h says what it may hold.
// The network may be freed afterwards. After a failure `*trainer` is null.
footprint_status footprint_trainer_plan(const footprint_network* network,
                                        const char* settings,
                                        footprint_trainer** trainer);

// Allocates the memory that was planned, and draws the first weights. A second
// call returns FOOTPRINT_FAILED_PRECONDITION.
footprint_status footprint_trainer_create(footprint_trainer* trainer);

// Copies a whole batch of `count` values into the input `slot`, or into the
// label if that is FOOTPRINT_LABEL.
footprint_status footprint_trainer_set_floats(footprint_trainer* trainer,
                                              int slot, const float* values,
                                              size_t count);
footprint_status footprint_trainer_set_ints(footprint_trainer* trainer,
                                            int slot, const int32_t* values,
                                            size_t count);

// Trains by the batch that is set, which is one iteration. `*loss` is the loss
// from before the weights changed; it may be null. After a failure the weights
// are as they were, unless the error says otherwise; with the setting
// atomic_steps they always are.
footprint_status footprint_trainer_step(footprint_trainer* trainer,
                                        float* loss);

// Computes the outputs for the inputs that are set, in place of the loss. The
// first call in a training also plans an inference. After a failure there are
// no outputs.
footprint_status footprint_trainer_infer(footprint_trainer* trainer);

// These give the values of output `index` of the last infer, or of a weight
// such as "conv1.bias". The trainer owns them: outputs are valid until the next
// call with the trainer, weights as long as the trainer.
footprint_status footprint_trainer_output(const footprint_trainer* trainer,
                                          size_t index, const float** values,
                                          size_t* count);
footprint_status footprint_trainer_weight(const footprint_trainer* trainer,
                                          const char* name,
                                          const float** values, size_t* count);

// Saves a safetensors file, which replaces an older one as a whole or not at
// all.
footprint_status footprint_trainer_save(const footprint_trainer* trainer,
                                        const char* path,
                                        footprint_contents contents);

// Loads a file of weights or of a training, of the same network. With a file of
// a training, a training continues from it, and an inference takes its weights.
// With a file of weights, both take the weights; with the setting weights_file,
// it may also hold the frozen ones, which are ignored. There are no outputs
// until the next infer, even if this fails. If the file changes or cannot be
// read further while it is loaded (FOOTPRINT_FAILED_PRECONDITION,
// FOOTPRINT_UNAVAILABLE), some weights may have changed.
footprint_status footprint_trainer_load(footprint_trainer* trainer,
                                        const char* path);

// Writes a report of `size` bytes: pass sizeof(footprint_report). Bytes that
// this version does not know are set to 0; more than 1,024 bytes are
// FOOTPRINT_INVALID_ARGUMENT.
footprint_status footprint_trainer_report(const footprint_trainer* trainer,
                                          footprint_report* report,
                                          size_t size);

// Returns the message of this thread's last failed call, or "" if none failed.
// It is valid until the thread's next call.
const char* footprint_error(void);

// These free a handle. They do nothing if it is null or was freed before.
void footprint_trainer_free(footprint_trainer* trainer);
void footprint_network_free(footprint_network* network);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // FOOTPRINT_TRAINER_MANAGER_C_FOOTPRINT_TRAINER_H_
