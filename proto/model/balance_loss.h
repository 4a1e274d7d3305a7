// The loss that balances the load of experts. Pure functions of the settings.
#ifndef TRAINYARD_PROTO_MODEL_BALANCE_LOSS_H_
#define TRAINYARD_PROTO_MODEL_BALANCE_LOSS_H_

#include "proto/contract/model_config.h"

namespace trainyard {

// Returns the coefficient of the balance loss; 0 if the model has no such loss.
inline double BalanceLossCoefficient(const ModelConfig& model) {
  const bool has_loss = model.moe_router_load_balancing_type != RouterLoadBalancing::kNone;
  return has_loss ? model.moe_aux_loss_coeff : 0;
}

inline bool HasBalanceLoss(const ModelConfig& model) { return BalanceLossCoefficient(model) > 0; }

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_BALANCE_LOSS_H_
