#include "trainer/parallel/communicator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "tests/trainer/parallel/free_port.h"
#include "tests/trainer/parallel/run_ranks.h"
#include "trainer/config/trainer_error.h"
#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

using Run = void (*)(int64_t size, const std::function<void(Communicator&)>& body);

// Each CPU implementation.
class CommunicatorTest : public ::testing::TestWithParam<Run> {};

INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorTest,
                         ::testing::Values(&RunRanks, &RunRanksInMemory),
                         [](const auto& info) { return info.index == 0 ? "Gloo" : "InMemory"; });

TEST_P(CommunicatorTest, ReducesSumAndMaximum) {
  GetParam()(3, [](Communicator& group) {
    const Tensor sum = torch::full({5}, static_cast<float>(group.rank() + 1));
    group.AllReduce(sum).Wait();
    EXPECT_TRUE(sum.equal(torch::full({5}, 6.0f)));
    const Tensor maximum = torch::full({2}, static_cast<double>(group.rank()), torch::kFloat64);
    group.AllReduce(maximum, ReduceOp::kMax).Wait();
    EXPECT_TRUE(maximum.equal(torch::full({2}, 2.0, torch::kFloat64)));
  });
}

TEST_P(CommunicatorTest, GathersScattersAndBroadcasts) {
  GetParam()(3, [](Communicator& group) {
    EXPECT_EQ(group.size(), 3);
    const Tensor gathered = torch::empty({6});
    group.AllGather(gathered, torch::full({2}, static_cast<float>(group.rank()))).Wait();
    EXPECT_TRUE(gathered.equal(torch::tensor({0.0f, 0.0f, 1.0f, 1.0f, 2.0f, 2.0f})));
    const Tensor share = torch::empty({2});
    group.ReduceScatter(share, torch::arange(6, torch::kFloat32)).Wait();
    EXPECT_TRUE(share.equal(torch::tensor({0.0f, 1.0f}).add(2 * group.rank()).mul(3)));
    const Tensor told = torch::full({4}, static_cast<float>(group.rank()));
    group.Broadcast(told, 1).Wait();
    EXPECT_TRUE(told.equal(torch::full({4}, 1.0f)));
    group.Barrier();
  });
}

// The input is computed while other parts are in transit. Its order and the calls are checked.
TEST_P(CommunicatorTest, SumsRowsThatAreComputedPieceByPiece) {
  GetParam()(2, [](Communicator& group) {
    const Tensor input = torch::full({8, 3}, -1.0f), share = torch::empty({4, 3});
    std::vector<int64_t> firsts;
    const auto compute = [&](int64_t first, int64_t count) {
      firsts.push_back(first);
      for (int64_t row = first; row < first + count; ++row) {
        input[row].fill_(static_cast<float>(row * (group.rank() + 1)));
      }
    };
    group.ReduceScatter(share, input, {2, compute}).Wait();
    const int64_t own = 4 * group.rank(), other = 4 - own;
    EXPECT_EQ(firsts, (std::vector<int64_t>{other, other + 2, own}));
    const Tensor rows = torch::arange(own, own + 4, torch::kFloat32).mul(3).view({4, 1});
    EXPECT_TRUE(share.equal(rows.expand({4, 3})));
  });
}

TEST_P(CommunicatorTest, WaitsForThePartsOfAGather) {
  GetParam()(3, [](Communicator& group) {
    const Tensor all = group.EmptyForGather({3, 2}, torch::dtype(torch::kFloat32));
    const Tensor own = torch::full({1, 2}, static_cast<float>(group.rank()));
    Work gather = group.AllGather(all, own, OwnPart::kUndefined);
    for (const int64_t member : ReceiveOrder(3, group.rank())) {
      gather.WaitForPart(member);
      EXPECT_TRUE(all[member].equal(torch::full({2}, static_cast<float>(member))));
    }
    gather.Wait();
  });
}

TEST_P(CommunicatorTest, ReducesNumbersOfSixteenBits) {
  for (const auto type : {torch::kBFloat16, torch::kFloat16}) {
    GetParam()(2, [type](Communicator& group) {
      const Tensor mine = torch::tensor({1.0f, -2.0f, 3.0f, 4.0f}).mul(group.rank() + 1).to(type);
      const Tensor share = torch::empty({2}, type);
      group.ReduceScatter(share, mine).Wait();
      const Tensor sums = torch::tensor({3.0f, -6.0f, 9.0f, 12.0f}).to(type);
      EXPECT_TRUE(share.equal(sums.chunk(2)[group.rank()]));
      group.ReduceScatter(share, mine, ReduceOp::kMax).Wait();
      const Tensor largest = torch::tensor({2.0f, -2.0f, 6.0f, 8.0f}).to(type);
      EXPECT_TRUE(share.equal(largest.chunk(2)[group.rank()]));
      const Tensor gathered = torch::empty({4}, type);
      group.AllGather(gathered, share).Wait();
      EXPECT_TRUE(gathered.equal(largest));
    });
  }
}

