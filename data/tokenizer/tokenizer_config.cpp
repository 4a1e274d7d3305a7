#include "data/tokenizer/tokenizer_config.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "data/tokenizer/json_fields.h"

namespace trainyard::data {
namespace {

// A token is a string, or an object with the string in `content`.
std::string TokenField(const nlohmann::json& config, const char* name) {
  const nlohmann::json& field = FieldOf(config, name);
  return field.is_object() ? TextField(field, "content") : TextField(config, name);
}

}  // namespace

absl::StatusOr<ConfigTokens> ParseTokenizerConfig(const std::string& text,
                                                  const std::string& path) {
  const nlohmann::json config = nlohmann::json::parse(text, nullptr, false);
  if (!config.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a JSON object; copy the file again, or remove it"));
  }
  ConfigTokens tokens;
  tokens.end_of_document = TokenField(config, "eos_token");
  tokens.begin_of_document = TokenField(config, "bos_token");
  const nlohmann::json& adds_begin = FieldOf(config, "add_bos_token");
  if (adds_begin.is_boolean()) tokens.begins_documents = adds_begin.get<bool>();
  return tokens;
}

}  // namespace trainyard::data
