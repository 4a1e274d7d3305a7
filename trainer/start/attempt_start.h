// Starts an attempt from a checkpoint or from initial weights.
#ifndef TRAINYARD_TRAINER_START_ATTEMPT_START_H_
#define TRAINYARD_TRAINER_START_ATTEMPT_START_H_

#include <cstdint>
#include <string>

#include "trainer/start/rank_setup.h"
#include "trainer/state/training_state.h"

namespace trainyard::trainer {

// The checkpoint and the step from which the attempt starts.
struct AttemptStart {
  int64_t step = 0;
  std::string resumed_from;  // Path of a checkpoint; empty for a fresh start.
};

struct StartedAttempt {
  TrainingState state;
  AttemptStart start;
};

// Loads the checkpoint from which the attempt starts, if there is one. All ranks must call
// StartAttempt. Throws TrainerError, for example if the checkpoint is damaged or if the run would
// overwrite another job's checkpoints.
StartedAttempt StartAttempt(RankSetup& setup, const LoadTarget& target);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_ATTEMPT_START_H_
