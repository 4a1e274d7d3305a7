// Data sets for training and evaluation, from the lists in a run's settings.
#ifndef TRAINYARD_PROTO_RULES_DATA_SOURCES_H_
#define TRAINYARD_PROTO_RULES_DATA_SOURCES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "proto/contract/data_config.h"
#include "proto/contract/evaluation_config.h"

namespace trainyard {

// Maximum number of samples after which the mixture of a blend repeats: the trainer keeps a table
// of them.
inline constexpr int64_t kBlendPeriodMax = int64_t{1} << 22;

struct DataSource {
  std::string name;  // Last part of the path, unique in the blend, valid in a metric name.
  std::string path;
  int64_t share = 1;  // Number of its samples in one period; the shares have no common divisor.
};

struct DataBlend {
  std::vector<DataSource> sources;  // One source with share 1 for a run without data.blend.
  std::string problem;              // One sentence; empty if data.blend is valid.
};

// Weights are decimal numbers; their ratios are kept exactly.
DataBlend BlendOf(const DataConfig& data);

struct EvaluationSet {
  std::string name;
  std::string path;
};

struct EvaluationSets {
  std::vector<EvaluationSet> sets;  // Empty for a run without evaluation.sets.
  std::string problem;
};

EvaluationSets EvaluationSetsOf(const EvaluationConfig& evaluation);

// "0.7 /data/c4" -> {"0.7", "/data/c4"}; the second is empty if there is no blank.
std::pair<std::string, std::string> SplitEntry(const std::string& entry);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_DATA_SOURCES_H_
