#include "data/tokenizer/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trainyard::data {
namespace {

// A hash that allows look-ups by std::string_view without copying the key.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// Ids of words encoded earlier. Text repeats its words, and a look-up takes a tenth of the time of
// encoding.
using WordCache = std::unordered_map<std::string, std::vector<int>, TextHash, std::equal_to<>>;
constexpr size_t kWordsCachedMax = 200000;
constexpr size_t kCachedWordBytesMax = 64;

// Returns the length of the first word of `text`, which must not be empty. A word is a run of
// spaces and everything after it up to the next space or line end. A line end is a word of its own.
//
// With a model from TrainSentencePiece, encoding each word separately gives the same ids as
// encoding the whole text. There are two reasons. Such a model is trained on lines with
// split_by_whitespace (the default), so no piece crosses a word boundary. And it adds no prefix to
// a word.
size_t FirstWord(std::string_view text) {
  if (text.front() == '\n') return 1;
  size_t end = 0;
  while (end < text.size() && text[end] == ' ') ++end;
  while (end < text.size() && text[end] != ' ' && text[end] != '\n') ++end;
  return end;
}

class SentencePieceTokenizer : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(const std::string& model)
      : model_(model), loaded_(processor_.LoadFromSerializedProto(model)) {}

  const sentencepiece::util::Status& loaded() const { return loaded_; }

  void Encode(std::string_view text, std::vector<uint32_t>* ids) const override {
    std::unique_ptr<WordCache> cache = TakeCache();
    while (!text.empty()) {
      const std::string_view word = text.substr(0, FirstWord(text));
      text.remove_prefix(word.size());
      EncodeWord(word, cache.get(), ids);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    caches_.push_back(std::move(cache));
  }
  std::string Decode(const std::vector<uint32_t>& ids) const override {
    std::string text;
    // Decode fails for an id outside the vocabulary and then leaves the text empty.
    processor_.Decode(std::vector<int>(ids.begin(), ids.end()), &text).IgnoreError();
    return text;
  }
  int64_t vocab_size() const override { return processor_.GetPieceSize(); }
  uint32_t end_of_document() const override { return static_cast<uint32_t>(processor_.eos_id()); }
  std::string kind() const override { return "sentencepiece"; }
  uint64_t fingerprint() const override { return XXH64(model_.data(), model_.size(), 0); }
  std::vector<TokenizerFile> files() const override { return {{"tokenizer.model", model_}}; }

 private:
  // Gives each call of Encode its own cache, so that threads never wait for each other's look-ups.
  std::unique_ptr<WordCache> TakeCache() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (caches_.empty()) return std::make_unique<WordCache>();
    std::unique_ptr<WordCache> cache = std::move(caches_.back());
    caches_.pop_back();
    return cache;
  }

  void EncodeWord(std::string_view word, WordCache* cache, std::vector<uint32_t>* ids) const {
    const auto known = cache->find(word);
    if (known != cache->end()) {
      ids->insert(ids->end(), known->second.begin(), known->second.end());
      return;
    }
    std::vector<int> pieces;
    // Encode fails only if the processor has no model loaded.
    processor_.Encode(word, &pieces).IgnoreError();
    ids->insert(ids->end(), pieces.begin(), pieces.end());
    if (word.size() > kCachedWordBytesMax) return;
    if (cache->size() >= kWordsCachedMax) cache->clear();
    cache->emplace(word, std::move(pieces));
  }

  const std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
  const sentencepiece::util::Status loaded_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<WordCache>> caches_;  // caches not in use; guarded by mutex_
};

}  // namespace

std::unique_ptr<Tokenizer> MakeSentencePieceTokenizer(const std::string& model,
                                                      std::string* error) {
  auto tokenizer = std::make_unique<SentencePieceTokenizer>(model);
  if (tokenizer->loaded().ok()) return tokenizer;
  *error = tokenizer->loaded().message();
  return nullptr;
}

}  // namespace trainyard::data
