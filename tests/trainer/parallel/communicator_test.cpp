#include "trainer/parallel/communicator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <latch>
#include <thread>

#include "tests/trainer/parallel/free_port.h"
#include "tests/trainer/parallel/run_ranks.h"
#include "trainer/config/trainer_error.h"
#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

TEST(CommunicatorTest, ReducesSumAndMaximum) {
  RunRanks(3, [](Communicator& group) {
    Tensor sum = torch::full({5}, static_cast<float>(group.rank() + 1));
    group.AllReduce(sum, ReduceOp::kSum);
    EXPECT_TRUE(sum.equal(torch::full({5}, 6.0f)));
    Tensor maximum = torch::full({2}, static_cast<double>(group.rank()), torch::kFloat64);
    group.AllReduce(maximum, ReduceOp::kMax);
    EXPECT_TRUE(maximum.equal(torch::full({2}, 2.0, torch::kFloat64)));
  });
}

TEST(CommunicatorTest, GathersScattersAndBroadcasts) {
  RunRanks(3, [](Communicator& group) {
    Tensor gathered = torch::empty({6});
    group.AllGather(gathered, torch::full({2}, static_cast<float>(group.rank())));
    EXPECT_TRUE(gathered.equal(torch::tensor({0.0f, 0.0f, 1.0f, 1.0f, 2.0f, 2.0f})));
    Tensor share = torch::empty({2});
    group.ReduceScatter(share, torch::arange(6, torch::kFloat32));
    EXPECT_TRUE(share.equal(torch::tensor({0.0f, 1.0f}).add(2 * group.rank()).mul(3)));
    Tensor told = torch::full({4}, static_cast<float>(group.rank()));
    group.Broadcast(told, 1);
    EXPECT_TRUE(told.equal(torch::full({4}, 1.0f)));
    group.Barrier();
  });
}

TEST(CommunicatorTest, ResultsMayLieWithinTheInputs) {
  RunRanks(2, [](Communicator& group) {
    Tensor whole = torch::arange(6, torch::kFloat32);
    Tensor own = whole.chunk(2)[group.rank()];
    group.ReduceScatter(own, whole);
    EXPECT_TRUE(own.equal(torch::arange(3, torch::kFloat32).add(3 * group.rank()).mul(2)));
    group.AllGather(whole, own);
    EXPECT_TRUE(whole.equal(torch::arange(6, torch::kFloat32).mul(2)));
  });
}

TEST(CommunicatorTest, SumsHostValuesAlike) {
  RunRanks(2, [](Communicator& group) {
    const double mine = group.rank() == 0 ? 0.1 : 0.2;
    EXPECT_EQ(SumOverMembers(group, {mine, 1}, torch::kCPU), (std::vector<double>{0.1 + 0.2, 2}));
  });
}

TEST(CommunicatorTest, EveryMemberGetsTheSameBits) {
  Tensor results[3];
  RunRanks(3, [&](Communicator& group) {
    auto generator = at::detail::createCPUGenerator(group.rank());
    Tensor values = torch::randn({10007}, generator);
    group.AllReduce(values, ReduceOp::kSum);
    results[group.rank()] = values;
  });
  EXPECT_TRUE(results[0].equal(results[1]));
  EXPECT_TRUE(results[0].equal(results[2]));
}

TEST(CommunicatorTest, LostPeerIsNamedWithTheOperation) {
  std::latch connected(2);
  RunRanks(2, [&connected](Communicator& group) {
    connected.arrive_and_wait();    // A peer that leaves earlier is missed by the connecting.
    if (group.rank() == 1) return;  // Leaves without a word.
    Tensor values = torch::zeros({1000});
    try {
      group.AllReduce(values, ReduceOp::kSum);
      group.AllReduce(values, ReduceOp::kSum);
      ADD_FAILURE() << "The peer was not missed.";
    } catch (const TrainerError& error) {
      EXPECT_EQ(error.code(), ExitCode::kPeerLost);
      EXPECT_NE(std::string(error.what()).find("all-reduce of group test"), std::string::npos);
    }
  });
}

TEST(CommunicatorTest, GroupOfOneNeedsNoRendezvous) {
  const auto alone = ConnectGroup(nullptr, {"solo", {4}, 4}, torch::kCPU);
  Tensor values = torch::ones({3});
  alone->AllReduce(values, ReduceOp::kSum);
  Tensor gathered = torch::empty({3});
  alone->AllGather(gathered, values);
  EXPECT_TRUE(gathered.equal(torch::ones({3})));
  EXPECT_EQ(alone->size(), 1);
}

TEST(RendezvousTest, TakenPortMeansTryAgain) {
  const TakenPort taken;
  try {
    Rendezvous rendezvous(Environment(0, 2, taken.port()), std::chrono::seconds(5));
    FAIL();
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kTryAgain);
    EXPECT_NE(std::string(error.what()).find(std::to_string(taken.port())), std::string::npos);
  }
}

TEST(RendezvousTest, MissingRankIsALostPeer) {
  try {
    Rendezvous rendezvous(Environment(0, 3, FreePort()), std::chrono::seconds(1));
    FAIL();
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kPeerLost);
    EXPECT_NE(std::string(error.what()).find("missing: rank 1, 2"), std::string::npos)
        << error.what();
  }
}

TEST(RendezvousTest, AbsentRankZeroIsALostPeer) {
  try {
    Rendezvous rendezvous(Environment(1, 2, FreePort()), std::chrono::seconds(1));
    FAIL();
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kPeerLost);
    EXPECT_NE(std::string(error.what()).find("Rank 0 cannot be reached"), std::string::npos)
        << error.what();
  }
}

// The kernel accepts connections for a process that is stopped.
TEST(RendezvousTest, StoppedRankZeroIsALostPeer) {
  const TakenPort silent;
  const auto start = std::chrono::steady_clock::now();
  try {
    Rendezvous rendezvous(Environment(1, 2, silent.port()), std::chrono::seconds(1));
    FAIL();
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kPeerLost);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(RendezvousTest, ARankOfAnotherRunAtTheSamePortIsNobodysPeer) {
  const int64_t port = FreePort();
  const auto come = [port](int64_t rank, const std::string& checkpoint_dir, int64_t seconds) {
    RuntimeEnvironment env = Environment(rank, 2, port);
    env.checkpoint_dir = checkpoint_dir;
    return std::make_unique<Rendezvous>(env, std::chrono::seconds(seconds));
  };
  // Rank 0 serves the others, so it stays until all of them have met.
  std::unique_ptr<Rendezvous> host;
  std::thread thread([&] { host = come(0, "/ours", 30); });
  EXPECT_THROW(come(1, "/theirs", 1), TrainerError);
  EXPECT_NE(come(1, "/ours", 30), nullptr);
  thread.join();
}

TEST(RendezvousTest, LocalAddressIsTheOneTowardsTheHost) {
  EXPECT_EQ(LocalAddressTowards("127.0.0.1", 29500), "127.0.0.1");
  EXPECT_EQ(LocalAddressTowards("no-such-host.invalid", 29500), "127.0.0.1");
}

}  // namespace
}  // namespace trainyard::trainer
