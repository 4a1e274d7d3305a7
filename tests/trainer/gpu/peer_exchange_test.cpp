// Tests copies between GPUs. Every rank is a process with its own GPU.
#include "trainer/parallel/peer_exchange.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/trainer/gpu/member_process.h"
#include "tests/trainer/parallel/run_ranks.h"
#include "trainer/config/trainer_error.h"
#include "trainer/parallel/device/device.h"

namespace trainyard::trainer {
namespace {

using std::chrono::seconds;
using torch::Tensor;

constexpr int64_t kSlotBytes = int64_t{16} << 20;
constexpr char kTest[] = "PeerExchangeMember.DISABLED_Run";

// Four processes if there are enough GPUs.
int64_t Ranks() { return c10::cuda::device_count() < 4 ? 2 : 4; }

// The two groups of a rank.
struct Groups {
  std::unique_ptr<Communicator>& copies;
  Communicator& nccl;
  torch::Device device;
  torch::ScalarType type;
};

// Returns numbers that depend on the rank and on `seed`. Sums of them are rounded.
Tensor Numbers(const Groups& groups, at::IntArrayRef shape, int64_t seed) {
  const auto generator = at::detail::createCPUGenerator(100 * seed + groups.copies->rank());
  return torch::randn(shape, generator).to(groups.type).to(groups.device);
}

// Odd sizes, and more rounds than slots, so that slots are used again while earlier copies may be
// in transit.
void GatherLikeNccl(const Groups& groups) {
  const int64_t size = groups.copies->size();
  int64_t seed = 0;
  for (const int64_t width : {1, 3, 1023, 65537}) {
    for (int64_t round = 0; round < 5; ++round) {
      const Tensor own = Numbers(groups, {7, width}, ++seed);
      const Tensor all = groups.copies->EmptyForGather({7 * size, width}, own.options());
      const Tensor expected = torch::empty({7 * size, width}, own.options());
      Work gather = groups.copies->AllGather(all, own);
      groups.nccl.AllGather(expected, own).Wait();
      for (const int64_t member : ReceiveOrder(size, groups.copies->rank())) {
        gather.WaitForPart(member);
        EXPECT_TRUE(all.narrow(0, 7 * member, 7).equal(expected.narrow(0, 7 * member, 7)));
      }
      gather.Wait();
      EXPECT_TRUE(all.equal(expected)) << "width " << width << ", round " << round;
    }
  }
}

// With two ranks, both sums round once. With more, NCCL may round after each addition.
void SumLikeNccl(const Groups& groups) {
  const int64_t size = groups.copies->size();
  int64_t seed = 0;
  for (const int64_t width : {1, 3, 1023, 65537}) {
    for (int64_t round = 0; round < 5; ++round) {
      const Tensor numbers = Numbers(groups, {6 * size, width}, ++seed);
      const Tensor input = torch::empty_like(numbers);
      const Tensor sum = torch::empty({6, width}, numbers.options());
      const Tensor expected = torch::empty_like(sum);
      const auto compute = [&](int64_t first, int64_t count) {
        input.narrow(0, first, count).copy_(numbers.narrow(0, first, count));
      };
      Work work = groups.copies->ReduceScatter(sum, input, {1 + round % 2, compute});
      groups.nccl.ReduceScatter(expected, numbers.clone()).Wait();
      work.Wait();
      EXPECT_TRUE(size > 2 || sum.equal(expected)) << "width " << width;
      EXPECT_LT((sum - expected).abs().max().item<float>(), 0.1F);
    }
  }
}

// Exchanges that find no free slot, or do not fit, use NCCL.
void ExceedSlots(const Groups& groups) {
  const int64_t size = groups.copies->size(), rank = groups.copies->rank();
  const auto options = torch::dtype(torch::kFloat32).device(groups.device);
  std::vector<Tensor> sums;
  std::vector<Work> works;
  for (int64_t i = 0; i < 2 * kExchangeSlots; ++i) {
    const Tensor input = torch::full({size, 1000}, rank + i, options);
    sums.push_back(torch::empty({1, 1000}, options));
    works.push_back(groups.copies->ReduceScatter(sums.back(), input));
  }
  for (int64_t i = 0; i < 2 * kExchangeSlots; ++i) {
    works[i].WaitOnHost();
    EXPECT_TRUE(sums[i].eq(size * i + size * (size - 1) / 2).all().item<bool>()) << i;
  }
  const int64_t elements = kSlotBytes / 4;  // Per rank, so that all ranks' parts do not fit.
  const Tensor large = groups.copies->EmptyForGather({size, elements}, options);
  groups.copies->AllGather(large, torch::full({1, elements}, rank, options)).Wait();
  EXPECT_TRUE(large.select(1, elements - 1).equal(torch::arange(size, options)));
}

// A slot stays in use while its tensor exists, also beyond the group.
void OutliveGroup(const Groups& groups) {
  const int64_t size = groups.copies->size(), rank = groups.copies->rank();
  const auto options = torch::dtype(torch::kFloat32).device(groups.device);
  const auto gather = [&](int64_t number) {
    const Tensor all = groups.copies->EmptyForGather({size, 5}, options);
    groups.copies->AllGather(all, torch::full({1, 5}, number, options)).WaitOnHost();
    return all;
  };
  const Tensor kept = gather(rank), other = gather(rank + 10);
  EXPECT_NE(other.data_ptr(), kept.data_ptr());
  groups.nccl.Barrier();
  groups.copies.reset();
  EXPECT_TRUE(kept.select(1, 4).equal(torch::arange(size, options)));
  EXPECT_TRUE(other.select(1, 4).equal(torch::arange(10, 10 + size, options)));
}

// Rank 0 begins exchanges in which the other ranks do not take part. An abort must end its waits on
// the device and on the host.
void EndByAbort(const Groups& groups) {
  if (groups.copies->rank() != 0) return;
  const int64_t size = groups.copies->size();
  const auto options = torch::dtype(torch::kFloat32).device(groups.device);
  const Tensor all = groups.copies->EmptyForGather({size, 1000}, options);
  Work gather = groups.copies->AllGather(all, torch::ones({1, 1000}, options));
  const Tensor sum = torch::empty({1, 1000}, options);
  Work addition = groups.copies->ReduceScatter(sum, torch::ones({size, 1000}, options));
  addition.Wait();  // The device's main stream waits, too.
  std::thread aborting([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    groups.copies->Abort();
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(gather.WaitOnHost(), TrainerError);
  c10::cuda::device_synchronize();
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
  aborting.join();
}

using Scenario = void (*)(const Groups&);

const std::map<std::string, Scenario>& Scenarios() {
  static const std::map<std::string, Scenario> scenarios = {{"gather", &GatherLikeNccl},
                                                            {"sum", &SumLikeNccl},
                                                            {"slots", &ExceedSlots},
                                                            {"outlive", &OutliveGroup},
                                                            {"abort", &EndByAbort}};
  return scenarios;
}

// Connects new groups for every type, and runs the scenario.
void RunMember(const MemberSettings& settings) {
  const int64_t size = Ranks();
  const torch::Device device = OpenDevice(DeviceKind::kGpu, settings.rank);
  Rendezvous rendezvous(Environment(settings.rank, size, settings.port), seconds(120));
  for (const auto type : {torch::kBFloat16, torch::kFloat32}) {
    CommunicatorGroup group = GroupOfAll(settings.rank, size);
    group.name = std::string("nccl") + c10::toString(type);
    const auto nccl = ConnectGroup(&rendezvous, group, device);
    nccl->Open();
    group.name = std::string("copies") + c10::toString(type);
    group.copied_bytes = kSlotBytes;
    auto copies = ConnectGroup(&rendezvous, group, device);
    copies->Open();
    EXPECT_EQ(copies->Transport(), "copies between the GPUs");
    Scenarios().at(settings.scenario)({copies, *nccl, device, type});
    nccl->Barrier();  // No rank closes its groups before the others have ended.
  }
}

// Not a separate test. It runs in the processes that the tests below start.
TEST(PeerExchangeMember, DISABLED_Run) { RunMember(MemberSettings::OfThisProcess()); }

class PeerExchangeTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PeerExchangeTest, Succeeds) {
  if (c10::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const int64_t port = FreePort();
  std::vector<std::unique_ptr<MemberProcess>> members;
  for (int64_t rank = 0; rank < Ranks(); ++rank) {
    members.push_back(
        std::make_unique<MemberProcess>(kTest, MemberSettings{rank, port, GetParam()}));
  }
  for (const auto& member : members) EXPECT_EQ(member->Wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, PeerExchangeTest,
                         ::testing::Values("gather", "sum", "slots", "outlive", "abort"),
                         [](const auto& info) { return info.param; });

// The ranks of a process use NCCL, because CUDA calls of one thread may block those of another.
TEST(PeerExchangeThreadsTest, UseNccl) {
  if (c10::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const int64_t port = FreePort();
  RunThreads(2, [&](int64_t rank) {
    const torch::Device device = OpenDevice(DeviceKind::kGpu, rank);
    Rendezvous rendezvous(Environment(rank, 2, port), seconds(60));
    CommunicatorGroup group = GroupOfAll(rank, 2);
    group.copied_bytes = kSlotBytes;
    const auto communicator = ConnectGroup(&rendezvous, group, device);
    communicator->Open();
    EXPECT_EQ(communicator->Transport(), "NCCL, because the ranks are threads of one process");
    communicator->Barrier();
  });
}

}  // namespace
}  // namespace trainyard::trainer
