#include "trainer/checkpoint/staged_copy.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace trainyard::trainer {
namespace {

// The device has at most two batches in its queue. A batch of 16 MiB takes 0.3 ms at 55 GB/s.
constexpr int64_t kBatchBytes = 16 << 20;

// Copies within device memory are fast if both sides have the same alignment.
int64_t PlaceAfter(int64_t end, const char* from) {
  constexpr int64_t kUnit = 256;
  return (end + kUnit - 1) / kUnit * kUnit + reinterpret_cast<intptr_t>(from) % kUnit;
}

std::vector<StagedRange> RangesFrom(const std::vector<CopyPiece>& pieces, size_t first) {
  std::vector<StagedRange> ranges;
  for (size_t i = first; i < pieces.size(); ++i) {
    const CopyPiece& piece = pieces[i];
    if (ranges.empty() || ranges.back().from + ranges.back().bytes != piece.from) {
      const int64_t end = ranges.empty() ? 0 : ranges.back().place + ranges.back().bytes;
      ranges.push_back({piece.from, 0, PlaceAfter(end, piece.from)});
    }
    ranges.back().bytes += piece.bytes;
  }
  return ranges;
}

bool Contains(const StagedRange& range, const CopyPiece& piece) {
  return piece.from >= range.from && piece.from < range.from + range.bytes;
}

int64_t BytesOf(const std::vector<StagedRange>& ranges) {
  return ranges.empty() ? 0 : ranges.back().place + ranges.back().bytes;
}

int64_t BytesOf(const std::vector<CopyPiece>& pieces, size_t first, size_t end) {
  int64_t bytes = 0;
  for (size_t i = first; i < end; ++i) bytes += pieces[i].bytes;
  return bytes;
}

}  // namespace

StagedCopy::~StagedCopy() {
  try {
    Wait();
  } catch (const std::exception&) {  // A failed device no longer copies anything.
  }
  if (thread_.joinable()) thread_.join();
}

void StagedCopy::Begin(std::vector<CopyPiece> pieces, CopyPace pace) {
  if (thread_.joinable()) {
    thread_.join();
    Learn();
  }
  direct_queued_ = {};
  all_queued_ = {};
  is_direct_queued_ = direct_queued_.get_future().share();
  is_all_queued_ = all_queued_.get_future().share();
  is_blocked_ = false;
  pace_ = pace;
  queue_->FollowTraining();
  // Adjacent pieces are staged by one copy.
  std::sort(pieces.begin(), pieces.end(),
            [](const CopyPiece& a, const CopyPiece& b) { return a.from < b.from; });
  thread_ = std::thread([this, pieces = std::move(pieces)] { QueueCopies(pieces); });
}

// Measures the preceding copy.
void StagedCopy::Learn() {
  staging_seconds_ = 0;
  if (pace_ == CopyPace::kAtOnce) return;
  const CopyTimes times = queue_->Times();
  const bool by_direct = direct_bytes_ >= staged_bytes_;
  const double seconds = by_direct ? times.direct : times.staged;
  const int64_t bytes = by_direct ? direct_bytes_ : staged_bytes_;
  if (seconds > 0) speed_.bytes_per_second = static_cast<double>(bytes) / seconds;
  staging_seconds_ = staged_bytes_ > 0 ? times.staging : 0;
  if (times.to_update > 0) speed_.seconds_to_update = times.to_update;
}

// Runs on the thread. Fulfils both promises in every case, because other threads wait for them.
void StagedCopy::QueueCopies(const std::vector<CopyPiece>& pieces) {
  size_t direct = 0;
  StagingMemory staging;
  try {
    staging = QueueUntilReleased(pieces, direct);
    direct_queued_.set_value();
  } catch (const std::exception&) {
    direct_queued_.set_exception(std::current_exception());
    all_queued_.set_exception(std::current_exception());
    return;
  }
  try {
    QueueStaged(pieces, direct, staging);
    if (staging.begin != nullptr) queue_->FreeStaging(staging.begin);
    all_queued_.set_value();
  } catch (const std::exception&) {
    all_queued_.set_exception(std::current_exception());
  }
}

// Queues the copies of which the device must perform all before training may change the tensors.
// Sets `direct` to the number of pieces that are not staged.
StagedCopy::StagingMemory StagedCopy::QueueUntilReleased(const std::vector<CopyPiece>& pieces,
                                                         size_t& direct) {
  std::vector<int64_t> bytes;
  for (const CopyPiece& piece : pieces) bytes.push_back(piece.bytes);
  direct = pace_ == CopyPace::kAtOnce ? pieces.size()
                                      : DirectPieces(bytes, queue_->FreeStagingBytes(), speed_);
  StagingMemory staging{RangesFrom(pieces, direct)};
  if (!staging.ranges.empty()) staging.begin = queue_->AllocateStaging(BytesOf(staging.ranges));
  if (staging.begin == nullptr) {
    staging.ranges.clear();
    direct = pieces.size();
  }
  direct_bytes_ = BytesOf(pieces, 0, direct);
  staged_bytes_ = BytesOf(pieces, direct, pieces.size());
  queue_->Mark(CopyMark::kBegun);
  for (const StagedRange& range : staging.ranges) {
    queue_->Copy(staging.begin + range.place, range.from, range.bytes);
  }
  queue_->Mark(CopyMark::kStaged);
  for (size_t i = 0; i < direct; ++i) Queue(pieces[i]);
  queue_->Mark(CopyMark::kReleased);
  return staging;
}

void StagedCopy::QueueStaged(const std::vector<CopyPiece>& pieces, size_t direct,
                             const StagingMemory& staging) {
  size_t range = 0;
  for (size_t i = direct; i < pieces.size(); ++i) {
    const CopyPiece& piece = pieces[i];
    while (!Contains(staging.ranges[range], piece)) ++range;
    const StagedRange& from = staging.ranges[range];
    Queue({piece.to, staging.begin + from.place + (piece.from - from.from), piece.bytes});
  }
  queue_->Mark(CopyMark::kCopied);
}

void StagedCopy::Queue(const CopyPiece& piece) {
  queue_->Copy(piece.to, piece.from, piece.bytes);
  if (pace_ == CopyPace::kAtOnce) return;
  batch_bytes_ += piece.bytes;
  if (batch_bytes_ >= kBatchBytes) EndBatch();
}

// Waits until the batch before this one is complete.
void StagedCopy::EndBatch() {
  const auto mark = [](int64_t batch) { return batch % 2 == 0 ? CopyMark::kEven : CopyMark::kOdd; };
  batch_bytes_ = 0;
  queue_->Mark(mark(batches_));
  if (batches_ > 0) queue_->Await(mark(batches_ - 1));
  ++batches_;
}

bool StagedCopy::CanBlockChanges() const {
  return is_blocked_ ||
         is_direct_queued_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void StagedCopy::BlockChanges() {
  if (std::exchange(is_blocked_, true)) return;
  is_direct_queued_.get();
  queue_->BlockTraining();
}

void StagedCopy::Wait() const {
  if (!is_all_queued_.valid()) return;
  std::shared_future<void>(is_all_queued_).get();
  queue_->Await(CopyMark::kCopied);
}

}  // namespace trainyard::trainer
