#include "trainer/start/start_check.h"

#include <c10/core/DeviceGuard.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/exit_code.h"
#include "trainer/config/trainer_error.h"
#include "trainer/threads/parallel_tasks.h"

namespace trainyard::trainer {
namespace {

// The host computes one tile of the product. The device computes kTiles x kTiles copies of this
// tile, so that all of its multiprocessors take part. Factors are from -2 to 2, so a sum of 64
// products is at most 256, which bfloat16 represents exactly.
constexpr int64_t kTile = 64;
constexpr int64_t kTiles = 16;

// Number of elements that each group sums: 256 KiB.
constexpr int64_t kElements = int64_t{1} << 16;

// Returns a matrix [kTile, kTile] of integers from -2 to 2.
torch::Tensor Factors(int64_t stride) {
  return torch::arange(kTile * kTile, torch::kInt64)
      .mul(stride)
      .remainder(5)
      .sub(2)
      .view({kTile, kTile});
}

void CheckProduct(torch::Device device, torch::Dtype type, const MultiplyFunction& multiply) {
  const torch::Tensor a = Factors(7), b = Factors(11);
  const torch::Tensor expected = a.mm(b).repeat({kTiles, kTiles}).to(torch::kFloat64);
  const auto options = torch::device(device).dtype(type);
  const torch::Tensor product =
      multiply(a.repeat({kTiles, 1}).to(options), b.repeat({1, kTiles}).to(options));
  const auto wrong = product.to(torch::kCPU, torch::kFloat64).ne(expected).sum().item<int64_t>();
  if (wrong == 0) return;
  throw TrainerError(ExitCode::kDeviceFault,
                     "device " + device.str() + " computes wrong results: " +
                         std::to_string(wrong) + " of " + std::to_string(expected.numel()) +
                         " elements of a matrix product of type " + torch::toString(type) +
                         " are wrong; take the device out of service and check its hardware");
}

std::string Ranks(const Communicator& group) {
  return std::to_string(group.ranks().front()) + " to " + std::to_string(group.ranks().back());
}

// Throws unless `values` equals `expected`. operation: such as "an all-reduce".
void CheckValues(const torch::Tensor& values, const torch::Tensor& expected,
                 const Communicator& group, const std::string& operation,
                 Interruption* interruption) {
  const auto wrong = values.ne(expected).sum().item<int64_t>();
  if (wrong == 0) return;
  if (interruption != nullptr) interruption->CheckAfterWait();
  throw TrainerError(ExitCode::kTryAgain,
                     operation + " of group " + group.name() + " (ranks " + Ranks(group) +
                         ") returned wrong values for " + std::to_string(wrong) + " of " +
                         std::to_string(values.numel()) +
                         " elements, so a link or a device of these ranks corrupts data");
}

// Sums known numbers over the group.
void CheckSum(Communicator& group, torch::Device device, Interruption* interruption) {
  const torch::Tensor values = torch::full({kElements}, static_cast<double>(group.rank() + 1),
                                           torch::device(device).dtype(torch::kFloat32));
  group.AllReduce(values).WaitOnHost();
  const int64_t members = group.size();
  const auto expected = static_cast<double>(members * (members + 1) / 2);
  CheckValues(values, torch::full_like(values, expected), group, "an all-reduce", interruption);
}

// Sends known numbers from every member to every member.
void CheckTransfers(Communicator& group, torch::Device device, Interruption* interruption) {
  const int64_t members = group.size();
  const auto places =
      torch::arange(members, torch::device(device).dtype(torch::kFloat32)).view({members, 1});
  const torch::Tensor sent =
      (places + group.rank() * members).expand({members, kElements}).contiguous();
  const torch::Tensor expected = (places * members + group.rank()).expand({members, kElements});
  const torch::Tensor received = torch::zeros_like(sent);
  const std::vector<int64_t> rows(static_cast<size_t>(members), 1);
  group.AllToAll(received, sent, rows, rows).WaitOnHost();
  CheckValues(received, expected, group, "an all-to-all", interruption);
}

}  // namespace

void CheckDevice(torch::Device device) {
  CheckDevice(device, [](const torch::Tensor& a, const torch::Tensor& b) { return a.mm(b); });
}

void CheckDevice(torch::Device device, const MultiplyFunction& multiply) {
  CheckProduct(device, torch::kFloat32, multiply);
  if (device.is_cuda()) CheckProduct(device, torch::kBFloat16, multiply);
}

void CheckGroups(const RankGroups& groups, torch::Device device, Interruption* interruption) {
  std::vector<Communicator*> checked;
  // Links between stages are not tested, because they compute no sums and a test would take device
  // memory.
  for (Communicator* group :
       {groups.world.get(), groups.tensor.get(), groups.context.get(), groups.shard.get(),
        groups.replica.get(), groups.expert.get(), groups.expert_shard.get(),
        groups.expert_replica.get(), groups.tied_embedding.get(), groups.snapshots.get()}) {
    if (group != nullptr && group->size() > 1) checked.push_back(group);
  }
  // At its first sum, NCCL opens the connections of a group and blocks the calling thread for about
  // 0.1 s. Therefore each group has a thread. The first transfer opens further connections.
  ParallelTasks(checked.size(), checked.size(), [&](size_t, size_t task) {
    const c10::DeviceGuard guard(device);
    Communicator& group = *checked[task];
    CheckSum(group, device, interruption);
    const bool transfers = &group == groups.expert.get() || &group == groups.context.get();
    if (transfers) CheckTransfers(group, device, interruption);
  });
}

}  // namespace trainyard::trainer
