#include "trainer/healing/snapshot_keeper.h"

#include <torch/utils.h>

#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/checkpoint/host_memory.h"
#include "trainer/healing/state_parts.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using torch::Tensor;
using Direction = Transfer::Direction;

// Ranks exchange bytes, because some backends do not support all element types.
Tensor AsBytes(const Tensor& tensor) { return tensor.view(torch::kUInt8); }

std::vector<TensorChunk> AsChunks(const std::vector<Tensor>& pieces) {
  std::vector<TensorChunk> chunks;
  for (const Tensor& piece : pieces) chunks.push_back(WholeTensor("state", piece));
  return chunks;
}

// Returns host memory for the pieces of a ward, by their sizes in bytes.
std::vector<Tensor> WardMemory(const std::vector<int64_t>& sizes, torch::Device device) {
  const bool is_gpu = device.is_cuda();
  if (is_gpu) UseDevice(device);
  std::vector<Tensor> pieces;
  for (const int64_t bytes : sizes) {
    pieces.push_back(torch::empty({bytes}, torch::dtype(torch::kUInt8).pinned_memory(is_gpu)));
  }
  return pieces;
}

}  // namespace

SnapshotKeeper::SnapshotKeeper(Parts parts) : parts_(std::move(parts)) {
  parts_.memory.BelongTo(rank());
  parts_.memory.Resize(Count());
  if (NeedsExchange()) ward_bytes_ = AskWardBytes();
}

SnapshotKeeper::~SnapshotKeeper() {
  for (const auto& snapshot : parts_.memory.all()) {
    try {
      // On a GPU, an aborted exchange looks complete, so its real state is unknown.
      if (!parts_.device.is_cuda()) NoteExchange(*snapshot);
    } catch (const std::exception&) {  // The loss of a rank ended the exchange.
    }
    snapshot->exchange.clear();
  }
  try {
    parts_.memory.DropUnconfirmed();
  } catch (const std::exception&) {  // A failed device no longer copies anything.
  }
}

// Returns the number of states to keep:
// - CPU: 2, because the work is complete when a launch returns.
// - GPU: 3, because the copy of step k + 2 may be running when the hosts of all ranks confirm step
//   k.
// - GPU with exchange: 4, because the hosts do not know before step k + 1 that the exchange of step
//   k has ended.
size_t SnapshotKeeper::Count() const {
  if (!parts_.device.is_cuda()) return 2;
  return NeedsExchange() ? 4 : 3;
}

int64_t SnapshotKeeper::Bytes() const {
  int64_t bytes = BytesOf(parts_.own) + BytesOf(parts_.ward);
  for (const int64_t piece : ward_bytes_) bytes += piece;
  return bytes * static_cast<int64_t>(Count());
}

void SnapshotKeeper::Reserve() {
  for (const auto& snapshot : parts_.memory.all()) {
    if (snapshot->step >= 0) continue;
    snapshot->own.Reserve(AsChunks(parts_.own));
    if (!parts_.ward.empty()) snapshot->ward_copy.Reserve(AsChunks(parts_.ward));
    ReserveWardMemory(*snapshot);
  }
}

// Sends the sizes of this rank's pieces to its buddy. Returns the sizes of its ward's pieces.
std::vector<int64_t> SnapshotKeeper::AskWardBytes() const {
  const auto numbers = torch::dtype(torch::kInt64);
  const int64_t buddy = parts_.buddies.BuddyOf(rank()), ward = parts_.buddies.WardOf(rank());
  const auto exchange = [&](const std::vector<int64_t>& sent, int64_t count) {
    const Tensor out = torch::tensor(sent, numbers).to(parts_.device);
    const Tensor in = torch::zeros({count}, numbers.device(parts_.device));
    parts_.ranks.Exchange({{Direction::kSend, buddy, out}, {Direction::kReceive, ward, in}})
        .WaitOnHost();
    const Tensor host = in.cpu();
    return std::vector<int64_t>(host.data_ptr<int64_t>(), host.data_ptr<int64_t>() + count);
  };
  std::vector<int64_t> bytes;
  for (const Tensor& piece : parts_.own) bytes.push_back(static_cast<int64_t>(piece.nbytes()));
  const int64_t count = exchange({static_cast<int64_t>(bytes.size())}, 1)[0];
  return exchange(bytes, count);
}

void SnapshotKeeper::ReserveWardMemory(Snapshot& snapshot) const {
  const bool is_made = snapshot.ward_reserved.valid() || !snapshot.ward_received.empty();
  if (is_made || ward_bytes_.empty()) return;
  snapshot.ward_reserved = std::async(
      std::launch::async,
      [sizes = ward_bytes_, device = parts_.device] { return WardMemory(sizes, device); });
}

