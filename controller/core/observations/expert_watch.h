// Detects layers whose experts do not share the load, from records of experts.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EXPERT_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EXPERT_WATCH_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// A layer has collapsed if its balance is halfway from 1 (even) to experts / topk (the worst) or
// beyond. Layers of trained mixtures are far below: 1.1 to 1.5 with a balance loss.
inline constexpr double kCollapsedShare = 0.5;
// A router whose entropy is below this gives nearly all weight to one expert. This is a collapse
// only if a token has several experts. A router that is certain of two equal experts of 256 has
// 0.125.
inline constexpr double kLowEntropy = 0.05;
// A layer that drops more than a tenth of its choices trains many tokens without their experts.
// With a capacity factor of 1.25 and a balance loss, runs drop a few percent.
inline constexpr double kMuchDropped = 0.1;
// A state must last for this many consecutive records, because single steps vary. Records are at
// least 5 s apart.
inline constexpr int kExpertRecordsInARow = 5;
// Experts without rows must be so for longer, because a step may have few rows per expert.
inline constexpr int kIdleRecordsInARow = 10;

// A layer that has been in trouble for some time.
struct ExpertTrouble {
  enum class Kind { kCollapsed, kCertain, kDropping, kIdle };

  Kind kind = Kind::kCollapsed;
  int64_t layer = 0;
  // Balance, entropy, share of dropped choices, or the number of experts without rows.
  double value = 0;
  int64_t since_step = 0;  // The first of the consecutive records.
  int64_t layers = 1;      // Number of layers in this state. `layer` is the worst of them.
  int64_t expert = 0;      // With kIdle: the first expert without rows.
  int64_t experts = 0;     // Experts per layer.
  int64_t topk = 0;        // Experts per token.
};

class ExpertWatch {
 public:
  // Adds a record. A record at or before the newest step begins anew, because a new attempt has
  // gone back.
  void Add(const v1::ExpertsRecord& record);

  // Returns at most one trouble of each kind, in the order of Kind.
  std::vector<ExpertTrouble> Troubles() const;

 private:
  // Consecutive records in which something was so.
  struct Streak {
    int records = 0;
    int64_t first_step = 0;

    void Add(bool is_so, int64_t step);
  };
  struct Layer {
    Streak collapsed, certain, dropping;
    double balance = 1, entropy = 1, dropped = 0;
    std::vector<Streak> idle;  // By expert.
  };

  void AddLayer(const v1::ExpertsRecord& record, int index);
  void AddTrouble(ExpertTrouble::Kind kind, std::vector<ExpertTrouble>& troubles) const;
  // Returns the trouble of one layer. `since_step` is 0 if the layer has none.
  ExpertTrouble TroubleOf(ExpertTrouble::Kind kind, int64_t number, const Layer& layer) const;

  int64_t step_ = 0;  // Of the newest record.
  int64_t experts_ = 0;
  int64_t topk_ = 0;
  std::map<int64_t, Layer> layers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EXPERT_WATCH_H_
