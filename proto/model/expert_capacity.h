// The limit on the rows that one expert processes. Pure functions of the settings.
#ifndef TRAINYARD_PROTO_MODEL_EXPERT_CAPACITY_H_
#define TRAINYARD_PROTO_MODEL_EXPERT_CAPACITY_H_

#include <cstdint>

#include "proto/contract/model_config.h"

namespace trainyard {

inline bool HasExpertCapacity(const ModelConfig& model) {
  return model.moe_expert_capacity_factor > 0;
}

// Returns the maximum number of tokens that one expert processes in a sample of `tokens` tokens:
// ceil(topk * tokens / experts * factor), from 1 to `tokens` (GShard, arXiv 2006.16668, section
// 2.2). Requires HasExpertCapacity.
int64_t ExpertCapacity(const ModelConfig& model, int64_t tokens);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_EXPERT_CAPACITY_H_
