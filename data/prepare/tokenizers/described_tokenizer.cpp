#include "data/prepare/tokenizers/described_tokenizer.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "data/tokenizer/byte_tokenizer.h"
#include "data/tokenizer/families.h"
#include "data/tokenizer/load_tokenizer.h"
#include "data/tokenizer/sentencepiece_tokenizer.h"
#include "data/tokenizer/tokenizer_text.h"
#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace format = token_format;
using nlohmann::json;

std::string StringAt(const json& description, const char* key) {
  const auto found = description.find(key);
  return found != description.end() && found->is_string() ? found->get<std::string>() : "";
}

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadSentencePiece(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string model, ReadTokenizerFile(path));
  std::string error;
  std::unique_ptr<Tokenizer> tokenizer = MakeSentencePieceTokenizer(model, &error);
  if (tokenizer == nullptr) return absl::InvalidArgumentError(path + ": " + error);
  return tokenizer;
}

}  // namespace

absl::StatusOr<json> ReadTokenizerDescription(const std::string& directory) {
  const std::string path = directory + "/" + format::kTokenizerFile;
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, ReadTokenizerFile(path));
  json description = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!description.is_object()) {
    return absl::InvalidArgumentError(path + ": is not a JSON object");
  }
  return description;
}

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadDescribed(const std::string& directory,
                                                         const json& description) {
  const std::string kind = StringAt(description, format::kTokenizerKind);
  const std::string name = StringAt(description, format::kTokenizerName);
  if (kind == "byte") return MakeByteTokenizer();
  if (kind == "sentencepiece") return LoadSentencePiece(directory + "/tokenizer.model");
  if (!description.contains(format::kTokenizerFiles)) return LoadTokenizer(name, {});
  LoadOptions options;
  // Files without a split rule need the family that was chosen when the data was prepared.
  if (FindFamily(name) != nullptr) options.family = name;
  const auto end = description.find(format::kEndOfDocument);
  if (end != description.end() && end->is_number_unsigned()) {
    options.document_tokens.end_of_document_id = end->get<uint32_t>();
  }
  return LoadTokenizer(directory + "/tokenizer", options);
}

}  // namespace trainyard::data
