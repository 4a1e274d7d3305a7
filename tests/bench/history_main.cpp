// trainyard-bench-history: generates the event log of a controller with a long history. Most ended
// jobs go directly to the archive; running jobs and the newest ended jobs go to the state. The
// controller must have been started once in the directory and must not be running.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/archive.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/state/cluster_state.h"
#include "controller/store/events/sqlite_event_log.h"
#include "proto/support/clock.h"

namespace trainyard::controller {
namespace {

constexpr int kSlotsPerNode = 8;
constexpr int64_t kJobsAtOnce = 5000;
constexpr int kUsers = 50;
// The state keeps only this number of ended jobs: the newest.
constexpr int64_t kEndedInState = 1000;

struct History {
  int64_t ended = 1'000'000;
  int64_t running = 1000;
  // Start of the history in Unix milliseconds. From this time on, one job ends per second.
  Timestamp begin_ms = 0;
};

v1::JobSpec SpecOf(int64_t id) {
  v1::JobSpec spec;
  spec.set_name(absl::StrCat("experiment-", id));
  spec.set_description("a sweep over learning rates and batch sizes");
  for (const char* word : {"python3", "-m", "train", "--config", "configs/sweep.yaml"}) {
    spec.add_command(word);
  }
  spec.mutable_resources()->set_nodes(1);
  spec.mutable_resources()->set_slots_per_node(1);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  spec.mutable_restart()->set_max_restarts(3);
  spec.mutable_stop_grace()->set_seconds(30);
  spec.mutable_checkpoint()->set_dir(absl::StrCat("/checkpoints/", id, "-experiment"));
  for (int i = 0; i < 10; ++i) {
    (*spec.mutable_env())[absl::StrCat("SETTING_", i)] = absl::StrCat("value-", id % 97, "-", i);
  }
  return spec;
}

v1::RankPlacement PlacementOf(int64_t number) {
  v1::RankPlacement rank;
  rank.set_node_id(absl::StrCat("node-", number / kSlotsPerNode));
  rank.set_slot(static_cast<int>(number % kSlotsPerNode));
  return rank;
}

v1::ArchivedJob EndedJob(int64_t id, Timestamp ended_ms) {
  v1::ArchivedJob archived;
  v1::Job& job = *archived.mutable_job();
  job.set_id(id);
  *job.mutable_spec() = SpecOf(id);
  job.set_name(job.spec().name());
  job.set_user(absl::StrCat("user-", id % kUsers));
  job.set_state(id % 10 == 0 ? v1::JOB_STATE_FAILED : v1::JOB_STATE_SUCCEEDED);
  job.set_submitted_time_ms(ended_ms - 600'000);
  job.set_ended_time_ms(ended_ms);
  job.mutable_verdict()->set_summary("every rank ended with 0");
  job.mutable_progress()->set_step(1000);
  job.mutable_progress()->set_total_steps(1000);
  v1::Attempt& attempt = *job.add_attempts();
  attempt.set_number(1);
  attempt.set_state(v1::ATTEMPT_STATE_ENDED);
  *attempt.add_ranks() = PlacementOf(id % 1000);
  attempt.set_placed_time_ms(ended_ms - 500'000);
  attempt.set_started_time_ms(ended_ms - 490'000);
  attempt.set_ended_time_ms(ended_ms);
  archived.mutable_details()->set_job_id(id);
  archived.mutable_details()->set_request_id(absl::StrCat("0d4c7d2e-", id));
  return archived;
}

int64_t Archived(const History& history) {
  return std::max<int64_t>(history.ended - kEndedInState, 0);
}

// Writes only two events per job. Two are enough, because a starting controller does not read
// events older than the snapshot.
absl::Status WriteArchived(const History& history, EventLog& log) {
  for (int64_t first = 1; first <= Archived(history); first += kJobsAtOnce) {
    std::vector<v1::Event> events;
    std::vector<v1::ArchivedJob> jobs;
    for (int64_t id = first; id < first + kJobsAtOnce && id <= Archived(history); ++id) {
      const Timestamp ended_ms = history.begin_ms + 1000 * id;
      jobs.push_back(EndedJob(id, ended_ms));
      v1::Event& ended = events.emplace_back();
      ended.set_time_ms(ended_ms);
      ended.mutable_job_ended()->set_job_id(id);
      ended.mutable_job_ended()->set_state(jobs.back().job().state());
      v1::Event& archived = events.emplace_back();
      archived.set_time_ms(ended_ms + 3'600'000);
      archived.mutable_job_archived()->set_job_id(id);
    }
    TRAINYARD_RETURN_IF_ERROR(log.Append(events, jobs));
  }
  return absl::OkStatus();
}

v1::Event NodeJoined(const std::string& id, Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  v1::Node& node = *event.mutable_node_joined()->mutable_node();
  node.set_id(id);
  node.set_name(id);
  node.set_address("10.0.0.1");
  for (int i = 0; i < kSlotsPerNode; ++i) {
    v1::Slot& slot = *node.mutable_inventory()->add_slots();
    slot.set_index(i);
    slot.set_kind(v1::DEVICE_KIND_CPU);
  }
  return event;
}

// Adds the events of a job's submission and start.
void AddRunningJob(int64_t id, int64_t number, Timestamp now, std::vector<v1::Event>& events) {
  const auto add = [&]() -> v1::Event& {
    v1::Event& event = events.emplace_back();
    event.set_time_ms(now);
    return event;
  };
  v1::JobSubmitted& submitted = *add().mutable_job_submitted();
  submitted.set_job_id(id);
  submitted.set_user(absl::StrCat("user-", id % kUsers));
  *submitted.mutable_spec() = SpecOf(id);
  v1::JobPlaced& placed = *add().mutable_job_placed();
  placed.set_job_id(id);
  placed.set_attempt(1);
  *placed.add_ranks() = PlacementOf(number);
  placed.set_master_address("10.0.0.1");
  placed.set_master_port(static_cast<int>(20'000 + number));
  v1::RankStarted& started = *add().mutable_rank_started();
  started.set_job_id(id);
  started.set_attempt(1);
  v1::AttemptRunning& running = *add().mutable_attempt_running();
  running.set_job_id(id);
  running.set_attempt(1);
}

void AddEndedJobs(const History& history, v1::Snapshot& snapshot) {
  for (int64_t id = Archived(history) + 1; id <= history.ended; ++id) {
    v1::ArchivedJob ended = EndedJob(id, history.begin_ms + 1000 * id);
    *snapshot.add_jobs() = std::move(*ended.mutable_job());
    *snapshot.add_job_details() = std::move(*ended.mutable_details());
  }
}

absl::Status WriteState(const History& history, EventLog& log) {
  const Timestamp now = history.begin_ms + 1000 * (history.ended + 1);
  std::vector<v1::Event> events;
  for (int64_t i = 0; i * kSlotsPerNode < history.running; ++i) {
    events.push_back(NodeJoined(absl::StrCat("node-", i), now));
  }
  for (int64_t i = 0; i < history.running; ++i) {
    AddRunningJob(history.ended + 1 + i, i, now, events);
  }
  ClusterState state;
  state.next_job_id = history.ended + 1;
  for (const v1::Event& event : events) Apply(event, state);
  TRAINYARD_RETURN_IF_ERROR(log.Append(events));
  const int64_t sequence = 2 * Archived(history) + static_cast<int64_t>(events.size());
  v1::Snapshot snapshot = ToSnapshot(state, static_cast<uint64_t>(sequence));
  AddEndedJobs(history, snapshot);
  return log.WriteSnapshot(snapshot);
}

absl::Status Write(const History& history, const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto log, SqliteEventLog::Open(path));
  TRAINYARD_ASSIGN_OR_RETURN(const EventLog::Recovery recovery, log->Recover());
  if (recovery.last_sequence != 0) {
    return absl::FailedPreconditionError(absl::StrCat(path, " has events already"));
  }
  TRAINYARD_RETURN_IF_ERROR(WriteArchived(history, *log));
  return WriteState(history, *log);
}

}  // namespace
}  // namespace trainyard::controller

int main(int argc, char** argv) {
  CLI::App app("Writes the event log of a controller with a long history.");
  std::string directory;
  trainyard::controller::History history;
  app.add_option("--data-dir", directory, "of the controller")->required();
  app.add_option("--ended", history.ended, "archived jobs")->check(CLI::PositiveNumber);
  app.add_option("--running", history.running, "running jobs")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  const trainyard::SystemClock clock;
  history.begin_ms = clock.Now() - 1000 * (history.ended + 10'000);
  const absl::Status status = trainyard::controller::Write(history, directory + "/events.db");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
