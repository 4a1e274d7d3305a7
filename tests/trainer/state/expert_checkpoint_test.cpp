// Moves experts between layouts through checkpoints.
#include <gtest/gtest.h>

#include <string>

#include "proto/model/model_fingerprint.h"
#include "proto/model/model_size.h"
#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/read_tensor.h"
#include "tests/trainer/parallel/run_ranks.h"
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/config/trainer_error.h"
#include "trainer/model/decoder.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/state/training_state.h"
#include "trainer/step/model_options.h"

namespace trainyard::trainer {
namespace {

RunConfig ExpertRun() {
  RunConfig config;
  config.resources.device = DeviceKind::kCpu;
  config.train.precision = Precision::kBf16;
  config.train.seq_length = 4;
  config.layout.dp = 1;
  config.layout.etp = 1;
  ModelConfig& model = config.model;
  model.num_layers = 2;
  model.hidden_size = 16;
  model.ffn_hidden_size = 24;
  model.num_attention_heads = 2;
  model.num_query_groups = 2;
  model.vocab_size = 31;
  model.num_experts = 8;
  model.moe_router_topk = 2;
  model.moe_ffn_hidden_size = 12;
  model.moe_dense_layers = 1;
  return config;
}

RunConfig With(int64_t dp, int64_t ep, int64_t zero = 0) {
  RunConfig config = ExpertRun();
  config.layout.dp = dp;
  config.layout.ep = ep;
  config.layout.zero = zero;
  return config;
}

// The state of one rank: initial weights and random moments, or the state of a checkpoint.
class Rank {
 public:
  Rank(const RunConfig& config, int64_t rank, InMemoryNetwork& network)
      : config_(config),
        rank_(rank),
        mesh_(config.layout),
        groups_(ConnectRankGroups(
            mesh_, rank, config.layout, {.has_experts = true},
            [&](const CommunicatorGroup& group) { return network.Connect(group); })),
        model_(config.model, ModelOptions(config, mesh_, rank, groups_, torch::kCPU)),
        optimizer_({}, model_.parameters()) {}

  void RandomiseMoments() {
    optimizer_.first_moment().normal_();
    optimizer_.second_moment().uniform_();
  }

  void Load(const std::string& directory) {
    model_.parameters().Initialise(99);
    LoadCheckpoint(CheckpointReader(directory), config_,
                   {model_.parameters(), &optimizer_, groups_});
  }

  void Save(const std::string& parent) {
    CheckpointWriter writer({.directory = parent,
                             .rank = static_cast<int>(rank_),
                             .world_size = static_cast<int>(mesh_.grid().size()),
                             .model_fingerprint = ModelFingerprint(config_.model)});
    groups_.world->Barrier();
    TrainingState state{.step = 5};
    writer.Save(5, TrainingStateToJson(state, config_),
                CheckpointChunks(model_.parameters(), optimizer_, {}), SaveKind::kFinal);
    writer.Finish();
  }

 private:
  const RunConfig& config_;
  const int64_t rank_;
  const Mesh mesh_;
  const RankGroups groups_;
  Decoder model_;
  AdamW optimizer_;
};

constexpr char kStep[] = "/step_000000005";

// Loads `from` in the layout of `config` and saves it again. Without `from`, saves a new state.
void Pass(const RunConfig& config, const std::string& from, const std::string& to) {
  InMemoryNetwork network;
  const LayoutConfig& layout = config.layout;
  RunThreads(layout.tp * layout.dp * layout.pp, [&](int64_t number) {
    Rank rank(config, number, network);
    from.empty() ? rank.RandomiseMoments() : rank.Load(from + kStep);
    rank.Save(to);
  });
}

void ExpectEqualCheckpoints(const std::string& a, const std::string& b) {
  const CheckpointReader first(a + kStep), second(b + kStep);
  EXPECT_GT(first.tensors().size(), 3u * 8u) << "experts, and the moments of experts";
  ASSERT_EQ(first.tensors().size(), second.tensors().size());
  for (const auto& [name, _] : first.tensors()) {
    EXPECT_TRUE(ReadWhole(first, name).equal(ReadWhole(second, name))) << name;
  }
}

TEST(ExpertCheckpointTest, AnyLayoutReadsWhatAnotherWroteBitForBit) {
  const CheckpointDirectory directory;
  const auto path = [&](const char* name) { return directory.path() + "/" + name; };
  RunConfig folded = With(2, 4, 1);
  folded.layout.tp = 2;
  Pass(With(4, 4), "", path("ep4"));
  Pass(With(1, 1), path("ep4"), path("ep1"));
  Pass(With(4, 2, 3), path("ep1"), path("ep2"));
  Pass(folded, path("ep2"), path("folded"));
  for (const char* name : {"ep1", "ep2", "folded"}) {
    SCOPED_TRACE(name);
    ExpectEqualCheckpoints(path("ep4"), path(name));
  }
}

TEST(ExpertCheckpointTest, AnotherNumberOfExpertsIsAnotherModel) {
  const CheckpointDirectory directory;
  Pass(With(1, 1), "", directory.path());
  RunConfig fewer = With(1, 1);
  fewer.model.num_experts = 4;
  try {
    InMemoryNetwork network;
    Rank(fewer, 0, network).Load(directory.path() + kStep);
    FAIL() << "no error";
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadConfig);
    EXPECT_NE(std::string(error.what()).find("num_experts"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace trainyard::trainer
