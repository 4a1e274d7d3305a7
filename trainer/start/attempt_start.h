// The start of an attempt: from a checkpoint, or from initial weights.
#ifndef TRAINYARD_TRAINER_START_ATTEMPT_START_H_
#define TRAINYARD_TRAINER_START_ATTEMPT_START_H_

#include <cstdint>
#include <string>

#include "trainer/start/rank_setup.h"
#include "trainer/state/training_state.h"

namespace trainyard::trainer {

// Start of the attempt.
struct AttemptStart {
  int64_t step = 0;
  std::string resumed_from;  // Checkpoint path; empty for a fresh start.
};

struct StartedAttempt {
  TrainingState state;
  AttemptStart start;
};

// Collective. Loads the checkpoint that the attempt starts from, if any. Throws TrainerError, for
// example if the checkpoint is damaged or the run would overwrite checkpoints of another job.
StartedAttempt StartAttempt(RankSetup& setup, const LoadTarget& target);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_ATTEMPT_START_H_
