// A tokenizer for tests of token files.
#ifndef TRAINYARD_TESTS_DATA_TOKENS_VOCAB_ONLY_H_
#define TRAINYARD_TESTS_DATA_TOKENS_VOCAB_ONLY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// Implements only the vocabulary. The last id ends documents.
class VocabOnly : public Tokenizer {
 public:
  explicit VocabOnly(int64_t size, std::string name = "test",
                     std::optional<uint32_t> begin = std::nullopt)
      : size_(size), name_(std::move(name)), begin_(begin) {}
  void Encode(std::string_view, std::vector<uint32_t>*) const override {}
  std::string Decode(const std::vector<uint32_t>&) const override { return ""; }
  int64_t vocab_size() const override { return size_; }
  uint32_t end_of_document() const override { return static_cast<uint32_t>(size_ - 1); }
  std::optional<uint32_t> begin_of_document() const override { return begin_; }
  bool begins_documents() const override { return begin_.has_value(); }
  std::string kind() const override { return "test"; }
  std::string name() const override { return name_; }
  uint64_t fingerprint() const override { return 1; }

 private:
  const int64_t size_;
  const std::string name_;
  const std::optional<uint32_t> begin_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_TOKENS_VOCAB_ONLY_H_
