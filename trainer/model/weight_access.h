// Tells when the model is about to use the values of a parameter group.
#ifndef TRAINYARD_TRAINER_MODEL_WEIGHT_ACCESS_H_
#define TRAINYARD_TRAINER_MODEL_WEIGHT_ACCESS_H_

#include <cstdint>

namespace trainyard::trainer {

enum class Pass { kForward, kBackward };

// Values of a group may be on their way from other ranks, or nowhere on this rank, until they are
// needed. By default they are always there.
class WeightAccess {
 public:
  virtual ~WeightAccess() = default;

  // Work that is queued from now on sees the values. pass: tells which group comes next.
  virtual void Acquire(int64_t /*group*/, Pass /*pass*/) {}
  // The values are not needed until the next Acquire. Calls come in pairs, which may nest.
  virtual void Release(int64_t /*group*/) {}
};

// The values of a group, for as long as this lives.
class WeightUse {
 public:
  WeightUse(WeightAccess& access, int64_t group, Pass pass) : access_(access), group_(group) {
    access_.Acquire(group_, pass);
  }
  ~WeightUse() { access_.Release(group_); }
  WeightUse(const WeightUse&) = delete;
  WeightUse& operator=(const WeightUse&) = delete;

 private:
  WeightAccess& access_;
  const int64_t group_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_WEIGHT_ACCESS_H_
