#include "trainer/model/experts/token_dispatch.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "tests/trainer/parallel/run_ranks.h"
#include "trainer/config/trainer_error.h"
#include "trainer/model/experts/all_gather_dispatch.h"
#include "trainer/model/experts/all_to_all_dispatch.h"
#include "trainer/model/experts/dispatch_choice.h"
#include "trainer/model/experts/local_dispatch.h"
#include "trainer/ops/experts/routing.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr int64_t kExperts = 8, kTopk = 2, kWidth = 3, kTokens = 5;

// The tokens of all ranks, with their experts and weights.
struct RankTokens {
  Tensor x;        // [ranks, tokens, width]
  Tensor experts;  // [ranks, tokens, topk]
  Tensor weights;  // [ranks, tokens, topk]
};

RankTokens RandomRankTokens(int64_t ranks) {
  torch::manual_seed(5);
  const auto fp64 = torch::dtype(torch::kFloat64);
  RankTokens tokens{torch::rand({ranks, kTokens, kWidth}, fp64),
                    torch::empty({ranks, kTokens, kTopk}, torch::kInt64),
                    torch::rand({ranks, kTokens, kTopk}, fp64)};
  for (int64_t rank = 0; rank < ranks; ++rank) {
    for (int64_t token = 0; token < kTokens; ++token) {
      tokens.experts[rank][token] = torch::randperm(kExperts, torch::kInt64).narrow(0, 0, kTopk);
    }
  }
  return tokens;
}

// The function of an expert in these tests: it multiplies a row by the expert's number + 1.
double FactorOf(int64_t expert) { return static_cast<double>(expert + 1); }

struct Returned {
  Tensor y;          // [tokens, width]
  Tensor d_weights;  // [tokens, topk]
  RowSegments segments;
};

// Sends the tokens of a rank to its experts and back. Each of the `parts` of an expert computes its
// share of the result. The gradient of a weight is the sum of its row.
Returned Process(const TokenDispatch& dispatch, const RankTokens& tokens, int64_t rank,
                 const ExpertParallel& parallel) {
  const Tensor x = tokens.x[rank], experts = tokens.experts[rank];
  const Tensor kept = experts.masked_fill(experts < 0, kExperts);
  ExpertChoice choice{experts, CountRows(kept, kExperts + 1).narrow(0, 0, kExperts)};
  dispatch.ShareCounts(choice);
  const DispatchPlan plan = dispatch.Plan(choice);
  const auto [rows, weights] =
      dispatch.FinishSend(dispatch.BeginSend({x, tokens.weights[rank]}, plan), plan);
  Tensor results = torch::empty_like(rows);
  const int64_t first = parallel.ExpertsHere(kExperts).first;
  for (int64_t expert = 0, row = 0; expert < static_cast<int64_t>(plan.segments.size()); ++expert) {
    const int64_t count = plan.segments[expert];
    const Tensor scaled = rows.narrow(0, row, count) * weights.narrow(0, row, count).unsqueeze(1);
    results.narrow(0, row, count)
        .copy_(scaled * FactorOf(first + expert) / static_cast<double>(parallel.parts()));
    row += count;
  }
  const WeightedRows returned =
      dispatch.FinishReturn(dispatch.BeginReturn({results, results.sum(1)}, plan), plan, x);
  return {returned.values, returned.weights, plan.segments};
}

Tensor ExpectedWeightGradient(const RankTokens& tokens, int64_t rank) {
  const Tensor experts = tokens.experts[rank];
  const Tensor rows = tokens.x[rank].unsqueeze(1) * tokens.weights[rank].unsqueeze(2) *
                      (experts + 1).clamp_min(0).unsqueeze(2);
  return rows.sum(2);
}

Tensor Expected(const RankTokens& tokens, int64_t rank) {
  const Tensor factors = (tokens.experts[rank] + 1).clamp_min(0) * tokens.weights[rank];
  return tokens.x[rank] * (1 + factors.sum(1, /*keepdim=*/true));
}

