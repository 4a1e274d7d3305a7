// The loss on fixed samples of val.bin, the same number for every data-parallel size.
#ifndef TRAINYARD_TRAINER_EVALUATOR_H_
#define TRAINYARD_TRAINER_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "proto/contract/run_config.h"
#include "trainer/data/sample_source.h"
#include "trainer/data/token_file.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/step/pipeline.h"

namespace trainyard::trainer {

struct EvaluationResult {
  double loss = 0;  // Mean nats a token.
  int64_t tokens = 0;
};

// Pipeline and groups must outlive this.
class Evaluator {
 public:
  // data_index: of this rank along dp. Opens val.bin. Throws what TokenFile and SampleSource throw.
  Evaluator(const RunConfig& config, const Pipeline& pipeline, const RankGroups& groups,
            int64_t data_index, torch::Device device);

  // All ranks call it together. Batches of micro_batch samples are divided along dp; the sums of
  // the batches are then added in one fixed order, so that the result does not depend on which rank
  // computed which batch. Before each batch the ranks decide together whether to go on: nullopt on
  // all of them as soon as `stop_requested` is true on one.
  std::optional<EvaluationResult> Run(const std::function<bool()>& stop_requested);

  int64_t samples() const { return samples_; }

 private:
  bool AnyRankStops(bool this_one) const;
  double SumOfBatch(int64_t batch) const;
  int64_t batches() const { return (samples_ + batch_samples_ - 1) / batch_samples_; }

  TokenFile file_;
  SampleSource source_;
  const Pipeline& pipeline_;
  const RankGroups& groups_;
  const int64_t data_index_;
  const int64_t data_size_;  // dp.
  const torch::Device device_;
  const int64_t batch_samples_;
  const int64_t samples_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_EVALUATOR_H_
