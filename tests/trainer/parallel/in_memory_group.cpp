#include "tests/trainer/parallel/in_memory_group.h"

#include <torch/utils.h>

#include <condition_variable>
#include <deque>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "trainer/config/trainer_error.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// An operation of one member. It stays in the member's queue until it is done.
struct Posted {
  Operation operation;
  std::vector<bool> transferred;  // By transfer.
  std::function<void(bool entered)> mark;
  bool done = false;
};

bool Overlap(const Tensor& a, const Tensor& b) {
  const auto* first = static_cast<const char*>(a.data_ptr());
  const auto* second = static_cast<const char*>(b.data_ptr());
  return first < second + b.nbytes() && second < first + a.nbytes();
}

// Fills an output with NaN, so that a caller that reads the output too early reads NaN.
void Poison(Tensor output, const Tensor& input) {
  if (!output.defined() || !output.is_floating_point() || output.numel() == 0) return;
  if (input.defined() && input.numel() > 0 && Overlap(output, input)) return;
  output.fill_(std::numeric_limits<double>::quiet_NaN());
}

void PoisonOutputs(const Operation& operation) {
  const bool in_place = operation.kind == Operation::Kind::kAllReduce ||
                        operation.kind == Operation::Kind::kBroadcast;
  if (!in_place) Poison(operation.output, operation.input);
  for (const Transfer& transfer : operation.transfers) {
    if (transfer.direction == Transfer::Direction::kReceive) Poison(transfer.tensor, Tensor());
  }
}

Tensor Reduce(const std::vector<Tensor>& inputs, ReduceOp op) {
  const auto type = inputs.front().scalar_type();
  Tensor result = inputs.front().to(ComputeType(type), /*non_blocking=*/false, /*copy=*/true);
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Tensor next = inputs[i].to(result.scalar_type());
    op == ReduceOp::kSum ? result.add_(next) : result.copy_(at::maximum(result, next));
  }
  return result.to(type);
}

using Operations = std::vector<const Operation*>;

std::vector<Tensor> InputsOf(const Operations& members) {
  std::vector<Tensor> inputs;
  for (const Operation* member : members) {
    inputs.push_back((member->input.defined() ? member->input : member->output).flatten());
  }
  return inputs;
}

void ExecuteAllToAll(const Operations& members) {
  std::vector<std::vector<Tensor>> pieces(members.size());
  for (const Operation* sender : members) {
    int64_t row = 0;
    for (size_t m = 0; m < members.size(); ++m) {
      pieces[m].push_back(sender->input.narrow(0, row, sender->input_rows[m]).clone());
      row += sender->input_rows[m];
    }
  }
  for (size_t m = 0; m < members.size(); ++m) {
    Tensor(members[m]->output).copy_(at::cat(pieces[m]));
  }
}

// Executes the operation of all members at once, on their tensors.
void Execute(const Operations& members) {
  const Operation& any = *members.front();
  if (any.kind == Operation::Kind::kAllToAll) return ExecuteAllToAll(members);
  Tensor result;
  if (any.kind == Operation::Kind::kAllGather) {
    result = at::cat(InputsOf(members));
  } else if (any.kind == Operation::Kind::kBroadcast) {
    result = members[any.root]->output.flatten().clone();
  } else {
    result = Reduce(InputsOf(members), any.reduce);
  }
  for (size_t m = 0; m < members.size(); ++m) {
    Tensor output = members[m]->output;
    const bool scatters = any.kind == Operation::Kind::kReduceScatter;
    output.copy_((scatters ? result.chunk(members.size())[m] : result).view_as(output));
  }
}

}  // namespace

class InMemoryGroup {
 public:
  InMemoryGroup(std::string name, int64_t size, InMemoryNetwork::Turn* turn,
                std::chrono::seconds limit)
      : name_(std::move(name)), turn_(turn), limit_(limit), queues_(size) {}

  std::shared_ptr<Posted> Post(int64_t member, Operation operation,
                               std::function<void(bool)> mark) {
    const std::lock_guard<std::mutex> lock(mutex_);
    PoisonOutputs(operation);
    auto posted = std::make_shared<Posted>();
    posted->transferred.resize(operation.transfers.size(), false);
    posted->operation = std::move(operation);
    posted->mark = std::move(mark);
    queues_[member].push_back(posted);
    if (queues_[member].size() == 1) posted->mark(true);
    while (Advance()) {
    }
    changed_.notify_all();
    return posted;
  }

  void Await(const Posted& posted) {
    if (IsDone(posted)) return;
    if (turn_ != nullptr) turn_->unlock();
    const bool in_time = AwaitEnd(posted);
    if (turn_ != nullptr) turn_->lock();
    if (IsDone(posted)) return;
    Abort();
    throw TrainerError(ExitCode::kPeerLost,
                       "Lost a peer in " + std::string(NameOf(posted.operation.kind)) +
                           " of group " + name_ + (in_time ? ": aborted" : ": no answer in time"));
  }

