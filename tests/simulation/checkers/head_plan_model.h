// Restates the plan of controller/core/schedule/slot_plan.h: when the first heads of a queue get
// their slots, one head after another.
#ifndef TRAINYARD_TESTS_SIMULATION_CHECKERS_HEAD_PLAN_MODEL_H_
#define TRAINYARD_TESTS_SIMULATION_CHECKERS_HEAD_PLAN_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controller/core/state/attempts/gang_request.h"
#include "proto/support/clock.h"

namespace trainyard::simulation {

// A slot of a node: the job that holds it, 0 if it is free, and the time at which it is free.
struct ModelSlot {
  int64_t job_id = 0;
  Timestamp free_at = 0;
};

struct ModelHead {
  int64_t job_id = 0;
  controller::GangShape shape;
  int64_t hold_ms = 0;
};

class HeadPlanModel {
 public:
  HeadPlanModel(std::map<std::string, std::vector<ModelSlot>> nodes, Timestamp now)
      : nodes_(std::move(nodes)), now_(now) {}

  // Plans the next head. Returns its time; kNever if there is none.
  Timestamp Plan(const ModelHead& head);

 private:
  struct Use {
    Timestamp from = 0, until = 0;
    int slots = 0;
  };

  int FreeFor(const ModelHead& head, const std::string& node, Timestamp time) const;
  int KeptBy(const ModelHead& head, const std::string& node) const;
  bool Fits(const ModelHead& head, const std::string& node, Timestamp time) const;

  const std::map<std::string, std::vector<ModelSlot>> nodes_;
  const Timestamp now_;
  // The slots that heads use, by node.
  std::map<std::string, std::vector<Use>> uses_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_CHECKERS_HEAD_PLAN_MODEL_H_
