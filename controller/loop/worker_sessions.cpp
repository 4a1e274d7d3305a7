#include "controller/loop/worker_sessions.h"

#include <variant>

#include "controller/core/decide/lost_history.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {

WorkerSessions::WorkerSessions(Loop& loop, Ingest& ingest, EventLog& event_log,
                               std::string cluster_id)
    : loop_(loop),
      ingest_(ingest),
      event_log_(event_log),
      kernel_(loop.View().state, loop.observations(), loop.View().options,
              KernelOptions(std::move(cluster_id))) {
  loop_.BeforeTick([this](Timestamp now) { CarryOut(kernel_.BeforeTick(now)); });
  loop_.Listen([this](const ClusterView& view, const TickSummary& summary) {
    CarryOut(kernel_.AfterCommit(view, summary));
    return true;
  });
}

WorkerKernel::Options WorkerSessions::KernelOptions(std::string cluster_id) {
  WorkerKernel::Options options;
  options.cluster_id = std::move(cluster_id);
  options.links = [this](LinkId id) -> LinkState {
    const auto link = links_.find(id);
    if (link == links_.end()) return {};
    const WorkerLink::Outgoing outgoing = link->second->outgoing();
    return {outgoing.waiting, outgoing.taken, link->second->ReadingPaused()};
  };
  options.marks = {
      .covers = [this](const v1::LogMark& mark) { return Covers(mark); },
      .newest = [this] { return event_log_.NewestMark(); },
  };
  return options;
}

bool WorkerSessions::Covers(const v1::LogMark& mark) const {
  const bool covered = event_log_.Covers(mark);
  const ClusterView& view = loop_.View();
  if (!covered && view.options.stop_on_lost_events && IsUnexplainedLoss(view.state, mark) &&
      on_lost_events_) {
    on_lost_events_(LostEventsError({.mark = mark,
                                     .seen_by = "a worker",
                                     .last_sequence = event_log_.NewestMark().sequence()}));
  }
  return covered;
}

void WorkerSessions::OnMessage(const std::shared_ptr<WorkerLink>& link, v1::WorkerMessage message,
                               ReadPermits permits) {
  auto shared = std::make_shared<v1::WorkerMessage>(std::move(message));
  loop_.PostFromWorker(link.get(), [this, link, shared, permits = std::move(permits)]() mutable {
    permits.waiting.reset();
    CarryOut(kernel_.Receive(IdOf(link), std::move(*shared), std::move(permits.handling),
                             loop_.View().now));
  });
}

void WorkerSessions::OnClosed(const std::shared_ptr<WorkerLink>& link) {
  loop_.PostFromWorker(link.get(), [this, link] {
    const auto found = ids_.extract(link.get());
    if (found.empty()) return;
    links_.erase(found.mapped());
    CarryOut(kernel_.Closed(found.mapped()));
  });
}

void WorkerSessions::CloseAll(const absl::Status& status) {
  loop_.Post([this, status] { CarryOut(kernel_.CloseAll(status)); });
}

absl::Status WorkerSessions::CheckExec(const std::string& node_id) const {
  return kernel_.LinkForExec(node_id).status();
}

absl::Status WorkerSessions::SendExec(const std::string& node_id, v1::OpenExec message) {
  TRAINYARD_ASSIGN_OR_RETURN(const LinkId link, kernel_.LinkForExec(node_id));
  SendMessage action{link, {}};
  *action.message.mutable_open_exec() = std::move(message);
  CarryOut(action);
  return absl::OkStatus();
}

LinkId WorkerSessions::IdOf(const std::shared_ptr<WorkerLink>& link) {
  const auto [id, is_new] = ids_.try_emplace(link.get(), last_link_ + 1);
  if (is_new) {
    last_link_ = id->second;
    links_[last_link_] = link;
  }
  return id->second;
}

const void* WorkerSessions::TurnOf(LinkId id) const {
  const auto link = links_.find(id);
  return link == links_.end() ? nullptr : link->second.get();
}

void WorkerSessions::CarryOut(WorkerActions actions) {
  for (WorkerAction& action : actions) {
    std::visit([this](auto& one) { CarryOut(one); }, action);
  }
}

