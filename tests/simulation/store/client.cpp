#include "tests/simulation/store/client.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace trainyard::simulation {
namespace {

constexpr int64_t kLongestThoughtMs = 400;
constexpr int64_t kRepeatMs = 150;
constexpr int64_t kClientTimeoutMs = 2'000;

JobAction ActionOf(ClientAction action) {
  switch (action) {
    case ClientAction::kSubmit:
      return JobAction::kSubmit;
    case ClientAction::kStop:
      return JobAction::kStop;
    default:
      return JobAction::kList;
  }
}

}  // namespace

void Client::CallLater() {
  world_.agenda.After(world_.random.Between(1, kLongestThoughtMs), [this] {
    if (!stopped_) Call();
  });
}

void Client::Call() {
  request_ = {.client = number_};
  if (world_.random.Chance(0.3)) {
    request_.action = ClientAction::kSubmit;
    request_.name = absl::StrCat("c", number_, "-", ++jobs_submitted_);
  } else if (!history_.jobs.empty() && world_.random.Chance(0.35)) {
    const auto last = static_cast<int64_t>(history_.jobs.size()) - 1;
    const auto job = std::next(history_.jobs.begin(), world_.random.Between(0, last));
    request_.action = ClientAction::kStop;
    request_.name = job->first;
    request_.job_id = job->second;
  }
  operation_ = history_.operations.size();
  history_.operations.push_back({.client = number_,
                                 .action = ActionOf(request_.action),
                                 .job = request_.name,
                                 .invoked = ++history_.position});
  is_waiting_ = true;
  attempts_ = 0;
  Try(member_);
}

void Client::Try(int member) {
  member_ = member;
  ++attempts_;
  request_.number = ++last_number_;
  send_(member, request_);
  world_.agenda.After(kClientTimeoutMs, [this, number = last_number_] {
    if (is_waiting_ && number == last_number_) TryLater(0);
  });
}

// Tries another controller.
void Client::TryLater(int64_t ms) {
  world_.agenda.After(ms, [this, number = last_number_] {
    if (number != last_number_) return;
    Try(static_cast<int>(world_.random.Between(0, members_ - 1)));
  });
}

void Client::Receive(const ClientAnswer& answer) {
  if (!is_waiting_ || answer.number != last_number_) return;
  // Jobs are refused until the first worker has attached.
  const bool lacks_workers =
      absl::IsFailedPrecondition(answer.status) && request_.action == ClientAction::kSubmit;
  if (absl::IsUnavailable(answer.status) || lacks_workers) return TryLater(kRepeatMs);
  Returned(answer);
}

void Client::Returned(const ClientAnswer& answer) {
  JobOperation& operation = history_.operations[operation_];
  is_waiting_ = false;
  operation.returned = ++history_.position;
  operation.jobs = answer.jobs;
  if (answer.status.ok() && request_.action == ClientAction::kSubmit) {
    history_.jobs[request_.name] = answer.job_id;
  } else if (absl::IsFailedPrecondition(answer.status) && request_.action == ClientAction::kStop) {
    // An earlier attempt of this operation, or the same one twice, may have stopped the job.
    operation.was_stopped = attempts_ == 1 && world_.faults.duplicate_request == 0;
  } else if (absl::IsNotFound(answer.status) && world_.audit.restored()) {
    // The restored copy of the database is older than the job.
  } else if (!answer.status.ok()) {
    world_.audit.CheckAnswer(absl::StrCat("request ", request_.name, " of client ", number_,
                                          " is refused: ", answer.status.ToString()));
  }
  CallLater();
}

}  // namespace trainyard::simulation