// One such type is 16-bit integers, the type of the low bits of master weights.
TEST_P(CommunicatorTest, MovesElementsOfAnyType) {
  for (const auto type : {torch::kBFloat16, torch::kInt16, torch::kInt64, torch::kUInt8}) {
    GetParam()(2, [type](Communicator& group) {
      const int64_t me = group.rank();
      const Tensor gathered = torch::empty({4}, type);
      group.AllGather(gathered, torch::full({2}, me + 1, type)).Wait();
      EXPECT_TRUE(gathered.equal(torch::tensor({1, 1, 2, 2}, type)));
      const Tensor told = torch::full({3}, me + 1, type);
      group.Broadcast(told, 1).Wait();
      EXPECT_TRUE(told.equal(torch::full({3}, 2, type)));
      const Tensor received = torch::empty({3}, type);
      group
          .Exchange({{Transfer::Direction::kSend, 1 - me, torch::full({3}, me + 1, type)},
                     {Transfer::Direction::kReceive, 1 - me, received}})
          .Wait();
      EXPECT_TRUE(received.equal(torch::full({3}, 2 - me, type)));
    });
  }
}

TEST_P(CommunicatorTest, ResultsMayLieWithinTheInputs) {
  GetParam()(2, [](Communicator& group) {
    const Tensor whole = torch::arange(6, torch::kFloat32);
    const Tensor own = whole.chunk(2)[group.rank()];
    group.ReduceScatter(own, whole).Wait();
    EXPECT_TRUE(own.equal(torch::arange(3, torch::kFloat32).add(3 * group.rank()).mul(2)));
    group.AllGather(whole, own).Wait();
    EXPECT_TRUE(whole.equal(torch::arange(6, torch::kFloat32).mul(2)));
  });
}

// Member m sends m + to rows to member `to`. Every value in these rows is 10 * m + to.
TEST_P(CommunicatorTest, SendsUnevenPartsToAll) {
  GetParam()(3, [](Communicator& group) {
    const int64_t me = group.rank();
    std::vector<Tensor> sent, expected;
    std::vector<int64_t> to_rows, from_rows;
    for (int64_t other = 0; other < 3; ++other) {
      sent.push_back(torch::full({me + other, 2}, static_cast<float>(10 * me + other)));
      expected.push_back(torch::full({me + other, 2}, static_cast<float>(10 * other + me)));
      to_rows.push_back(me + other);
      from_rows.push_back(other + me);
    }
    const Tensor received = torch::empty({3 * me + 3, 2});
    group.AllToAll(received, at::cat(sent), from_rows, to_rows).Wait();
    EXPECT_TRUE(received.equal(at::cat(expected)));
  });
}

TEST_P(CommunicatorTest, ExchangesBothWaysAroundARing) {
  GetParam()(3, [](Communicator& group) {
    const int64_t me = group.rank(), next = (me + 1) % 3, before = (me + 2) % 3;
    const Tensor mine = torch::full({1000}, static_cast<float>(me));
    const Tensor from_before = torch::empty({1000}), from_next = torch::empty({1000});
    using Direction = Transfer::Direction;
    group
        .Exchange({{Direction::kSend, next, mine},
                   {Direction::kReceive, before, from_before},
                   {Direction::kSend, before, mine},
                   {Direction::kReceive, next, from_next}})
        .Wait();
    EXPECT_TRUE(from_before.equal(torch::full({1000}, static_cast<float>(before))));
    EXPECT_TRUE(from_next.equal(torch::full({1000}, static_cast<float>(next))));
  });
}

TEST_P(CommunicatorTest, TheCallerGoesOnBesideAnOperation) {
  std::atomic<bool> first_went_on{false};
  GetParam()(2, [&](Communicator& group) {
    const Tensor sum = torch::ones({3});
    // Member 1 starts its operation only after member 0's call has returned. This shows that the
    // call does not wait for the peer.
    while (group.rank() == 1 && !first_went_on) std::this_thread::yield();
    Work work = group.AllReduce(sum);
    first_went_on = true;
    work.Wait();
    EXPECT_TRUE(sum.equal(torch::full({3}, 2.0f)));
  });
}

