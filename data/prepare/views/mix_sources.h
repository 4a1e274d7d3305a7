// The data sets of a blend.
#ifndef TRAINYARD_DATA_PREPARE_VIEWS_MIX_SOURCES_H_
#define TRAINYARD_DATA_PREPARE_VIEWS_MIX_SOURCES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/tokens/dataset_description.h"
#include "proto/rules/data_sources.h"

namespace trainyard::data {

struct MixSource {
  std::string name;  // DataSource::name
  std::string path;
  OutputFormat format = OutputFormat::kTrainyard;
  SplitDescription train;
  bool has_validation = false;  // The val split has tokens.
  std::string tokenizer;        // Such as "gpt2 of 50257 ids".
  std::string fingerprint;      // Equal for equal tokenizers; "" in data sets of older versions.
};

// Reads the descriptions of the data sets, but not the tokens. Checks that:
// - the token files exist and have the described sizes,
// - all data sets have the same tokenizer,
// - the trainer can read their formats together.
// Errors name the data set: those of ReadDescription, DataLoss for damaged files, and
// InvalidArgument for data sets that do not fit together.
absl::StatusOr<std::vector<MixSource>> DescribeSources(const std::vector<DataSource>& sources);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_VIEWS_MIX_SOURCES_H_