void SnapshotKeeper::MakeWardMemory(Snapshot& snapshot) const {
  if (!snapshot.ward_received.empty()) return;
  snapshot.ward_received = snapshot.ward_reserved.valid() ? snapshot.ward_reserved.get()
                                                          : WardMemory(ward_bytes_, parts_.device);
}

void SnapshotKeeper::TakeNow(int64_t step, json state) {
  Begin(step, /*kept=*/step, CopyPace::kAtOnce);
  newest_->own.Wait();
  newest_->ward_copy.Wait();
  AwaitExchange(*newest_);
  newest_->is_confirmed = true;
  newest_->state = std::move(state);
  has_cost_ = false;
}

// Waits for the exchange on a CPU. On a GPU, the update of the previous step has already waited for
// the exchange.
void SnapshotKeeper::BeforeLaunch(int64_t step) {
  if (step != next_ || parts_.device.is_cuda()) return;
  const Clock::time_point start = Clock::now();
  AwaitExchange(*newest_);
  cost_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
}

void SnapshotKeeper::AfterLaunch(int64_t step) {
  if (step != next_) return;
  const Clock::time_point start = Clock::now();
  Begin(step, /*kept=*/-1, CopyPace::kBesideTraining);
  cost_seconds_ += std::chrono::duration<double>(Clock::now() - start).count() +
                   newest_->own.StagingSeconds() + newest_->ward_copy.StagingSeconds();
  has_cost_ = true;
}

void SnapshotKeeper::Begin(int64_t step, int64_t kept, CopyPace pace) {
  const torch::NoGradGuard no_grad;
  newest_ = &parts_.memory.Oldest(kept);
  newest_->step = step;
  newest_->is_confirmed = newest_->has_ward = false;
  newest_->exchange.clear();
  newest_->own.Begin(AsChunks(parts_.own), pace);
  if (NeedsExchange()) {
    BeginExchange();
  } else {
    newest_->ward_copy.Begin(AsChunks(parts_.ward), pace);
    newest_->has_ward = true;
  }
  next_ = step + parts_.memory.interval().steps();
}

// On a CPU, sends the host copy, so that training can continue. On a GPU, sends from the device.
// The ward's pieces then also arrive on the device, and are copied to host memory.
void SnapshotKeeper::BeginExchange() {
  MakeWardMemory(*newest_);
  const bool is_gpu = parts_.device.is_cuda();
  const std::vector<Tensor> sent = is_gpu ? parts_.own : newest_->OwnPieces();
  const std::vector<Tensor>& received = newest_->ward_received;
  if (is_gpu && !arriving_.defined()) {
    const int64_t largest = *std::max_element(ward_bytes_.begin(), ward_bytes_.end());
    arriving_ = torch::empty({largest}, torch::dtype(torch::kUInt8).device(parts_.device));
  }
  for (size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
    std::vector<Transfer> transfers;
    if (i < sent.size()) {
      transfers.push_back({Direction::kSend, parts_.buddies.BuddyOf(rank()), AsBytes(sent[i])});
    }
    if (i < received.size()) {
      const Tensor target = is_gpu ? arriving_.narrow(0, 0, ward_bytes_[i]) : received[i];
      transfers.push_back({Direction::kReceive, parts_.buddies.WardOf(rank()), target});
    }
    newest_->exchange.push_back(parts_.ranks.Exchange(std::move(transfers)));
    if (!is_gpu || i >= received.size()) continue;
    newest_->exchange.push_back(
        parts_.ranks.Then([from = arriving_.narrow(0, 0, ward_bytes_[i]), to = received[i]] {
          Tensor(to).copy_(from, /*non_blocking=*/true);
        }));
  }
}

// Marks the exchange as complete if it has ended. Does not wait.
void SnapshotKeeper::NoteExchange(Snapshot& snapshot) {
  const auto is_done = [](const Work& work) { return work.IsDone(); };
  const std::vector<Work>& works = snapshot.exchange;
  if (std::all_of(works.begin(), works.end(), is_done)) AwaitExchange(snapshot);
}

// Waits for the exchange. Clears the list before waiting. If the list were kept, after a failure,
// operations that were already waited for would look complete.
void SnapshotKeeper::AwaitExchange(Snapshot& snapshot) {
  if (snapshot.exchange.empty()) return;
  std::vector<Work> works = std::exchange(snapshot.exchange, {});
  for (Work& work : works) work.WaitOnHost();
  snapshot.has_ward = true;
}

