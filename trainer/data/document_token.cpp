#include "trainer/data/document_token.h"

#include <string>
#include <vector>

#include "proto/contract/token_format.h"
#include "proto/rules/attention_rules.h"
#include "trainer/config/trainer_error.h"
#include "trainer/data/open_tokens.h"

namespace trainyard::trainer {
namespace {

[[noreturn]] void Refuse(const std::string& problem) {
  throw TrainerError(ExitCode::kBadConfig, problem +
                                               " `data.reset_attention_mask`, "
                                               "`data.reset_position_ids` and "
                                               "`data.eod_mask_loss` need the same end-of-document "
                                               "token for all documents; set `data.eod_token`.");
}

int64_t TokenOfFiles(const DataConfig& data) {
  const std::vector<WeightedTokens> opened = OpenTokens(data, token_format::kTrainSplit);
  const TokenFile& first = *opened.front().file;
  for (const WeightedTokens& source : opened) {
    const int64_t token = source.file->header().end_of_document;
    if (token < 0) Refuse(source.file->path() + " does not name an end-of-document token.");
    if (token != first.header().end_of_document) {
      Refuse(first.path() + " and " + source.file->path() +
             " name different end-of-document tokens (" +
             std::to_string(first.header().end_of_document) + " and " + std::to_string(token) +
             ").");
    }
  }
  return first.header().end_of_document;
}

}  // namespace

int64_t EndOfDocumentToken(const RunConfig& config) {
  if (!UsesDocuments(config.data)) return -1;
  if (config.data.eod_token >= 0) return config.data.eod_token;
  const int64_t token = TokenOfFiles(config.data);
  if (token < config.model.vocab_size) return token;
  Refuse("The end-of-document token of the token files (" + std::to_string(token) +
         ") is not below `model.vocab_size` (" + std::to_string(config.model.vocab_size) + ").");
}

}  // namespace trainyard::trainer
