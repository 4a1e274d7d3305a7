#include "controller/core/schedule/promise_history.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/event_log/event_node.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/support/text.h"

namespace trainyard::controller {
namespace {

struct Cause {
  v1::PromiseCause code = v1::PROMISE_CAUSE_UNSPECIFIED;
  std::string reason;
};

// Returns the effect of a node event on the node's slots, such as "was lost". Empty for events that
// add or remove no usable slots.
std::string NodeChange(const v1::Event& event) {
  if (event.has_node_suspected()) return "sends no heartbeats";
  if (event.has_node_lost()) return "was lost";
  if (event.has_node_cordoned()) return "was cordoned";
  if (event.has_node_draining()) return "is being drained";
  if (event.has_node_unhealthy()) return "became unhealthy";
  if (event.has_node_removed()) return "was removed";
  const bool has_returned = event.has_node_joined() || event.has_node_returned() ||
                            event.has_node_uncordoned() || event.has_node_healthy() ||
                            event.has_node_released();
  return has_returned ? "is available again" : "";
}

// Returns the last promised time that was known; nullopt if none was.
std::optional<Timestamp> LastKnown(const PromiseHistory& history) {
  for (auto change = history.rbegin(); change != history.rend(); ++change) {
    if (change->promised_ms() != 0) return change->promised_ms();
  }
  return std::nullopt;
}

class HistoryWriter {
 public:
  // `promises`: the histories of all jobs. The history of a head is continued after the histories
  // of the heads before it.
  HistoryWriter(const ClusterState& state, const TickCauses& causes, const Promises& promises,
                Timestamp now)
      : state_(state), causes_(causes), promises_(promises), now_(now) {}

  // `before`: the heads of the same queue that precede the head. `history`: that of the head.
  void Head(const QueueHead& head, std::span<const QueueHead> before,
            PromiseHistory& history) const {
    const Timestamp promised = KnownPromise(head.promised, now_);
    const std::string place = before.empty()
                                  ? "is the first of its queue"
                                  : absl::StrCat("is number ", before.size() + 1, " of its queue");
    if (history.empty()) return Add(promised, {v1::PROMISE_CAUSE_FIRST, place}, history);
    const Timestamp last = history.back().promised_ms();
    const std::optional<Timestamp> known = LastKnown(history);
    const bool is_later = promised == 0 || promised > known.value_or(promised);
    if (last == 0 && promised != 0) {
      const auto code = is_later ? v1::PROMISE_CAUSE_JOB_AHEAD : v1::PROMISE_CAUSE_FIRST;
      return Add(promised, {code, absl::StrCat(place, " again")}, history);
    }
    const bool is_same =
        last == promised || (promised != 0 && std::abs(promised - last) < kPromiseToleranceMs);
    if (!is_same) Add(promised, is_later ? WhyLater(head, before) : WhySooner(), history);
  }

  // The job is no longer a head. `refusal`: why the pass did not place its class, if known.
  // `head`: the new head of its queue, or nullptr.
  void NoHead(const v1::Job& job, std::optional<Refusal> refusal, const QueueHead* head,
              PromiseHistory& history) const {
    if (history.back().promised_ms() == 0) return;
    if (refusal == Refusal::kQuota || refusal == Refusal::kClosedQuota) {
      return Add(0,
                 {v1::PROMISE_CAUSE_QUOTA,
                  absl::StrCat("a limit of queue ", QueueOf(job), " keeps it waiting")},
                 history);
    }
    if (head == nullptr) return;
    Add(0, {v1::PROMISE_CAUSE_JOB_AHEAD, absl::StrCat(Name(head->job_id), " goes first")}, history);
  }

 private:
  std::string Name(int64_t job_id) const { return JobText(state_.jobs.at(job_id).job); }

  v1::DeviceKind KindOf(int64_t job_id) const {
    return GangRequestOf(state_.jobs.at(job_id).job.spec()).kind;
  }

