// The stages of a blend: its weights may change at given steps of the run (a curriculum).
#ifndef TRAINYARD_PROTO_RULES_BLEND_STAGES_H_
#define TRAINYARD_PROTO_RULES_BLEND_STAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/data_config.h"

namespace trainyard {

struct BlendStage {
  int64_t first_step = 1;
  // Samples per period, by source of BlendOf(data). 0: the stage does not use the source. The
  // shares have no common divisor.
  std::vector<int64_t> shares;
};

struct BlendStages {
  // In ascending order of first_step. The first stage is that of data.blend and begins at step 1.
  // The sum of all periods is at most kBlendPeriodMax.
  std::vector<BlendStage> stages;
  std::string problem;  // One sentence; empty if data.blend_stages is valid.
};

// Reads data.blend_stages. Precondition: BlendOf(data) has no problem.
BlendStages BlendStagesOf(const DataConfig& data);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_BLEND_STAGES_H_
