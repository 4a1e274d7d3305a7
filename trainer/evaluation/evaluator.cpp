#include "trainer/evaluation/evaluator.h"

#include <torch/utils.h>

#include <algorithm>
#include <utility>

#include "proto/contract/token_format.h"
#include "proto/rules/data_sources.h"
#include "trainer/config/trainer_error.h"
#include "trainer/data/data_tokenizer.h"
#include "trainer/data/open_tokens.h"
#include "trainer/model/attention/documents.h"
#include "trainer/parallel/shared_text.h"

namespace trainyard::trainer {
namespace {

SampleSourceOptions EvaluationOrder(const RunConfig& config) {
  SampleSourceOptions options;
  options.seq_length = config.train.seq_length;
  options.vocab_size = config.model.vocab_size;
  options.order = SampleOrder::kSequential;
  return options;
}

// Reads samples. If a token id is outside the vocabulary, sets `read_error` and returns zeros, so
// that this rank still takes part in the pass of the other ranks.
torch::Tensor ReadSamples(const SampleSource& source, int64_t first, int64_t count,
                          std::string& read_error) {
  torch::Tensor tokens = torch::empty({count, source.seq_length() + 1}, torch::kInt64);
  try {
    for (int64_t i = 0; i < count; ++i) {
      source.Fill(first + i, tokens.data_ptr<int64_t>() + i * tokens.size(1));
    }
  } catch (const TrainerError& error) {
    if (error.code() != ExitCode::kBadData) throw;
    read_error = error.what();
    tokens.zero_();
  }
  return tokens;
}

}  // namespace

Evaluator::Evaluator(const RunConfig& config, const Pipeline& pipeline, const RankGroups& groups,
                     int64_t data_index, torch::Device device)
    : pipeline_(pipeline),
      groups_(groups),
      data_index_(data_index),
      data_size_(config.layout.dp),
      device_(device),
      batch_samples_(config.layout.micro_batch),
      data_(config.data) {
  for (const EvaluationSet& set : EvaluationSetsOf(config.evaluation).sets) {
    AddSet(set.name, OpenEvaluationSet(set, config.data.format), config);
  }
  if (!sets_.empty()) return;
  const char* split = token_format::kValidationSplit;
  AddSet(split, OpenTokens(config.data, split), config);
}

void Evaluator::AddSet(const std::string& name, std::vector<WeightedTokens> files,
                       const RunConfig& config) {
  Set set{name, SampleSource(std::move(files), EvaluationOrder(config))};
  set.samples = std::min(config.evaluation.samples, set.source.positions_before_repeat());
  set.batches = (set.samples + batch_samples_ - 1) / batch_samples_;
  CheckTokens(set);
  sets_.push_back(std::move(set));
  CheckTokenizer(sets_.front().source.file(0));
}

void Evaluator::CheckTokens(const Set& set) const {
  std::vector<int64_t> tokens(set.source.seq_length() + 1);
  const int64_t samples = std::min(set.samples, kTokensCheckedMax / set.source.seq_length());
  for (int64_t sample = 0; sample < samples; ++sample) set.source.Fill(sample, tokens.data());
}

void Evaluator::CheckTokenizer(const TokenFile& training) const {
  for (const Set& set : sets_) {
    CheckSameTokenizer(TokenizerOf(training), TokenizerOf(set.source.file(0)));
  }
}

bool Evaluator::AnyRankStops(bool this_one) const {
  return SumOverMembers(*groups_.world, {this_one ? 1.0 : 0.0}, device_)[0] > 0;
}

// Returns this rank's contribution to the sums of a batch. Ranks along dp may share the model's
// weights, so every rank must compute in every round. A rank that has no batch left computes a
// batch whose loss weights are zero.
Evaluator::BatchSums Evaluator::SumsOfBatch(const Set& set, int64_t batch,
                                            std::string& read_error) const {
  const bool counts = batch < set.batches;
  const int64_t first = counts ? batch * batch_samples_ : 0;
  const int64_t samples = std::min(batch_samples_, set.samples - first);
  const torch::Tensor read = ReadSamples(set.source, first, samples, read_error);
  const torch::Tensor weights =
      counts ? WeightsOf(read) : torch::zeros({samples * set.source.seq_length()});
  const TrainingTokens tokens = {read.to(device_), weights.to(device_)};
  torch::Tensor sum = torch::zeros({}, torch::dtype(torch::kFloat64).device(device_));
  pipeline_.Evaluate({.count = 1,
                      .samples = samples,
                      .length = set.source.seq_length(),
                      .tokens = [&](int64_t) { return tokens; }},
                     sum);
  return {groups_.tensor->rank() == 0 ? sum.item<double>() : 0,
          weights.sum(torch::kFloat64).item<double>()};
}

torch::Tensor Evaluator::WeightsOf(const torch::Tensor& tokens) const {
  if (data_.eod_mask_loss) return CountedPredictions(tokens, data_.eod_token);
  return torch::ones({tokens.size(0) * (tokens.size(1) - 1)});
}

std::optional<EvaluationResult> Evaluator::RunSet(
    const Set& set, const std::function<bool()>& stop_requested) const {
  // Losses by batch, then prediction counts, then the number of ranks with a read error.
  std::vector<double> sums(2 * set.batches + 1, 0.0);
  std::string read_error;
  for (int64_t round = 0; round < set.batches; round += data_size_) {
    if (AnyRankStops(stop_requested())) return std::nullopt;
    const int64_t batch = round + data_index_;
    const BatchSums of_batch = SumsOfBatch(set, batch, read_error);
    if (batch >= set.batches) continue;
    sums[batch] = of_batch.loss;
    sums[set.batches + batch] = of_batch.predictions;
  }
  // Each loss is computed by one rank and is zero on all other ranks, so the sum over the ranks is
  // exact.
  sums.back() = read_error.empty() ? 0 : 1;
  sums = SumOverMembers(*groups_.world, sums, device_);
  if (sums.back() > 0) {
    throw TrainerError(ExitCode::kBadData, SharedText(*groups_.world, read_error, device_));
  }
  EvaluationResult result;
  result.name = set.name;
  double predictions = 0;
  for (int64_t batch = 0; batch < set.batches; ++batch) {
    result.loss += sums[batch];
    predictions += sums[set.batches + batch];
  }
  // All ranks with the same data-parallel index have counted the same predictions, so the sum
  // contains each prediction (world size / dp) times.
  result.tokens = static_cast<int64_t>(predictions) * data_size_ / groups_.world->size();
  result.loss /= static_cast<double>(std::max<int64_t>(result.tokens, 1));
  return result;
}

std::optional<std::vector<EvaluationResult>> Evaluator::Run(
    const std::function<bool()>& stop_requested) {
  torch::NoGradGuard no_grad;
  std::vector<EvaluationResult> results;
  for (const Set& set : sets_) {
    std::optional<EvaluationResult> result = RunSet(set, stop_requested);
    if (!result.has_value()) return std::nullopt;
    results.push_back(*std::move(result));
  }
  return results;
}

}  // namespace trainyard::trainer
