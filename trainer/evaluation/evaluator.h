// Computes the loss on fixed samples of each evaluation set. The result is identical for every
// data-parallel size.
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
  std::string name;
  double loss = 0;     // Mean loss in nats per token.
  int64_t tokens = 0;  // Number of predicted tokens with nonzero weight.
};

// Evaluates the model. `pipeline` and `groups` must outlive this object.
class Evaluator {
 public:
  static constexpr int64_t kTokensCheckedMax = int64_t{1} << 22;

  // Opens evaluation.sets or, if there are none, the val split of the training data. `data_index`
  // is this rank's index along dp. Compares up to kTokensCheckedMax tokens of each set with the
  // vocabulary, so that invalid tokens fail at the start and not at the first evaluation. All sets
  // must have the same tokenizer. Throws the errors of TokenFile, SampleSource and
  // CheckSameTokenizer.
  Evaluator(const RunConfig& config, const Pipeline& pipeline, const RankGroups& groups,
            int64_t data_index, torch::Device device);

  // Throws the error of CheckSameTokenizer if the sets and `training` have different tokenizers.
  void CheckTokenizer(const TokenFile& training) const;

  // Evaluates every set and returns one result per set, in the order of the settings. Collective
  // over all ranks. Distributes batches of micro_batch samples along dp and adds the sums of the
  // batches in one fixed order, so the result does not depend on which rank computed which batch.
  // Calls `stop_requested` before each round of batches; if it is true on any rank, all ranks
  // return nullopt. If a rank reads a token id outside the vocabulary, throws the same
  // TrainerError(kBadData) on all ranks.
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
    double predictions = 0;  // Number with nonzero weight; equal for ranks with equal dp index.
  };

  void AddSet(const std::string& name, std::vector<WeightedTokens> files, const RunConfig& config);
  bool AnyRankStops(bool this_one) const;
  std::optional<EvaluationResult> RunSet(const Set& set,
                                         const std::function<bool()>& stop_requested) const;
  void CheckTokens(const Set& set) const;
  BatchSums SumsOfBatch(const Set& set, int64_t batch, std::string& read_error) const;
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
