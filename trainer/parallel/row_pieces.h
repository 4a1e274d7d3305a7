// The order in which a member computes and sends the input of a reduce-scatter.
#ifndef TRAINYARD_TRAINER_PARALLEL_ROW_PIECES_H_
#define TRAINYARD_TRAINER_PARALLEL_ROW_PIECES_H_

#include <cstdint>
#include <vector>

namespace trainyard::trainer {

// Consecutive rows of an input whose rows are divided evenly among the members, in rank order.
struct RowPiece {
  int64_t member = 0;  // The member that needs these rows.
  int64_t first = 0;
  int64_t count = 0;

  bool operator==(const RowPiece&) const = default;
};

// The members in the order in which `rank` sends to them. In each turn, every member receives from
// only one other member.
std::vector<int64_t> SendOrder(int64_t size, int64_t rank);
// The members in the order in which `rank` receives from them.
std::vector<int64_t> ReceiveOrder(int64_t size, int64_t rank);

// Divides the rows of each other member into `pieces` pieces. The rows of `rank` itself are one
// piece, the last, because no other member waits for them. `pieces` must divide rows / size.
std::vector<RowPiece> PiecesInSendOrder(int64_t size, int64_t rank, int64_t rows, int64_t pieces);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_ROW_PIECES_H_
