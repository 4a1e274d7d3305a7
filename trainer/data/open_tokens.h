// Opens the data sets that a run's settings name.
#ifndef TRAINYARD_TRAINER_DATA_OPEN_TOKENS_H_
#define TRAINYARD_TRAINER_DATA_OPEN_TOKENS_H_

#include <string>
#include <vector>

#include "proto/contract/data_sources.h"
#include "trainer/data/sample_source.h"

namespace trainyard::trainer {

// One split of data.path or of each source of data.blend, in their order. Throws what TokenFile and
// CheckSameTokenizer throw.
std::vector<WeightedTokens> OpenTokens(const DataConfig& data, const std::string& split);

// One set of evaluation.sets: the val split of a directory, or one file.
std::vector<WeightedTokens> OpenEvaluationSet(const EvaluationSet& set, DataFormat format);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_OPEN_TOKENS_H_
