// The loss on fixed samples of each evaluation set, the same numbers for every data-parallel size.
#ifndef TRAINYARD_TRAINER_EVALUATOR_H_
#define TRAINYARD_TRAINER_EVALUATOR_H_

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
  std::string name;    // Of the set.
  double loss = 0;     // Mean nats a token.
  int64_t tokens = 0;  // Predicted tokens that count.
};

// Pipeline and groups must outlive this.
class Evaluator {
 public:
  static constexpr int64_t kTokensCheckedMax = int64_t{1} << 22;

  // data_index: of this rank along dp. Opens the sets of evaluation.sets, or the val split of the
  // training data, and checks the tokens of the samples to evaluate against the vocabulary, up to
  // kTokensCheckedMax a set: a run does not end at its first evaluation. Throws what TokenFile,
  // SampleSource and CheckSameTokenizer throw; the latter compares the sets with each other.
  Evaluator(const RunConfig& config, const Pipeline& pipeline, const RankGroups& groups,
            int64_t data_index, torch::Device device);

  // Throws what CheckSameTokenizer throws when the sets are of another tokenizer than the data.
  void CheckTokenizer(const TokenFile& training) const;

  // All ranks call it together. Batches of micro_batch samples are divided along dp; the sums of
  // the batches are then added in one fixed order, so that the result does not depend on which rank
  // computed which batch. Before each batch the ranks decide together whether to go on: nullopt on
  // all of them as soon as `stop_requested` is true on one. One result for each set, in the order
  // of the settings.
  std::optional<std::vector<EvaluationResult>> Run(const std::function<bool()>& stop_requested);

 private:
  struct Set {
    std::string name;
    SampleSource source;
    int64_t samples = 0;
    int64_t batches = 0;
  };

  struct BatchSums {
    double loss = 0;         // This rank's part.
    double predictions = 0;  // That count: the same on all ranks of a data-parallel index.
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

#endif  // TRAINYARD_TRAINER_EVALUATOR_H_
