#include "data/bpe/byte_piece_model.h"

#include "data/bpe/merge_symbols.h"

namespace trainyard::data {

BytePieceModel::BytePieceModel(const ByteBpe& bpe) : bpe_(bpe) {
  for (size_t byte = 0; byte < symbols_.size(); ++byte) {
    const char text = static_cast<char>(byte);
    const uint32_t id = bpe.vocabulary.Find(std::string_view(&text, 1));
    symbols_[byte] = id == kNoToken ? bpe.unknown : id;
  }
}

void BytePieceModel::Encode(std::string_view piece, std::vector<uint32_t>* ids) const {
  if (bpe_.ignore_merges) {
    const uint32_t token = bpe_.vocabulary.Find(piece);
    if (token != kNoToken) {
      ids->push_back(token);
      return;
    }
  }
  if (piece.size() > kShortSymbolsMax) {
    EncodeLong(piece, ids);
    return;
  }
  uint32_t symbols[kShortSymbolsMax];
  const size_t count = MergeShort(bpe_.merges, symbols, SymbolsOf(piece, symbols));
  ids->insert(ids->end(), symbols, symbols + count);
}

void BytePieceModel::EncodeLong(std::string_view piece, std::vector<uint32_t>* ids) const {
  std::vector<uint32_t> symbols(piece.size());
  symbols.resize(SymbolsOf(piece, symbols.data()));
  MergeLong(bpe_.merges, &symbols);
  ids->insert(ids->end(), symbols.begin(), symbols.end());
}

size_t BytePieceModel::SymbolsOf(std::string_view piece, uint32_t* symbols) const {
  size_t count = 0;
  for (const char byte : piece) {
    const uint32_t symbol = symbols_[static_cast<unsigned char>(byte)];
    const bool fused = bpe_.fuse_unknown && symbol == bpe_.unknown && count > 0 &&
                       symbols[count - 1] == bpe_.unknown;
    if (!fused) symbols[count++] = symbol;
  }
  return count;
}

}  // namespace trainyard::data
