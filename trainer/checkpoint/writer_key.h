// Identifies a writer of a checkpoint directory.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_WRITER_KEY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_WRITER_KEY_H_

#include <compare>
#include <cstdint>

#include "proto/contract/attempt_key.h"
#include "trainer/config/runtime_environment.h"

namespace trainyard::trainer {

// Identifies the gang of an attempt in one generation. Keys are ordered by age: members are
// compared in the order of their declaration. If a gang continues without a lost rank, that rank
// may still be running; its key is older than that of the continued gang.
struct WriterKey {
  AttemptKey attempt;
  // Number of times that the attempt's ranks have connected: 1, plus one for each order to continue
  // in place after the loss of a rank (TRAINYARD_HEAL).
  int64_t generation = 1;

  auto operator<=>(const WriterKey&) const = default;
};

inline WriterKey WriterOf(const RuntimeEnvironment& env) {
  return {{env.job_id, env.attempt}, env.generation};
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_WRITER_KEY_H_