  bool AwaitEnd(const Posted& posted) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, limit_, [&] { return posted.done || aborted_; });
  }

  bool IsDone(const Posted& posted) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return posted.done;
  }

  void Abort() {
    const std::lock_guard<std::mutex> lock(mutex_);
    aborted_ = true;
    changed_.notify_all();
  }

  // Marks the member as having left. Its incomplete operations never complete.
  void Leave(int64_t member) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (queues_[member].empty()) return;
    queues_[member].clear();
    aborted_ = true;
    changed_.notify_all();
  }

 private:
  using Queue = std::deque<std::shared_ptr<Posted>>;

  // Makes some progress: completes one local operation, moves the transfers that match, or
  // completes one operation of all members. Returns false if nothing can be done.
  bool Advance() { return !aborted_ && (AdvanceLocal() || AdvanceTransfers() || AdvanceAll()); }

  void Finish(Queue& queue) {
    queue.front()->done = true;
    queue.front()->mark(false);
    queue.pop_front();
    if (!queue.empty()) queue.front()->mark(true);
  }

  bool AdvanceLocal() {
    for (Queue& queue : queues_) {
      if (queue.empty() || queue.front()->operation.kind != Operation::Kind::kLocal) continue;
      const torch::NoGradGuard no_grad;
      queue.front()->operation.local();
      Finish(queue);
      return true;
    }
    return false;
  }

  bool AdvanceTransfers() {
    bool moved = false;
    for (size_t member = 0; member < queues_.size(); ++member) {
      Posted* const mine = ExchangeOf(member);
      for (size_t i = 0; mine != nullptr && i < mine->transferred.size(); ++i) {
        if (!mine->transferred[i]) moved = Match(static_cast<int64_t>(member), *mine, i) || moved;
      }
    }
    for (size_t member = 0; member < queues_.size(); ++member) {
      const Posted* const mine = ExchangeOf(member);
      if (mine == nullptr) continue;
      bool all = true;
      for (const bool transferred : mine->transferred) all = all && transferred;
      if (!all) continue;
      Finish(queues_[member]);
      moved = true;
    }
    return moved;
  }

  // Returns the exchange at the head of the member's queue, or nullptr if there is none.
  Posted* ExchangeOf(size_t member) {
    if (queues_[member].empty()) return nullptr;
    Posted* const head = queues_[member].front().get();
    return head->operation.kind == Operation::Kind::kExchange ? head : nullptr;
  }

  // If the receiver of this send has the matching receive at the head of its queue, moves the
  // tensor.
  bool Match(int64_t member, Posted& mine, size_t i) {
    const Transfer& send = mine.operation.transfers[i];
    Posted* const theirs = ExchangeOf(send.peer);
    if (send.direction != Transfer::Direction::kSend || theirs == nullptr) return false;
    for (size_t j = 0; j < theirs->transferred.size(); ++j) {
      const Transfer& receive = theirs->operation.transfers[j];
      if (theirs->transferred[j] || receive.direction != Transfer::Direction::kReceive ||
          receive.peer != member) {
        continue;
      }
      Tensor(receive.tensor).copy_(send.tensor);
      mine.transferred[i] = theirs->transferred[j] = true;
      return true;
    }
    return false;
  }

  bool AdvanceAll() {
    Operations members;
    for (const Queue& queue : queues_) {
      if (queue.empty()) return false;
      const Operation& next = queue.front()->operation;
      // Match completes exchanges, because peers may not have begun their exchanges yet, and a
      // member without transfers has none.
      if (next.kind == Operation::Kind::kExchange) return false;
      if (!members.empty() && next.kind != members.front()->kind) {
        throw std::logic_error("members of group " + name_ + " begin different operations: " +
                               NameOf(next.kind) + " and " + NameOf(members.front()->kind));
      }
      members.push_back(&next);
    }
    const torch::NoGradGuard no_grad;
    Execute(members);
    for (Queue& queue : queues_) Finish(queue);
    return true;
  }

  const std::string name_;
  InMemoryNetwork::Turn* const turn_;
  const std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Queue> queues_;  // By member.
  bool aborted_ = false;
};

namespace {

class InMemoryCommunicator final : public Communicator {
 public:
  InMemoryCommunicator(const CommunicatorGroup& group, std::shared_ptr<InMemoryGroup> members)
      : Communicator(group), members_(std::move(members)) {}
  ~InMemoryCommunicator() override { members_->Leave(rank()); }

  void WaitUntil(const std::function<bool()>& done) override {
    while (!done()) std::this_thread::yield();
  }
  void Abort() override { members_->Abort(); }

 private:
  class Completion final : public Work::Completion {
   public:
    Completion(std::shared_ptr<InMemoryGroup> group, std::shared_ptr<Posted> posted)
        : group_(std::move(group)), posted_(std::move(posted)) {}
    void Wait() override { group_->Await(*posted_); }
    void WaitOnHost() override { group_->Await(*posted_); }
    bool IsDone() override { return group_->IsDone(*posted_); }

   private:
    std::shared_ptr<InMemoryGroup> group_;
    std::shared_ptr<Posted> posted_;
  };

  Work Begin(Operation operation, uint64_t sequence) override {
    auto mark = [this, sequence](bool entered) {
      entered ? flight_.Enter(sequence) : flight_.Leave(sequence);
    };
    return Work(std::make_shared<Completion>(
        members_, members_->Post(rank(), std::move(operation), std::move(mark))));
  }
  torch::Device device() const override { return torch::kCPU; }

  std::shared_ptr<InMemoryGroup> members_;
};

}  // namespace

InMemoryNetwork::~InMemoryNetwork() = default;

std::unique_ptr<Communicator> InMemoryNetwork::Connect(const CommunicatorGroup& group) {
  if (group.ranks.size() == 1) return MakeSingleProcessCommunicator();
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<InMemoryGroup>& members = groups_[group.name];
  if (members == nullptr) {
    members = std::make_shared<InMemoryGroup>(group.name, group.ranks.size(), turn_, limit_);
    if (aborted_) members->Abort();
  }
  return std::make_unique<InMemoryCommunicator>(group, members);
}

void InMemoryNetwork::AbortAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  aborted_ = true;
  for (const auto& [_, group] : groups_) group->Abort();
}

}  // namespace trainyard::trainer
