// A queue of copies and a stream of training work of a simulated device.
#ifndef TRAINYARD_TESTS_TRAINER_CHECKPOINT_IN_MEMORY_COPY_QUEUE_H_
#define TRAINYARD_TESTS_TRAINER_CHECKPOINT_IN_MEMORY_COPY_QUEUE_H_

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "trainer/checkpoint/copy_queue.h"

namespace trainyard::trainer {

// The device performs no operation before a test or a wait requires it, so a missing wait between
// its two streams shows in the results. Thread-safe.
class SimulatedDevice {
 public:
  enum class Stream { kTraining, kCopies };

  // The stream that the device prefers if both can continue.
  explicit SimulatedDevice(Stream preferred) : preferred_(preferred) {}

  void Queue(Stream stream, std::function<void()> operation) {
    Add(stream, {std::move(operation), -1});
  }
  // Returns a number of an event that the device reaches after the operations queued so far.
  int64_t Record(Stream stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t event = next_event_++;
    streams_[stream].push_back({[this, event] { reached_.insert(event); }, -1});
    return event;
  }
  void Block(Stream stream, int64_t event) {
    Add(stream, {[] {}, event});
  }

  // The training stream waits from now on, like one that waits for another rank, until Release.
  void Hold() {
    is_held_ = true;
    Block(Stream::kTraining, kRelease);
  }
  void Release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_held_ = false;
    reached_.insert(kRelease);
    released_.notify_all();
  }

  // Runs until the event is reached. Throws if the streams wait for each other.
  void RunUntil(int64_t event) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!reached_.contains(event)) {
      if (Advance()) continue;
      if (!is_held_) throw std::runtime_error("the streams of the device wait for each other");
      released_.wait(lock);
    }
  }
  void RunAll() {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (Advance()) continue;
  }
  // The largest number of operations that a stream had to do at once.
  size_t most_queued() const { return most_queued_; }

 private:
  struct Operation {
    std::function<void()> run;
    int64_t waits_for = -1;  // An event; -1: none.
  };

  void Add(Stream stream, Operation operation) {
    const std::lock_guard<std::mutex> lock(mutex_);
    streams_[stream].push_back(std::move(operation));
    most_queued_ = std::max(most_queued_, streams_[stream].size());
  }

  bool Advance() {
    const Stream other = preferred_ == Stream::kTraining ? Stream::kCopies : Stream::kTraining;
    return AdvanceStream(preferred_) || AdvanceStream(other);
  }

  bool AdvanceStream(Stream which) {
    std::deque<Operation>& stream = streams_[which];
    if (stream.empty()) return false;
    const int64_t event = stream.front().waits_for;
    if (event >= 0 && !reached_.contains(event)) return false;
    stream.front().run();
    stream.pop_front();
    return true;
  }

  static constexpr int64_t kRelease = 0;  // The event of Release.

  const Stream preferred_;
  std::mutex mutex_;
  std::map<Stream, std::deque<Operation>> streams_;
  std::set<int64_t> reached_;
  int64_t next_event_ = 1;
  bool is_held_ = false;
  std::condition_variable released_;
  size_t most_queued_ = 0;
};

class InMemoryCopyQueue final : public CopyQueue {
 public:
  using Stream = SimulatedDevice::Stream;

  InMemoryCopyQueue(SimulatedDevice& device, int64_t free_bytes)
      : device_(device), free_bytes_(free_bytes) {}

  void FollowTraining() override {
    device_.Block(Stream::kCopies, device_.Record(Stream::kTraining));
  }
  void BlockTraining() override {
    device_.Block(Stream::kTraining, marks_.at(CopyMark::kReleased));
  }
  int64_t FreeStagingBytes() override { return free_bytes_; }
  char* AllocateStaging(int64_t bytes) override {
    staged_bytes = 0;
    if (!can_allocate) return nullptr;
    staging_ = std::make_unique<std::vector<char>>(bytes, '\xee');
    return staging_->data();
  }
  void FreeStaging(char*) override {
    device_.RunUntil(device_.Record(Stream::kCopies));
    staging_.reset();
  }
  void Copy(char* to, const char* from, int64_t bytes) override {
    if (copies_until_failure-- == 0) throw std::runtime_error("the device has failed");
    const bool is_staged =
        staging_ != nullptr && to >= staging_->data() && to < staging_->data() + staging_->size();
    if (is_staged) staged_bytes += bytes;
    device_.Queue(Stream::kCopies, [=] { std::memcpy(to, from, bytes); });
  }
  void Mark(CopyMark mark) override { marks_[mark] = device_.Record(Stream::kCopies); }
  void Await(CopyMark mark) override { device_.RunUntil(marks_.at(mark)); }
  CopyTimes Times() override { return times; }

  bool HasStaging() const { return staging_ != nullptr; }

  CopyTimes times;
  int64_t staged_bytes = 0;  // Since the latest allocation.
  bool can_allocate = true;
  int64_t copies_until_failure = -1;  // Negative: never.

 private:
  SimulatedDevice& device_;
  const int64_t free_bytes_;
  std::map<CopyMark, int64_t> marks_;
  std::unique_ptr<std::vector<char>> staging_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_CHECKPOINT_IN_MEMORY_COPY_QUEUE_H_
