// Tokenizes all documents and writes the training and the validation split.
#ifndef TRAINYARD_DATA_PREPARE_SPLITS_H_
#define TRAINYARD_DATA_PREPARE_SPLITS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/prepare/job.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/token_writer.h"

namespace trainyard::data {

struct SplitsResult {
  SplitTotals train;
  SplitTotals val;
  BadLineLog lines;
  int64_t special_documents = 0;  // documents whose text contains a special token
};

// Writes train.bin, train.json, val.bin and val.json into `directory`. If a split is empty by
// chance, because the text is short, writes both again: an empty validation split gets the part
// with the smallest hash, an empty training split the part with the largest hash. Returns
// InvalidArgument if the text is too short for two splits, and DataLoss if there is no text.
// `val_fraction`: part of the text used for validation.
absl::StatusOr<SplitsResult> WriteSplits(const Job& job, const Tokenizer& tokenizer,
                                         double val_fraction, const std::string& directory);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_SPLITS_H_
