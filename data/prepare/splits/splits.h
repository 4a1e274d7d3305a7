// Tokenizes all documents and writes the training and the validation split.
#ifndef TRAINYARD_DATA_PREPARE_SPLITS_SPLITS_H_
#define TRAINYARD_DATA_PREPARE_SPLITS_SPLITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/prepare/splits/split_jobs.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/output_format.h"
#include "data/tokens/token_writer.h"

namespace trainyard::data {

// The documents from the files of one directory.
struct SourceTotals {
  std::string directory;  // absolute
  int64_t documents = 0;
  int64_t bytes = 0;  // of text
  int64_t tokens = 0;
};

struct SplitsResult {
  SplitTotals train;
  SplitTotals val;
  BadLineLog lines;
  int64_t special_documents = 0;  // documents whose text contains a special token
  // The training documents of both splits by their original directory, sorted; empty if unknown.
  std::vector<SourceTotals> sources;
};

// Writes the token files of both splits into `directory`, which must be empty. DataLoss if there is
// no text. If the jobs have no files for validation, `val_fraction` of the text is used.
//
// If a split is then empty by chance, because the text is short, writes both again: an empty
// validation split gets the part with the smallest hash, an empty training split the part with the
// largest hash. Returns InvalidArgument if the text is too short for two splits.
absl::StatusOr<SplitsResult> WriteSplits(const SplitJobs& jobs, const Tokenizer& tokenizer,
                                         double val_fraction, OutputFormat format,
                                         const std::string& directory);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_SPLITS_SPLITS_H_
