#include "trainer/parallel/peer_exchange.h"

#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <functional>
#include <system_error>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;
using torch::Tensor;

// Slots begin at multiples of this size, because vector loads of products need aligned rows.
constexpr int64_t kAlignment = 512;

// A released wait must not begin again when another member still raises the counter. Its copies end
// within milliseconds. Until then, the release is repeated.
constexpr std::chrono::milliseconds kReleaseInterval{1};

// The time limit for the streams to become idle after a release, and for the test of the copies.
constexpr std::chrono::seconds kIdleLimit{10};
constexpr std::chrono::seconds kTestLimit{10};

// A value that satisfies the waits for the next 2^30 uses.
constexpr uint32_t kReleased = uint32_t{1} << 30;

// The largest number of parts that one kernel adds (ops/sum_parts.h).
constexpr int64_t kMostMembers = 8;

int64_t RoundUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void Copy(void* to, const void* from, int64_t bytes, const c10::cuda::CUDAStream& stream) {
  CheckCuda("cudaMemcpyAsync", cudaMemcpyAsync(to, from, static_cast<size_t>(bytes),
                                               cudaMemcpyDeviceToDevice, stream.stream()));
}

bool WaitUntil(const std::function<bool()>& done, std::chrono::seconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  while (!done()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(kReleaseInterval);
  }
  return true;
}

}  // namespace

std::unique_ptr<PeerExchange> PeerExchange::Connect(Communicator& group,
                                                    c10::cuda::CUDAStream stream,
                                                    int64_t slot_bytes, std::string& why_not) {
  if (group.size() > kMostMembers) {
    why_not = "the group has more than " + std::to_string(kMostMembers) + " ranks";
    return nullptr;
  }
  const int64_t bytes = RoundUp(slot_bytes);
  const PeerWindow::Size size{kExchangeSlots * bytes,
                              2 * kExchangeSlots * group.size() * group.size()};
  std::unique_ptr<PeerWindow> window = PeerWindow::Open(group, stream.device(), size, why_not);
  if (window == nullptr) return nullptr;
  std::unique_ptr<PeerExchange> exchange;
  why_not = ProblemOf([&] {
    exchange.reset(new PeerExchange(group, stream, bytes, std::move(window)));
    exchange->Test();
  });
  if (!AllSucceeded(group, stream.device(), why_not)) return nullptr;
  return exchange;
}

PeerExchange::PeerExchange(const Communicator& group, c10::cuda::CUDAStream stream,
                           int64_t slot_bytes, std::unique_ptr<PeerWindow> window)
    : size_(group.size()),
      rank_(group.rank()),
      stream_(stream),
      own_copies_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, stream.device_index())),
      slot_bytes_(slot_bytes),
      window_(std::move(window)) {}

PeerExchange::~PeerExchange() {
  Release();
  const c10::cuda::CUDAGuard guard(stream_.device());
  const bool is_idle = WaitUntil([this] { return IsIdle(); }, kIdleLimit);
  stop_ = true;
  if (releasing_.joinable()) releasing_.join();
  // The device still uses the window. Closing the window would wait for the device without a limit.
  if (!is_idle) static_cast<void>(window_.release());
}

Tensor PeerExchange::EmptyInSlot(at::IntArrayRef shape, const torch::TensorOptions& options) {
  int64_t bytes = static_cast<int64_t>(options.dtype().itemsize());
  for (const int64_t length : shape) bytes *= length;
  if (bytes > slot_bytes_) return Tensor();
  const Slot slot = SlotPool::Take(slots_);
  if (slot == nullptr) return Tensor();
  // The deleter frees the slot, and keeps the memory until then.
  const auto free = [slot, memory = window_->memory()](void*) {};
  return torch::from_blob(SlotOf(rank_, slot->slot()), shape, free,
                          options.device(stream_.device()));
}

bool PeerExchange::IsInSlot(const Tensor& tensor) const {
  const auto* data = static_cast<const char*>(tensor.data_ptr());
  const char* const begin = window_->Of(rank_);
  return data >= begin && data < begin + kExchangeSlots * slot_bytes_ &&
         (data - begin) % slot_bytes_ == 0;
}

int64_t PeerExchange::FlagOf(Counter counter, int64_t slot, int64_t from, int64_t to) const {
  const int64_t kind = counter == Counter::kReady ? 0 : 1;
  return ((kind * kExchangeSlots + slot) * size_ + from) * size_ + to;
}

void PeerExchange::Raise(Counter counter, int64_t slot, int64_t to) {
  values_.Write(stream_.stream(), window_->flags().DeviceAddress(FlagOf(counter, slot, rank_, to)),
                uses_[slot]);
}

void PeerExchange::Await(Counter counter, int64_t slot, int64_t from) {
  values_.WaitFor(stream_.stream(),
                  window_->flags().DeviceAddress(FlagOf(counter, slot, from, rank_)), uses_[slot]);
}

void PeerExchange::BeginUse(int64_t slot) {
  ++uses_[slot];
  for (const int64_t member : ReceiveOrder(size_, rank_)) {
    Raise(Counter::kReady, slot, member);
  }
}

