// Simulates a node without disk and processes: records calls and returns the results that the test
// has set.
#ifndef TRAINYARD_TESTS_WORKER_CORE_MEMORY_ATTEMPT_IO_H_
#define TRAINYARD_TESTS_WORKER_CORE_MEMORY_ATTEMPT_IO_H_

#include <string>
#include <vector>

#include "worker/core/attempt_kernel.h"

namespace trainyard::worker {

class MemoryAttemptIo final : public AttemptIo {
 public:
  explicit MemoryAttemptIo(FactQueue& facts) : facts_(facts) {}

  absl::Status CreateAttempt(const v1::StartAttempt& command) override;
  absl::Status RememberAttempt(const AttemptKey& attempt) override;
  absl::Status RecordFact(const v1::Fact& fact) override;
  absl::Status RemoveAttempt(const AttemptKey& attempt) override;
  void AddStreams(const v1::StartAttempt& command) override;
  void RemoveStreams(const AttemptKey& attempt) override;
  void Describe(v1::AttemptReport& report) override;
  void Launch(const v1::StartAttempt& command, const RankKey& rank) override;
  void CancelLaunch(const RankKey& rank) override;
  void Signal(const RankKey& rank, bool kill) override;
  void SendUserSignal(const RankKey& rank, bool second) override;
  absl::Status WriteOrder(const RankKey& rank, const std::string& order) override;
  void Observe(const RankKey& rank) override;
  std::string Stacks(int64_t pid) override;
  void Warn(const std::string& text) override { warnings.push_back(text); }

  // Returns the successful calls since the last Take, such as "launch 1/2/0". Facts are written as
  // in action_text.h.
  std::vector<std::string> Take();

  std::vector<std::string> warnings;
  // `creation` is the result of CreateAttempt. `write` is the result of each write that the worker
  // retries.
  absl::Status creation;
  absl::Status write;
  // Result of WriteOrder.
  absl::Status order_write;
  // The step that Describe reports for every rank.
  int64_t step = 0;

 private:
  absl::Status Written(const Action& action);

  FactQueue& facts_;
  std::vector<std::string> calls_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_CORE_MEMORY_ATTEMPT_IO_H_
