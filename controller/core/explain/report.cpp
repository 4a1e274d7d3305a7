#include "controller/core/explain/report.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/core/ledger/cost.h"
#include "controller/core/state/nodes/capacity.h"
#include "google/protobuf/descriptor.h"
#include "proto/contract/limits.h"

namespace trainyard::controller {
namespace {

constexpr int kDefaultGroups = 100;
constexpr int kMostGroups = 1000;
constexpr int64_t kWeekMs = 7 * 24 * kHourMs;
// 1970-01-05, the first Monday of Unix time.
constexpr int64_t kFirstMondayMs = 4 * 24 * kHourMs;

// Phases that also occur in an undisturbed run.
constexpr std::array kEffective{v1::LEDGER_PHASE_TRAIN, v1::LEDGER_PHASE_DATA_STALL,
                                v1::LEDGER_PHASE_CHECKPOINT, v1::LEDGER_PHASE_EVALUATION};

Timestamp WeekOf(Timestamp time) {
  const int64_t since = time - kFirstMondayMs;
  return time - ((since % kWeekMs) + kWeekMs) % kWeekMs;
}

// "2026-11-23".
std::string DateText(Timestamp time) {
  const std::chrono::sys_days day =
      std::chrono::floor<std::chrono::days>(std::chrono::sys_time(std::chrono::milliseconds(time)));
  const std::chrono::year_month_day date(day);
  return absl::StrFormat("%04d-%02d-%02d", static_cast<int>(date.year()),
                         static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

// Returns the position of the phase in LedgerPhase. Returns -1 for a phase that this release does
// not know.
int IndexOfPhase(int phase) {
  const auto* value = v1::LedgerPhase_descriptor()->FindValueByNumber(phase);
  return value == nullptr ? -1 : value->index();
}

// Returns the milliseconds of [begin, end) that are within the other range.
int64_t Overlap(Timestamp begin, Timestamp end, Timestamp other_begin, Timestamp other_end) {
  return std::max<int64_t>(0, std::min(end, other_end) - std::max(begin, other_begin));
}

}  // namespace

absl::Status CheckReportRequest(const v1::GetReportRequest& request, Timestamp now) {
  if (request.limit() < 0 || request.limit() > kMostGroups) {
    return absl::InvalidArgumentError(absl::StrCat("limit: must be from 0 to ", kMostGroups));
  }
  if (request.job_id() < 0) {
    return absl::InvalidArgumentError("job_id: must be the number of a job, or 0 for all jobs");
  }
  if (request.user().size() > kMaxUserBytes) {
    return absl::InvalidArgumentError(absl::StrCat("user: at most ", kMaxUserBytes, " bytes"));
  }
  if (request.since_ms() < 0 || request.until_ms() < 0) {
    return absl::InvalidArgumentError(
        "since_ms and until_ms: must be Unix milliseconds, at least 0");
  }
  const Timestamp until = request.until_ms() == 0 ? now : std::min(request.until_ms(), now);
  if (request.since_ms() >= until) {
    return absl::InvalidArgumentError("since_ms must be before until_ms and before now");
  }
  return absl::OkStatus();
}

double Report::Group::WallMs() const { return std::accumulate(ms.begin(), ms.end(), 0.0); }

double Report::Group::SlotMs() const {
  return std::accumulate(slot_ms.begin(), slot_ms.end(), 0.0);
}

double Report::Group::SlotMs(v1::LedgerPhase phase) const {
  return slot_ms.at(static_cast<std::size_t>(IndexOfPhase(phase)));
}

void Report::Group::Add(const Group& other) {
  jobs += other.jobs;
  restarts += other.restarts;
  for (std::size_t i = 0; i < kPhases; ++i) {
    ms[i] += other.ms[i];
    slot_ms[i] += other.slot_ms[i];
  }
  gpu_ms += other.gpu_ms;
  idle_slot_ms += other.idle_slot_ms;
}

Report::Report(const v1::GetReportRequest& request, v1::CapacityHistory capacity, Timestamp now,
               GpuPrice price)
    : request_(request),
      capacity_(std::move(capacity)),
      price_(std::move(price)),
      window_{request.since_ms(),
              request.until_ms() == 0 ? now : std::min<Timestamp>(request.until_ms(), now)},
      oldest_ms_(window_.end) {}

void Report::ForEachPart(Window window,
                         const std::function<void(const Key& week, Window part)>& visit) const {
  const Window all{std::max(window.begin, window_.begin), std::min(window.end, window_.end)};
  if (request_.by() != v1::REPORT_BY_WEEK) return visit({}, all);
  for (Timestamp week = WeekOf(all.begin); week < all.end; week += kWeekMs) {
    visit({week, DateText(week)}, {std::max(week, all.begin), std::min(week + kWeekMs, all.end)});
  }
}

Report::Key Report::KeyOf(const v1::JobTime& job, const Key& week) const {
  switch (request_.by()) {
    case v1::REPORT_BY_USER:
      return {0, job.user()};
    case v1::REPORT_BY_JOB:
      return {job.job_id(), job.name()};
    case v1::REPORT_BY_WEEK:
      return week;
    default:
      return {0, "cluster"};
  }
}

Report::Group Report::TimeIn(const v1::JobTime& job, Window window) const {
  Group time;
  for (const v1::JobTimeSpan& span : job.spans()) {
    const Timestamp end = span.begin_ms() + span.range_ms();
    const int64_t inside = Overlap(span.begin_ms(), end, window.begin, window.end);
    const int phase = inside == 0 ? -1 : IndexOfPhase(span.phase());
    if (phase < 0 || phase >= static_cast<int>(kPhases)) continue;
    const auto index = static_cast<std::size_t>(phase);
    const auto range = static_cast<double>(span.range_ms());
    const double part = static_cast<double>(inside) / range;
    time.ms[index] += part * static_cast<double>(span.length_ms());
    time.slot_ms[index] += part * static_cast<double>(span.slot_ms());
    const Timestamp known = std::max(window.begin, capacity_.since_ms());
    time.idle_slot_ms -= static_cast<double>(Overlap(span.begin_ms(), end, known, window.end)) /
                         range * static_cast<double>(span.slot_ms());
  }
  if (CountsAsGpu(job.device())) time.gpu_ms = time.SlotMs();
  return time;
}

void Report::Add(const v1::JobTime& job) {
  if (!request_.user().empty() && job.user() != request_.user()) return;
  if (request_.job_id() != 0 && job.job_id() != request_.job_id()) return;
  Timestamp end = job.submitted_time_ms();
  for (const v1::JobTimeSpan& span : job.spans()) {
    end = std::max(end, span.begin_ms() + span.range_ms());
  }
  Group in_all;
  ForEachPart({job.submitted_time_ms(), end}, [&](const Key& week, Window part) {
    Group time = TimeIn(job, part);
    if (time.WallMs() <= 0) return;
    oldest_ms_ = std::min(oldest_ms_, std::max(part.begin, job.submitted_time_ms()));
    time.jobs = 1;
    time.restarts = job.restarts();
    const Key key = KeyOf(job, week);
    Group& group = groups_[key];
    group.name = key.second;
    if (request_.by() == v1::REPORT_BY_JOB) group.job_id = job.job_id();
    group.Add(time);
    in_all.Add(time);
    in_all.jobs = 1;
    in_all.restarts = job.restarts();
  });
  total_.Add(in_all);
  if (groups_.size() > kGroupsKept) JoinSmallest(kGroupsKept / 2);
}

bool Report::CountsIdle() const {
  const bool by_time = request_.by() == v1::REPORT_BY_WEEK ||
                       request_.by() == v1::REPORT_BY_CLUSTER ||
                       request_.by() == v1::REPORT_BY_UNSPECIFIED;
  const bool of_all = request_.user().empty() && request_.job_id() == 0;
  return by_time && of_all && capacity_.since_ms() > 0;
}

double Report::CapacityIn(Window window) const {
  double slot_ms = 0;
  for (int i = 0; i < capacity_.slot_ms_size(); ++i) {
    const Timestamp hour = (capacity_.first_hour() + i) * kHourMs;
    const Timestamp begin = std::max(hour, capacity_.since_ms());
    const Timestamp end = std::min(hour + kHourMs, capacity_.until_ms());
    if (begin >= end) continue;
    const int64_t inside = Overlap(begin, end, window.begin, window.end);
    slot_ms += static_cast<double>(capacity_.slot_ms(i)) * static_cast<double>(inside) /
               static_cast<double>(end - begin);
  }
  return slot_ms;
}

void Report::AddIdle() {
  const Window known{std::max(capacity_.since_ms(), window_.begin), window_.end};
  ForEachPart(known, [&](const Key& week, Window part) {
    const double slot_ms = CapacityIn(part);
    if (slot_ms <= 0) return;
    const Key key = KeyOf({}, week);
    Group& group = groups_[key];
    group.name = key.second;
    group.idle_slot_ms += slot_ms;
    total_.idle_slot_ms += slot_ms;
  });
}

void Report::JoinSmallest(std::size_t kept) {
  std::vector<std::map<Key, Group>::iterator> order;
  for (auto it = groups_.begin(); it != groups_.end(); ++it) order.push_back(it);
  if (order.size() <= kept) return;
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return std::pair(a->second.SlotMs(), a->second.WallMs()) >
           std::pair(b->second.SlotMs(), b->second.WallMs());
  });
  for (std::size_t i = kept; i < order.size(); ++i) {
    rest_.Add(order[i]->second);
    ++joined_;
    groups_.erase(order[i]);
  }
}

v1::ReportGroup Report::Message(const Group& group) const {
  v1::ReportGroup message;
  message.set_name(group.name);
  message.set_job_id(group.job_id);
  message.set_jobs(group.jobs);
  message.set_restarts(group.restarts);
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (group.ms[i] <= 0 && group.slot_ms[i] <= 0) continue;
    v1::PhaseTime& time = *message.add_phases();
    const auto* phase = v1::LedgerPhase_descriptor()->value(static_cast<int>(i));
    time.set_phase(static_cast<v1::LedgerPhase>(phase->number()));
    time.set_seconds(group.ms[i] / 1e3);
    time.set_slot_seconds(group.slot_ms[i] / 1e3);
  }
  message.set_wall_seconds(group.WallMs() / 1e3);
  const double slot_ms = group.SlotMs();
  message.set_slot_seconds(slot_ms / 1e3);
  message.set_gpu_seconds(group.gpu_ms / 1e3);
  if (auto cost = CostOf(message.gpu_seconds(), price_)) *message.mutable_cost() = *std::move(cost);
  if (slot_ms > 0) {
    double effective = 0;
    for (const v1::LedgerPhase phase : kEffective) effective += group.SlotMs(phase);
    message.set_goodput_ratio(group.SlotMs(v1::LEDGER_PHASE_TRAIN) / slot_ms);
    const double gang_ms = slot_ms - group.SlotMs(v1::LEDGER_PHASE_STANDBY);
    message.set_effective_ratio(gang_ms > 0 ? effective / gang_ms : 0);
  }
  if (CountsIdle()) {
    // The value can be negative, because slots on a lost node no longer count as capacity but may
    // still be used by a job.
    message.set_idle_slot_seconds(std::max(0.0, group.idle_slot_ms / 1e3));
    message.set_idle_since_ms(std::max(capacity_.since_ms(), window_.begin));
  }
  return message;
}

v1::GetReportResponse Report::Take() {
  if (CountsIdle()) AddIdle();
  if (request_.by() != v1::REPORT_BY_WEEK) {
    JoinSmallest(request_.limit() == 0 ? kDefaultGroups : request_.limit());
  }
  std::vector<const Group*> order;
  for (const auto& [key, group] : groups_) order.push_back(&group);
  if (request_.by() != v1::REPORT_BY_WEEK) {
    std::ranges::stable_sort(order, [](const Group* a, const Group* b) {
      return std::pair(a->SlotMs(), a->WallMs()) > std::pair(b->SlotMs(), b->WallMs());
    });
  }
  v1::GetReportResponse response;
  for (const Group* group : order) *response.add_groups() = Message(*group);
  if (joined_ > 0) {
    rest_.name = absl::StrCat(joined_, " others");
    *response.mutable_rest() = Message(rest_);
  }
  total_.name = "total";
  *response.mutable_total() = Message(total_);
  response.set_since_ms(request_.since_ms() == 0 ? oldest_ms_ : request_.since_ms());
  response.set_until_ms(window_.end);
  return response;
}

}  // namespace trainyard::controller
