#include "tests/trainer/step/layout_run.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>

#include "proto/memory/memory_model.h"
#include "proto/model/model_size.h"
#include "tests/trainer/parallel/run_ranks.h"
#include "trainer/step/model_options.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns a token of a sample. A small model can partly learn these sequences.
int64_t TokenAt(int64_t sample, int64_t position, int64_t vocabulary) {
  const int64_t step = 1 + sample % 5;
  return (sample * 7919 + position * step * 13 + position * position) % vocabulary;
}

// Returns one token of a sample. If the run has documents, each document has at most five tokens.
int64_t TokenAt(const RunConfig& config, int64_t sample, int64_t position) {
  const bool ends = config.data.eod_token >= 0 && (3 * sample + position) % 5 == 0;
  return ends ? config.data.eod_token : TokenAt(sample, position, config.model.vocab_size);
}

// A third of the predictions have weight 0.
bool IsMasked(int64_t sample, int64_t position) { return (sample + 2 * position) % 3 == 0; }

class Rank {
 public:
  Rank(const RunConfig& config, bool masked, int64_t rank, torch::Device device,
       const ConnectGroupFunction& connect, const LayoutMachine& machine)
      : config_(config),
        masked_(masked),
        rank_(rank),
        machine_(machine),
        mesh_(config.layout),
        data_index_(mesh_.DataParallelIndex(rank)),
        groups_(ConnectRankGroups(mesh_, rank, config.layout,
                                  {.has_tied_embedding = HasTableAtBothEnds(config.model),
                                   .has_experts = HasExperts(config.model),
                                   .tensor_bytes = ExchangeSlotBytes(config),
                                   .context_bytes = ContextSlotBytes(config)},
                                  connect)),
        model_(config.model, OptionsOf(device)),
        optimizer_(config.optimizer, model_.parameters()),
        rounds_(config.train.global_batch / (config.layout.micro_batch * config.layout.dp)),
        clock_(device),
        presence_(device, /*interruption=*/nullptr),
        runner_({config_, model_, optimizer_, groups_, clock_, presence_, device}),
        loss_scale_(ResumedLossScale(config.train, {})) {
    if (!machine.fp8_history.defined()) return;
    fp8_history().copy_(machine.fp8_history);
    model_.fp8()->scaling().Resume();
  }

  StepResult Step(int64_t step, const std::function<void()>& before_update) {
    batch_ = 0;
    runner_.Launch(
        {.step = step,
         .rounds = rounds_,
         .learning_rate = 2e-3,
         .part_norms = config_.train.gradient_log_interval > 0 &&
                       step % config_.train.gradient_log_interval == 0,
         .loss_scale = loss_scale_.scale > 0 ? loss_scale_.scale : machine_.loss_scale,
         .skipped_steps = loss_scale_.skipped_steps,
         .experts = true},
        [&] { return Next(step); }, before_update);
    StepResult result = runner_.Finish();
    loss_scale_ = NextLossScale(config_.train, loss_scale_, result.is_finite);
    return result;
  }

  const LossScale& loss_scale() const { return loss_scale_; }

  ParameterStore& store() { return model_.parameters(); }
  AdamW& optimizer() { return optimizer_; }
  Tensor expert_bias() { return model_.expert_balance().bias; }
  Tensor fp8_history() {
    return model_.fp8() == nullptr ? Tensor() : model_.fp8()->scaling().history();
  }

  ElementRange Owned(int64_t group) { return store().OwnedOf(group); }
  // Returns the range of a group's values that this rank stores.
  ElementRange Kept(int64_t group) {
    return store().parts().zero < 3 ? store().groups()[group].all : Owned(group);
  }

 private:
  DecoderOptions OptionsOf(torch::Device device) const {
    DecoderOptions options = ModelOptions(config_, mesh_, rank_, groups_, device);
    options.type = machine_.type.value_or(options.type);
    return options;
  }

  TokenBatch Next(int64_t step) {
    if (machine_.before_batch) machine_.before_batch({rank_, step, batch_}, store());
    const int64_t samples = config_.layout.micro_batch, length = config_.train.seq_length;
    const int64_t first =
        (step - 1) * config_.train.global_batch + (data_index_ * rounds_ + batch_++) * samples;
    TokenBatch batch;
    batch.row_tokens = length + 1;
    for (int64_t sample = first; sample < first + samples; ++sample) {
      batch.samples.push_back(sample);
      for (int64_t position = 0; position <= length; ++position) {
        batch.tokens.push_back(TokenAt(config_, sample, position));
        if (!masked_ || position == length) continue;
        batch.prediction_weights.push_back(IsMasked(sample, position) ? 0 : 1.5F);
      }
    }
    return batch;
  }

  const RunConfig& config_;
  const bool masked_;
  const int64_t rank_;
  const LayoutMachine& machine_;
  const Mesh mesh_;
  const int64_t data_index_;
  const RankGroups groups_;
  Decoder model_;
  AdamW optimizer_;
  const int64_t rounds_;
  StepClock clock_;
  const Presence presence_;
  int64_t batch_ = 0;
  StepRunner runner_;
  LossScale loss_scale_;
};

void AddFaults(const LogicalTensors& tensors, const std::string& what, LayoutRun& run) {
  for (const std::string& name : tensors.Faults()) run.faults.push_back(what + ": " + name);
}

// The results to which all ranks write.
struct Shared {
  std::mutex mutex;
  LayoutRun run;
  std::vector<LogicalTensors> weights;  // Before each step.
  bool has_loss_scale = false;
  std::exception_ptr error;
};

