// Byte-level BPE: the symbols of a piece are its bytes (GPT-2, LLaMA-3, Qwen).
#ifndef TRAINYARD_DATA_BPE_BYTE_PIECE_MODEL_H_
#define TRAINYARD_DATA_BPE_BYTE_PIECE_MODEL_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "data/bpe/merge_table.h"
#include "data/bpe/piece_model.h"
#include "data/bpe/vocabulary.h"

namespace trainyard::data {

struct ByteBpe {
  Vocabulary vocabulary;  // bytes, not characters of GPT-2's byte alphabet
  MergeTable merges;
  // True: a piece that is a token is that token, even if the merges lead to other tokens.
  bool ignore_merges = false;
  // The id of bytes that are not in the vocabulary. kNoToken if the vocabulary has every byte of
  // UTF-8.
  uint32_t unknown = kNoToken;
  // True: consecutive unknown bytes give one id.
  bool fuse_unknown = false;
};

class BytePieceModel : public PieceModel {
 public:
  // `bpe` must outlive the model.
  explicit BytePieceModel(const ByteBpe& bpe);

  void Encode(std::string_view piece, std::vector<uint32_t>* ids) const override;

 private:
  void EncodeLong(std::string_view piece, std::vector<uint32_t>* ids) const;
  // Stores the symbols of a piece and returns their number, which is piece.size() or, with fused
  // unknown bytes, less.
  size_t SymbolsOf(std::string_view piece, uint32_t* symbols) const;

  const ByteBpe& bpe_;
  std::array<uint32_t, 256> symbols_;  // by byte
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_BYTE_PIECE_MODEL_H_
