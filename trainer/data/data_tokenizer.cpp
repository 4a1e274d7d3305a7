#include "trainer/data/data_tokenizer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

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

std::string DescribedName(const std::string& directory) {
  const std::optional<std::string> text =
      SmallFile(directory + "/tokenizer.json", kDescriptionBytesMax);
  const json description = json::parse(text.value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!description.is_object() || !description.contains("kind") ||
      !description["kind"].is_string() || !description.contains("vocab_size") ||
      !description["vocab_size"].is_number_integer()) {
    return "";
  }
  const std::string model =
      description.contains("model") ? ModelText(directory + "/tokenizer.model") : "";
  return description["kind"].get<std::string>() + " of " +
         std::to_string(description["vocab_size"].get<int64_t>()) + " ids" + model;
}

std::string NameOrSize(const DataTokenizer& tokenizer) {
  return tokenizer.name.empty() ? "one of " + std::to_string(tokenizer.vocab_size) + " ids"
                                : tokenizer.name;
}

}  // namespace

DataTokenizer TokenizerOf(const TokenFile& file) {
  DataTokenizer tokenizer = {file.path(), DescribedName(DirectoryOf(file.path())),
                             file.header().vocab_size};
  if (tokenizer.name.empty()) tokenizer.name = file.header().tokenizer;
  return tokenizer;
}

void CheckSameTokenizer(const DataTokenizer& reference, const DataTokenizer& other) {
  const bool names_differ =
      !reference.name.empty() && !other.name.empty() && reference.name != other.name;
  const bool sizes_differ =
      reference.vocab_size > 0 && other.vocab_size > 0 && reference.vocab_size != other.vocab_size;
  if (!names_differ && !sizes_differ) return;
  throw TrainerError(
      ExitCode::kBadConfig,
      other.data + " was prepared with another tokenizer (" + NameOrSize(other) + ") than " +
          reference.data + " (" + NameOrSize(reference) +
          "); remove one of the two data sets, or prepare both with the same tokenizer.");
}

}  // namespace trainyard::trainer
