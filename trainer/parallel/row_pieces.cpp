#include "trainer/parallel/row_pieces.h"

namespace trainyard::trainer {

std::vector<int64_t> SendOrder(int64_t size, int64_t rank) {
  std::vector<int64_t> members;
  for (int64_t turn = 1; turn < size; ++turn) members.push_back((rank + turn) % size);
  return members;
}

std::vector<int64_t> ReceiveOrder(int64_t size, int64_t rank) {
  std::vector<int64_t> members;
  for (int64_t turn = 1; turn < size; ++turn) members.push_back((rank + size - turn) % size);
  return members;
}

std::vector<RowPiece> PiecesInSendOrder(int64_t size, int64_t rank, int64_t rows, int64_t pieces) {
  const int64_t share = rows / size, count = share / pieces;
  std::vector<RowPiece> order;
  for (const int64_t member : SendOrder(size, rank)) {
    for (int64_t piece = 0; piece < pieces; ++piece) {
      order.push_back({member, member * share + piece * count, count});
    }
  }
  order.push_back({rank, rank * share, share});
  return order;
}

}  // namespace trainyard::trainer
