// Requests and jobs for tests of reports. The times of the jobs are known.
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_EXPLAIN_REPORT_SCENES_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_EXPLAIN_REPORT_SCENES_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/state/nodes/capacity.h"
#include "proto/support/clock.h"
#include "trainyard/v1/ledger.pb.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::controller {

inline constexpr int64_t kDay = 24 * kHourMs;
// Monday, 2026-11-23, 00:00 UTC.
inline constexpr Timestamp kMonday = 1'795'392'000'000;

// A span of `length_ms` on `slots` slots.
inline v1::JobTimeSpan Span(v1::LedgerPhase phase, Timestamp begin, int64_t length_ms, int slots) {
  v1::JobTimeSpan span;
  span.set_phase(phase);
  span.set_begin_ms(begin);
  span.set_range_ms(length_ms);
  span.set_length_ms(length_ms);
  span.set_slot_ms(length_ms * slots);
  return span;
}

// A job that is queued for 10 s without slots, trains for 90 s on 4 slots, and then repeats lost
// steps for 100 s.
inline v1::JobTime JobAt(Timestamp begin, int64_t id, const std::string& user) {
  v1::JobTime job;
  job.set_job_id(id);
  job.set_name(absl::StrCat("job-", id));
  job.set_user(user);
  job.set_submitted_time_ms(begin);
  *job.add_spans() = Span(v1::LEDGER_PHASE_QUEUED, begin, 10'000, 0);
  *job.add_spans() = Span(v1::LEDGER_PHASE_TRAIN, begin + 10'000, 90'000, 4);
  *job.add_spans() = Span(v1::LEDGER_PHASE_REDONE, begin + 100'000, 100'000, 4);
  return job;
}

// A request for groups by `by`, without limits.
inline v1::GetReportRequest By(v1::ReportBy by) {
  v1::GetReportRequest request;
  request.set_by(by);
  return request;
}

// Slot-seconds of a phase; 0 if the group has no time in it.
inline double SlotSeconds(const v1::ReportGroup& group, v1::LedgerPhase phase) {
  for (const v1::PhaseTime& time : group.phases()) {
    if (time.phase() == phase) return time.slot_seconds();
  }
  return 0;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_EXPLAIN_REPORT_SCENES_H_
