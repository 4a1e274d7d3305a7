// Tests two processes, each with its own GPU. One process is stopped or killed. The other process
// must detect this within its limit and exit.
#include "trainer/parallel/communicator.h"

#include <ATen/cuda/Sleep.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>
#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <string>
#include <thread>

#include "tests/trainer/gpu/member_process.h"
#include "tests/trainer/parallel/free_port.h"
#include "trainer/config/trainer_error.h"
#include "trainer/parallel/device/device.h"
#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;
using torch::Tensor;

constexpr seconds kLimit{10};  // Limit of the wait in which a peer is lost.
constexpr seconds kMargin{5};
constexpr seconds kStart{120};  // Limit of other waits. Loading CUDA is slow on some machines.
constexpr char kTest[] = "GpuPeerMember.DISABLED_Run";

// One of the two processes, and the scenario that it runs after connecting to its peer.
struct Member {
  int64_t rank = 0;
  std::string scenario;

  // Stops or kills this member if the scenario says so for this point. Waits 2 s first, so that the
  // peer is already waiting for this member. During these 2 s, the peer may still need answers from
  // this member's store.
  void PassPoint(const std::string& point) const {
    const std::string here = point + " rank" + std::to_string(rank);
    if (scenario != "stop " + here && scenario != "kill " + here) return;
    std::this_thread::sleep_for(seconds(2));
    raise(scenario == "stop " + here ? SIGSTOP : SIGKILL);
  }
};

PeerLimits LimitsOf(const std::string& scenario) {
  const bool in_connect = scenario.find("connect") != std::string::npos;
  return {.connect = in_connect ? kLimit : kStart, .operation = kLimit};
}

// Calls `wait` and expects that it throws kPeerLost in time. The device must then be idle, because
// unwinding frees device memory.
void ExpectLoss(const std::function<void()>& wait) {
  const Clock::time_point start = Clock::now();
  try {
    wait();
    ADD_FAILURE() << "The peer was not missed.";
  } catch (const TrainerError& error) {
    std::cerr << "member: " << error.what() << std::endl;
    EXPECT_EQ(error.code(), ExitCode::kPeerLost) << error.what();
  }
  EXPECT_LT(Clock::now() - start, kLimit + kMargin);
  c10::cuda::device_synchronize();
  EXPECT_LT(Clock::now() - start, kLimit + 2 * kMargin);
}

void AddUp(Communicator& communicator, Tensor& values) {
  communicator.AllReduce(values).WaitOnHost();
}

// Launches more operations than a device queue can hold. The first operation never ends.
void FillQueue(Communicator& communicator, Tensor& values) {
  Work sum = communicator.AllReduce(values);
  sum.Wait();
  for (int i = 0; i < 200000; ++i) values.add_(1);
  communicator.Barrier();
}

// Each member's device is busy for longer than the operation limit before it starts the operation.
// The limit must not include this time.
void WorkForLong(Communicator& communicator, torch::Device device) {
  constexpr int64_t kCyclesPerSecond = 2'000'000'000;
  Tensor sum = torch::ones({1}, torch::device(device));
  const Clock::time_point start = Clock::now();
  at::cuda::sleep((kLimit + kMargin).count() * kCyclesPerSecond);
  communicator.AllReduce(sum).WaitOnHost();
  EXPECT_GT(Clock::now() - start, kLimit);
  EXPECT_EQ(sum.item<float>(), 2);
}

void CheckSums(Communicator& communicator, torch::Device device) {
  const double mine = static_cast<double>(communicator.rank()) + 1;
  EXPECT_EQ(SumOverMembers(communicator, {mine, 1}, device), (std::vector<double>{3, 2}));
  // 16-bit integers, the type of the low bits of master weights. NCCL does not support this type.
  const auto rest = torch::device(device).dtype(torch::kInt16);
  const Tensor gathered = torch::empty({4}, rest);
  communicator.AllGather(gathered, torch::full({2}, communicator.rank() + 1, rest)).Wait();
  EXPECT_TRUE(gathered.cpu().equal(torch::tensor({1, 1, 2, 2}, torch::kInt16)));
  // This all-reduce runs concurrently with the current stream, while the host waits for other
  // operations.
  Tensor gradients = torch::ones({1 << 20}, torch::device(device));
  for (int round = 0; round < 20; ++round) {
    Work sum = communicator.AllReduce(gradients);
    EXPECT_EQ(SumOverMembers(communicator, {mine}, device), (std::vector<double>{3}));
    sum.Wait();
    gradients.mul_(0.5);
  }
  communicator.Barrier();
  EXPECT_TRUE(gradients.eq(1).all().item<bool>());
}

constexpr int64_t kCopiedBytes = int64_t{1} << 20;

