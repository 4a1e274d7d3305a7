// Compares the files of a split with their description.
#ifndef TRAINYARD_DATA_TOKENS_SPLIT_CHECK_H_
#define TRAINYARD_DATA_TOKENS_SPLIT_CHECK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/tokens/dataset_description.h"

namespace trainyard::data {

struct SplitCheckSettings {
  OutputFormat format = OutputFormat::kTrainyard;
  // The text of a document may contain the token that separates documents.
  bool marks_in_text = false;
  // Called with the number of bytes that were read. Returns false to stop.
  std::function<bool(int64_t bytes)> advance;
};

// Reads all files of the split and checks sizes, checksums and the numbers in llm.c's headers. All
// ids must be below the vocabulary size, and begin and end tokens must be as many as declared.
// Returns a line per problem, with the file and the next step.
std::vector<std::string> CheckSplit(const std::string& directory, const SplitDescription& split,
                                    const SplitCheckSettings& settings);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_SPLIT_CHECK_H_
