#include "trainer/data/prefetcher.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trainyard::trainer {

Prefetcher::Prefetcher(const SampleSource& source, SamplesOfBatch samples_of_batch,
                       int64_t first_batch, size_t depth)
    : source_(source),
      samples_of_batch_(std::move(samples_of_batch)),
      depth_(std::max<size_t>(depth, 1)),
      thread_([this, first_batch] { Run(first_batch); }) {}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

TokenBatch Prefetcher::Next() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  if (ready_.empty()) {
    changed_.wait(lock, [this] { return !ready_.empty() || error_ != nullptr; });
    stall_seconds_ +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (ready_.empty()) std::rethrow_exception(error_);
  TokenBatch batch = std::move(ready_.front());
  ready_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return batch;
}

void Prefetcher::Run(int64_t number) {
  for (;; ++number) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || ready_.size() < depth_; });
      if (stopping_) return;
    }
    TokenBatch batch;
    std::exception_ptr error;
    try {
      batch = Prepare(number);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (error != nullptr) {
      error_ = error;
    } else {
      ready_.push_back(std::move(batch));
    }
    changed_.notify_all();
    if (error != nullptr) return;
  }
}

TokenBatch Prefetcher::Prepare(int64_t number) const {
  TokenBatch batch;
  batch.number = number;
  batch.samples = samples_of_batch_(number);
  batch.row_tokens = source_.seq_length() + 1;
  batch.tokens.resize(batch.samples.size() * static_cast<size_t>(batch.row_tokens));
  int64_t* row = batch.tokens.data();
  for (const int64_t sample : batch.samples) {
    source_.Fill(sample, row);
    row += batch.row_tokens;
  }
  return batch;
}

}  // namespace trainyard::trainer
