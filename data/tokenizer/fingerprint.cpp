#include "data/tokenizer/fingerprint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

namespace trainyard::data {
namespace {

// Hashes a sequence of numbers and texts. The length of each text is part of the sequence.
class Hasher {
 public:
  Hasher() { XXH64_reset(&state_, 0); }

  void Add(uint64_t number) {
    char bytes[8];  // little-endian on every machine
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (8 * i));
    XXH64_update(&state_, bytes, sizeof(bytes));
  }
  void Add(std::string_view text) {
    Add(uint64_t{text.size()});
    XXH64_update(&state_, text.data(), text.size());
  }
  uint64_t digest() const { return XXH64_digest(&state_); }

 private:
  XXH64_state_t state_;
};

// Some formats have the added tokens in the vocabulary, too, so they are hashed separately.
void AddTokens(const Vocabulary& vocabulary, const std::vector<AddedToken>& added_tokens,
               Hasher* hasher) {
  std::vector<bool> is_added(vocabulary.id_limit());
  for (const AddedToken& token : added_tokens) {
    if (token.id < is_added.size()) is_added[token.id] = true;
  }
  for (uint32_t id = 0; id < vocabulary.id_limit(); ++id) {
    const std::string_view bytes = vocabulary.BytesOf(id);
    if (bytes.empty() || is_added[id]) continue;
    hasher->Add(uint64_t{id});
    hasher->Add(bytes);
  }
}

void AddMerges(const MergeTable& merges, Hasher* hasher) {
  std::vector<bool> is_made;
  for (const uint32_t result : merges.results()) {
    if (result == kNoToken) {
      hasher->Add(uint64_t{kNoToken});
      continue;
    }
    if (result >= is_made.size()) is_made.resize(result + 1);
    if (!is_made[result]) hasher->Add(uint64_t{result});
    is_made[result] = true;
  }
}

void AddAddedTokens(const BpeDefinition& definition, Hasher* hasher) {
  std::vector<AddedToken> tokens = definition.added_tokens;
  std::sort(tokens.begin(), tokens.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  for (const AddedToken& token : tokens) {
    hasher->Add(uint64_t{token.id});
    hasher->Add(token.text);
    // Without NFC, normalized text is the text itself.
    const bool normalized = token.normalized && definition.byte_splitting.nfc;
    hasher->Add(uint64_t{token.special} | uint64_t{normalized} << 1 |
                uint64_t{token.left_strip} << 2 | uint64_t{token.right_strip} << 3);
  }
}

void AddByteBpe(const ByteBpe& bpe, const ByteSplitting& splitting, Hasher* hasher) {
  hasher->Add("bytes");
  hasher->Add(static_cast<uint64_t>(splitting.rule));
  hasher->Add(uint64_t{splitting.nfc} | uint64_t{splitting.prefix_space} << 1 |
              uint64_t{bpe.ignore_merges} << 2 | uint64_t{bpe.fuse_unknown} << 3);
  hasher->Add(uint64_t{bpe.unknown});
}

void AddCharacterBpe(const CharacterBpe& bpe, const CharacterSplitting& splitting, Hasher* hasher) {
  hasher->Add("characters");
  // Hugging Face's file of LLaMA-2 has a space before every segment and SentencePiece's only before
  // the first one. This matters only for special tokens that are part of a document.
  hasher->Add(uint64_t{splitting.prefix_space != PrefixSpace::kNever});
  bool has_all_bytes = true;
  for (const uint32_t id : bpe.byte_tokens) {
    hasher->Add(uint64_t{id});
    if (id == kNoToken) has_all_bytes = false;
  }
  hasher->Add(uint64_t{splitting.spares_spaces});
  // Tokenizers that encode every byte have no unknown text.
  if (has_all_bytes) return;
  hasher->Add(uint64_t{bpe.unknown} << 1 | uint64_t{bpe.fuse_unknown});
}

}  // namespace

uint64_t FingerprintOf(const BpeDefinition& definition) {
  Hasher hasher;
  if (const auto* bytes = std::get_if<ByteBpe>(&definition.bpe)) {
    AddByteBpe(*bytes, definition.byte_splitting, &hasher);
    AddTokens(bytes->vocabulary, definition.added_tokens, &hasher);
    AddMerges(bytes->merges, &hasher);
  } else {
    const auto& characters = std::get<CharacterBpe>(definition.bpe);
    AddCharacterBpe(characters, definition.character_splitting, &hasher);
    AddTokens(characters.vocabulary, definition.added_tokens, &hasher);
    AddMerges(characters.merges, &hasher);
  }
  AddAddedTokens(definition, &hasher);
  return hasher.digest();
}

std::string FingerprintText(uint64_t fingerprint) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(fingerprint));
  return text;
}

}  // namespace trainyard::data
