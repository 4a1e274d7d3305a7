// `trainyard data mix`: checks a blend of data sets and writes it as settings for a job file.
//
// The tokens are not copied, because the trainer reads each sample from the data set that the blend
// chooses (proto/samples/blend_order.h). The blend can therefore change during a run, and a data
// set can be read several times in different orders.
#ifndef TRAINYARD_DATA_PREPARE_MIX_H_
#define TRAINYARD_DATA_PREPARE_MIX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/prepare/mix_sources.h"
#include "data/prepare/prepare_options.h"
#include "proto/rules/blend_stages.h"

namespace trainyard::data {

// The use of a data set by a run of MixOptions::tokens.
struct MixUse {
  double tokens = 0;
  double passes = 0;  // Number of times that the data set is read.
};

struct MixResult {
  std::string directory;
  double weight_sum = 0;  // Sum of the weights in the file.
  int64_t tokens = 0;     // MixOptions::tokens
  std::vector<MixSource> sources;
  std::vector<BlendStage> stages;  // BlendStages::stages
  std::vector<MixUse> uses;        // By source; empty if `tokens` is 0.
  std::vector<std::string> warnings;
};

// Writes data.yaml, a job file with section `data`, and mix.json into a new directory. The files
// depend only on the options and the data sets. Returns the errors of ReadMixFile, DescribeSources
// and OutputDirectory, and InvalidArgument if step_tokens is missing.
absl::StatusOr<MixResult> MixData(const MixOptions& options);

// Text for the user.
std::string MixText(const MixResult& result);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_MIX_H_
