// The ledger across jobs: sums of the time of many jobs by user, job, week or cluster.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_REPORT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_REPORT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/support/clock.h"
#include "trainyard/v1/ledger.pb.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::controller {

// INVALID_ARGUMENT: a bound of the request is broken, or its time is empty.
absl::Status CheckReportRequest(const v1::GetReportRequest& request, Timestamp now);

// Adds up jobs one by one. Memory is bounded by kGroupsKept groups, whatever the number of jobs.
class Report {
 public:
  // `now` ends the time that counts, unless the request ends it earlier. `capacity`: slots of the
  // cluster over time.
  Report(const v1::GetReportRequest& request, v1::CapacityHistory capacity, Timestamp now);

  // First moment that counts; 0: all.
  Timestamp since_ms() const { return window_.begin; }

  void Add(const v1::JobTime& job);

  // Call once, after all jobs.
  v1::GetReportResponse Take();

 private:
  static constexpr std::size_t kPhases = v1::LedgerPhase_ARRAYSIZE;
  // Groups that are told apart. Beyond it the smaller half is joined, so that of more users or jobs
  // than that only the largest are exact.
  static constexpr std::size_t kGroupsKept = 4096;

  struct Window {
    Timestamp begin = 0;
    Timestamp end = 0;
  };

  struct Group {
    std::string name;
    int64_t job_id = 0;
    int64_t jobs = 0;
    int64_t restarts = 0;
    std::array<double, kPhases> ms{};
    std::array<double, kPhases> slot_ms{};
    // Slots that no job held; only what jobs held, as a negative number, until Take.
    double idle_slot_ms = 0;

    double WallMs() const;
    double SlotMs() const;
    void Add(const Group& other);
  };

  // Of a group: the week's first moment or the number of the job, and the name.
  using Key = std::pair<int64_t, std::string>;

  // Calls `visit` for each week of the window, or once where groups are not weeks.
  void ForEachPart(Window window,
                   const std::function<void(const Key& week, Window part)>& visit) const;
  Key KeyOf(const v1::JobTime& job, const Key& week) const;
  // The job's time in the window.
  Group TimeIn(const v1::JobTime& job, Window window) const;
  bool CountsIdle() const;
  double CapacityIn(Window window) const;
  void AddIdle();
  void JoinSmallest(std::size_t kept);
  v1::ReportGroup Message(const Group& group) const;

  const v1::GetReportRequest request_;
  const v1::CapacityHistory capacity_;
  Window window_;
  std::map<Key, Group> groups_;
  // Groups that were joined, and their number.
  Group rest_;
  int64_t joined_ = 0;
  Group total_;
  Timestamp oldest_ms_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_REPORT_H_
