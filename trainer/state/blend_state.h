// The part of a checkpoint that keeps the order of a blend's samples.
#ifndef TRAINYARD_TRAINER_STATE_BLEND_STATE_H_
#define TRAINYARD_TRAINER_STATE_BLEND_STATE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/samples/blend_spans.h"

namespace trainyard::trainer {

// Adds the shares of data.blend to a checkpoint's state, and the spans if there is more than one or
// if the run has stages.
void AddBlend(const std::vector<BlendSpan>& spans, const DataConfig& data, nlohmann::json& state);

// Returns the spans that AddBlend added. A checkpoint without spans has one, with the shares of
// data.blend. Empty for a checkpoint of an early version, which has no shares. Throws TrainerError
// (kBadCheckpoint) for spans that StagedOrder cannot use.
std::vector<BlendSpan> BlendIn(const nlohmann::json& state);

// Returns a line for the user if the shares differ from those before start.position; else "".
std::string BlendChange(const BlendStart& start, const RunConfig& config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STATE_BLEND_STATE_H_