using MakeDispatch = std::function<std::unique_ptr<TokenDispatch>(const ExpertParallel&)>;

const MakeDispatch kAllToAll = [](const ExpertParallel& parallel) {
  return std::make_unique<AllToAllDispatch>(parallel);
};
const MakeDispatch kAllGather = [](const ExpertParallel& parallel) {
  return std::make_unique<AllGatherDispatch>(parallel);
};

// Runs `make`'s dispatch on all ranks and compares it with the formula.
std::vector<Returned> ExpectRight(const MakeDispatch& make, const RankTokens& tokens,
                                  int64_t parts) {
  std::vector<Returned> all(tokens.x.size(0));
  RunRanksInMemory(tokens.x.size(0), [&](Communicator& ranks) {
    const ExpertParallel parallel(ranks, parts);
    all[ranks.rank()] = Process(*make(parallel), tokens, ranks.rank(), parallel);
  });
  for (int64_t rank = 0; rank < static_cast<int64_t>(all.size()); ++rank) {
    SCOPED_TRACE(rank);
    EXPECT_TRUE(all[rank].y.allclose(Expected(tokens, rank), 1e-12));
    EXPECT_TRUE(all[rank].d_weights.allclose(ExpectedWeightGradient(tokens, rank), 1e-12));
  }
  return all;
}

TEST(TokenDispatchTest, OneRankKeepsItsRows) {
  const RankTokens tokens = RandomRankTokens(1);
  const Returned returned = Process(LocalDispatch(), tokens, 0, ExpertParallel());
  EXPECT_TRUE(returned.y.allclose(Expected(tokens, 0), 1e-12));
  EXPECT_TRUE(returned.d_weights.allclose(ExpectedWeightGradient(tokens, 0), 1e-12));
}

TEST(TokenDispatchTest, RowsReachTheRanksOfTheirExperts) {
  for (const int64_t ranks : {2, 4, 8}) {
    SCOPED_TRACE(ranks);
    ExpectRight(kAllToAll, RandomRankTokens(ranks), 1);
    ExpectRight(kAllGather, RandomRankTokens(ranks), 1);
  }
}

TEST(TokenDispatchTest, PartsOfExpertsAddUp) {
  for (const int64_t parts : {2, 4}) {
    SCOPED_TRACE(parts);
    ExpectRight(kAllToAll, RandomRankTokens(4), parts);
    ExpectRight(kAllGather, RandomRankTokens(4), parts);
  }
}

TEST(TokenDispatchTest, BothExchangesHaveEqualBitsWithTwoRanksAndTwoExpertsPerToken) {
  RankTokens tokens = RandomRankTokens(2);
  tokens.x = tokens.x.to(torch::kFloat32);
  tokens.weights = tokens.weights.to(torch::kFloat32);
  std::vector<Returned> results[2];
  for (const bool gathers : {false, true}) {
    results[gathers].resize(2);
    RunRanksInMemory(2, [&](Communicator& ranks) {
      const ExpertParallel parallel(ranks, 1);
      results[gathers][ranks.rank()] =
          Process(*(gathers ? kAllGather : kAllToAll)(parallel), tokens, ranks.rank(), parallel);
    });
  }
  for (const int64_t rank : {0, 1}) {
    EXPECT_TRUE(results[0][rank].y.equal(results[1][rank].y));
    EXPECT_TRUE(results[0][rank].d_weights.equal(results[1][rank].d_weights));
    EXPECT_EQ(results[0][rank].segments, results[1][rank].segments);
  }
}

// Ranks without rows take part in every exchange.
TEST(TokenDispatchTest, AllTokensMayChooseTheExpertsOfOneRank) {
  RankTokens tokens = RandomRankTokens(4);
  tokens.experts = torch::tensor({4, 5}, torch::kInt64).expand({4, kTokens, kTopk}).contiguous();
  for (const MakeDispatch& make : {kAllToAll, kAllGather}) {
    const std::vector<Returned> all = ExpectRight(make, tokens, 1);
    EXPECT_EQ(all[0].segments, (RowSegments{0, 0}));
    EXPECT_EQ(all[2].segments, (RowSegments{4 * kTokens, 4 * kTokens}));
  }
}

