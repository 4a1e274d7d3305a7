// Runs ranks of trainyard-trainer and a spare, and gives them heal orders as a worker does.
#ifndef TRAINYARD_TESTS_TRAINER_HEALING_GANG_H_
#define TRAINYARD_TESTS_TRAINER_HEALING_GANG_H_

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {

class HealingGang {
 public:
  // Starts the ranks and one spare. `variables` are added to the environment of every process.
  HealingGang(const TrainerFolder& folder, int64_t ranks,
              std::map<std::string, std::string> variables = {});

  // Waits until rank 0 has reported this step.
  bool WaitForStep(int64_t step);
  void Kill(int64_t rank);
  // Replaces the ranks by spares and orders all processes to continue in the next generation. Then
  // starts another spare.
  void Replace(const std::vector<int64_t>& ranks);
  TrainerProcess& Spare() { return *spares_.back().process; }
  TrainerProcess& Rank(int64_t rank) { return *ranks_.at(rank).process; }
  void AddSpare();
  void TellDone();

  // Waits until all ranks have exited, and expects exit code 0 from each.
  void ExpectEnds();
  // Returns the loss of each step, from all processes. If several processes report a step, expects
  // losses with the same bits.
  std::map<int64_t, double> Losses() const;
  // Returns the alerts with this code, from all processes.
  std::vector<nlohmann::json> Alerts(const std::string& code) const;

 private:
  struct Member {
    std::shared_ptr<TrainerProcess> process;
    std::filesystem::path order;
  };

  Member Start(TrainerStart start);
  void Order(const Member& member, const nlohmann::json& order) const;
  nlohmann::json OrderFor(int64_t rank, const std::vector<int64_t>& replaced) const;

  const TrainerFolder& folder_;
  const std::map<std::string, std::string> variables_;
  const int64_t world_size_;
  int64_t port_ = 0;
  int64_t generation_ = 1;
  int64_t spares_so_far_ = 0;
  std::vector<Member> ranks_;
  std::vector<Member> spares_;
  std::vector<Member> all_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_HEALING_GANG_H_
