#include "data/prepare/tokenizers/check_tokenizer.h"

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "data/prepare/tokenizers/described_tokenizer.h"
#include "data/tokenizer/fingerprint.h"
#include "proto/contract/token_format.h"

namespace trainyard::data {
namespace {

namespace format = token_format;
using nlohmann::json;

constexpr char kPrepareAgain[] =
    "; copy the files of the tokenizer again, or prepare the data again";

std::string TextOf(const json& description, const char* key) {
  const auto found = description.find(key);
  return found != description.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<int64_t> IntegerOf(const json& description, const char* key) {
  const auto found = description.find(key);
  if (found == description.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

// Collects the problems of one description.
class Checker {
 public:
  Checker(const std::string& directory, const json& description)
      : directory_(directory),
        path_(directory + "/" + format::kTokenizerFile),
        description_(description) {}

  TokenizerCheck Check(const DatasetDescription& dataset) {
    check_.text = TextOf(description_, format::kTokenizerName);
    if (check_.text.empty()) check_.text = TextOf(description_, format::kTokenizerKind);
    check_.marks_in_text = TextOf(description_, "special_text") == "id";
    for (const SplitDescription& split : dataset.splits) CompareWith(split);
    CompareFingerprint();
    check_.text += check_.problems.empty() ? ": correct" : "";
    return std::move(check_);
  }

 private:
  void Add(const std::string& problem) { check_.problems.push_back(problem + kPrepareAgain); }

  void CompareWith(const SplitDescription& split) {
    const std::optional<int64_t> size = IntegerOf(description_, format::kVocabSize);
    if (size != split.vocab_size) {
      Add(path_ + ": the size of the vocabulary differs from that of the " + split.split +
          " tokens (" + std::to_string(split.vocab_size) + ")");
    }
    const std::optional<int64_t> end = IntegerOf(description_, format::kEndOfDocument);
    if (end && split.marks.after && *end != *split.marks.after) {
      Add(path_ + ": the end of documents is token " + std::to_string(*end) + ", but that of the " +
          split.split + " tokens is " + std::to_string(*split.marks.after));
    }
  }

  void CompareFingerprint() {
    const std::string expected = TextOf(description_, format::kTokenizerFingerprint);
    if (expected.empty()) {
      check_.text += ", without a fingerprint";
      return;
    }
    const auto tokenizer = LoadDescribed(directory_, description_);
    if (!tokenizer.ok()) {
      Add(std::string(tokenizer.status().message()));
      return;
    }
    const std::string actual = FingerprintText((*tokenizer)->fingerprint());
    check_.text += ", fingerprint " + actual;
    if (actual == expected) return;
    Add(path_ + ": the fingerprint of the files is " + actual + " instead of " + expected +
        ", so they are of another tokenizer");
  }

  const std::string& directory_;
  const std::string path_;
  const json& description_;
  TokenizerCheck check_;
};

}  // namespace

TokenizerCheck CheckTokenizerFiles(const std::string& directory,
                                   const DatasetDescription& description) {
  const absl::StatusOr<json> tokenizer = ReadTokenizerDescription(directory);
  if (!tokenizer.ok()) {
    return {"unknown", false, {std::string(tokenizer.status().message()) + kPrepareAgain}};
  }
  return Checker(directory, *tokenizer).Check(description);
}

}  // namespace trainyard::data
