// Opens the data sets that a run's settings name.
#ifndef TRAINYARD_TRAINER_DATA_OPEN_TOKENS_H_
#define TRAINYARD_TRAINER_DATA_OPEN_TOKENS_H_

#include <string>
#include <vector>

#include "proto/rules/data_sources.h"
#include "trainer/data/sample_source.h"

namespace trainyard::trainer {

// Opens one split of data.path, or of each source of data.blend, in order. Throws the errors of
// TokenFile and CheckSameTokenizer.
std::vector<WeightedTokens> OpenTokens(const DataConfig& data, const std::string& split);

// Opens one data set of evaluation.sets: the val split of a directory, or a single file.
std::vector<WeightedTokens> OpenEvaluationSet(const EvaluationSet& set, DataFormat format);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_OPEN_TOKENS_H_