TEST(TokenDispatchTest, ARankMayHaveNoTokens) {
  RankTokens tokens = RandomRankTokens(2);
  tokens.x = tokens.x.narrow(1, 0, 0);
  tokens.experts = tokens.experts.narrow(1, 0, 0);
  tokens.weights = tokens.weights.narrow(1, 0, 0);
  for (const MakeDispatch& make : {kAllToAll, kAllGather}) ExpectRight(make, tokens, 1);
}

// A dropped slot of expert e is -1 - e (ops/expert_capacity.h).
TEST(TokenDispatchTest, DroppedSlotsSendNoRow) {
  RankTokens tokens = RandomRankTokens(4);
  tokens.experts.select(1, 1).select(1, 0).mul_(-1).sub_(1);
  tokens.experts[2][3].mul_(-1).sub_(1);
  for (const MakeDispatch& make : {kAllToAll, kAllGather}) {
    for (const int64_t parts : {1, 2}) ExpectRight(make, tokens, parts);
  }
}

// Returns the exit code with which a rank rejects `counts` of another rank; nullopt if it does not.
std::optional<ExitCode> ErrorOfCounts(const MakeDispatch& make,
                                      const std::vector<int64_t>& counts) {
  std::optional<ExitCode> code;
  RunRanksInMemory(2, [&](Communicator& ranks) {
    ExpertChoice choice{torch::zeros({kTokens, kTopk}, torch::kInt64),
                        torch::zeros({kExperts}, torch::kInt64)};
    if (ranks.rank() == 1) choice.counts.narrow(0, 0, counts.size()).copy_(torch::tensor(counts));
    make(ExpertParallel(ranks, 1))->ShareCounts(choice);
    try {
      choice.HostCounts();
    } catch (const TrainerError& error) {
      if (ranks.rank() == 0) code = error.code();
    }
  });
  return code;
}

// The data that a rank receives is arbitrary if a peer has aborted the exchange.
TEST(TokenDispatchTest, ImpossibleCountsMeanThatAPeerIsLost) {
  constexpr int64_t kSlots = kTokens * kTopk, kLargest = std::numeric_limits<int64_t>::max();
  for (const MakeDispatch& make : {kAllToAll, kAllGather}) {
    EXPECT_EQ(ErrorOfCounts(make, {1, kSlots - 1}), std::nullopt);
    EXPECT_EQ(ErrorOfCounts(make, {2, kSlots - 1}), ExitCode::kPeerLost);
    EXPECT_EQ(ErrorOfCounts(make, {2, -1}), ExitCode::kPeerLost);
    EXPECT_EQ(ErrorOfCounts(make, {kLargest, kLargest, 2}), ExitCode::kPeerLost);
  }
}

TEST(TokenDispatchTest, TheExchangeThatMovesFewerBytesIsChosen) {
  ModelConfig model;
  model.num_experts = kExperts;
  EXPECT_NE(dynamic_cast<LocalDispatch*>(MakeTokenDispatch(model, {}).get()), nullptr);
  RunRanksInMemory(4, [&](Communicator& ranks) {
    const ExpertParallel parallel(ranks, 1);
    ModelConfig own = model;
    own.moe_router_topk = 4;
    EXPECT_NE(dynamic_cast<AllToAllDispatch*>(MakeTokenDispatch(own, parallel).get()), nullptr);
    own.moe_router_topk = 5;
    EXPECT_NE(dynamic_cast<AllGatherDispatch*>(MakeTokenDispatch(own, parallel).get()), nullptr);
    const ExpertParallel asked(ranks, 1, TokenDispatcher::kAlltoall);
    EXPECT_NE(dynamic_cast<AllToAllDispatch*>(MakeTokenDispatch(own, asked).get()), nullptr);
  });
}

}  // namespace
}  // namespace trainyard::trainer
