#include "cli/recipes/random_tokens.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

namespace format = token_format;

constexpr int64_t kLargestTwoByteVocabulary = 65536;

// SplitMix64, which gives the same numbers on every machine.
class RandomNumbers {
 public:
  // In [0, 1).
  double Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    return static_cast<double>(mixed >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_ = 0;
};

// Returns random tokens in which token k has a probability proportional to 1 / (k + 1).
std::string TokenBytes(int64_t vocab_size, int64_t tokens, int bytes_per_token) {
  RandomNumbers random;
  std::string bytes;
  bytes.reserve(static_cast<size_t>(tokens * bytes_per_token));
  for (int64_t i = 0; i < tokens; ++i) {
    const double drawn = std::pow(static_cast<double>(vocab_size), random.Next());
    const auto token = static_cast<uint64_t>(drawn) - 1;
    for (int byte = 0; byte < bytes_per_token; ++byte) {
      bytes.push_back(static_cast<char>((token >> (8 * byte)) & 0xff));
    }
  }
  return bytes;
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file.good()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot write ", path, "; free disk space, or choose another directory"));
}

absl::Status WriteSplit(const std::string& stem, int64_t vocab_size, int64_t tokens) {
  const int bytes_per_token = vocab_size <= kLargestTwoByteVocabulary ? 2 : 4;
  const nlohmann::ordered_json header = {
      {format::kFormatKey, format::kFormat},
      {format::kVersionKey, format::kVersion},
      {format::kTypeKey, bytes_per_token == 2 ? format::kTwoBytes : format::kFourBytes},
      {format::kTokens, tokens},
      {format::kVocabSize, vocab_size}};
  TRAINYARD_RETURN_IF_ERROR(
      WriteFile(stem + ".bin", TokenBytes(vocab_size, tokens, bytes_per_token)));
  return WriteFile(stem + ".json", header.dump(2) + "\n");
}

}  // namespace

absl::Status WriteRandomTokens(const std::string& directory, int64_t vocab_size, int64_t tokens) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot create the directory ", directory, ": ", error.message()));
  }
  TRAINYARD_RETURN_IF_ERROR(
      WriteSplit(absl::StrCat(directory, "/", format::kTrainSplit), vocab_size, tokens));
  return WriteSplit(absl::StrCat(directory, "/", format::kValidationSplit), vocab_size,
                    tokens / 8 + 1);
}

}  // namespace trainyard::cli
