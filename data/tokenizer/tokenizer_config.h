// Reads tokenizer_config.json, which Hugging Face's library reads beside tokenizer.json.
#ifndef TRAINYARD_DATA_TOKENIZER_TOKENIZER_CONFIG_H_
#define TRAINYARD_DATA_TOKENIZER_TOKENIZER_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/tokenizer/families.h"

namespace trainyard::data {

// Reads bos_token, eos_token and add_bos_token. Other settings do not change the tokens of
// documents. Each document ends with the end token, even if add_eos_token is false. Templates are
// for chats. `path` is for messages. Returns InvalidArgument for text that is no JSON object.
absl::StatusOr<ConfigTokens> ParseTokenizerConfig(const std::string& text, const std::string& path);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_TOKENIZER_CONFIG_H_
