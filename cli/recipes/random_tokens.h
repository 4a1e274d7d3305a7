// Random token files, for runs whose data is not available.
#ifndef TRAINYARD_CLI_RECIPES_RANDOM_TOKENS_H_
#define TRAINYARD_CLI_RECIPES_RANDOM_TOKENS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace trainyard::cli {

// Creates the directory and, in it, train.bin and val.bin with their headers
// (proto/contract/token_format.h). `tokens`: number of tokens in train.bin. Tokens follow Zipf's
// law, so that a model learns their frequencies in a few steps. Every call writes the same tokens.
absl::Status WriteRandomTokens(const std::string& directory, int64_t vocab_size, int64_t tokens);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_RANDOM_TOKENS_H_
