#include "trainer/parallel/nccl_support.h"

#include <cuda_runtime_api.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/device/cuda_event.h"
#include "trainer/threads/run_within.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Passes the id from the first member to the others through the store: the first member writes it,
// the others read it.
void PassId(c10d::Store& store, bool first, ncclUniqueId& id) {
  if (first) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&id);
    store.set("nccl_id", std::vector<uint8_t>(bytes, bytes + sizeof(id)));
    return;
  }
  const std::vector<uint8_t> bytes = store.get("nccl_id");
  if (bytes.size() != sizeof(id)) {
    throw std::runtime_error("the NCCL id has " + std::to_string(bytes.size()) +
                             " bytes instead of " + std::to_string(sizeof(id)) +
                             "; check that all nodes have the same version of NCCL");
  }
  std::memcpy(&id, bytes.data(), sizeof(id));
}

}  // namespace

std::string SecondsText(std::chrono::seconds time) { return std::to_string(time.count()) + " s"; }

std::string NcclText(ncclResult_t result) {
  const std::string detail = ncclGetLastError(nullptr);
  return ncclGetErrorString(result) + (detail.empty() ? "" : ": " + detail);
}

void CheckNccl(const char* operation, ncclResult_t result) {
  if (result == ncclSuccess) return;
  throw TrainerError(ExitCode::kInternal,
                     std::string(operation) + " failed: " + NcclText(result) + ".");
}

bool IsOwnFault(ncclResult_t result) {
  return result == ncclInvalidArgument || result == ncclInvalidUsage ||
         result == ncclUnhandledCudaError;
}

ncclRedOp_t NcclOp(ReduceOp op) { return op == ReduceOp::kSum ? ncclSum : ncclMax; }

ncclDataType_t NcclType(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kFloat32:
      return ncclFloat32;
    case torch::kFloat64:
      return ncclFloat64;
    case torch::kBFloat16:
      return ncclBfloat16;
    case torch::kFloat16:
      return ncclFloat16;
    case torch::kInt64:
      return ncclInt64;
    case torch::kInt32:
      return ncclInt32;
    default:
      throw TrainerError(ExitCode::kInternal, std::string("Numbers of type ") +
                                                  c10::toString(tensor.scalar_type()) +
                                                  " cannot be summed across ranks.");
  }
}

// A group of this process alone loads NCCL's kernels and finds the host's topology.
void WarmCommunication(torch::Device device) {
  CheckCuda("cudaSetDevice", cudaSetDevice(device.index()));
  ncclUniqueId id;
  CheckNccl("ncclGetUniqueId", ncclGetUniqueId(&id));
  ncclComm_t alone = nullptr;
  CheckNccl("ncclCommInitRank", ncclCommInitRank(&alone, 1, id, 0));
  CheckNccl("ncclCommDestroy", ncclCommDestroy(alone));
}

std::string CommunicationLibrary() {
  int version = 0;
  CheckNccl("ncclGetVersion", ncclGetVersion(&version));
  // Since NCCL 2.9, the version number is 10000 * major + 100 * minor + patch.
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

ncclUniqueId ShareUniqueId(const Rendezvous& rendezvous, const CommunicatorGroup& group) {
  const c10::intrusive_ptr<c10d::Store> store = rendezvous.StoreOf(group.name);
  const bool first = group.Position() == 0;
  const auto id = std::make_shared<ncclUniqueId>();
  if (first) CheckNccl("ncclGetUniqueId", ncclGetUniqueId(id.get()));
  std::string problem = "no NCCL id arrived within " + SecondsText(group.limits.connect) + ".";
  try {
    const bool shared =
        RunWithin(group.limits.connect, [store, id, first] { PassId(*store, first, *id); });
    if (shared) return *id;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    problem = text.substr(0, text.find('\n'));  // Removes the backtrace that LibTorch appends.
  }
  throw TrainerError(ExitCode::kPeerLost,
                     "Lost a peer in connect of group " + group.name + ": " + problem);
}

}  // namespace trainyard::trainer
