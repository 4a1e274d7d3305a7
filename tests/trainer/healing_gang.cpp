#include "tests/trainer/healing_gang.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <utility>

#include "tests/trainer/parallel/free_port.h"

namespace trainyard::trainer {

using nlohmann::json;

HealingGang::HealingGang(const TrainerFolder& folder, int64_t ranks,
                         std::map<std::string, std::string> variables)
    : folder_(folder), variables_(std::move(variables)), world_size_(ranks), port_(FreePort()) {
  for (int64_t rank = 0; rank < ranks; ++rank) {
    ranks_.push_back(Start({.rank = rank, .world_size = ranks, .port = port_}));
  }
  AddSpare();
}

HealingGang::Member HealingGang::Start(TrainerStart start) {
  const std::string run = start.run + "_rank" + std::to_string(start.rank);
  const std::filesystem::path order = folder_.path() / run / "order.json";
  start.variables.insert(variables_.begin(), variables_.end());
  start.variables["TRAINYARD_HEAL"] = order;
  all_.push_back({std::make_shared<TrainerProcess>(folder_, start), order});
  return all_.back();
}

void HealingGang::AddSpare() {
  spares_.push_back(Start({.rank = 0,
                           .world_size = world_size_,
                           .port = port_,
                           .run = "spare" + std::to_string(++spares_so_far_),
                           .variables = {{"TRAINYARD_STANDBY", "1"}}}));
}

bool HealingGang::WaitForStep(int64_t step) { return ranks_[0].process->WaitForStep(step); }

void HealingGang::Kill(int64_t rank) { ranks_[rank].process->Signal(SIGKILL); }

void HealingGang::Order(const Member& member, const json& order) const {
  const std::filesystem::path made = member.order.string() + ".new";
  std::ofstream(made) << order;
  std::filesystem::rename(made, member.order);
}

json HealingGang::OrderFor(int64_t rank, const std::vector<int64_t>& replaced) const {
  return {{"generation", generation_},
          {"rank", rank},
          {"master_addr", "127.0.0.1"},
          {"master_port", port_},
          {"replaced", replaced}};
}

void HealingGang::Replace(const std::vector<int64_t>& ranks) {
  ++generation_;
  port_ = FreePort();
  for (const int64_t rank : ranks) {
    if (spares_.empty()) AddSpare();
    ranks_[rank] = spares_.back();
    spares_.pop_back();
  }
  for (int64_t rank = 0; rank < world_size_; ++rank) Order(ranks_[rank], OrderFor(rank, ranks));
  AddSpare();
}

void HealingGang::TellDone() {
  for (const Member& spare : spares_) Order(spare, {{"done", true}});
}

void HealingGang::ExpectEnds() {
  for (int64_t rank = 0; rank < world_size_; ++rank) {
    EXPECT_EQ(ranks_[rank].process->Wait(), 0) << "rank " << rank << ": " << Rank(rank).Output();
  }
}

std::map<int64_t, double> HealingGang::Losses() const {
  std::map<int64_t, double> losses;
  for (const Member& member : all_) {
    for (const json& record : member.process->Records("metrics")) {
      if (!record.contains("loss")) continue;
      const double loss = record["loss"];
      const auto [known, is_new] = losses.insert({record["step"], loss});
      EXPECT_EQ(known->second, loss) << "step " << record["step"];
    }
  }
  return losses;
}

std::vector<json> HealingGang::Alerts(const std::string& code) const {
  std::vector<json> alerts;
  for (const Member& member : all_) {
    for (const json& alert : member.process->Records("alert")) {
      if (alert["code"] == code) alerts.push_back(alert);
    }
  }
  return alerts;
}

}  // namespace trainyard::trainer
