// The limit on the tokens that an expert processes.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_CAPACITY_FORM_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_CAPACITY_FORM_H_

#include <cstdint>

namespace trainyard::trainer {

struct CapacityForm {
  int64_t experts = 0;
  int64_t capacity = 0;  // Maximum number of tokens of one sequence per expert.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_CAPACITY_FORM_H_
