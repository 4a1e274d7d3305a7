// Brings the weights of a group to the ranks that have a part of them only.
#ifndef TRAINYARD_TRAINER_STEP_WEIGHT_EXCHANGE_H_
#define TRAINYARD_TRAINER_STEP_WEIGHT_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "trainer/model/decoder.h"
#include "trainer/model/parameter_store.h"
#include "trainer/model/weight_access.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Ranks that share the optimizer's state give each other what they have updated, under the next
// forward pass (ZeRO 1 and 2). Ranks that share the weights, too (ZeRO 3), gather a group when a
// pass comes near it, and the next one under its work. One thread at a time.
class WeightExchange final : public WeightAccess {
 public:
  // Everything must outlive this. ranks: that share one copy.
  WeightExchange(const Decoder& model, ParameterStore& store, Communicator& ranks);

  void Acquire(int64_t group, Pass pass) override;
  void Release(int64_t group) override;

  // This rank's part of a group has new values.
  void OnUpdated(int64_t group);
  // Work that is queued from now on sees all weights that this rank keeps.
  void Join();

 private:
  struct State {
    int64_t next_forward = -1;  // The group that a pass needs next.
    int64_t next_backward = -1;
    bool is_arriving = false;
    Work arriving;
    int64_t users = 0;
  };

  void LearnOrder(const std::vector<int64_t>& forward);
  void BeginGather(int64_t group);
  void Await(int64_t group);

  ParameterStore& store_;
  Communicator& ranks_;
  const bool keeps_parts_;  // Of the values (ZeRO 3).
  std::vector<State> groups_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_WEIGHT_EXCHANGE_H_
