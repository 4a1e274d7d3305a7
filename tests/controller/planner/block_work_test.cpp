#include "controller/planner/block_work.h"

#include <gtest/gtest.h>

#include "proto/model/model_size.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

double AllMatrices(const RunConfig& config) {
  const BlockWork work = WorkOf(config);
  return static_cast<double>(config.model.num_layers) * work.BlockParameters() +
         work.TableParameters();
}

TEST(BlockWorkTest, CountsTheMatricesOfTheModel) {
  for (const ModelConfig& model :
       {Llama(32, 4096, 14336, 32), Gpt(24, 2048, 16, 50304), Nemotron(32, 6144, 24576, 48)}) {
    EXPECT_EQ(AllMatrices(Settings(model, 2048, 8, 1).config),
              static_cast<double>(MatrixParameterCount(model)));
  }
}

TEST(BlockWorkTest, TensorParallelRanksShareTheMatrices) {
  const RunSettings run = Settings(Llama(32, 4096, 14336, 32), 2048, 8, 2);
  EXPECT_EQ(AllMatrices(run.Tp(8).config) * 8, AllMatrices(run.config));
  EXPECT_GT(AllMatrices(run.Tp(16).config) * 16, AllMatrices(run.config)) << "shared key heads";
  EXPECT_EQ(WorkOf(run.Tp(4).config).norm_rows, 1024);
  RunSettings whole = run.Tp(4);
  whole.config.layout.sequence_parallel = false;
  EXPECT_EQ(WorkOf(whole.config).norm_rows, 4096);
}

TEST(BlockWorkTest, ContextParallelRanksShareTheTokens) {
  const RunSettings run = Settings(Llama(32, 4096, 14336, 32), 8192, 8, 1).Cp(4);
  EXPECT_EQ(WorkOf(run.config).rows, 2048);
  EXPECT_EQ(WorkOf(run.config).piece, 2048);
  RunSettings gathered = run;
  gathered.config.layout.cp_comm_type = ContextExchange::kAllGather;
  EXPECT_EQ(WorkOf(gathered.config).piece, 8192);
  EXPECT_FALSE(WorkOf(gathered.config).exchanges_heads);
}

TEST(BlockWorkTest, RanksThatExchangeHeadsSeeWholeSamples) {
  const RunSettings run = Settings(Llama(32, 4096, 14336, 32), 8192, 8, 1);
  const BlockWork work = WorkOf(run.Cp(4, ContextExchange::kAuto).config);
  EXPECT_TRUE(work.exchanges_heads);
  EXPECT_EQ(work.rows, 2048);
  EXPECT_EQ(work.piece, 8192);
  EXPECT_FALSE(WorkOf(run.Cp(4).config).exchanges_heads);
  EXPECT_FALSE(WorkOf(run.config).exchanges_heads);
}

}  // namespace
}  // namespace trainyard::planner
