#include "trainer/healing/heal_order.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace trainyard::trainer {
namespace {

constexpr int64_t kPorts = 65536;

bool IsValid(const HealOrder& order) {
  if (order.done) return true;
  return order.generation > 1 && order.rank >= 0 && !order.master_addr.empty() &&
         order.master_port > 0 && order.master_port < kPorts;
}

}  // namespace

std::optional<HealOrder> ParseHealOrder(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  try {
    HealOrder order;
    order.done = json.value("done", false);
    order.generation = json.value("generation", int64_t{1});
    order.rank = json.value("rank", int64_t{0});
    order.master_addr = json.value("master_addr", "");
    order.master_port = json.value("master_port", int64_t{0});
    order.replaced = json.value("replaced", std::vector<int64_t>{});
    return IsValid(order) ? std::optional(order) : std::nullopt;
  } catch (const nlohmann::json::exception&) {  // A value has the wrong type.
    return std::nullopt;
  }
}

std::optional<HealOrder> ReadHealOrder(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return ParseHealOrder(text.str());
}

std::string ReplacedText(const std::vector<int64_t>& replaced) {
  std::string ranks;
  for (const int64_t rank : replaced) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  if (replaced.empty()) return "no process is new";
  return replaced.size() == 1 ? "rank " + ranks + " is a new process"
                              : "ranks " + ranks + " are new processes";
}

}  // namespace trainyard::trainer
