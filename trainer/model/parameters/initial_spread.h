// Standard deviations of those initial weights whose deviation depends on their place in the model.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETERS_INITIAL_SPREAD_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETERS_INITIAL_SPREAD_H_

#include <cmath>

#include "proto/contract/model_config.h"

namespace trainyard::trainer {

// The standard deviation of the matrices whose products are added to the residual stream. The
// deviation is small enough that the variance of the stream does not grow with depth (GPT-2,
// Radford et al. 2019, section 2.3). Settings may override it, for example for GPT-NeoX.
inline double ResidualInitStd(const ModelConfig& model) {
  if (model.output_layer_init_method_std > 0) return model.output_layer_init_method_std;
  return model.init_method_std / std::sqrt(2.0 * static_cast<double>(model.num_layers));
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETERS_INITIAL_SPREAD_H_
