// The description of a data set: which files it consists of and what they contain.
#ifndef TRAINYARD_DATA_TOKENS_DATASET_DESCRIPTION_H_
#define TRAINYARD_DATA_TOKENS_DATASET_DESCRIPTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/hashed_file.h"
#include "data/tokens/output_format.h"
#include "data/tokens/token_writer.h"

namespace trainyard::data {

// The file that describes a data set in a format other than our own. The trainer does not read it.
inline constexpr char kDatasetFile[] = "dataset.json";

struct SplitDescription {
  std::string split;  // "train" or "val"
  int64_t vocab_size = 0;
  int bytes_per_token = 2;
  DocumentMarks marks;
  int64_t tokens = 0;
  int64_t documents = 0;
  std::vector<TokenFileFacts> files;
};

struct DatasetDescription {
  OutputFormat format = OutputFormat::kTrainyard;
  std::vector<SplitDescription> splits;
};

// Writes dataset.json, and for nanoGPT meta.pkl. Writes nothing in our own format, in which
// TokenWriter describes each split.
absl::Status WriteDescription(const std::string& directory, OutputFormat format,
                              const Tokenizer& tokenizer, const SplitTotals& train,
                              const SplitTotals& val);

// Reads the description of a directory of `data prepare`. In our own format, the val split may be
// missing. Returns NotFound if there is no description, and DataLoss if it is damaged. Errors name
// the file and the next step.
absl::StatusOr<DatasetDescription> ReadDescription(const std::string& directory);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_DATASET_DESCRIPTION_H_
