// Notifies the owner of the weights when the model uses a parameter group.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETERS_WEIGHT_ACCESS_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETERS_WEIGHT_ACCESS_H_

#include <cstdint>

namespace trainyard::trainer {

enum class Pass { kForward, kBackward };

// Provides the values of parameter groups. While the model does not need them, the values may be in
// transit or absent from this rank. The default implementation assumes that all values are always
// available.
class WeightAccess {
 public:
  virtual ~WeightAccess() = default;

  // Work that is queued after this call will see the values of the group. `pass` determines which
  // group is needed next, so that the next transfer can start early.
  virtual void Acquire(int64_t /*group*/, Pass /*pass*/) {}
  // Notifies the owner that the caller does not need the values before the next Acquire. Each
  // Release ends one Acquire. Pairs may be nested.
  virtual void Release(int64_t /*group*/) {}
};

// The constructor acquires the values of a group, and the destructor releases them.
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

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETERS_WEIGHT_ACCESS_H_
