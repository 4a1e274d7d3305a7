// Tests copies between GPUs. Every rank is a thread of this process with its own GPU.
// communicator_test.cpp tests ranks in separate processes.
#include "trainer/parallel/peer_exchange.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/trainer/parallel/run_ranks.h"
#include "trainer/config/trainer_error.h"
#include "trainer/parallel/device.h"

namespace trainyard::trainer {
namespace {

using std::chrono::seconds;
using torch::Tensor;

constexpr int64_t kSlotBytes = int64_t{16} << 20;

// The two groups of a rank.
struct Groups {
  Communicator& copies;
  Communicator& nccl;
  torch::Device device;
};

class PeerExchangeTest : public ::testing::TestWithParam<torch::ScalarType> {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  }

  // Calls `body` for every rank. Uses four GPUs if there are as many.
  static void OnGpus(const std::function<void(const Groups&)>& body) {
    const int64_t size = c10::cuda::device_count() < 4 ? 2 : 4, port = FreePort();
    RunThreads(size, [&](int64_t rank) {
      const torch::Device device = OpenDevice(DeviceKind::kGpu, rank);
      Rendezvous rendezvous(Environment(rank, size, port), seconds(60));
      CommunicatorGroup group = GroupOfAll(rank, size);
      group.name = "nccl";
      const auto nccl = ConnectGroup(&rendezvous, group, device);
      nccl->Open();
      group.name = "copies";
      group.copied_bytes = kSlotBytes;
      const auto copies = ConnectGroup(&rendezvous, group, device);
      copies->Open();
      EXPECT_EQ(copies->Transport(), "copies between the GPUs");
      body({*copies, *nccl, device});
      nccl->Barrier();  // No rank closes its groups before the others have ended.
    });
  }

  // Returns numbers that depend on the rank and on `seed`. Sums of them are rounded.
  static Tensor Numbers(const Groups& groups, at::IntArrayRef shape, int64_t seed) {
    const auto generator = at::detail::createCPUGenerator(100 * seed + groups.copies.rank());
    return torch::randn(shape, generator).to(GetParam()).to(groups.device);
  }
};

INSTANTIATE_TEST_SUITE_P(Types, PeerExchangeTest,
                         ::testing::Values(torch::kBFloat16, torch::kFloat32),
                         [](const auto& info) { return std::string(c10::toString(info.param)); });

// Odd sizes, and more rounds than slots, so that slots are used again while earlier copies may be
// in transit.
TEST_P(PeerExchangeTest, GathersLikeNccl) {
  OnGpus([](const Groups& groups) {
    const int64_t size = groups.copies.size();
    int64_t seed = 0;
    for (const int64_t width : {1, 3, 1023, 65537}) {
      for (int64_t round = 0; round < 5; ++round) {
        const Tensor own = Numbers(groups, {7, width}, ++seed);
        const Tensor all = groups.copies.EmptyForGather({7 * size, width}, own.options());
        const Tensor expected = torch::empty({7 * size, width}, own.options());
        Work gather = groups.copies.AllGather(all, own);
        groups.nccl.AllGather(expected, own).Wait();
        for (const int64_t member : ReceiveOrder(size, groups.copies.rank())) {
          gather.WaitForPart(member);
          EXPECT_TRUE(all.narrow(0, 7 * member, 7).equal(expected.narrow(0, 7 * member, 7)));
        }
        gather.Wait();
        EXPECT_TRUE(all.equal(expected)) << "width " << width << ", round " << round;
      }
    }
  });
}

// With two ranks, both sums round once. With more, NCCL may round after each addition.
TEST_P(PeerExchangeTest, SumsLikeNccl) {
  OnGpus([](const Groups& groups) {
    const int64_t size = groups.copies.size();
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
        Work work = groups.copies.ReduceScatter(sum, input, {1 + round % 2, compute});
        groups.nccl.ReduceScatter(expected, numbers.clone()).Wait();
        work.Wait();
        EXPECT_TRUE(size > 2 || sum.equal(expected)) << "width " << width;
        EXPECT_LT((sum - expected).abs().max().item<float>(), 0.1F);
      }
    }
  });
}

// Exchanges that find no free slot, or do not fit, use NCCL.
TEST_P(PeerExchangeTest, MoreExchangesThanSlotsMayBeUnderWay) {
  OnGpus([](const Groups& groups) {
    const int64_t size = groups.copies.size(), rank = groups.copies.rank();
    std::vector<Tensor> sums;
    std::vector<Work> works;
    for (int64_t i = 0; i < 2 * kExchangeSlots; ++i) {
      const Tensor input = torch::full({size, 1000}, rank + i, torch::device(groups.device));
      sums.push_back(torch::empty({1, 1000}, input.options()));
      works.push_back(groups.copies.ReduceScatter(sums.back(), input));
    }
    for (int64_t i = 0; i < 2 * kExchangeSlots; ++i) {
      works[i].WaitOnHost();
      EXPECT_TRUE(sums[i].eq(size * i + size * (size - 1) / 2).all().item<bool>()) << i;
    }
    const int64_t elements = kSlotBytes / 4;  // Per rank, so that all ranks' parts do not fit.
    const auto options = torch::dtype(torch::kFloat32).device(groups.device);
    const Tensor large = groups.copies.EmptyForGather({size, elements}, options);
    groups.copies.AllGather(large, torch::full({1, elements}, rank, options)).Wait();
    EXPECT_TRUE(large.select(1, elements - 1).equal(torch::arange(size, options)));
  });
}

// A slot stays in use while its tensor exists, also beyond the group.
TEST_P(PeerExchangeTest, AGatheredTensorMayOutliveItsGroup) {
  std::vector<Tensor> kept(c10::cuda::device_count());
  OnGpus([&](const Groups& groups) {
    const int64_t size = groups.copies.size(), rank = groups.copies.rank();
    const auto options = torch::dtype(torch::kFloat32).device(groups.device);
    kept[rank] = groups.copies.EmptyForGather({size, 5}, options);
    groups.copies.AllGather(kept[rank], torch::full({1, 5}, rank, options)).WaitOnHost();
    const Tensor other = groups.copies.EmptyForGather({size, 5}, options);
    groups.copies.AllGather(other, torch::full({1, 5}, rank + 10, options)).WaitOnHost();
    EXPECT_NE(other.data_ptr(), kept[rank].data_ptr());
  });
  EXPECT_EQ(kept[0].select(0, 1).sum().item<float>(), 5);
}

// Rank 0 begins exchanges in which the other ranks do not take part. An abort must end its waits on
// the device and on the host.
TEST_P(PeerExchangeTest, AnAbortEndsTheWaitsOfTheDevice) {
  OnGpus([](const Groups& groups) {
    if (groups.copies.rank() != 0) return;
    const int64_t size = groups.copies.size();
    const auto options = torch::dtype(torch::kFloat32).device(groups.device);
    const Tensor all = groups.copies.EmptyForGather({size, 1000}, options);
    Work gather = groups.copies.AllGather(all, torch::ones({1, 1000}, options));
    const Tensor sum = torch::empty({1, 1000}, options);
    Work addition = groups.copies.ReduceScatter(sum, torch::ones({size, 1000}, options));
    addition.Wait();  // The device's main stream waits, too.
    std::thread aborting([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      groups.copies.Abort();
    });
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(gather.WaitOnHost(), TrainerError);
    c10::cuda::device_synchronize();
    EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
    aborting.join();
  });
}

}  // namespace
}  // namespace trainyard::trainer
