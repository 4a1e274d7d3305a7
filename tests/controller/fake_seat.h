// A seat for tests that leads when the test says so.
#ifndef TRAINYARD_TESTS_CONTROLLER_FAKE_SEAT_H_
#define TRAINYARD_TESTS_CONTROLLER_FAKE_SEAT_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/support/leader_seat.h"

namespace trainyard::controller {

// The facts about the leadership, shared by a test and its seats. Thread-safe.
class FakeElection {
 public:
  struct Facts {
    int64_t term = 0;  // The term that the seat leads.
    std::string leader;
    int64_t leader_term = 0;
    std::string leader_page;
    absl::Status status;  // The result of each step.
    bool may_answer = true;
    int steps = 0;
    std::vector<StandbyReport> standbys;
    std::string successor;  // Named by the seat.
    int64_t position = 0;   // Reported by the seat.
  };

  void Set(const Facts& facts) {
    const std::lock_guard lock(mutex_);
    facts_ = facts;
  }
  Facts Get() const {
    const std::lock_guard lock(mutex_);
    return facts_;
  }
  absl::Status Step() {
    const std::lock_guard lock(mutex_);
    ++facts_.steps;
    return facts_.status;
  }
  absl::Status Name(const std::string& successor) {
    const std::lock_guard lock(mutex_);
    if (facts_.status.ok()) facts_.successor = successor;
    return facts_.status;
  }
  void SetPosition(int64_t position) {
    const std::lock_guard lock(mutex_);
    facts_.position = position;
  }

 private:
  mutable std::mutex mutex_;
  Facts facts_;  // Guarded by mutex_.
};

class FakeSeat final : public LeaderSeat {
 public:
  explicit FakeSeat(FakeElection& election) : election_(election) {}

  absl::Status Step() override {
    const absl::Status status = election_.Step();
    seen_ = election_.Get();
    return status;
  }
  int64_t interval_ms() const override { return 5; }
  int64_t term() const override { return seen_.term; }
  const std::string& leader() const override { return seen_.leader; }
  int64_t leader_term() const override { return seen_.leader_term; }
  const std::string& leader_page() const override { return seen_.leader_page; }
  void SetPosition(int64_t position) override { election_.SetPosition(position); }
  absl::StatusOr<std::vector<StandbyReport>> Standbys() override {
    return election_.Get().standbys;
  }
  absl::Status NameSuccessor(const std::string& address) override {
    return election_.Name(address);
  }
  absl::Status PassTerm(int64_t seen) override {
    return absl::AbortedError(absl::StrCat("the next term is above ", seen));
  }
  bool ContinuesLog() const override { return false; }
  bool MayAnswer() const override { return election_.Get().may_answer; }

 private:
  FakeElection& election_;
  FakeElection::Facts seen_;  // At the last step.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_FAKE_SEAT_H_