void WorkerSessions::CarryOut(SendMessage& action) {
  const auto link = links_.find(action.link);
  if (link != links_.end()) link->second->Send(std::move(action.message));
}

void WorkerSessions::CarryOut(EndLink& action) {
  const auto link = links_.find(action.link);
  if (link == links_.end()) return;
  if (action.at_once) {
    link->second->CutOff(action.status);
  } else {
    link->second->Close(action.status);
  }
}

void WorkerSessions::CarryOut(SubmitRequest& action) {
  loop_.SubmitAtOnce(std::move(action.request),
                     [this, tag = action.tag, permit = std::move(action.permit)](
                         const RequestOutcome& outcome, const ClusterView& view) {
                       CarryOut(kernel_.Answered(tag, outcome.status(), view.now));
                     });
}

void WorkerSessions::CarryOut(ReadOffsets& action) {
  std::vector<StreamKey> streams = std::move(action.streams);
  ingest_.ReadOffsets(
      std::move(streams),
      [this, turn = TurnOf(action.link), asked = std::move(action)](const StreamOffsets& offsets) {
        LoggedAlerts alerts = ReadLoggedAlerts(asked.attempts, [this](int64_t job_id, int limit) {
          return ReadEvents(job_id, limit);
        });
        ArchivedJobs archived = ReadArchived(asked.archived_jobs);
        loop_.PostFromWorker(turn, [this, link = asked.link, offsets, alerts = std::move(alerts),
                                    archived = std::move(archived)]() mutable {
          CarryOut(kernel_.OffsetsRead(link, offsets, std::move(alerts), std::move(archived)));
        });
      });
}

ArchivedJobs WorkerSessions::ReadArchived(const std::set<int64_t>& job_ids) {
  ArchivedJobs archived;
  for (const int64_t job_id : job_ids) {
    JobArchive::Found found = event_log_.archive().Find(job_id);
    if (found.ok()) {
      archived[job_id] = *std::move(found);
    } else {
      spdlog::warn(
          "cannot read archived job {}: {}; the worker keeps the output of this job that is still "
          "on its disk",
          job_id, found.status().ToString());
    }
  }
  return archived;
}

absl::StatusOr<std::vector<v1::Event>> WorkerSessions::ReadEvents(int64_t job_id, int limit) {
  absl::StatusOr<std::vector<v1::Event>> events = event_log_.ReadJobEvents(job_id, limit);
  if (!events.ok()) {
    spdlog::warn(
        "cannot read the alerts of job {} from the event log: {}; if the worker resends an alert, "
        "it is shown twice",
        job_id, events.status().ToString());
  }
  return events;
}

void WorkerSessions::CarryOut(StoreTelemetry& action) {
  Stored stored = ToKernel(action.link, action.batch.stream(), std::move(action.permit));
  ingest_.AddTelemetry(std::move(action.batch), std::move(stored));
}

void WorkerSessions::CarryOut(StoreOutput& action) {
  Stored stored = ToKernel(action.link, action.chunk.stream(), std::move(action.permit));
  ingest_.AddOutput(std::move(action.chunk), std::move(stored));
}

Stored WorkerSessions::ToKernel(LinkId link, const v1::StreamId& stream, Permit permit) {
  return [this, link, turn = TurnOf(link), stream,
          permit = std::move(permit)](const absl::StatusOr<int64_t>& offset) {
    loop_.PostFromWorker(turn, [this, link, stream, permit, offset] {
      CarryOut(kernel_.Stored(link, stream, offset));
    });
  };
}

void WorkerSessions::CarryOut(HigherTermSeen& action) {
  if (on_higher_term_) on_higher_term_(action.term);
}

void WorkerSessions::CarryOut(ScheduleTick&) { loop_.ScheduleTick(); }

void WorkerSessions::CarryOut(WriteLog& action) {
  switch (action.level) {
    case WriteLog::Level::kInfo:
      return spdlog::info(action.text);
    case WriteLog::Level::kWarning:
      return spdlog::warn(action.text);
    case WriteLog::Level::kError:
      return spdlog::error(action.text);
  }
}

}  // namespace trainyard::controller
