// Token files for runs whose data is unavailable.
#ifndef TRAINYARD_CLI_RECIPES_RANDOM_TOKENS_H_
#define TRAINYARD_CLI_RECIPES_RANDOM_TOKENS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace trainyard::cli {

// Writes train.bin and val.bin with their headers (proto/contract/token_format.h) into the
// directory, which it creates. Tokens follow Zipf's law and are the same each time, so that a model
// learns their frequencies in a few steps. `tokens`: size of the train split.
absl::Status WriteRandomTokens(const std::string& directory, int64_t vocab_size, int64_t tokens);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_RANDOM_TOKENS_H_