// Exchanges numbers by copies between the GPUs, several times through the same memory.
void ExchangeByCopies(Communicator& communicator, torch::Device device) {
  const int64_t me = communicator.rank();
  const auto options = torch::device(device).dtype(torch::kFloat32);
  for (int64_t round = 0; round < 10; ++round) {
    const Tensor all = communicator.EmptyForGather({2, 1000}, options);
    communicator.AllGather(all, torch::full({1, 1000}, 10 * round + me, options)).WaitOnHost();
    const Tensor sum = torch::empty({1, 1000}, options);
    communicator.ReduceScatter(sum, torch::full({2, 1000}, round + me, options)).WaitOnHost();
    EXPECT_TRUE(all[1 - me].eq(10 * round + 1 - me).all().item<bool>()) << round;
    EXPECT_TRUE(sum.eq(2 * round + 1).all().item<bool>()) << round;
  }
}

void RunMember(const Member& member, int64_t port) {
  const torch::Device device = OpenDevice(DeviceKind::kGpu, member.rank);
  Tensor values = torch::ones({1 << 20}, torch::device(device));
  RuntimeEnvironment env;
  env.rank = member.rank;
  env.world_size = 2;
  env.master_port = port;
  Rendezvous rendezvous(env, kStart);
  member.PassPoint("connect");
  const CommunicatorGroup group{.name = "test",
                                .ranks = {0, 1},
                                .my_rank = member.rank,
                                .limits = LimitsOf(member.scenario),
                                .copied_bytes = kCopiedBytes};
  std::unique_ptr<Communicator> communicator;
  const auto connect = [&] { communicator = ConnectGroup(&rendezvous, group, device); };
  if (member.scenario.find("connect") != std::string::npos) return ExpectLoss(connect);
  connect();
  member.PassPoint("first");
  if (member.scenario.find("first") != std::string::npos) {
    return ExpectLoss([&] { AddUp(*communicator, values); });
  }
  CheckSums(*communicator, device);
  EXPECT_EQ(communicator->Transport(), "copies between the GPUs");
  ExchangeByCopies(*communicator, device);
  if (member.scenario == "none") return;
  if (member.scenario == "long") return WorkForLong(*communicator, device);
  member.PassPoint("copies");
  if (member.scenario.find("copies") != std::string::npos) {
    return ExpectLoss([&] { ExchangeByCopies(*communicator, device); });
  }
  member.PassPoint("later");
  member.PassPoint("queue");
  if (member.scenario.find("queue") != std::string::npos) FillQueue(*communicator, values);
  ExpectLoss([&] { AddUp(*communicator, values); });
}

// Not a separate test. It runs in the processes that the tests below start.
TEST(GpuPeerMember, DISABLED_Run) {
  const MemberSettings settings = MemberSettings::OfThisProcess();
  RunMember({settings.rank, settings.scenario}, settings.port);
}

class GpuPeerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  }

  static void ExpectSuccessOfBoth(const std::string& scenario) {
    const int64_t port = FreePort();
    MemberProcess first(kTest, {0, port, scenario}), second(kTest, {1, port, scenario});
    EXPECT_EQ(first.Wait(), 0);
    EXPECT_EQ(second.Wait(), 0);
  }

  // Runs both members and returns the exit code of the survivor.
  static int ExitOfSurvivor(int64_t lost, const std::string& what) {
    const std::string scenario = what + " rank" + std::to_string(lost);
    const int64_t port = FreePort();
    MemberProcess victim(kTest, {lost, port, scenario});
    return MemberProcess(kTest, {1 - lost, port, scenario}).Wait();
  }
};

TEST_F(GpuPeerTest, TwoMembersAgreeOnBothStreams) { ExpectSuccessOfBoth("none"); }

TEST_F(GpuPeerTest, OwnWorkBeforeAnOperationMayTakeLongerThanItsLimit) {
  ExpectSuccessOfBoth("long");
}

TEST_F(GpuPeerTest, StoppedBeforeItConnects) {
  EXPECT_EQ(ExitOfSurvivor(1, "stop connect"), 0);
  EXPECT_EQ(ExitOfSurvivor(0, "stop connect"), 0);  // Member 0 also hosts the store.
}

TEST_F(GpuPeerTest, KilledBeforeItConnects) {
  EXPECT_EQ(ExitOfSurvivor(1, "kill connect"), 0);
  EXPECT_EQ(ExitOfSurvivor(0, "kill connect"), 0);
}

TEST_F(GpuPeerTest, StoppedBeforeTheFirstOperation) {
  EXPECT_EQ(ExitOfSurvivor(1, "stop first"), 0);
}

TEST_F(GpuPeerTest, StoppedBeforeALaterOperation) { EXPECT_EQ(ExitOfSurvivor(1, "stop later"), 0); }

TEST_F(GpuPeerTest, KilledBeforeALaterOperation) { EXPECT_EQ(ExitOfSurvivor(1, "kill later"), 0); }

TEST_F(GpuPeerTest, StoppedOrKilledBeforeACopy) {
  EXPECT_EQ(ExitOfSurvivor(1, "stop copies"), 0);
  EXPECT_EQ(ExitOfSurvivor(0, "kill copies"), 0);
}

TEST_F(GpuPeerTest, LostWhileTheQueueOfTheDeviceIsFull) {
  EXPECT_EQ(ExitOfSurvivor(1, "stop queue"), 69);
}

}  // namespace
}  // namespace trainyard::trainer
