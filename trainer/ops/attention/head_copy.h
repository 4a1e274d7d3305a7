// Copies heads between tensors that order samples, tokens and heads differently.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_HEAD_COPY_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_HEAD_COPY_H_

#include <vector>

#include "trainer/ops/tensors/head_copy_tensors.h"

namespace trainyard::trainer {

// Copies `from` to `to` in each element of `copies`. No two tensors may share memory.
void CopyHeads(const std::vector<HeadCopy>& copies);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_HEAD_COPY_H_
