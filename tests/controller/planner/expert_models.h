// The models with experts of tests/gpu/model_shapes.py.
#ifndef TRAINYARD_TESTS_CONTROLLER_PLANNER_EXPERT_MODELS_H_
#define TRAINYARD_TESTS_CONTROLLER_PLANNER_EXPERT_MODELS_H_

#include "proto/contract/run_config.h"

namespace trainyard::planner {

// 8 experts, 2 per token. Forced balance gives each expert equally many rows.
ModelConfig M8();
// 64 experts, 6 per token, with latent attention. Forced balance gives each expert equally many
// rows.
ModelConfig D64();

}  // namespace trainyard::planner

#endif  // TRAINYARD_TESTS_CONTROLLER_PLANNER_EXPERT_MODELS_H_
