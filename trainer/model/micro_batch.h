// One micro-batch on its way through the model.
#ifndef TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_
#define TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_

#include <cstdint>

#include "trainer/model/stash.h"
#include "trainer/ops/rotary.h"

namespace trainyard::trainer {

// Rows of activations are [batch * length, hidden], the tokens of a sample one after the other.
struct MicroBatch {
  int64_t batch = 0;   // Samples.
  int64_t length = 0;  // Tokens of a sample.
  const RotaryTable& rotary;
  Stash stash;

  int64_t rows() const { return batch * length; }
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_