void PeerExchange::Gather(const Operation& gather, std::vector<CudaEvent>& arrived) {
  const char* const output = static_cast<const char*>(gather.output.data_ptr());
  const int64_t slot = (output - window_->Of(rank_)) / slot_bytes_;
  const auto bytes = static_cast<int64_t>(gather.input.nbytes());
  ready_.Record(stream_.stream());  // The stream waits for the work that has set the input.
  BeginUse(slot);
  const std::vector<int64_t> to = SendOrder(size_, rank_), from = ReceiveOrder(size_, rank_);
  for (size_t turn = 0; turn < to.size(); ++turn) {
    Await(Counter::kReady, slot, to[turn]);
    Copy(SlotOf(to[turn], slot) + rank_ * bytes, gather.input.data_ptr(), bytes, stream_);
    Raise(Counter::kArrived, slot, to[turn]);
    Await(Counter::kArrived, slot, from[turn]);
    arrived[from[turn]].Record(stream_.stream());
  }
  CopyOwnPart(gather, arrived[rank_]);
}

// On a separate stream, because the copy may have to wait for multiprocessors.
void PeerExchange::CopyOwnPart(const Operation& gather, CudaEvent& copied) {
  const auto bytes = static_cast<int64_t>(gather.input.nbytes());
  char* const place = static_cast<char*>(gather.output.data_ptr()) + rank_ * bytes;
  const bool copies = gather.own_part == OwnPart::kCopied && place != gather.input.data_ptr();
  if (copies) {
    ready_.Block(own_copies_.stream());
    Copy(place, gather.input.data_ptr(), bytes, own_copies_);
  }
  copied.Record(own_copies_.stream());
}

PeerExchange::Slot PeerExchange::TakeSlot(const Operation& sum) {
  if (sum.reduce != ReduceOp::kSum || !sum.input.is_floating_point()) return nullptr;
  if (static_cast<int64_t>(sum.input.nbytes()) > slot_bytes_) return nullptr;
  return SlotPool::Take(slots_);
}

// A slot contains the parts of all members, in rank order.
void PeerExchange::Send(const Slot& slot, const Operation& sum, const RowPiece& piece) {
  const auto part_bytes = static_cast<int64_t>(sum.output.nbytes());
  const int64_t row_bytes = static_cast<int64_t>(sum.input.nbytes()) / sum.input.size(0);
  const int64_t rows = sum.input.size(0) / size_, first = piece.first - piece.member * rows;
  if (first == 0) Await(Counter::kReady, slot->slot(), piece.member);
  Copy(SlotOf(piece.member, slot->slot()) + rank_ * part_bytes + first * row_bytes,
       static_cast<const char*>(sum.input.data_ptr()) + piece.first * row_bytes,
       piece.count * row_bytes, stream_);
  if (first + piece.count == rows) Raise(Counter::kArrived, slot->slot(), piece.member);
}

void PeerExchange::EndSum(const Slot& slot) {
  for (const int64_t member : ReceiveOrder(size_, rank_)) {
    Await(Counter::kArrived, slot->slot(), member);
  }
}

std::vector<Tensor> PeerExchange::Summands(const Slot& slot, const Operation& sum) const {
  const int64_t rows = sum.output.size(0), bytes = static_cast<int64_t>(sum.output.nbytes());
  const auto free = [slot, memory = window_->memory()](void*) {};
  std::vector<Tensor> parts;
  for (int64_t member = 0; member < size_; ++member) {
    parts.push_back(member == rank_
                        ? sum.input.narrow(0, rank_ * rows, rows)
                        : torch::from_blob(SlotOf(rank_, slot->slot()) + member * bytes,
                                           sum.output.sizes(), free, sum.output.options()));
  }
  return parts;
}

void PeerExchange::Test() {
  constexpr int64_t kNumbers = 16;
  const c10::cuda::CUDAStreamGuard guard(stream_);
  const auto options = torch::dtype(torch::kInt64).device(stream_.device());
  const Tensor all = EmptyInSlot({size_, kNumbers}, options);
  const Tensor mine = torch::full({kNumbers}, rank_, options);
  std::vector<CudaEvent> arrived(size_);
  Gather({.kind = Operation::Kind::kAllGather, .output = all, .input = mine}, arrived);
  if (!WaitUntil([this] { return IsIdle(); }, kTestLimit)) {
    Release();  // The group uses the same stream.
    throw TrainerError(ExitCode::kInternal, "copies between the GPUs did not arrive within " +
                                                std::to_string(kTestLimit.count()) + " s");
  }
  const Tensor expected = torch::arange(size_, options).view({size_, 1}).expand({size_, kNumbers});
  if (all.equal(expected)) return;
  throw TrainerError(ExitCode::kInternal, "copies between the GPUs delivered wrong values");
}

bool PeerExchange::IsIdle() const {
  const bool is_idle = cudaStreamQuery(stream_.stream()) != cudaErrorNotReady &&
                       cudaStreamQuery(own_copies_.stream()) != cudaErrorNotReady;
  cudaGetLastError();  // Clears the error; otherwise LibTorch reports it later.
  return is_idle;
}

void PeerExchange::Release() noexcept {
  if (is_released_.exchange(true)) return;
  StoreReleases();
  try {
    releasing_ = std::thread([this] {
      while (!stop_) {
        StoreReleases();
        std::this_thread::sleep_for(kReleaseInterval);
      }
    });
  } catch (const std::system_error&) {  // The system could not start a thread.
  }
}

void PeerExchange::StoreReleases() {
  for (const Counter counter : {Counter::kReady, Counter::kArrived}) {
    for (int64_t slot = 0; slot < kExchangeSlots; ++slot) {
      for (int64_t from = 0; from < size_; ++from) {
        if (from == rank_) continue;
        window_->flags().Store(FlagOf(counter, slot, from, rank_), uses_[slot] + kReleased);
      }
    }
  }
}

}  // namespace trainyard::trainer
