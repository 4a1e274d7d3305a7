#include "controller/storage/history_check.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "controller/api/context/storage_health.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/state/jobs/history_losses.h"
#include "controller/storage/log_mark_keeper.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

struct NamedStore {
  std::string name;
  MarkedStore& store;
};

std::vector<NamedStore> MarkedStoresOf(Stores& stores) {
  return {{NameOf(StoreName::kMetrics), *stores.metrics}, {NameOf(StoreName::kLogs), *stores.logs}};
}

struct NamedMark {
  std::string seen_by;
  v1::LogMark mark;
  // The mark is in a data directory, outside of the database server.
  bool is_outside = false;
};

// Returns the marks of the other stores and, if the stores are in a database server, of the data
// directory.
absl::StatusOr<std::vector<NamedMark>> MarksOf(Stores& stores) {
  std::vector<NamedMark> marks;
  for (const NamedStore& one : MarkedStoresOf(stores)) {
    TRAINYARD_ASSIGN_OR_RETURN(v1::LogMark mark, one.store.ReadLogMark());
    const std::string file = absl::StrCat(one.name, ".db");
    marks.push_back(
        {stores.database.empty() ? file : "a controller of this cluster", std::move(mark)});
  }
  if (!stores.database.empty()) {
    const std::string path = LogMarkFileIn(stores.directory->path());
    marks.push_back({path, ReadLogMarkFile(path, stores.cluster_id), true});
  }
  return marks;
}

// Stores the mark, so that no other controller continues the shorter log.
void ShareMark(const v1::LogMark& mark, Stores& stores) {
  for (const NamedStore& one : MarkedStoresOf(stores)) {
    one.store.NoteLogMark(mark);
    const absl::Status status = one.store.WriteLogMark();
    if (status.ok()) continue;
    spdlog::error("cannot report the lost events to the other controllers: {}",
                  std::string(status.message()));
  }
}

// Searches for marks (positions in the event log) that the log no longer contains. Returns
// EventsLost for the newest such mark, or no event if there is none.
absl::StatusOr<std::vector<v1::Event>> FindLostEvents(const ClusterState& state, Stores& stores,
                                                      Timestamp now, bool stop) {
  ReportLostEvents newest{.last_sequence = stores.events->NewestMark().sequence()};
  int64_t most_jobs = 0;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<NamedMark> marks, MarksOf(stores));
  for (const auto& [seen_by, mark, is_outside] : marks) {
    if (mark.sequence() == 0 || stores.events->Covers(mark)) continue;
    // A former leader may have a mark that is older than an accepted loss or a restored backup.
    if (is_outside && !IsUnexplainedLoss(state, mark)) continue;
    most_jobs = std::max(most_jobs, mark.job_id());
    if (mark.sequence() < newest.mark.sequence()) continue;
    newest.mark = mark;
    newest.seen_by = seen_by;
  }
  if (newest.seen_by.empty()) return std::vector<v1::Event>();
  newest.mark.set_job_id(most_jobs);
  if (stop && IsUnexplainedLoss(state, newest.mark)) {
    ShareMark(newest.mark, stores);
    return LostEventsError(newest);
  }
  return DecideLostEvents(state, newest, now);
}

// Describes the data that the store has lost since the mark `known` was recorded. Empty if no data
// was lost.
std::string LossOf(const StoreMark& known, const StoreMark& found) {
  if (found.store_id != known.store_id) {
    return "the file was removed or replaced";
  }
  if (found.writes >= known.writes) return "";
  return absl::StrCat("the file is an older copy, in which ", known.writes - found.writes, " of ",
                      known.writes, " writes are missing");
}

absl::Status FindLostData(Stores& stores, Timestamp now, std::vector<v1::Event>& events) {
  using Marks = std::map<std::string, StoreMark>;
  TRAINYARD_ASSIGN_OR_RETURN(const Marks known, stores.events->StoreMarks());
  for (const NamedStore& one : MarkedStoresOf(stores)) {
    const StoreMark found = one.store.Position();
    stores.events->NoteStore(one.name, found);
    const auto mark = known.find(one.name);
    const std::string reason = mark == known.end() ? "" : LossOf(mark->second, found);
    if (reason.empty()) continue;
    v1::Event& event = events.emplace_back();
    event.set_time_ms(now);
    event.set_actor("controller");
    event.mutable_store_data_lost()->set_store(one.name);
    event.mutable_store_data_lost()->set_reason(reason);
  }
  return absl::OkStatus();
}

}  // namespace

void ExitWithLostEvents(const absl::Status& cause) {
  spdlog::critical("{}", std::string(cause.message()));
  spdlog::default_logger()->flush();
  std::_Exit(EXIT_FAILURE);
}

absl::StatusOr<bool> RecordLosses(const ClusterState& state, Stores& stores, Timestamp now,
                                  int64_t leader_term, bool stop_on_lost_events) {
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<v1::Event> events,
                             FindLostEvents(state, stores, now, stop_on_lost_events));
  TRAINYARD_RETURN_IF_ERROR(FindLostData(stores, now, events));
  if (events.empty()) return false;
  for (v1::Event& event : events) {
    SetLeaderTerm(leader_term, event);
    spdlog::error("{}", LossText(HistoryLossOf(event)));
  }
  const absl::Status status = stores.events->Append(events);
  if (!status.ok()) {
    return absl::Status(
        status.code(),
        absl::StrCat(
            "cannot record that events were lost: ", status.message(),
            "; the controller does not start until it can record this loss, because it would "
            "otherwise stop ranks that are missing from the event log. Running jobs continue"));
  }
  return true;
}

absl::Status RecoverLosses(Stores& stores, const Clock& clock, const LoopOptions& options,
                           std::unique_ptr<Loop>& loop) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const bool recorded,
      RecordLosses(loop->View().state, stores, clock.Now(), options.core.leader_term,
                   options.core.stop_on_lost_events));
  if (!recorded) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(loop, Loop::Recover(*stores.events, clock, options));
  return absl::OkStatus();
}

}  // namespace trainyard::controller
