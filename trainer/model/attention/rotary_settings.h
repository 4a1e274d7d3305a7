// The settings of rotary positions in the terms of ops/rotary.h.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_ROTARY_SETTINGS_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_ROTARY_SETTINGS_H_

#include <cmath>

#include "proto/contract/model_config.h"
#include "proto/model/model_size.h"
#include "trainer/ops/attention/rotary.h"

namespace trainyard::trainer {

inline RotaryFrequencies FrequenciesOf(const ModelConfig& model) {
  RotaryFrequencies frequencies{.base = model.rotary_base,
                                .scaling_factor = model.rope_scaling_factor,
                                .low_factor = model.rope_low_freq_factor,
                                .high_factor = model.rope_high_freq_factor,
                                .original_length = static_cast<double>(model.rope_original_length)};
  if (model.rope_scaling_type == RopeScalingType::kYarn) {
    frequencies.yarn = YarnScaling{.beta_fast = model.rope_beta_fast,
                                   .beta_slow = model.rope_beta_slow,
                                   .mscale = model.rope_mscale,
                                   .mscale_all_dim = model.rope_mscale_all_dim};
  }
  return frequencies;
}

// Returns the factor of the scores of latent attention: 1 / sqrt(size of a query head), times the
// square of YaRN's magnitude. The magnitude is squared, because it applies to both queries and
// keys.
inline double LatentScoreScale(const ModelConfig& model) {
  const double scale = 1 / std::sqrt(static_cast<double>(QueryHeadSize(model)));
  if (model.rope_scaling_type != RopeScalingType::kYarn) return scale;
  const double magnitude = YarnMagnitude(model.rope_scaling_factor, model.rope_mscale_all_dim);
  return scale * magnitude * magnitude;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_ROTARY_SETTINGS_H_
