#include "proto/rules/context_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/rules/run_rules.h"

namespace trainyard {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

// 32 query heads, 8 key heads, and two ranks for each sample.
RunConfig TwoRanksPerSample() {
  RunConfig config;
  config.model = {.num_layers = 2,
                  .hidden_size = 4096,
                  .ffn_hidden_size = 8192,
                  .num_attention_heads = 32,
                  .num_query_groups = 8,
                  .vocab_size = 1000};
  config.train.seq_length = 4096;
  config.layout.cp = 2;
  config.layout.dp = 1;
  return config;
}

TEST(ContextExchangeTest, RanksExchangeHeadsThatTheyCanDivide) {
  RunConfig config = TwoRanksPerSample();
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kA2a);
  EXPECT_TRUE(ExchangesHeads(config));
  config.layout.tp = 4;
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kA2a);
  config.layout.tp = 8;
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kP2p) << "8 key heads for 16 ranks";
  config.layout.tp = 1;
  config.layout.cp = 1;
  EXPECT_FALSE(ExchangesHeads(config)) << "one rank";
}

TEST(ContextExchangeTest, LatentAttentionHasAsManyKeysAsQueries) {
  RunConfig config = TwoRanksPerSample();
  config.model.kv_lora_rank = 512;
  config.layout.tp = 16;
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kA2a);
}

TEST(ContextExchangeTest, SeveralNodesFormARing) {
  RunConfig config = TwoRanksPerSample();
  config.resources.nodes = 2;
  config.resources.slots_per_node = 4;
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kA2a);
  config.layout.cp = 8;
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kP2p);
}

// The score gradients of one of four query heads per key head take 2 * 4 * length^2 bytes.
TEST(ContextExchangeTest, LongSamplesFormARing) {
  RunConfig config = TwoRanksPerSample();
  config.train.seq_length = 16384;
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kA2a) << "2 GiB";
  config.train.seq_length = 16388;
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kP2p);
  config.model.num_query_groups = 32;
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kA2a) << "a quarter as many query heads";
}

TEST(ContextExchangeTest, TheSettingOverridesTheChoice) {
  RunConfig config = TwoRanksPerSample();
  config.layout.cp_comm_type = ContextExchange::kAllGather;
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kAllGather);
  config.layout.cp_comm_type = ContextExchange::kA2a;
  config.train.seq_length = 1 << 20;
  EXPECT_EQ(ContextExchangeOf(config), ContextExchange::kA2a);
}

TEST(ContextExchangeTest, TheTextNamesTheExchange) {
  RunConfig config = TwoRanksPerSample();
  EXPECT_THAT(std::string(ContextExchangeText(config)), HasSubstr("all-to-all"));
  config.layout.cp_comm_type = ContextExchange::kP2p;
  EXPECT_THAT(std::string(ContextExchangeText(config)), HasSubstr("ring"));
  config.layout.cp_comm_type = ContextExchange::kAllGather;
  EXPECT_THAT(std::string(ContextExchangeText(config)), HasSubstr("all-gather"));
  config.layout.cp = 1;
  EXPECT_EQ(ContextExchangeText(config), "");
}

TEST(ContextExchangeTest, HeadsThatDoNotDivideAreAProblem) {
  RunConfig config = TwoRanksPerSample();
  const auto of_exchange = Field(&SettingProblem::key, "layout.cp_comm_type");
  config.layout.cp = 16;
  EXPECT_THAT(FindTrainingProblems(config), Not(Contains(of_exchange))) << "a ring";
  config.layout.cp_comm_type = ContextExchange::kA2a;
  EXPECT_THAT(FindTrainingProblems(config),
              Contains(Field(&SettingProblem::message,
                             HasSubstr("`model.num_query_groups` (8) must be a multiple of "
                                       "`layout.tp` * `layout.cp` (16); set it to auto or p2p"))));
  config.layout.cp = 8;
  EXPECT_THAT(FindTrainingProblems(config), Not(Contains(of_exchange)));
}

}  // namespace
}  // namespace trainyard
