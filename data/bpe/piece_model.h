// Encodes one piece of text without a cache.
#ifndef TRAINYARD_DATA_BPE_PIECE_MODEL_H_
#define TRAINYARD_DATA_BPE_PIECE_MODEL_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard::data {

// Thread-safe. The ids depend on nothing but the piece, so that they can be cached.
class PieceModel {
 public:
  virtual ~PieceModel() = default;
  // Appends the ids of a piece. The piece is UTF-8 and not empty.
  virtual void Encode(std::string_view piece, std::vector<uint32_t>* ids) const = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_PIECE_MODEL_H_
