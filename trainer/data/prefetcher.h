// Prepares the next batches on a separate thread, so that training steps do not wait for data.
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

// The tokens that one rank reads for one batch: one row of seq_length + 1 tokens per sample.
struct TokenBatch {
  int64_t number = 0;            // Number of the batch. The first one is first_batch.
  std::vector<int64_t> samples;  // Number of the sample in each row.
  int64_t row_tokens = 0;        // seq_length + 1
  std::vector<int64_t> tokens;   // samples.size() * row_tokens
  // Loss weight of each prediction: samples.size() * (row_tokens - 1) values. If empty, all weights
  // are 1.
  std::vector<float> prediction_weights = {};
  bool is_unread = false;  // The tokens could not be read; all of them are 0.
};

// Returns each batch once, in order. Next() and stall_seconds() must be called from the same
// thread.
class Prefetcher {
 public:
  // Returns the numbers of this rank's samples in batch `number`. Must be pure. Called on the
  // prefetch thread.
  using SamplesOfBatch = std::function<std::vector<int64_t>(int64_t number)>;

  // Starts preparing batches first_batch, first_batch + 1, and so on. Keeps at most `depth` (>= 1)
  // prepared batches. The source must outlive this object.
  Prefetcher(const SampleSource& source, SamplesOfBatch samples_of_batch, int64_t first_batch,
             size_t depth = 4);
  // Stops the thread and discards the batches that were not returned.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // Waits until the next batch is prepared and returns it. If preparing it failed, throws the
  // error.
  TokenBatch Next();
  // Returns the total time spent waiting in Next().
  double stall_seconds() const { return stall_seconds_; }

 private:
  void Run(int64_t number);
  TokenBatch Prepare(int64_t number) const;

  const SampleSource& source_;
  const SamplesOfBatch samples_of_batch_;
  const size_t depth_;
  double stall_seconds_ = 0;  // Used only by the thread that calls Next().

  std::mutex mutex_;  // Guards the members below.
  std::condition_variable changed_;
  std::deque<TokenBatch> ready_;
  std::exception_ptr error_;
  bool stopping_ = false;

  std::thread thread_;  // The last member, because it starts after all other members exist.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_PREFETCHER_H_