bool SnapshotKeeper::CanBlockChanges() const {
  return newest_ == nullptr ||
         (newest_->own.CanBlockChanges() && newest_->ward_copy.CanBlockChanges());
}

void SnapshotKeeper::BlockChanges() {
  if (newest_ == nullptr || !parts_.device.is_cuda()) return;
  newest_->own.BlockChanges();
  newest_->ward_copy.BlockChanges();
  // Waits on a copy of each Work, because AwaitExchange still needs the original.
  for (Work work : newest_->exchange) work.Wait();
}

void SnapshotKeeper::Confirm(int64_t step, const std::function<json()>& state, double costs) {
  if (costs > 0) parts_.memory.interval().Add(costs / static_cast<double>(parts_.ranks.size()));
  for (const auto& snapshot : parts_.memory.all()) {
    if (snapshot->step < step) NoteExchange(*snapshot);
    if (snapshot->step != step || snapshot->is_confirmed) continue;
    snapshot->is_confirmed = true;
    snapshot->state = state();
  }
}

double SnapshotKeeper::TakeCost(double step_seconds) {
  if (!std::exchange(has_cost_, false) || step_seconds <= 0) return 0;
  return (std::exchange(cost_seconds_, 0) + device_wait_seconds_) / step_seconds;
}

std::vector<HeldSteps> SnapshotKeeper::HeldByAll() const {
  const auto count = static_cast<int64_t>(Count());
  std::vector<double> numbers(2 * count * parts_.ranks.size(), 0);  // Holds step + 1; 0: none.
  const auto put = [&](const std::vector<int64_t>& steps, int64_t first) {
    for (size_t i = 0; i < steps.size(); ++i)
      numbers[first + i] = static_cast<double>(steps[i] + 1);
  };
  const HeldSteps mine = parts_.memory.Held();
  put(mine.own, rank() * 2 * count);
  put(mine.ward, rank() * 2 * count + count);
  numbers = SumOverMembers(parts_.ranks, numbers, parts_.device);
  std::vector<HeldSteps> all(parts_.ranks.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    HeldSteps& rank = all[i / (2 * count)];
    std::vector<int64_t>& steps =
        i % (2 * count) < static_cast<size_t>(count) ? rank.own : rank.ward;
    steps.push_back(static_cast<int64_t>(numbers[i]) - 1);
  }
  return all;
}

json SnapshotKeeper::Restore(const RecoveryPlan& plan) {
  const torch::NoGradGuard no_grad;
  if (const Snapshot* snapshot = parts_.memory.Find(plan.step)) {
    const std::vector<Tensor> pieces = snapshot->OwnPieces();
    for (size_t i = 0; i < pieces.size(); ++i) Tensor(parts_.own[i]).copy_(pieces[i]);
  }
  BringToReceivers(plan);
  return ShareState(plan);
}

void SnapshotKeeper::BringToReceivers(const RecoveryPlan& plan) {
  for (const int64_t receiver : plan.receivers) {
    std::vector<Transfer> transfers;
    const int64_t buddy = parts_.buddies.BuddyOf(receiver);
    if (rank() == receiver) {
      for (const Tensor& piece : parts_.own) {
        transfers.push_back({Direction::kReceive, buddy, AsBytes(piece)});
      }
    } else if (rank() == buddy) {
      for (const Tensor& piece : parts_.memory.Find(plan.step)->WardPieces()) {
        transfers.push_back({Direction::kSend, receiver, AsBytes(piece).to(parts_.device)});
      }
    }
    if (!transfers.empty()) parts_.ranks.Exchange(std::move(transfers)).WaitOnHost();
  }
}

json SnapshotKeeper::ShareState(const RecoveryPlan& plan) {
  const bool gives = rank() == plan.first_holder;
  std::string text;
  if (gives)
    text = json({{"state", parts_.memory.Find(plan.step)->state},
                 {"cost", parts_.memory.interval().cost()},
                 {"is_known", parts_.memory.interval().is_known()}})
               .dump();
  const auto length = static_cast<size_t>(
      SumOverMembers(parts_.ranks, {static_cast<double>(text.size())}, parts_.device)[0]);
  // Sums the characters of the one rank that has them, because NCCL has already opened the
  // connections of sums. The first broadcast would open others.
  std::vector<double> characters(text.begin(), text.end());
  characters.resize(length, 0);
  characters = SumOverMembers(parts_.ranks, characters, parts_.device);
  text.assign(characters.begin(), characters.end());
  const json shared = json::parse(text);
  parts_.memory.interval().Set(shared.at("cost").get<double>(), shared.at("is_known").get<bool>());
  return shared.at("state");
}

}  // namespace trainyard::trainer