TEST_P(CommunicatorTest, WhatFollowsSeesTheResult) {
  GetParam()(2, [](Communicator& group) {
    const Tensor sum = torch::ones({3});
    Tensor seen;
    Work first = group.AllReduce(sum);
    Work behind = group.Then([&] { seen = sum.clone(); });
    Work second = group.AllReduce(sum);
    second.Wait();
    EXPECT_TRUE(seen.equal(torch::full({3}, 2.0f)));
    EXPECT_TRUE(sum.equal(torch::full({3}, 4.0f)));
    behind.Wait();
    first.Wait();
  });
}

TEST_P(CommunicatorTest, RecordsItsOperations) {
  GetParam()(2, [](Communicator& group) {
    const Tensor sum = torch::ones({25});
    group.AllReduce(sum).Wait();
    group.Broadcast(sum, 0).Wait();
    EXPECT_EQ(group.flight().moves(), 4u) << "each was entered and left";
    EXPECT_EQ(group.flight().Current().sequence, 3u);
  });
}

TEST_P(CommunicatorTest, SumsHostValuesAlike) {
  GetParam()(2, [](Communicator& group) {
    const double mine = group.rank() == 0 ? 0.1 : 0.2;
    EXPECT_EQ(SumOverMembers(group, {mine, 1}, torch::kCPU), (std::vector<double>{0.1 + 0.2, 2}));
  });
}

TEST_P(CommunicatorTest, EveryMemberGetsTheSameBits) {
  Tensor results[3];
  GetParam()(3, [&](Communicator& group) {
    auto generator = at::detail::createCPUGenerator(group.rank());
    const Tensor values = torch::randn({10007}, generator);
    group.AllReduce(values).Wait();
    results[group.rank()] = values;
  });
  EXPECT_TRUE(results[0].equal(results[1]));
  EXPECT_TRUE(results[0].equal(results[2]));
}

// Calls `wait` and expects the error for a lost peer, with `part` in the message.
void ExpectLoss(const std::function<void()>& wait, const std::string& part) {
  try {
    wait();
    ADD_FAILURE() << "The peer was not missed.";
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kPeerLost);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(GlooTest, LostPeerIsNamedWithTheOperation) {
  std::latch connected(2);
  RunRanks(2, [&connected](Communicator& group) {
    connected.arrive_and_wait();    // If the peer left earlier, connecting would fail.
    if (group.rank() == 1) return;  // Leaves without notice.
    const auto sum_twice = [&] {
      group.AllReduce(torch::zeros({1000})).Wait();
      group.AllReduce(torch::zeros({1000})).Wait();
    };
    ExpectLoss(sum_twice, "all-reduce of group test");
  });
}

TEST_P(CommunicatorTest, AnAbortEndsWhatWaitsForAMember) {
  std::latch connected(2), over(2);
  GetParam()(2, [&](Communicator& group) {
    connected.arrive_and_wait();  // If the abort came earlier, connecting would fail.
    if (group.rank() == 0) {
      Work work = group.AllReduce(torch::zeros({1000}));
      std::thread other([&group] { group.Abort(); });
      ExpectLoss([&] { work.Wait(); }, "all-reduce of group test");
      other.join();
      ExpectLoss([&] { group.Broadcast(torch::zeros({1}), 0).Wait(); }, "broadcast");
    }
    over.arrive_and_wait();  // The peer stays connected but does not take part.
  });
}

TEST(SingleProcessTest, GroupOfOneNeedsNoRendezvous) {
  const auto alone = ConnectGroup(nullptr, {"solo", {4}, 4}, torch::kCPU);
  Tensor values = torch::ones({3});
  alone->AllReduce(values, ReduceOp::kSum).Wait();
  Tensor gathered = torch::empty({3});
  alone->AllGather(gathered, values).Wait();
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

// The kernel still accepts connections to a stopped process.
TEST(RendezvousTest, StoppedRankZeroIsALostPeer) {
  // The port stays open until the process ends. If it were closed, the waiting thread that the test
  // leaves behind would throw.
  static const TakenPort& silent = *new TakenPort;
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
  // Rank 0 hosts the store, so its rendezvous must outlive those of the other ranks.
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

// After the error, the caller destroys the objects that the queued work uses. Therefore the work
// must not run.
TEST(GlooTest, WorkBehindALostPeerDoesNotRun) {
  RunRanks(2, [](Communicator& group) {
    if (group.rank() == 1) return;
    bool has_run = false;
    Work sum = group.AllReduce(torch::ones({4}));
    Work behind = group.Then([&] { has_run = true; });
    EXPECT_THROW(sum.Wait(), TrainerError);
    EXPECT_THROW(behind.Wait(), TrainerError);
    EXPECT_FALSE(has_run);
  });
}

}  // namespace
}  // namespace trainyard::trainer
