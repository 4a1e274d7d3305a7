// The form of a router: its scores, weights and groups.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_ROUTER_FORM_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_ROUTER_FORM_H_

#include <cstdint>

#include "proto/contract/model_config.h"

namespace trainyard::trainer {

struct RouterForm {
  RouterScoreFunction score = RouterScoreFunction::kSoftmax;
  int64_t topk = 1;           // Experts per token.
  bool is_normalised = true;  // Divides the weights of a token by their sum.
  double scaling = 1;         // Factor of the weights.
  int64_t groups = 0;         // Equal groups of neighboring experts; 0: no groups.
  int64_t group_topk = 0;     // Groups per token.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_ROUTER_FORM_H_
