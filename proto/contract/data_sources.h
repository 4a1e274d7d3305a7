// Data sets that a run trains on and is evaluated on, from the lists in its settings.
#ifndef TRAINYARD_PROTO_CONTRACT_DATA_SOURCES_H_
#define TRAINYARD_PROTO_CONTRACT_DATA_SOURCES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "proto/contract/run_config.h"

namespace trainyard {

// Samples after which the mixture of a blend repeats, at most: the trainer keeps a table of them.
inline constexpr int64_t kBlendPeriodMax = int64_t{1} << 22;

struct DataSource {
  std::string name;  // Last part of the path, unique in the blend, legal in a metric's name.
  std::string path;
  int64_t share = 1;  // Samples of it in one period; the shares have no common divisor.
};

struct DataBlend {
  std::vector<DataSource> sources;  // One, with share 1, for a run without data.blend.
  std::string problem;              // One sentence; empty when data.blend is legal.
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

// "0.7 /data/c4" -> {"0.7", "/data/c4"}; the second is empty where there is no blank.
std::pair<std::string, std::string> SplitEntry(const std::string& entry);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_DATA_SOURCES_H_
