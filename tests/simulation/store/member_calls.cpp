// Answers of a controller to clients, and its messages to workers.
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "controller/kernel/known_alerts.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/simulation/store/member.h"

namespace trainyard::simulation {
namespace {

constexpr int64_t kSlowestAnswerMs = 5;
constexpr int64_t kSlowestReadMs = 20;

absl::Status DoesNotLead() { return absl::UnavailableError("this controller does not lead"); }

// Clients repeat requests that the controller could not store.
absl::Status StatusFor(const absl::Status& status) {
  return absl::IsResourceExhausted(status) ? absl::UnavailableError(status.message()) : status;
}

}  // namespace

void Member::Receive(const ClientRequest& request) {
  if (!is_up_) return;
  Run(0, [this, request] {
    if (!Leads()) {
      return world_.to_client(request.client, {.number = request.number, .status = DoesNotLead()});
    }
    OnLoop([this, request] { HandleRequest(request); });
  });
}

void Member::HandleRequest(const ClientRequest& request) {
  if (request.action == ClientAction::kList) return List(request);
  const auto done = [this, request](const controller::RequestOutcome& outcome,
                                    const controller::ClusterView& view) {
    ClientAnswer answer{.number = request.number, .status = StatusFor(outcome.status())};
    const auto job = view.state.job_by_request_id.find(request.name);
    if (job != view.state.job_by_request_id.end()) answer.job_id = job->second;
    if (answer.status.ok() && request.action == ClientAction::kSubmit) {
      world_.audit.CheckSubmitted(request.name, answer.job_id);
    } else if (answer.status.ok()) {
      world_.audit.CheckStopped(request.job_id);
    }
    Answer(request.client, std::move(answer));
  };
  if (request.action == ClientAction::kSubmit) {
    v1::SubmitJobRequest submit;
    *submit.mutable_spec() = controller::TestSpec(request.name, 1, 1);
    submit.mutable_spec()->mutable_restart()->set_max_restarts(1'000);
    submit.set_request_id(request.name);
    leading_->tick.Submit(controller::Checked(submit), done);
  } else {
    v1::StopJobRequest stop;
    stop.set_job(absl::StrCat(request.job_id));
    leading_->tick.Submit(controller::StopJob{stop, {"ada"}}, done);
  }
  ScheduleTick();
}

void Member::List(const ClientRequest& request) {
  ClientAnswer answer{.number = request.number};
  for (const auto& [id, entry] : leading_->tick.state().jobs) {
    answer.jobs[entry.job.name()] =
        entry.stop_requested || entry.job.state() == v1::JOB_STATE_STOPPED;
  }
  Answer(request.client, std::move(answer));
}

// Answers leave on another thread, which checks the leadership (LeaderGuard::CheckMayAnswer).
void Member::Answer(int client, ClientAnswer answer) {
  Run(world_.random.Between(0, kSlowestAnswerMs), [this, client, answer = std::move(answer)] {
    if (!MayAnswer()) return End();
    world_.audit.CheckAnswers(kernel_->term(), world_.database.term());
    world_.to_client(client, answer);
    AfterStep();
  });
}

void Member::ReceiveFromWorker(int64_t link, const std::string& node_id,
                               v1::WorkerMessage message) {
  if (!is_up_) return world_.close_link(link);
  Run(0, [this, link, node_id, message = std::move(message)]() mutable {
    if (!Leads()) return world_.close_link(link);
    OnLoop([this, link, node_id, message = std::move(message)]() mutable {
      leading_->node_of_link[link] = node_id;
      CarryOut(leading_->workers.Receive(link, std::move(message), nullptr,
                                         leading_->tick.TimeAt(Clock())));
    });
  });
}

void Member::LinkClosed(int64_t link) {
  Run(0, [this, link] {
    if (!Leads()) return;
    OnLoop([this, link] { CarryOut(leading_->workers.Closed(link)); });
  });
}

void Member::CarryOut(controller::WorkerActions actions) {
  for (controller::WorkerAction& action : actions) {
    std::visit([this](auto& one) { CarryOutOne(one); }, action);
  }
}

void Member::CarryOutOne(controller::SendMessage& action) {
  const std::string& node_id = leading_->node_of_link[action.link];
  world_.audit.CheckMessage(node_id, action.message, leading_->is_appending);
  Run(world_.random.Between(0, kSlowestAnswerMs),
      [this, link = action.link, message = std::move(action.message)]() mutable {
        world_.to_worker(link, std::move(message));
        AfterStep();
      });
}

void Member::CarryOutOne(controller::EndLink& action) {
  Run(kSlowestAnswerMs, [this, link = action.link] { world_.close_link(link); });
  LinkClosed(action.link);
}

void Member::CarryOutOne(controller::SubmitRequest& action) {
  leading_->tick.Submit(std::move(action.request),
                        [this, tag = action.tag](const controller::RequestOutcome& outcome,
                                                 const controller::ClusterView& view) {
                          CarryOut(leading_->workers.Answered(tag, outcome.status(), view.now));
                        });
  ScheduleTick();
}

void Member::CarryOutOne(controller::ReadOffsets& action) {
  controller::LoggedAlerts alerts = controller::ReadLoggedAlerts(
      action.attempts,
      [this](int64_t job_id, int limit) { return leading_->log->ReadJobEvents(job_id, limit); });
  controller::ArchivedJobs archived;
  for (const int64_t job_id : action.archived_jobs) archived[job_id] = std::nullopt;
  Run(world_.random.Between(1, kSlowestReadMs),
      [this, link = action.link, alerts = std::move(alerts), archived] {
        OnLoop([this, link, alerts, archived] {
          CarryOut(leading_->workers.OffsetsRead(link, {}, alerts, archived));
        });
      });
}

}  // namespace trainyard::simulation
