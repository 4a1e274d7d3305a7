#include "data/tokenizer/bpe_tokenizer.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/bpe/piece_encoder.h"
#include "data/split/piece_scanner.h"
#include "data/tokenizer/added_token_finder.h"
#include "data/tokenizer/character_cutter.h"
#include "data/tokenizer/fingerprint.h"
#include "data/tokenizer/safe_cuts.h"
#include "data/unicode/nfc.h"

namespace trainyard::data {
namespace {

std::vector<AddedToken> Select(const std::vector<AddedToken>& tokens, bool normalized) {
  std::vector<AddedToken> selected;
  std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(selected),
               [normalized](const AddedToken& token) { return token.normalized == normalized; });
  return selected;
}

std::vector<AddedToken> SelectSpecial(const std::vector<AddedToken>& tokens) {
  std::vector<AddedToken> selected;
  std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(selected),
               [](const AddedToken& token) { return token.special; });
  return selected;
}

// Calls on_text(begin, end) and on_token(id) for the parts of a text, in order.
template <typename OnText, typename OnToken>
void ForEachPart(const AddedTokenFinder& finder, std::string_view text, OnText on_text,
                 OnToken on_token) {
  size_t begin = 0;
  while (!finder.empty()) {
    const AddedTokenFinder::Match match = finder.Find(text, begin);
    if (match.id == kNoToken) break;
    if (match.begin > begin) on_text(begin, match.begin);
    on_token(match.id);
    begin = match.end;
  }
  if (begin < text.size()) on_text(begin, text.size());
}

constexpr size_t kLargeTextBytes = size_t{16} << 20;

// The parts that both kinds of symbols share.
class BpeTokenizer : public Tokenizer {
 public:
  BpeTokenizer(BpeDefinition definition, SpecialText special_text)
      : definition_(std::move(definition)),
        finder_(Select(definition_.added_tokens, false), special_text),
        normalized_finder_(Select(definition_.added_tokens, true), special_text),
        special_finder_(SelectSpecial(definition_.added_tokens), SpecialText::kId),
        safe_cuts_(definition_) {
    for (const AddedToken& token : definition_.added_tokens) texts_[token.id] = token.text;
    texts_[definition_.end_of_document] = "";
    if (definition_.begin_of_document) texts_[*definition_.begin_of_document] = "";
  }

  void Encode(std::string_view text, std::vector<uint32_t>* ids) const override {
    EncodeText(text, Place::kFirst, ids);
  }
  void EncodeAfterCut(std::string_view text, std::vector<uint32_t>* ids) const override {
    EncodeText(text, Place::kAfterCut, ids);
  }
  bool needs_safe_cuts() const override { return true; }
  size_t SafeCut(std::string_view text, size_t begin, size_t end) const override {
    return safe_cuts_.Find(text, begin, end);
  }
  bool HasSpecialText(std::string_view text) const override {
    return !special_finder_.empty() && special_finder_.Find(text, 0).id != kNoToken;
  }

  int64_t vocab_size() const override { return definition_.vocab_size; }
  uint32_t end_of_document() const override { return definition_.end_of_document; }
  std::optional<uint32_t> begin_of_document() const override {
    return definition_.begin_of_document;
  }
  bool begins_documents() const override { return definition_.begins_documents; }
  std::string kind() const override { return "bpe"; }
  std::string name() const override { return definition_.family; }
  uint64_t fingerprint() const override { return FingerprintOf(definition_); }
  std::vector<TokenizerFile> files() const override { return definition_.files; }

 protected:
  // The place of a segment, which is the text between two added tokens.
  enum class Place { kFirst, kAfterToken, kAfterCut };

  // Appends the ids of a segment, which is not empty.
  virtual void EncodeSegment(std::string_view segment, Place place, PieceEncoder* encoder,
                             std::vector<uint32_t>* ids) const = 0;
  virtual std::unique_ptr<PieceEncoder> MakeEncoder() const = 0;

  // Returns the text of an added token, or null for other ids.
  const std::string* AddedTextOf(uint32_t id) const {
    const auto found = texts_.find(id);
    return found == texts_.end() ? nullptr : &found->second;
  }
  const BpeDefinition& definition() const { return definition_; }
  const AddedTokenFinder& normalized_finder() const { return normalized_finder_; }

