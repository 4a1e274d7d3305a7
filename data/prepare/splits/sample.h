// The text that trains a tokenizer.
#ifndef TRAINYARD_DATA_PREPARE_SPLITS_SAMPLE_H_
#define TRAINYARD_DATA_PREPARE_SPLITS_SAMPLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/prepare/command/job.h"

namespace trainyard::data {

// Returns the lines of the training text: all of them, or an even sample of about 16 MiB. Omits
// text with a hash below `val_threshold`. The sample depends only on the text, so the same text
// gives the same tokenizer.
absl::StatusOr<std::vector<std::string>> SampleText(const Job& job, uint64_t val_threshold);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_SPLITS_SAMPLE_H_
