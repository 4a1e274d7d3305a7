// Loss on fixed samples of each evaluation set, identical for every data-parallel size.
#ifndef TRAINYARD_TRAINER_EVALUATION_EVALUATOR_H_
#define TRAINYARD_TRAINER_EVALUATION_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/data/sample_source.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/step/pipeline.h"

namespace trainyard::trainer {

struct EvaluationResult {
  std::string name;    // Name of the set.
  double loss = 0;     // Mean nats per token.
  int64_t tokens = 0;  // Predicted tokens with nonzero weight.
};

// `pipeline` and `groups` must outlive this.
class Evaluator {
 public:
  static constexpr int64_t kTokensCheckedMax = int64_t{1} << 22;

  // data_index: this rank's position along dp. Opens evaluation.sets, or the val split of the
  // training data if there are none. Checks up to kTokensCheckedMax tokens of each set against the
  // vocabulary, so that bad tokens fail at the start and not at the first evaluation. Throws what
  // TokenFile, SampleSource and CheckSameTokenizer throw. All sets must have the same tokenizer.
  Evaluator(const RunConfig& config, const Pipeline& pipeline, const RankGroups& groups,
            int64_t data_index, torch::Device device);

  // Throws what CheckSameTokenizer throws if the sets and `training` have different tokenizers.
  void CheckTokenizer(const TokenFile& training) const;

  // Collective over all ranks. Splits batches of micro_batch samples along dp and adds the batch
  // sums in one fixed order, so the result does not depend on which rank computed which batch.
  // Checks `stop_requested` before each round of batches: if it is true on any rank, all ranks
  // return nullopt. Returns one result per set, in the order of the settings.
  std::optional<std::vector<EvaluationResult>> Run(const std::function<bool()>& stop_requested);

 private:
  struct Set {
    std::string name;
    SampleSource source;
    int64_t samples = 0;
    int64_t batches = 0;
  };

  struct BatchSums {
    double loss = 0;         // This rank's share.
    double predictions = 0;  // Number with nonzero weight; equal for equal positions along dp.
  };

  void AddSet(const std::string& name, std::vector<WeightedTokens> files, const RunConfig& config);
  bool AnyRankStops(bool this_one) const;
  std::optional<EvaluationResult> RunSet(const Set& set,
                                         const std::function<bool()>& stop_requested) const;
  void CheckTokens(const Set& set) const;
  BatchSums SumsOfBatch(const Set& set, int64_t batch) const;
  torch::Tensor WeightsOf(const torch::Tensor& tokens) const;

  const Pipeline& pipeline_;
  const RankGroups& groups_;
  const int64_t data_index_;
  const int64_t data_size_;  // dp.
  const torch::Device device_;
  const int64_t batch_samples_;
  const DataConfig data_;
  std::vector<Set> sets_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_EVALUATION_EVALUATOR_H_
