#include "trainer/data/open_tokens.h"

#include <memory>

#include "proto/contract/token_format.h"
#include "trainer/data/data_tokenizer.h"

namespace trainyard::trainer {

std::vector<WeightedTokens> OpenTokens(const DataConfig& data, const std::string& split) {
  std::vector<WeightedTokens> opened;
  for (const DataSource& source : BlendOf(data).sources) {
    opened.push_back({std::make_shared<TokenFile>(source.path, split, data.format), source.share});
  }
  for (const WeightedTokens& tokens : opened) {
    CheckSameTokenizer(TokenizerOf(*opened.front().file), TokenizerOf(*tokens.file));
  }
  return opened;
}

std::vector<WeightedTokens> OpenEvaluationSet(const EvaluationSet& set, DataFormat format) {
  const char* split =
      HoldsSplits(set.path) ? token_format::kValidationSplit : token_format::kTrainSplit;
  return {{std::make_shared<TokenFile>(set.path, split, format), 1}};
}

}  // namespace trainyard::trainer