// Stores the rank's expert bias, which must have equal bits on all ranks.
void AddExpertBias(const Tensor& bias, LayoutRun& run) {
  if (!bias.defined()) return;
  const Tensor host = bias.cpu();  // Ranks may have different devices.
  if (run.expert_bias.defined() && !run.expert_bias.equal(host)) {
    run.faults.emplace_back("expert bias");
  }
  run.expert_bias = host;
}

// Stores the rank's history of FP8 scales, which must have equal bits on all ranks.
void AddFp8History(const Tensor& history, LayoutRun& run) {
  if (!history.defined()) return;
  const Tensor host = history.cpu();
  if (run.fp8_history.defined() && !run.fp8_history.equal(host)) {
    run.faults.emplace_back("FP8 history");
  }
  run.fp8_history = host;
}

// Stores the loss scale of a rank, which must be equal on all ranks.
void AddLossScale(const LossScale& state, Shared& shared) {
  if (shared.has_loss_scale && shared.run.loss_scale != state) {
    shared.run.faults.emplace_back("loss scale");
  }
  shared.run.loss_scale = state;
  shared.has_loss_scale = true;
}

void Train(Rank& rank, int64_t rank_number, Shared& shared) {
  ParameterStore& store = rank.store();
  const auto owned = [&](int64_t group) { return rank.Owned(group); };
  const auto kept = [&](int64_t group) { return rank.Kept(group); };
  const auto values = [&](int64_t group, const ElementRange& range) {
    return store.Values(group, range);
  };
  const auto steps = static_cast<int64_t>(shared.weights.size());
  for (int64_t step = 1; step <= steps; ++step) {
    const StepResult result = rank.Step(step, [&] {
      const std::lock_guard<std::mutex> lock(shared.mutex);
      shared.weights[step - 1].Add(store, kept, values);
      if (step > 1) return;
      shared.run.first_gradients.Add(store, owned, [&](int64_t group, const ElementRange& range) {
        return store.Gradients(group, range);
      });
    });
    const std::lock_guard<std::mutex> lock(shared.mutex);
    if (rank_number == 0) shared.run.steps.push_back(result);
  }
  const std::lock_guard<std::mutex> lock(shared.mutex);
  AddExpertBias(rank.expert_bias(), shared.run);
  AddFp8History(rank.fp8_history(), shared.run);
  AddLossScale(rank.loss_scale(), shared);
  // Adds only elements that this rank owns. Values that other ranks update may not have arrived
  // yet.
  shared.run.weights.Add(store, owned, values);
  const auto state = [&](const Tensor& buffer) {
    return [&store, &buffer](int64_t group, const ElementRange& range) {
      return store.State(buffer, group, range);
    };
  };
  shared.run.first_moments.Add(store, owned, state(rank.optimizer().first_moment()));
  shared.run.second_moments.Add(store, owned, state(rank.optimizer().second_moment()));
}

}  // namespace

RunConfig SmallRun() {
  RunConfig config;
  config.layout.dp = 1;
  config.layout.micro_batch = 1;
  config.model.num_layers = 4;
  config.model.hidden_size = 32;
  config.model.ffn_hidden_size = 48;
  config.model.num_attention_heads = 4;
  config.model.num_query_groups = 2;
  config.model.vocab_size = 61;
  config.model.init_method_std = 0.1;
  config.train.seq_length = 16;
  config.train.global_batch = 8;
  config.train.precision = Precision::kFp32;
  config.optimizer.lr = 2e-3;
  return config;
}

int64_t RanksOf(const LayoutConfig& layout) {
  return layout.tp * layout.cp * layout.pp * layout.dp;
}

LayoutRun RunLayout(const RunConfig& config, int64_t steps, bool masked,
                    const LayoutMachine& machine) {
  InMemoryNetwork::Turn turn;
  InMemoryNetwork network(machine.takes_turns ? &turn : nullptr);
  const ConnectGroupFunction over_memory = [&](const CommunicatorGroup& group) {
    return network.Connect(group);
  };
  Shared shared;
  shared.weights = std::vector<LogicalTensors>(steps);
  RunThreads(RanksOf(config.layout), [&](int64_t number) {
    std::unique_lock<std::mutex> mine(turn, std::defer_lock);
    if (machine.takes_turns) mine.lock();
    try {
      const torch::Device device = machine.open_device(number);
      Rank rank(config, masked, number, device,
                machine.connect ? machine.connect(number) : over_memory, machine);
      Train(rank, number, shared);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(shared.mutex);
      if (shared.error == nullptr) shared.error = std::current_exception();
      network.AbortAll();
    }
  });
  if (shared.error != nullptr) std::rethrow_exception(shared.error);
  for (int64_t step = 0; step < steps; ++step) {
    AddFaults(shared.weights[step], "weights before step " + std::to_string(step + 1), shared.run);
  }
  AddFaults(shared.run.first_gradients, "gradients", shared.run);
  AddFaults(shared.run.weights, "weights at the end", shared.run);
  AddFaults(shared.run.first_moments, "first moments", shared.run);
  AddFaults(shared.run.second_moments, "second moments", shared.run);
  return std::move(shared.run);
}

int64_t StepsOfEqualLoad(const LayoutRun& run, const LayoutRun& other) {
  const auto has_equal_load = [](const StepResult& a, const StepResult& b) {
    return std::equal(
        a.experts.begin(), a.experts.end(), b.experts.begin(), b.experts.end(),
        [](const LayerBalance& x, const LayerBalance& y) { return x.load == y.load; });
  };
  const auto [differs, end] = std::mismatch(run.steps.begin(), run.steps.end(), other.steps.begin(),
                                            other.steps.end(), has_equal_load);
  return differs - run.steps.begin();
}

}  // namespace trainyard::trainer
