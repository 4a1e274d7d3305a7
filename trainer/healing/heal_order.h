// Reads orders to continue in place after the loss of a rank. The program that starts the ranks
// writes the orders. worker/README.md describes the format.
#ifndef TRAINYARD_TRAINER_HEALING_HEAL_ORDER_H_
#define TRAINYARD_TRAINER_HEALING_HEAL_ORDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::trainer {

struct HealOrder {
  int64_t generation = 1;  // Increases within an attempt. 1 is the first connection.
  int64_t rank = 0;        // Rank of this process in the new generation.
  std::string master_addr;
  int64_t master_port = 0;
  std::vector<int64_t> replaced;  // Ranks that have a new process in this generation.
  bool done = false;              // True if the gang has ended; the spare is no longer needed.
};

// Parses an order. Returns nullopt if the text is not an order.
std::optional<HealOrder> ParseHealOrder(const std::string& text);

// Reads an order file. Returns nullopt if the file is missing, unreadable or not an order.
std::optional<HealOrder> ReadHealOrder(const std::string& path);

// Returns text such as "rank 3 is a new process" or "ranks 1, 3 are new processes".
std::string ReplacedText(const std::vector<int64_t>& replaced);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_HEAL_ORDER_H_
