// `trainyard data count`: counts the tokens of text.
#ifndef TRAINYARD_DATA_PREPARE_TOKENIZERS_COUNT_H_
#define TRAINYARD_DATA_PREPARE_TOKENIZERS_COUNT_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"

namespace trainyard::data {

struct TokenizerCount {
  std::string source;  // as the user named it
  std::string name;
  std::string fingerprint;
  int64_t vocab_size = 0;
  int64_t documents = 0;  // with text
  int64_t bytes = 0;      // of text
  int64_t tokens = 0;     // without those that begin and end documents
  int64_t special_documents = 0;
  double seconds = 0;  // of reading and encoding
};

struct CountResult {
  int64_t files = 0;
  std::string bad_lines;  // BadLineLog::Summary; empty if there are none
  std::vector<TokenizerCount> tokenizers;
};

// Reads the inputs once for each tokenizer. The counts are those of `data prepare`. Errors are
// those of PrepareData.
absl::StatusOr<CountResult> CountTokens(const CountOptions& options, Progress* progress,
                                        const std::atomic<bool>& cancelled);

// Return the result for the user, with a newline at the end.
std::string CountText(const CountResult& result);
std::string CountJson(const CountResult& result);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_TOKENIZERS_COUNT_H_
