// Orders to go on in place after the loss of a rank, from whoever starts the ranks.
// worker/README.md has the contract.
#ifndef TRAINYARD_TRAINER_HEALING_HEAL_ORDER_H_
#define TRAINYARD_TRAINER_HEALING_HEAL_ORDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::trainer {

struct HealOrder {
  int64_t generation = 1;  // Only grows within an attempt; 1 is the first connection.
  int64_t rank = 0;        // Of this process from now on.
  std::string master_addr;
  int64_t master_port = 0;
  std::vector<int64_t> replaced;  // Ranks whose process is new in this generation.
  bool done = false;              // The gang has ended: a spare is not needed any more.
};

// nullopt when the text is not an order.
std::optional<HealOrder> ParseHealOrder(const std::string& text);

// The order in a file; nullopt when there is none, or it cannot be read.
std::optional<HealOrder> ReadHealOrder(const std::string& path);

// "rank 3 is a new process", "ranks 1, 3 are new processes".
std::string ReplacedText(const std::vector<int64_t>& replaced);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_HEAL_ORDER_H_
