#include "worker/core/heal_order.h"

#include <algorithm>

#include "nlohmann/json.hpp"

namespace trainyard::worker {

std::string OrderText(const v1::HealAttempt& command, int rank) {
  const auto order = std::find_if(command.orders().begin(), command.orders().end(),
                                  [=](const v1::RankOrder& one) { return one.rank() == rank; });
  nlohmann::ordered_json text;
  text["generation"] = command.generation();
  text["rank"] = order->place();
  text["master_addr"] = command.master_address();
  text["master_port"] = command.master_port();
  text["replaced"] = nlohmann::json::array();
  for (const int place : command.replaced()) text["replaced"].push_back(place);
  return text.dump() + "\n";
}

}  // namespace trainyard::worker
