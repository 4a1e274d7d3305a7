// Notifies the owner of the weights when the model uses a parameter group.
#ifndef TRAINYARD_TRAINER_MODEL_WEIGHT_ACCESS_H_
#define TRAINYARD_TRAINER_MODEL_WEIGHT_ACCESS_H_

#include <cstdint>

namespace trainyard::trainer {

enum class Pass { kForward, kBackward };

// A group's values may be in transit or absent on this rank until they are needed. The default
// implementation assumes that all values are always available.
class WeightAccess {
 public:
  virtual ~WeightAccess() = default;

  // Makes work queued from now on see the values. pass: determines the next group.
  virtual void Acquire(int64_t /*group*/, Pass /*pass*/) {}
  // The values are not needed until the next Acquire. Calls are paired and may nest.
  virtual void Release(int64_t /*group*/) {}
};

// Acquires the values of a group for its lifetime.
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
