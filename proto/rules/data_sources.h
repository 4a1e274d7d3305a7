// Finds the data sets for training and evaluation in the settings of a run.
#ifndef TRAINYARD_PROTO_RULES_DATA_SOURCES_H_
#define TRAINYARD_PROTO_RULES_DATA_SOURCES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "proto/contract/data_config.h"
#include "proto/contract/evaluation_config.h"

namespace trainyard {

struct DataSource {
  std::string name;  // From the last part of the path; unique, valid in a metric name.
  std::string path;
  // Samples per period; the shares have no common divisor. 0: only data.blend_stages uses the
  // source.
  int64_t share = 1;
};

struct DataBlend {
  std::vector<DataSource> sources;  // Without data.blend, one source with share 1.
  std::string problem;              // One sentence; empty if data.blend is valid.
};

// Returns the blend with which the run begins. blend_stages.h returns the later ones. The ratios of
// the decimal weights are kept exactly.
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

// Splits "0.7 /data/c4" into {"0.7", "/data/c4"}. The second text is empty if the entry has no
// blank.
std::pair<std::string, std::string> SplitEntry(const std::string& entry);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_DATA_SOURCES_H_
