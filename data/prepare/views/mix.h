// `trainyard data mix`: checks a blend of data sets and writes it as settings for a job file.
//
// The tokens are not copied, because the trainer reads each sample from the data set that the blend
// chooses (proto/samples/blend_order.h). The blend can therefore change during a run, and a data
// set can be read several times in different orders.
#ifndef TRAINYARD_DATA_PREPARE_VIEWS_MIX_H_
#define TRAINYARD_DATA_PREPARE_VIEWS_MIX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/views/mix_sources.h"
#include "proto/contract/data_config.h"
#include "proto/rules/blend_stages.h"

namespace trainyard::data {

// The use of a data set by a run of MixOptions::tokens.
struct MixUse {
  double tokens = 0;
  double passes = 0;  // Number of times that the data set is read.
};

struct MixResult {
  std::string directory;    // MixOptions::out
  double weight_sum = 0;    // Sum of the weights in the file.
  int64_t tokens = 0;       // MixOptions::tokens
  int64_t step_tokens = 0;  // MixOptions::step_tokens
  std::vector<MixSource> sources;
  std::vector<BlendStage> stages;  // BlendStages::stages
  std::vector<MixUse> uses;        // By source; empty if `tokens` is 0.
  std::vector<std::string> warnings;
};

// Describes a blend of data sets with absolute paths. MixOptions::file, `out` and `force` are not
// read. Returns the errors of DescribeSources, and InvalidArgument if step_tokens is missing.
// Precondition: BlendOf(data) and BlendStagesOf(data) have no problem.
absl::StatusOr<MixResult> DescribeMix(const DataConfig& data, const MixOptions& options);

// The files of a blend. They depend only on the result.
struct MixFiles {
  static constexpr char kJobFile[] = "data.yaml";

  std::string job_file;  // data.yaml, a job file with section `data`
  std::string mix;       // kMixFile
};
MixFiles FilesOf(const MixResult& result);

// Writes the files into a new directory. Returns the errors of OutputDirectory.
absl::Status WriteMix(const MixFiles& files, const std::string& directory, bool replace);

// Reads the file of `options`, describes the blend and writes it. Returns the errors of
// ReadMixFile, DescribeMix and WriteMix.
absl::StatusOr<MixResult> MixData(const MixOptions& options);

// Returns a sentence for the user if the weights do not sum to 1, otherwise "". It has no line end.
std::string NormalizationText(const MixResult& result);

// Text for the user.
std::string MixText(const MixResult& result);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_VIEWS_MIX_H_
