#include "trainer/parallel/peer_window.h"

#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <utility>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/device/cuda_event.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr size_t kTextBytes = 160;

// A text that all members exchange. A longer text is cut.
struct FixedText {
  char bytes[kTextBytes] = {};

  FixedText() = default;
  explicit FixedText(const std::string& text) {
    std::copy_n(text.data(), std::min(text.size(), kTextBytes - 1), bytes);
  }
  std::string Text() const { return bytes; }
};

// Returns the values of all members, in rank order.
template <typename Value>
std::vector<Value> GatherValues(Communicator& group, torch::Device device, const Value& value) {
  const auto size = static_cast<int64_t>(sizeof(Value));
  Tensor mine = torch::empty({size}, torch::kUInt8);
  std::memcpy(mine.data_ptr(), &value, sizeof(Value));
  const Tensor all = torch::empty({group.size() * size}, mine.options().device(device));
  group.AllGather(all, mine.to(device)).WaitOnHost();
  const Tensor host = all.cpu();
  std::vector<Value> values(group.size());
  std::memcpy(values.data(), host.data_ptr(), sizeof(Value) * values.size());
  return values;
}

// A number that no other process has. Process ids are not unique across containers.
uint64_t ProcessNumber() {
  static const uint64_t number = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }();
  return number;
}

// A text that is equal for all processes of one running kernel.
std::string HostName() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

// Memory of closed windows, at most one per device. After the loss of a peer, other processes may
// still map the memory and even copy to it until they also abort. CUDA does not permit the owner to
// free mapped memory. The next window of this process reuses the memory, when all members have
// ended their earlier copies.
class KeptMemory {
 public:
  static KeptMemory& Instance() {
    static KeptMemory* const kept = new KeptMemory;  // Never destroyed: CUDA ends before it.
    return *kept;
  }

  // Returns null if there is no memory of this size.
  char* Take(int device, int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = kept_.find(device);
    if (found == kept_.end() || found->second.bytes != bytes) return nullptr;
    char* const data = found->second.data;
    kept_.erase(found);
    return data;
  }

  // Returns the memory that was kept before, which the caller must free; null if there is none.
  char* Keep(int device, int64_t bytes, char* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(kept_[device], {bytes, data}).data;
  }

 private:
  struct Memory {
    int64_t bytes = 0;
    char* data = nullptr;
  };

  std::mutex mutex_;
  std::map<int, Memory> kept_;  // By device.
};

}  // namespace

// The description of a member's window.
struct PeerWindow::Offer {
  FixedText problem;
  FixedText host;
  FixedText flags_name;  // Set by the first member.
  uint64_t process = 0;
  cudaIpcMemHandle_t handle{};
};

WindowMemory::WindowMemory(torch::Device device, int64_t bytes) : device_(device), bytes_(bytes) {
  data_ = KeptMemory::Instance().Take(device.index(), bytes);
  if (data_ != nullptr) return;
  const c10::cuda::CUDAGuard guard(device_);
  void* data = nullptr;
  CheckCuda("cudaMalloc", cudaMalloc(&data, static_cast<size_t>(bytes)));
  data_ = static_cast<char*>(data);
}

WindowMemory::~WindowMemory() {
  char* const older = KeptMemory::Instance().Keep(device_.index(), bytes_, data_);
  if (older == nullptr) return;
  const c10::cuda::CUDAGuard guard(device_);
  static_cast<void>(cudaFree(older));  // A destructor cannot report an error.
}

std::string ProblemOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    cudaGetLastError();  // Clears the error; otherwise LibTorch reports it later.
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));  // Removes the backtrace that LibTorch appends.
  }
  return "";
}

bool AllSucceeded(Communicator& group, torch::Device device, std::string& here) {
  const std::vector<FixedText> problems = GatherValues(group, device, FixedText(here));
  for (const FixedText& problem : problems) {
    here = problem.Text();
    if (!here.empty()) return false;
  }
  return true;
}

std::unique_ptr<PeerWindow> PeerWindow::Open(Communicator& group, torch::Device device,
                                             const Size& size, std::string& why_not) {
  std::unique_ptr<PeerWindow> window(new PeerWindow);
  Offer offer;
  why_not = ProblemOf([&] { window->Prepare(group.rank() == 0, device, size, offer); });
  offer.problem = FixedText(why_not);
  const std::vector<Offer> offers = GatherValues(group, device, offer);
  for (const Offer& other : offers) {
    why_not = other.problem.Text();
    if (!why_not.empty()) return nullptr;
  }
  why_not = ProblemOf([&] { window->Map(offers, group.rank(), device, size); });
  const bool all_mapped = AllSucceeded(group, device, why_not);
  if (window->flags_ != nullptr) window->flags_->RemoveName();
  return all_mapped ? std::move(window) : nullptr;
}

void PeerWindow::Prepare(bool is_first, torch::Device device, const Size& size, Offer& offer) {
  memory_ = std::make_shared<WindowMemory>(device, size.bytes);
  offer.host = FixedText(HostName());
  offer.process = ProcessNumber();
  CheckCuda("cudaIpcGetMemHandle", cudaIpcGetMemHandle(&offer.handle, memory_->data()));
  if (!is_first) return;
  const std::string name = SharedFlags::NewName();
  flags_ = std::make_unique<SharedFlags>(name, size.flags, /*creates=*/true);
  offer.flags_name = FixedText(name);
}

// Threads of one process cannot use windows. A CUDA call of one thread may hold the lock of its
// device while it waits for a copy of another thread, which needs the same lock.
void PeerWindow::CheckCanMap(const Offer& own, const Offer& other) {
  if (other.host.Text() != own.host.Text()) {
    throw TrainerError(ExitCode::kInternal, "the ranks run on several hosts");
  }
  if (other.process == own.process) {
    throw TrainerError(ExitCode::kInternal, "the ranks are threads of one process");
  }
}

void PeerWindow::Map(const std::vector<Offer>& offers, int64_t rank, torch::Device device,
                     const Size& size) {
  const c10::cuda::CUDAGuard guard(device);
  for (int64_t member = 0; member < static_cast<int64_t>(offers.size()); ++member) {
    if (member == rank) {
      windows_.push_back(memory_->data());
    } else {
      CheckCanMap(offers[rank], offers[member]);
      MapMember(offers[member]);
    }
  }
  if (flags_ == nullptr) {
    flags_ = std::make_unique<SharedFlags>(offers.front().flags_name.Text(), size.flags,
                                           /*creates=*/false);
  }
  flags_->Register();
}

void PeerWindow::MapMember(const Offer& offer) {
  void* address = nullptr;
  CheckCuda("cudaIpcOpenMemHandle",
            cudaIpcOpenMemHandle(&address, offer.handle, cudaIpcMemLazyEnablePeerAccess));
  opened_.push_back(static_cast<char*>(address));
  windows_.push_back(opened_.back());
}

PeerWindow::~PeerWindow() {
  for (char* const address : opened_) static_cast<void>(cudaIpcCloseMemHandle(address));
}

}  // namespace trainyard::trainer