 private:
  void EncodeText(std::string_view text, Place place, std::vector<uint32_t>* ids) const {
    // A long piece needs up to 24 times its size in memory (data/bpe/merge_symbols.h). One thread
    // at a time encodes such a text, so that the memory does not grow with the number of threads.
    std::unique_lock<std::mutex> large_text(large_text_mutex_, std::defer_lock);
    if (text.size() > kLargeTextBytes) large_text.lock();
    std::unique_ptr<PieceEncoder> encoder = TakeEncoder();
    ForEachPart(
        finder_, text,
        [&](size_t begin, size_t end) {
          EncodeSegment(text.substr(begin, end - begin), begin == 0 ? place : Place::kAfterToken,
                        encoder.get(), ids);
        },
        [ids](uint32_t id) { ids->push_back(id); });
    const std::lock_guard<std::mutex> lock(mutex_);
    encoders_.push_back(std::move(encoder));
  }

  // Gives each call of Encode its own encoder, so that threads share no cache.
  std::unique_ptr<PieceEncoder> TakeEncoder() const {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!encoders_.empty()) {
        std::unique_ptr<PieceEncoder> encoder = std::move(encoders_.back());
        encoders_.pop_back();
        return encoder;
      }
    }
    return MakeEncoder();
  }

  const BpeDefinition definition_;
  const AddedTokenFinder finder_;
  const AddedTokenFinder normalized_finder_;
  const AddedTokenFinder special_finder_;
  const SafeCuts safe_cuts_;
  std::unordered_map<uint32_t, std::string> texts_;  // of added tokens, by id
  mutable std::mutex large_text_mutex_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<PieceEncoder>> encoders_;  // not in use; guarded by mutex_
};

class ByteBpeTokenizer : public BpeTokenizer {
 public:
  ByteBpeTokenizer(BpeDefinition definition, SpecialText special_text)
      : BpeTokenizer(std::move(definition), special_text), model_(bpe()) {}

  std::string Decode(const std::vector<uint32_t>& ids) const override {
    std::string text;
    for (const uint32_t id : ids) {
      const std::string* added = AddedTextOf(id);
      text += added != nullptr ? *added : bpe().vocabulary.BytesOf(id);
    }
    return text;
  }

 protected:
  std::unique_ptr<PieceEncoder> MakeEncoder() const override {
    return std::make_unique<PieceEncoder>(model_);
  }

  void EncodeSegment(std::string_view segment, Place place, PieceEncoder* encoder,
                     std::vector<uint32_t>* ids) const override {
    if (definition().byte_splitting.nfc && !IsNfc(segment)) {
      EncodeNormalized(ToNfc(segment), place, encoder, ids);
    } else {
      EncodeNormalized(segment, place, encoder, ids);
    }
  }

 private:
  const ByteBpe& bpe() const { return std::get<ByteBpe>(definition().bpe); }

  void EncodeNormalized(std::string_view text, Place place, PieceEncoder* encoder,
                        std::vector<uint32_t>* ids) const {
    ForEachPart(
        normalized_finder(), text,
        [&](size_t begin, size_t end) {
          const std::string_view part = text.substr(begin, end - begin);
          const bool follows_cut = begin == 0 && place == Place::kAfterCut;
          if (definition().byte_splitting.prefix_space && part.front() != ' ' && !follows_cut) {
            EncodePieces(" " + std::string(part), encoder, ids);
          } else {
            EncodePieces(part, encoder, ids);
          }
        },
        [ids](uint32_t id) { ids->push_back(id); });
  }

  void EncodePieces(std::string_view text, PieceEncoder* encoder,
                    std::vector<uint32_t>* ids) const {
    PieceScanner scanner(definition().byte_splitting.rule, text);
    uint32_t ends[PieceEncoder::kPiecesMax];
    size_t begin = 0;
    while (const size_t count = scanner.Next(ends, PieceEncoder::kPiecesMax)) {
      encoder->Encode(text, begin, ends, count, ids);
      begin = ends[count - 1];
    }
  }

  const BytePieceModel model_;
};

