// The text rules of tokenizer.json: normalizer and pre-tokenizer.
#ifndef TRAINYARD_DATA_TOKENIZER_TEXT_RULES_H_
#define TRAINYARD_DATA_TOKENIZER_TEXT_RULES_H_

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "data/tokenizer/bpe_definition.h"

namespace trainyard::data {

using TextRules = std::variant<ByteSplitting, CharacterSplitting>;

// `tokenizer` is the whole object, and `path` is for messages. Errors name the rule that is not
// supported.
absl::StatusOr<TextRules> ParseTextRules(const nlohmann::json& tokenizer, const std::string& path);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_TEXT_RULES_H_