  Cause WhyLater(const QueueHead& head, std::span<const QueueHead> before) const {
    const v1::DeviceKind kind = KindOf(head.job_id);
    for (const auto& [id, heads_before] : causes_.placed) {
      if (id == head.job_id || heads_before > std::ssize(before)) continue;
      if (!state_.jobs.contains(id) || KindOf(id) != kind) continue;
      return {v1::PROMISE_CAUSE_JOB_AHEAD, absl::StrCat(Name(id), " got slots before it")};
    }
    for (const v1::Event& event : causes_.events) {
      if (!event.has_job_extended() || !state_.jobs.contains(event.job_extended().job_id()))
        continue;
      return {
          v1::PROMISE_CAUSE_LIMIT_EXTENDED,
          absl::StrCat("the time limit of ", Name(event.job_extended().job_id()), " was extended")};
    }
    if (auto node = NodeCause(); node.has_value()) return *std::move(node);
    for (const QueueHead& other : before) {
      const auto found = promises_.find(other.job_id);
      if (found == promises_.end() || found->second.back().time_ms() != now_) continue;
      return {v1::PROMISE_CAUSE_JOB_AHEAD,
              found->second.size() == 1
                  ? absl::StrCat(Name(other.job_id), " is now before it")
                  : absl::StrCat("the promise to ", Name(other.job_id), " before it changed")};
    }
    const bool is_known = state_.jobs.contains(head.awaited_job_id);
    return {v1::PROMISE_CAUSE_RUNS_LONGER,
            is_known ? absl::StrCat(Name(head.awaited_job_id), " is expected to end later")
                     : "running jobs are expected to end later"};
  }

  Cause WhySooner() const {
    if (auto node = NodeCause(); node.has_value()) return *std::move(node);
    return {v1::PROMISE_CAUSE_ENDS_SOONER, "slots become free sooner than expected"};
  }

  std::optional<Cause> NodeCause() const {
    for (const v1::Event& event : causes_.events) {
      const std::string change = NodeChange(event);
      if (change.empty()) continue;
      return Cause{v1::PROMISE_CAUSE_NODE,
                   absl::StrCat("node ", NodeName(state_, ChangedNode(event)), " ", change)};
    }
    return std::nullopt;
  }

  // A change with the cause of the newest one replaces it, so that a job that keeps running longer
  // does not fill the history.
  void Add(Timestamp promised, Cause cause, PromiseHistory& history) const {
    const bool repeats = history.size() > 1 && history.back().cause() == cause.code &&
                         history.back().reason() == cause.reason;
    if (!repeats && history.size() == kPromiseChangesKept) history.erase(history.begin() + 1);
    v1::PromiseChange& change = repeats ? history.back() : history.emplace_back();
    change.set_time_ms(now_);
    change.set_promised_ms(promised);
    change.set_cause(cause.code);
    change.set_reason(std::move(cause.reason));
  }

  const ClusterState& state_;
  const TickCauses& causes_;
  const Promises& promises_;
  const Timestamp now_;
};

// Returns true if the head preempts jobs. Such a pass finds no further heads.
bool Preempts(const Schedule& schedule, const QueueHead& head) {
  return std::ranges::find(schedule.preemptions, head.job_id, &Preemption::for_job_id) !=
         schedule.preemptions.end();
}

}  // namespace

Timestamp KnownPromise(Timestamp promised, Timestamp now) {
  return promised >= now + kUnknownRunMs / 2 ? 0 : promised;
}

void ContinuePromises(const ClusterState& state, const TickCauses& causes, Timestamp now,
                      Promises before, Schedule& schedule) {
  schedule.promises = std::move(before);
  std::erase_if(schedule.promises, [&](const auto& item) {
    const JobEntry* entry = FindEntry(state, item.first);
    return entry == nullptr || !state.pending_jobs.Contains(QueueKeyOf(entry->job));
  });
  if (schedule.awaits_workers) return;
  const HistoryWriter writer(state, causes, schedule.promises, now);
  for (auto& [job_id, history] : schedule.promises) {
    const v1::Job& job = state.jobs.at(job_id).job;
    const QueueHead* head = schedule.HeadOf(GangRequestOf(job.spec()).kind);
    if (schedule.AsHead(job_id) != nullptr) continue;
    if (head != nullptr && Preempts(schedule, *head)) continue;
    writer.NoHead(job, schedule.RefusalOf(job), head, history);
  }
  for (const auto& [kind, first] : schedule.heads) {
    const std::vector<QueueHead> heads = schedule.PromisedHeadsOf(state, kind);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if (heads[i].shortage != Shortage::kSlots) continue;
      writer.Head(heads[i], std::span(heads).first(i), schedule.promises[heads[i].job_id]);
    }
  }
  while (schedule.promises.size() > kPromiseHistoriesKept) {
    schedule.promises.erase(schedule.promises.begin());
  }
}

void ShiftPromises(int64_t step_ms, Promises& promises) {
  for (auto& [job_id, history] : promises) {
    for (v1::PromiseChange& change : history) {
      change.set_time_ms(change.time_ms() + step_ms);
      if (change.promised_ms() != 0) change.set_promised_ms(change.promised_ms() + step_ms);
    }
  }
}

}  // namespace trainyard::controller
