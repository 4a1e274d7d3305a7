#include "data/bpe/character_piece_model.h"

#include <algorithm>
#include <string>

#include "data/bpe/merge_symbols.h"
#include "data/unicode/code_point.h"

namespace trainyard::data {

void CharacterPieceModel::Encode(std::string_view piece, std::vector<uint32_t>* ids) const {
  std::string replaced;
  replaced.reserve(piece.size() + kSpaceSymbol.size());
  for (const char byte : piece) {
    if (byte == ' ') {
      replaced += kSpaceSymbol;
    } else {
      replaced += byte;
    }
  }
  std::vector<uint32_t> symbols;
  symbols.reserve(replaced.size());
  std::string_view rest = replaced;
  while (!rest.empty()) {
    const std::string_view character = rest.substr(0, DecodeUtf8(rest.data()).length);
    rest.remove_prefix(character.size());
    AppendSymbols(character, &symbols);
  }
  if (symbols.size() <= kShortSymbolsMax) {
    symbols.resize(MergeShort(bpe_.merges, symbols.data(), symbols.size()));
  } else {
    MergeLong(bpe_.merges, &symbols);
  }
  ids->insert(ids->end(), symbols.begin(), symbols.end());
}

void CharacterPieceModel::AppendSymbols(std::string_view character,
                                        std::vector<uint32_t>* symbols) const {
  const uint32_t token = bpe_.vocabulary.Find(character);
  if (token != kNoToken) {
    symbols->push_back(token);
    return;
  }
  const auto token_of = [this](char byte) {
    return bpe_.byte_tokens[static_cast<unsigned char>(byte)];
  };
  if (std::all_of(character.begin(), character.end(),
                  [&](char byte) { return token_of(byte) != kNoToken; })) {
    for (const char byte : character) symbols->push_back(token_of(byte));
    return;
  }
  const bool fused = bpe_.fuse_unknown && !symbols->empty() && symbols->back() == bpe_.unknown;
  if (!fused) symbols->push_back(bpe_.unknown);
}

}  // namespace trainyard::data
