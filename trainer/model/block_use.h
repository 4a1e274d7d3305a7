// Acquires the weights of a block.
#ifndef TRAINYARD_TRAINER_MODEL_BLOCK_USE_H_
#define TRAINYARD_TRAINER_MODEL_BLOCK_USE_H_

#include <optional>

#include "trainer/model/block.h"
#include "trainer/model/parameters/weight_access.h"

namespace trainyard::trainer {

// Acquires the groups of a block in the order in which the pass needs them.
class BlockUse {
 public:
  BlockUse(WeightAccess& access, const BlockGroups& groups, Pass pass) {
    const bool is_forward = pass == Pass::kForward;
    first_.emplace(access, is_forward || groups.experts < 0 ? groups.dense : groups.experts, pass);
    if (groups.experts < 0) return;
    second_.emplace(access, is_forward ? groups.experts : groups.dense, pass);
  }

 private:
  std::optional<WeightUse> first_;
  std::optional<WeightUse> second_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_BLOCK_USE_H_
