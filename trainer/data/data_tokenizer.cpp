#include "trainer/data/data_tokenizer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "proto/contract/token_format.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
namespace format = token_format;

// The maximum size of a description. `trainyard data prepare` writes no larger files.
constexpr size_t kDescriptionBytesMax = 1 << 16;
constexpr size_t kModelBytesMax = 1 << 28;

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// Reads a file. Returns nullopt if the file is unreadable or larger than bytes_max.
std::optional<std::string> SmallFile(const std::string& path, size_t bytes_max) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() < 0 || static_cast<size_t>(in.tellg()) > bytes_max) return std::nullopt;
  std::string text(static_cast<size_t>(in.tellg()), '\0');
  in.seekg(0);
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size()))) return std::nullopt;
  return text;
}

// Returns text with a checksum of the trained tokenizer model, such as " with model
// 0123456789abcdef"; "" if there is no model file.
std::string ModelText(const std::string& path) {
  const std::optional<std::string> model = SmallFile(path, kModelBytesMax);
  if (!model.has_value()) return "";
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(XXH64(model->data(), model->size(), 0)));
  return std::string(" with model ") + text;
}

std::string TextField(const json& object, const char* key, const std::string& otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

// Reads the description in a directory. Sets no name if there is none.
DataTokenizer DescribedTokenizer(const std::string& directory) {
  const std::optional<std::string> text =
      SmallFile(directory + "/" + format::kTokenizerFile, kDescriptionBytesMax);
  const json description = json::parse(text.value_or(""), nullptr, /*allow_exceptions=*/false);
  DataTokenizer tokenizer;
  if (!description.is_object() || TextField(description, format::kTokenizerKind, "").empty() ||
      !description.contains(format::kVocabSize) ||
      !description[format::kVocabSize].is_number_integer()) {
    return tokenizer;
  }
  // Older descriptions have only the kind. It is also the name of the tokenizers that existed then.
  const std::string kind = TextField(description, format::kTokenizerKind, "");
  const std::string model = description.contains(format::kTokenizerModel)
                                ? ModelText(directory + "/tokenizer.model")
                                : "";
  tokenizer.name = TextField(description, format::kTokenizerName, kind) + " of " +
                   std::to_string(description[format::kVocabSize].get<int64_t>()) + " ids" + model;
  tokenizer.fingerprint = TextField(description, format::kTokenizerFingerprint, "");
  return tokenizer;
}

std::string NameOrSize(const DataTokenizer& tokenizer) {
  const std::string name = tokenizer.name.empty()
                               ? "one of " + std::to_string(tokenizer.vocab_size) + " ids"
                               : tokenizer.name;
  return tokenizer.fingerprint.empty() ? name : name + ", fingerprint " + tokenizer.fingerprint;
}

}  // namespace

DataTokenizer TokenizerOf(const TokenFile& file) {
  DataTokenizer tokenizer = DescribedTokenizer(DirectoryOf(file.path()));
  tokenizer.data = file.path();
  tokenizer.vocab_size = file.header().vocab_size;
  if (tokenizer.name.empty()) tokenizer.name = file.header().tokenizer;
  return tokenizer;
}

void CheckSameTokenizer(const DataTokenizer& reference, const DataTokenizer& other) {
  const bool names_differ =
      !reference.name.empty() && !other.name.empty() && reference.name != other.name;
  const bool sizes_differ =
      reference.vocab_size > 0 && other.vocab_size > 0 && reference.vocab_size != other.vocab_size;
  const bool have_fingerprints = !reference.fingerprint.empty() && !other.fingerprint.empty();
  const bool differ =
      have_fingerprints ? reference.fingerprint != other.fingerprint : names_differ || sizes_differ;
  if (!differ) return;
  throw TrainerError(
      ExitCode::kBadConfig,
      other.data + " was prepared with another tokenizer (" + NameOrSize(other) + ") than " +
          reference.data + " (" + NameOrSize(reference) +
          "); remove one of the two data sets, or prepare both with the same tokenizer.");
}

}  // namespace trainyard::trainer