class CharacterBpeTokenizer : public BpeTokenizer {
 public:
  CharacterBpeTokenizer(BpeDefinition definition, SpecialText special_text)
      : BpeTokenizer(std::move(definition), special_text), model_(bpe()), cutter_(bpe()) {
    for (size_t byte = 0; byte < bpe().byte_tokens.size(); ++byte) {
      const uint32_t id = bpe().byte_tokens[byte];
      if (id != kNoToken) bytes_[id] = static_cast<char>(byte);
    }
  }

  std::string Decode(const std::vector<uint32_t>& ids) const override {
    std::string text;
    size_t segment = 0;  // begin of the present segment in `text`
    bool is_first = true;
    for (const uint32_t id : ids) {
      const std::string* added = AddedTextOf(id);
      if (added == nullptr) {
        AppendTokenText(id, &text);
        continue;
      }
      RemovePrefix(segment, is_first, &text);
      text += *added;
      segment = text.size();
      is_first = false;
    }
    RemovePrefix(segment, is_first, &text);
    return text;
  }

 protected:
  std::unique_ptr<PieceEncoder> MakeEncoder() const override {
    return std::make_unique<PieceEncoder>(model_);
  }

  void EncodeSegment(std::string_view segment, Place place, PieceEncoder* encoder,
                     std::vector<uint32_t>* ids) const override {
    size_t begin = 0;
    const bool is_spared = definition().character_splitting.spares_spaces &&
                           (segment.front() == ' ' || segment.starts_with(kSpaceSymbol));
    if (place != Place::kAfterCut && HasPrefix(place == Place::kFirst) && !is_spared) {
      // A cut depends only on the two characters beside it. The text behind the first piece can
      // therefore be encoded without the prefix.
      uint32_t end = 0;
      cutter_.Next(segment, 0, &end, 1);
      EncodePieces(" " + std::string(segment.substr(0, end)), 0, encoder, ids);
      begin = end;
    }
    EncodePieces(segment, begin, encoder, ids);
  }

 private:
  const CharacterBpe& bpe() const { return std::get<CharacterBpe>(definition().bpe); }

  bool HasPrefix(bool is_first) const {
    const PrefixSpace prefix = definition().character_splitting.prefix_space;
    return prefix == PrefixSpace::kEverySegment ||
           (prefix == PrefixSpace::kFirstSegment && is_first);
  }

  void EncodePieces(std::string_view text, size_t begin, PieceEncoder* encoder,
                    std::vector<uint32_t>* ids) const {
    uint32_t ends[PieceEncoder::kPiecesMax];
    while (const size_t count = cutter_.Next(text, begin, ends, PieceEncoder::kPiecesMax)) {
      encoder->Encode(text, begin, ends, count, ids);
      begin = ends[count - 1];
    }
  }

  void AppendTokenText(uint32_t id, std::string* text) const {
    const auto byte = bytes_.find(id);
    if (byte != bytes_.end()) {
      *text += byte->second;
      return;
    }
    std::string_view token = bpe().vocabulary.BytesOf(id);
    while (!token.empty()) {
      const bool is_space = token.starts_with(kSpaceSymbol);
      *text += is_space ? ' ' : token.front();
      token.remove_prefix(is_space ? kSpaceSymbol.size() : 1);
    }
  }

  // Removes the space that Encode put before a segment.
  void RemovePrefix(size_t segment, bool is_first, std::string* text) const {
    if (HasPrefix(is_first) && segment < text->size() && (*text)[segment] == ' ') {
      text->erase(segment, 1);
    }
  }

  const CharacterPieceModel model_;
  const CharacterCutter cutter_;
  std::unordered_map<uint32_t, char> bytes_;  // of byte tokens, by id
};

}  // namespace

std::unique_ptr<Tokenizer> MakeBpeTokenizer(BpeDefinition definition, SpecialText special_text) {
  if (std::holds_alternative<ByteBpe>(definition.bpe)) {
    return std::make_unique<ByteBpeTokenizer>(std::move(definition), special_text);
  }
  return std::make_unique<CharacterBpeTokenizer>(std::move(definition), special_text);
}

}  // namespace trainyard::data
