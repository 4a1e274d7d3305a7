// provenance.json of a data set: the inputs and settings from which `data prepare` made it.
#ifndef TRAINYARD_DATA_PREPARE_SPLITS_PROVENANCE_H_
#define TRAINYARD_DATA_PREPARE_SPLITS_PROVENANCE_H_

#include <string>

#include "absl/status/status.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/splits/split_jobs.h"
#include "data/prepare/splits/splits.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// Writes the file into `directory`. It depends only on the inputs and the options.
absl::Status WriteProvenance(const PrepareOptions& options, const SplitJobs& jobs,
                             const Tokenizer& tokenizer, const SplitsResult& splits,
                             const std::string& directory);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_SPLITS_PROVENANCE_H_
