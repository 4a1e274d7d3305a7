// Sends the weights of a parameter group to ranks that have only a part of these weights.
#ifndef TRAINYARD_TRAINER_STEP_WEIGHT_EXCHANGE_H_
#define TRAINYARD_TRAINER_STEP_WEIGHT_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "trainer/model/decoder.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_access.h"
#include "trainer/parallel/rank_groups.h"

namespace trainyard::trainer {

// With ZeRO 1 and 2, ranks exchange their updated weights during the next forward pass. With ZeRO
// 3, ranks gather the weights of a block shortly before a pass needs them, while the pass computes
// the previous block. Not thread-safe.
class WeightExchange final : public WeightAccess {
 public:
  // All arguments must outlive this object.
  WeightExchange(const Decoder& model, ParameterStore& store, const RankGroups& ranks);

  void Acquire(int64_t group, Pass pass) override;
  void Release(int64_t group) override;

  // Must be called when this rank's part of a group has new values.
  void OnUpdated(int64_t group);
  // Work that is queued after this call will see all weights that this rank keeps.
  void Join();

 private:
  struct State {
    int64_t next_forward = -1;  // The group that the pass needs after this one.
    int64_t next_backward = -1;
    bool is_arriving = false;
    Work arriving;
    int64_t users = 0;
  };

  void LearnOrder(const std::vector<int64_t>& forward);
  void BeginNext(int64_t group, Pass pass);
  void BeginGather(int64_t group);
  void Await(int64_t group);

  ParameterStore& store_;
  const RankGroups& ranks_;
  const bool keeps_parts_;  // True if only parts of values are kept (ZeRO 3).
  int64_t ahead_ = 1;       // Number of groups that are gathered ahead: those of a block.
  std::vector<State> groups_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_WEIGHT_EXCHANGE_H_
