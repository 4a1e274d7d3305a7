// Prepares the next batches on a thread of its own, so that the step does not wait for them.
#ifndef TRAINYARD_TRAINER_DATA_PREFETCHER_H_
#define TRAINYARD_TRAINER_DATA_PREFETCHER_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "trainer/data/sample_source.h"

namespace trainyard::trainer {

// Tokens that one rank reads for one batch: rows of seq_length + 1 tokens, one row a sample.
struct TokenBatch {
  int64_t number = 0;            // of the batch, from the caller's first
  std::vector<int64_t> samples;  // sample numbers, one a row
  int64_t row_tokens = 0;        // seq_length + 1
  std::vector<int64_t> tokens;   // samples.size() * row_tokens
  // Weight of each prediction in the loss, samples.size() * (row_tokens - 1); empty: all 1.
  std::vector<float> prediction_weights = {};
};

// Batches are delivered in order, each once. Next() and stall_seconds() are for one thread.
class Prefetcher {
 public:
  // Samples that this rank reads in batch `number`. Pure; called on the prefetch thread.
  using SamplesOfBatch = std::function<std::vector<int64_t>(int64_t number)>;

  // Starts to prepare batches first_batch, first_batch + 1, ... and keeps at most `depth` (>= 1)
  // ready. The source must outlive this.
  Prefetcher(const SampleSource& source, SamplesOfBatch samples_of_batch, int64_t first_batch,
             size_t depth = 4);
  // Stops the thread; batches that were not taken are dropped.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // The next batch; waits until it is ready. Rethrows the error of its preparation.
  TokenBatch Next();
  // Seconds that Next() has waited in all.
  double stall_seconds() const { return stall_seconds_; }

 private:
  void Run(int64_t number);
  TokenBatch Prepare(int64_t number) const;

  const SampleSource& source_;
  const SamplesOfBatch samples_of_batch_;
  const size_t depth_;
  double stall_seconds_ = 0;  // of the thread that calls Next()

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<TokenBatch> ready_;
  std::exception_ptr error_;
  bool stopping_ = false;

  std::thread thread_;  // last member: starts when all other members exist
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_PREFETCHER_H_
