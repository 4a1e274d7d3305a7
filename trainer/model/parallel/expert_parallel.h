// The division of a layer's experts among ranks.
#ifndef TRAINYARD_TRAINER_MODEL_PARALLEL_EXPERT_PARALLEL_H_
#define TRAINYARD_TRAINER_MODEL_PARALLEL_EXPERT_PARALLEL_H_

#include <cstdint>

#include "proto/contract/layout_config.h"
#include "proto/layout/layout_parts.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// The ranks that together have all experts of a layer once. They form ep groups of etp neighbors.
// Each group has an equal number of experts, in order. Within a group, each rank has one of etp
// equal parts of the width of every expert.
class ExpertParallel {
 public:
  ExpertParallel() = default;  // One rank has all experts.
  // parts: etp, which divides the number of ranks. The communicator must outlive this object.
  ExpertParallel(Communicator& ranks, int64_t parts,
                 TokenDispatcher dispatcher = TokenDispatcher::kAuto)
      : ranks_(ranks.size() > 1 ? &ranks : nullptr), parts_(parts), dispatcher_(dispatcher) {}

  int64_t size() const { return ranks_ == nullptr ? 1 : ranks_->size(); }
  int64_t index() const { return ranks_ == nullptr ? 0 : ranks_->rank(); }
  // Requires size() > 1.
  Communicator& ranks() const { return *ranks_; }

  TokenDispatcher dispatcher() const { return dispatcher_; }
  int64_t parts() const { return parts_; }
  int64_t groups() const { return size() / parts_; }
  // The experts of this rank, of all `experts` of a layer. groups() must divide `experts`.
  IndexRange ExpertsHere(int64_t experts) const {
    return PartOf(experts, groups(), index() / parts_);
  }
  // This rank's part of an expert of this width. parts() must divide `width`.
  IndexRange WidthHere(int64_t width) const { return PartOf(width, parts_, index() % parts_); }

 private:
  Communicator* ranks_ = nullptr;  // Null if there is only one rank.
  int64_t parts_ = 1;
  TokenDispatcher dispatcher_ = TokenDispatcher::kAuto;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARALLEL_EXPERT_PARALLEL_H_
