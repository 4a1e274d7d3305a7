#include "data/bpe/character_piece_model.h"

#include <algorithm>
#include <string_view>

#include "data/bpe/merge_symbols.h"
#include "data/unicode/code_point.h"

namespace trainyard::data {

CharacterPieceModel::CharacterPieceModel(const CharacterBpe& bpe) : bpe_(bpe) {
  for (size_t character = 0; character < ascii_.size(); ++character) {
    const char text = static_cast<char>(character);
    ascii_[character] = bpe.vocabulary.Find(std::string_view(&text, 1));
  }
  ascii_[' '] = bpe.vocabulary.Find(kSpaceSymbol);
}

void CharacterPieceModel::Encode(std::string_view piece, std::vector<uint32_t>* ids) const {
  std::vector<uint32_t> symbols;
  symbols.reserve(piece.size());
  while (!piece.empty()) {
    const std::string_view character = piece.substr(0, DecodeUtf8(piece.data()).length);
    piece.remove_prefix(character.size());
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
  const auto first = static_cast<unsigned char>(character.front());
  const uint32_t token = first < ascii_.size() ? ascii_[first] : bpe_.vocabulary.Find(character);
  if (token != kNoToken) {
    symbols->push_back(token);
  } else {
    AppendUnknown(character == " " ? kSpaceSymbol : character, symbols);
  }
}

void CharacterPieceModel::AppendUnknown(std::string_view character,
                                        std::vector<uint32_t>* symbols) const {
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
