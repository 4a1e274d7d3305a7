// BPE of SentencePiece: the symbols of a piece are its characters, and U+2581 represents a space
// (LLaMA-2).
#ifndef TRAINYARD_DATA_BPE_CHARACTER_PIECE_MODEL_H_
#define TRAINYARD_DATA_BPE_CHARACTER_PIECE_MODEL_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/bpe/merge_table.h"
#include "data/bpe/piece_model.h"
#include "data/bpe/vocabulary.h"

namespace trainyard::data {

// U+2581, which represents a space, in UTF-8.
inline constexpr std::string_view kSpaceSymbol = "\xE2\x96\x81";

struct CharacterBpe {
  Vocabulary vocabulary;  // text of the tokens, in which kSpaceSymbol represents a space
  MergeTable merges;
  // By byte: the tokens that encode the bytes of characters outside the vocabulary. kNoToken for
  // all if the vocabulary has no such tokens.
  std::array<uint32_t, 256> byte_tokens;
  // The id of characters that are neither in the vocabulary nor encoded as bytes. kNoToken only if
  // byte_tokens are complete.
  uint32_t unknown = kNoToken;
  // True: consecutive unknown characters give one id.
  bool fuse_unknown = true;
};

class CharacterPieceModel : public PieceModel {
 public:
  // `bpe` must outlive the model.
  explicit CharacterPieceModel(const CharacterBpe& bpe);

  // A space in the piece is the same as kSpaceSymbol.
  void Encode(std::string_view piece, std::vector<uint32_t>* ids) const override;

 private:
  void AppendSymbols(std::string_view character, std::vector<uint32_t>* symbols) const;
  void AppendUnknown(std::string_view character, std::vector<uint32_t>* symbols) const;

  const CharacterBpe& bpe_;
  std::array<uint32_t, 128> ascii_;  // by ASCII character: its token, or kNoToken
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_CHARACTER_PIECE_MODEL_H_
