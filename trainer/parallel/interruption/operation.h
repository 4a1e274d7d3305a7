// One operation among the ranks of a group.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_OPERATION_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_OPERATION_H_

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace trainyard::trainer {

enum class ReduceOp { kSum, kMax };

// The own part of an all-gather's output, which equals the input.
enum class OwnPart { kCopied, kUndefined };

// A tensor to send to another member of the group or to receive from it.
struct Transfer {
  enum class Direction { kSend, kReceive };

  Direction direction = Direction::kSend;
  int64_t peer = 0;  // Position of the other member in the group.
  torch::Tensor tensor;
};

struct Operation {
  enum class Kind {
    kAllReduce,
    kAllGather,
    kReduceScatter,
    kAllToAll,
    kBroadcast,
    kExchange,
    kLocal,  // No communication: local work that runs after the earlier operations.
  };

  Kind kind = Kind::kLocal;
  ReduceOp reduce = ReduceOp::kSum;
  OwnPart own_part = OwnPart::kCopied;  // Only for all-gather. kUndefined permits both.
  torch::Tensor output;                 // For all-reduce and broadcast, also the input.
  torch::Tensor input;
  int64_t root = 0;                  // For broadcast: the sender's position in the group.
  std::vector<int64_t> output_rows;  // All-to-all: number of rows from each member.
  std::vector<int64_t> input_rows;   // All-to-all: number of rows for each member.
  std::vector<Transfer> transfers;   // Exchange.
  std::function<void()> local;
};

// Returns the name, such as "all-reduce".
const char* NameOf(Operation::Kind kind);

// The size in bytes of the operation's largest tensor or, for an exchange, of all transfers
// together.
int64_t BytesOf(const Operation& operation);

// Runs the operation in a group of one rank, where it is a copy or does nothing.
void RunAlone(const Operation& operation);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_OPERATION_H_
