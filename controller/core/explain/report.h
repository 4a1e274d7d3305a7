// The time ledger of many jobs: time totals by user, job, week or cluster.
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
#include "controller/core/support/gpu_price.h"
#include "proto/support/clock.h"
#include "trainyard/v1/ledger.pb.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::controller {

// INVALID_ARGUMENT: the request exceeds a limit, or its time range is empty.
absl::Status CheckReportRequest(const v1::GetReportRequest& request, Timestamp now);

// Adds up the time of jobs, one job at a time. Memory is limited to kGroupsKept groups, independent
// of the number of jobs.
class Report {
 public:
  // The time range ends at `now`, unless the request sets an earlier end. `capacity` is the number
  // of slots of the cluster over time.
  Report(const v1::GetReportRequest& request, v1::CapacityHistory capacity, Timestamp now,
         GpuPrice price = {});

  // Returns the start of the time range. 0 if the range has no start.
  Timestamp since_ms() const { return window_.begin; }

  void Add(const v1::JobTime& job);

  // Returns the report. Must be called once, after all jobs were added.
  v1::GetReportResponse Take();

 private:
  // This value is at least the number of phases in LedgerPhase. The phase numbers have gaps, so a
  // phase is stored at its position in the enum.
  static constexpr std::size_t kPhases = 24;
  // The maximum number of separate groups. If there are more, the smaller half of the groups is
  // merged, so only the largest groups are exact.
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
    // Slot time on GPUs.
    double gpu_ms = 0;
    // Idle slot time. Until Take is called, the field contains the used slot time as a negative
    // number; Take adds the capacity.
    double idle_slot_ms = 0;

    double WallMs() const;
    double SlotMs() const;
    double SlotMs(v1::LedgerPhase phase) const;
    void Add(const Group& other);
  };

  // Identifies a group. The number is the start of the week or the job id; the text is the name.
  using Key = std::pair<int64_t, std::string>;

  // Calls `visit` once for each week of the window if the groups are weeks, and otherwise once for
  // the whole window.
  void ForEachPart(Window window,
                   const std::function<void(const Key& week, Window part)>& visit) const;
  Key KeyOf(const v1::JobTime& job, const Key& week) const;
  // The job's time within the window.
  Group TimeIn(const v1::JobTime& job, Window window) const;
  bool CountsIdle() const;
  double CapacityIn(Window window) const;
  void AddIdle();
  void JoinSmallest(std::size_t kept);
  v1::ReportGroup Message(const Group& group) const;

  const v1::GetReportRequest request_;
  const v1::CapacityHistory capacity_;
  const GpuPrice price_;
  Window window_;
  std::map<Key, Group> groups_;
  // The merged smaller groups and their number.
  Group rest_;
  int64_t joined_ = 0;
  Group total_;
  Timestamp oldest_ms_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_REPORT_H_
