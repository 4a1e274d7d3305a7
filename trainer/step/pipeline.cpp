#include "trainer/step/pipeline.h"

#include <utility>

#include "trainer/step/stage_streams.h"

namespace trainyard::trainer {

using torch::Tensor;
using Schedule = std::vector<StageAction>;

// The execution of one step or one evaluation.
class Pipeline::Run {
 public:
  Run(const Pipeline& pipeline, const MicroBatches& batches, Stash::Mode mode)
      : model_(pipeline.model_),
        zero_bubble_(pipeline.zero_bubble_),
        batches_(batches),
        mode_(mode),
        activations_(pipeline.links_.activations_from.get(),
                     ActivationArrivals(place(), ScheduleOf(StageBefore(place()))), maker()),
        gradients_(pipeline.links_.gradients_from.get(),
                   GradientArrivals(place(), ScheduleOf(StageAfter(place()))), maker()),
        activation_sender_(pipeline.links_.activations_to.get()),
        gradient_sender_(pipeline.links_.gradients_to.get()) {}

  // `gradients` is null for an evaluation, which has no backward passes.
  void Execute(Tensor& loss, WeightGradients* gradients) {
    const Schedule schedule = ScheduleOf(place());
    for (size_t i = 0; i < schedule.size(); ++i) {
      const StageAction& action = schedule[i];
      const ChunkPass pass{action.chunk, action.micro_batch};
      Tensor output;
      if (action.kind == StageAction::Kind::kForward || gradients == nullptr) {
        output = Forward(pass, loss, gradients);
      } else if (action.kind == StageAction::Kind::kBackward) {
        output = Backward(pass, *gradients);
      } else {
        gradients->RunOldest();
      }
      // Begins the next receive before it sends, because the neighbor may accept this stage's
      // output only after this stage has begun to receive.
      if (i + 1 < schedule.size()) BeginReceive(schedule[i + 1]);
      if (output.defined()) SenderOf(action).Send(std::move(output));
    }
    activation_sender_.Join();
    gradient_sender_.Join();
  }

 private:
  // The state that a pass keeps from its forward half to its backward half.
  struct Passing {
    MicroBatch micro_batch;
    Tensor gradient;  // Gradient of the output, on the stage with the head.
  };

  const PipelinePlace& place() const { return model_.place(); }

  Schedule ScheduleOf(const PipelinePlace& place) const {
    return mode_ == Stash::Mode::kKeep ? TrainingSchedule(place, batches_.count, zero_bubble_)
                                       : EvaluationSchedule(place, batches_.count);
  }

  StageReceiver::MakeTensor maker() const {
    return [this](const ChunkPass&) {
      return model_.NewActivations(batches_.samples, batches_.length);
    };
  }

  // Returns the tokens of a micro-batch, which the passes through all chunks need.
  const TrainingTokens& TokensOf(int64_t micro_batch) {
    while (next_ <= micro_batch) {
      tokens_.emplace(next_, batches_.tokens(next_));
      ++next_;
    }
    return tokens_.at(micro_batch);
  }

  void BeginReceive(const StageAction& action) {
    const ChunkPass pass{action.chunk, action.micro_batch};
    if (action.kind == StageAction::Kind::kForward && !place().HasEmbedding(pass.chunk)) {
      activations_.Begin(pass);
    } else if (action.kind == StageAction::Kind::kBackward && !place().HasHead(pass.chunk)) {
      gradients_.Begin(pass);
    }
  }

  StageSender& SenderOf(const StageAction& action) {
    return action.kind == StageAction::Kind::kForward ? activation_sender_ : gradient_sender_;
  }

  // Returns the output for the next stage; undefined for the chunk with the head.
  Tensor Forward(const ChunkPass& pass, Tensor& loss, WeightGradients* gradients) {
    const bool is_first = place().HasEmbedding(pass.chunk), is_last = place().HasHead(pass.chunk);
    MicroBatch micro_batch = model_.Begin(pass.chunk, TokensOf(pass.micro_batch), mode_);
    if (pass.chunk == place().chunks - 1) tokens_.erase(pass.micro_batch);
    Tensor x = is_first ? Tensor() : activations_.Receive(pass);
    x = model_.Forward(pass.chunk, std::move(x), micro_batch);
    if (gradients == nullptr) {
      if (is_last) model_.Loss(x, micro_batch, loss);
      return is_last ? Tensor() : x;
    }
    Tensor gradient;
    if (is_last) gradient = model_.LossAndGradient(x, micro_batch, loss, *gradients);
    passing_.emplace(pass, Passing{std::move(micro_batch), std::move(gradient)});
    return is_last ? Tensor() : x;
  }

  // Returns the gradient for the previous stage; undefined for the chunk with the embedding.
  Tensor Backward(const ChunkPass& pass, WeightGradients& gradients) {
    Passing passing = std::move(passing_.at(pass));
    passing_.erase(pass);
    Tensor dy =
        place().HasHead(pass.chunk) ? std::move(passing.gradient) : gradients_.Receive(pass);
    Tensor dx = model_.Backward(pass.chunk, std::move(dy), passing.micro_batch, gradients);
    gradients.EndPass();
    return dx;
  }

  const Decoder& model_;
  const bool zero_bubble_;
  const MicroBatches& batches_;
  const Stash::Mode mode_;
  StageReceiver activations_;
  StageReceiver gradients_;
  StageSender activation_sender_;
  StageSender gradient_sender_;
  std::map<int64_t, TrainingTokens> tokens_;  // By micro-batch.
  int64_t next_ = 0;                          // Next micro-batch whose tokens are needed.
  std::map<ChunkPass, Passing> passing_;
};

void Pipeline::Train(const MicroBatches& batches, Tensor& loss, WeightGradients& gradients) const {
  model_.PrepareWeights();
  Run(*this, batches, Stash::Mode::kKeep).Execute(loss, &gradients);
}

void Pipeline::Rehearse(const TrainingTokens& tokens, WeightGradients& gradients) const {
  model_.PrepareWeights();
  Tensor loss = torch::zeros({}, tokens.loss_weights.options().dtype(torch::kFloat64));
  for (int64_t chunk = 0; chunk < model_.place().chunks; ++chunk) {
    MicroBatch micro_batch = model_.Begin(chunk, tokens, Stash::Mode::kKeep);
    const Tensor zeros =
        model_.NewActivations(tokens.tokens.size(0), tokens.tokens.size(1) - 1).zero_();
    const bool is_first = model_.place().HasEmbedding(chunk);
    const Tensor x = model_.Forward(chunk, is_first ? Tensor() : zeros, micro_batch);
    Tensor dy = model_.place().HasHead(chunk)
                    ? model_.LossAndGradient(x, micro_batch, loss, gradients)
                    : zeros.clone();
    model_.Backward(chunk, std::move(dy), micro_batch, gradients);
  }
  gradients.RunDeferred();
}

void Pipeline::Evaluate(const MicroBatches& batches, Tensor& loss) const {
  model_.PrepareWeights();
  Run(*this, batches, Stash::Mode::kDiscard).Execute(loss, nullptr);
}

}  // namespace trainyard::trainer
