// Notifies the owner of the weights when the model uses a parameter group.
#ifndef TRAINYARD_TRAINER_MODEL_WEIGHT_ACCESS_H_
#define TRAINYARD_TRAINER_MODEL_WEIGHT_ACCESS_H_

#include <cstdint>

namespace trainyard::trainer {

enum class Pass { kForward, kBackward };

// Provides the values of parameter groups. Until they are needed, they may be in transit or absent
// from this rank. The default implementation assumes that all values are always available.
class WeightAccess {
 public:
  virtual ~WeightAccess() = default;

  // Makes work that is queued later see the values of the group. `pass` determines which group is
  // needed next.
  virtual void Acquire(int64_t /*group*/, Pass /*pass*/) {}
  // States that the values are not needed before the next Acquire. Each Release belongs to one
  // Acquire; such pairs may nest.
  virtual void Release(int64_t /*group*/) {}
};

// Acquires the values of a group, and releases them in the destructor.
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
