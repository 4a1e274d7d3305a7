// Detects layers whose experts do not share the load, from records of experts.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EXPERT_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EXPERT_WATCH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proto/contract/expert_load.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// A layer has collapsed if its balance is halfway from 1 (even) to experts / topk (the worst) or
// beyond. Layers of trained mixtures are far below: 1.1 to 1.5 with a balance loss.
inline constexpr double kCollapsedShare = 0.5;
// A router whose entropy is below this value gives nearly all weight to one expert. This is a
// collapse only if a token has several experts. A router that is certain of two equal experts of
// 256 has the entropy 0.125.
inline constexpr double kLowEntropy = 0.05;
// A layer that drops more than a tenth of its choices trains many tokens without their experts.
// With a capacity factor of 1.25 and a balance loss, runs drop a few percent.
inline constexpr double kMuchDropped = 0.1;
// A state must last for this many consecutive records, because single steps vary. Records are at
// least 5 s apart.
inline constexpr int kExpertRecordsInARow = 5;
// Experts must lack rows for this many consecutive records: a step may have few rows per expert.
inline constexpr int kIdleRecordsInARow = 10;

// A problem that a layer has had for some time.
struct ExpertProblem {
  enum class Kind { kCollapsed, kCertain, kDropping, kIdle };

  Kind kind = Kind::kCollapsed;
  int64_t layer = 0;
  // Balance, entropy, share of dropped choices, or the number of experts without rows.
  double value = 0;
  int64_t since_step = 0;  // The first of the consecutive records.
  // True if `since_step` is the oldest record and the run had earlier steps, so the state may have
  // begun before it.
  bool maybe_earlier = false;
  int64_t layers = 1;   // Number of layers in this state. `layer` is the worst of them.
  int64_t expert = 0;   // With kIdle: the first expert without rows.
  int64_t experts = 0;  // Experts per layer.
  int64_t topk = 0;     // Experts per token.
};

class ExpertWatch {
 public:
  // Adds a record. Forgets the earlier records in two cases: the record's step is not after theirs
  // (a new attempt has gone back), or the record has another shape.
  void Add(const v1::ExpertsRecord& record);

  // Returns true if there are no records.
  bool empty() const { return layers_.empty(); }

  // Returns at most one problem of each kind, in the order of Kind.
  std::vector<ExpertProblem> Problems() const;

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
  void AddProblem(ExpertProblem::Kind kind, std::vector<ExpertProblem>& problems) const;
  // Returns the problem of one layer. nullopt if the layer has no such problem.
  std::optional<ExpertProblem> ProblemOf(ExpertProblem::Kind kind, int64_t number,
                                         const Layer& layer) const;
  std::optional<ExpertProblem> IdleExpertsOf(int64_t number, const Layer& layer) const;
  ExpertProblem Problem(ExpertProblem::Kind kind, int64_t number, double value,
                        int64_t since_step) const;

  int64_t oldest_step_ = 0;
  int64_t newest_step_ = 0;
  ExpertShape shape_;
  std::map<int64_t, Layer> layers_;  // By number. All are layers of `shape_`.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EXPERT_WATCH_H_
