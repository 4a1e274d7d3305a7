#include "controller/rpc/exec_relay.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/contract/limits.h"
#include "proto/support/grpc_status.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// INVALID_ARGUMENT: a client may not send this message after its first one.
absl::Status CheckInput(const v1::ExecInput& input) {
  if (input.has_start() || input.kind_case() == v1::ExecInput::KIND_NOT_SET) {
    return absl::InvalidArgumentError(
        "exec: unexpected message from the client; use a client of the controller's release");
  }
  if (input.data().size() <= kMaxExecPieceBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("exec: the client sent ", input.data().size(),
                                                 " bytes in one message; at most ",
                                                 kMaxExecPieceBytes, " are allowed"));
}

}  // namespace

void ExecRelay::ReadStart() {
  const std::lock_guard lock(mutex_);
  if (client_ != nullptr) client_->StartRead(&input_);
}

void ExecRelay::AwaitWorker(v1::ExecStarted started) {
  const std::lock_guard lock(mutex_);
  started_ = std::move(started);
  awaited_since_ = Steady::now();
}

void ExecRelay::OnEnd(std::function<void()> on_end) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return on_end();
  on_end_ = std::move(on_end);
}

bool ExecRelay::Join(WorkerStream* worker) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return false;
  worker_ = worker;
  NoteActivity();
  client_->StartRead(&input_);
  *output_.mutable_started() = started_;
  // The worker's output is read once this message is written.
  client_->StartWrite(&output_);
  return true;
}

void ExecRelay::ClientRead(bool ok) {
  const std::lock_guard lock(mutex_);
  if (worker_ == nullptr) return;
  if (!ok) {
    // The client sends nothing more, but may still read the output.
    input_ended_ = true;
    input_.set_end_of_input(true);
  } else if (const absl::Status status = CheckInput(input_); !status.ok()) {
    return EndLocked(status);
  }
  NoteActivity();
  worker_->StartWrite(&input_);
}

void ExecRelay::WorkerWritten(bool ok) {
  const std::lock_guard lock(mutex_);
  if (ok && client_ != nullptr && !input_ended_) client_->StartRead(&input_);
}

void ExecRelay::WorkerRead(bool ok) {
  const std::lock_guard lock(mutex_);
  if (worker_ == nullptr) return;
  if (!ok) {
    return EndLocked(absl::AbortedError(
        absl::StrCat("the connection to the command on node ", started_.node(),
                     " is lost, because its worker or its node has stopped; the command was "
                     "ended")));
  }
  NoteActivity();
  if (!output_.has_ended()) return client_->StartWrite(&output_);
  std::exchange(client_, nullptr)->StartWriteAndFinish(&output_, {}, grpc::Status::OK);
  std::exchange(worker_, nullptr)->Finish(grpc::Status::OK);
  Ended();
}

void ExecRelay::ClientWritten(bool ok) {
  const std::lock_guard lock(mutex_);
  if (ok && worker_ != nullptr) worker_->StartRead(&output_);
}

bool ExecRelay::CheckLimits() {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return false;
  const auto now = Steady::now();
  const bool joined = active_at_ != Steady::time_point();
  if (joined && now - active_at_ > limits_.idle) {
    EndLocked(absl::DeadlineExceededError(
        absl::StrCat("the session had no input and no output for ",
                     DurationText(limits_.idle.count()), "; the command was ended")));
  } else if (!joined && awaited_since_ != Steady::time_point() &&
             now - awaited_since_ > limits_.open) {
    EndLocked(absl::DeadlineExceededError(absl::StrCat(
        "the worker of node ", started_.node(), " did not open the session within ",
        DurationText(limits_.open.count()), "; the log of the worker may state the reason")));
  }
  return client_ != nullptr;
}

void ExecRelay::End(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  EndLocked(status);
}

void ExecRelay::EndLocked(const absl::Status& status) {
  if (client_ == nullptr) return;
  std::exchange(client_, nullptr)->Finish(ToGrpc(status));
  if (worker_ != nullptr) std::exchange(worker_, nullptr)->Finish(ToGrpc(status));
  Ended();
}

void ExecRelay::Ended() {
  if (on_end_ != nullptr) std::exchange(on_end_, nullptr)();
}

}  // namespace trainyard::controller
