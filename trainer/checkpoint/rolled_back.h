// Finds checkpoints that a rollback of the job has invalidated, because they were saved after the
// loss had spiked.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_ROLLED_BACK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_ROLLED_BACK_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::trainer {

// A rollback. It invalidates the checkpoints that `attempt` or an earlier attempt saved at `step`
// or later.
struct RolledBack {
  int64_t attempt = 0;
  int64_t step = 0;

  bool operator==(const RolledBack&) const = default;
};

// Parses TRAINYARD_ROLLED_BACK: "attempt:step,attempt:step", or empty for none. Throws TrainerError
// kBadConfig.
std::vector<RolledBack> ParseRolledBack(const std::string& text);

// True if a rollback invalidated the checkpoint that `attempt` saved at `step`.
bool IsRolledBack(const std::vector<RolledBack>& rollbacks, int64_t attempt, int64_t step);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_ROLLED_BACK_H_
