#include "data/stages/block_queue.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

uint64_t RandomNumber() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

BlockQueue::BlockQueue(const Plan& plan, RunDirectory* directory, RunTotals* totals)
    : plan_(plan), directory_(*directory), totals_(*totals), next_number_(RandomNumber()) {}

BlockQueue::Offer BlockQueue::Take(int holder) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return TakeLocked(holder);
}

BlockQueue::Offer BlockQueue::TakeWithin(int holder, std::chrono::milliseconds patience) {
  std::unique_lock<std::mutex> lock(mutex_);
  const Offer offer = TakeLocked(holder);
  if (offer.state != State::kWait) return offer;
  changed_.wait_for(lock, patience);
  return TakeLocked(holder);
}

BlockQueue::Offer BlockQueue::TakeLocked(int holder) {
  if (failed_block_ != kNoBlock) return {State::kEnded, {}};
  const size_t blocks = plan_.blocks().size();
  while (next_ < blocks && (totals_.Has(next_) || leased_.contains(next_))) ++next_;
  if (next_ == blocks) return {Ended() ? State::kEnded : State::kWait, {}};
  const BlockLease lease = {next_, next_number_++};
  leased_[next_++] = {holder, lease.number, std::chrono::steady_clock::now()};
  return {State::kLeased, lease};
}

bool BlockQueue::Ended() const {
  if (failed_block_ == kNoBlock) return totals_.blocks() == plan_.blocks().size();
  return leased_.empty() || leased_.begin()->first > failed_block_;
}

bool BlockQueue::Holds(const BlockLease& lease) const {
  const auto found = leased_.find(lease.block);
  return found != leased_.end() && found->second.number == lease.number;
}

bool BlockQueue::Continues(const BlockLease& lease) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Holds(lease) && failed_block_ > lease.block;
}

absl::Status BlockQueue::Commit(const BlockLease& lease, BlockRecord record) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!Holds(lease) || record.block != lease.block) {
    return absl::AbortedError("the lease of the block is lost");
  }
  // A failed commit may have left half a record, which must remain the last one.
  TRAINYARD_RETURN_IF_ERROR(commit_failure_);
  commit_failure_ = directory_.Commit(lease, record);
  TRAINYARD_RETURN_IF_ERROR(commit_failure_);
  if (leased_[lease.block].holder != kLocalHolder) {
    foreign_bytes_ += plan_.BytesOf(plan_.blocks()[lease.block]);
  }
  leased_.erase(lease.block);
  const absl::Status added = totals_.Add(std::move(record));
  // The error is the same for every order of the blocks, so the block of the error does not matter.
  if (!added.ok()) FailLocked(lease.block, added);
  changed_.notify_all();
  return absl::OkStatus();
}

void BlockQueue::Fail(const BlockLease& lease, const absl::Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!Holds(lease)) return;
  leased_.erase(lease.block);
  FailLocked(lease.block, status);
}

void BlockQueue::FailLocked(size_t block, const absl::Status& status) {
  if (block < failed_block_) {
    failed_block_ = block;
    failure_ = status;
  }
  changed_.notify_all();
}

void BlockQueue::Release(int holder) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto entry = leased_.begin(); entry != leased_.end();) {
    if (entry->second.holder != holder) {
      ++entry;
      continue;
    }
    const size_t block = entry->first;
    entry = leased_.erase(entry);
    next_ = std::min(next_, block);
    if (++losses_[block] < kLossesMax) continue;
    const std::string& path = plan_.files()[plan_.blocks()[block].first_file].input.path;
    FailLocked(block,
               absl::ResourceExhaustedError(
                   std::to_string(kLossesMax) + " processes ended while they read a block of " +
                   path + "; check their output and the memory of their machines"));
  }
  changed_.notify_all();
}

void BlockQueue::End(const absl::Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  leased_.clear();
  FailLocked(0, status);
}

absl::Status BlockQueue::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return Ended(); });
  return failure_;
}

DocumentCounts BlockQueue::Counts() {
  const std::lock_guard<std::mutex> lock(mutex_);
  DocumentCounts counts;
  counts.documents_in = totals_.documents_in();
  counts.documents_out = totals_.documents_out();
  counts.bytes_in = totals_.bytes_in();
  counts.bytes_out = totals_.bytes_out();
  counts.sums = totals_.sums();
  return counts;
}

std::optional<BlockQueue::Running> BlockQueue::LongestRunning() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto longest = std::min_element(
      leased_.begin(), leased_.end(),
      [](const auto& one, const auto& other) { return one.second.since < other.second.since; });
  if (longest == leased_.end()) return std::nullopt;
  const auto time = std::chrono::steady_clock::now() - longest->second.since;
  return Running{longest->first, longest->second.holder,
                 std::chrono::duration<double>(time).count()};
}

int64_t BlockQueue::TakeForeignBytes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(foreign_bytes_, 0);
}

}  // namespace trainyard::data
