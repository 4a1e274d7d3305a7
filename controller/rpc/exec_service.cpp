#include "controller/rpc/exec_service.h"

#include "controller/access/server_credentials.h"
#include "controller/api/jobs/named_job.h"
#include "proto/access/secret.h"
#include "proto/support/grpc_status.h"

namespace trainyard::controller {

// The stream of a client. Its first message opens the session.
class ExecService::ClientReactor final : public ExecRelay::ClientStream {
 public:
  ClientReactor(ExecService& service, grpc::CallbackServerContext* context)
      : service_(service),
        context_(context),
        relay_(std::make_shared<ExecRelay>(this, service.limits_)) {
    relay_->ReadStart();
  }

  void OnReadDone(bool ok) override {
    if (std::exchange(has_begun_, true)) return relay_->ClientRead(ok);
    if (!ok || !relay_->first_input().has_start()) {
      return relay_->End(absl::InvalidArgumentError("the first message must be ExecStart"));
    }
    const v1::ExecStart start = relay_->first_input().start();
    const absl::StatusOr<Principal> principal = PrincipalOf(*context_, start.user());
    if (!principal.ok()) return relay_->End(principal.status());
    service_.Open(relay_, start, *principal);
  }
  void OnWriteDone(bool ok) override { relay_->ClientWritten(ok); }
  void OnCancel() override { relay_->End(absl::CancelledError("the client disconnected")); }
  void OnDone() override { delete this; }

 private:
  ExecService& service_;
  grpc::CallbackServerContext* context_;
  const std::shared_ptr<ExecRelay> relay_;
  bool has_begun_ = false;
};

// The stream of a worker. Its first message names the session.
class ExecService::WorkerReactor final : public ExecRelay::WorkerStream {
 public:
  explicit WorkerReactor(ExecTable& table) : table_(table) { StartRead(&hello_); }

  void OnReadDone(bool ok) override {
    if (relay_ != nullptr) return relay_->WorkerRead(ok);
    relay_ = ok && hello_.has_hello() ? table_.Claim(hello_.hello().id()) : nullptr;
    if (relay_ == nullptr || !relay_->Join(this)) {
      Finish(ToGrpc(absl::NotFoundError("no client waits for this exec session")));
    }
  }
  void OnWriteDone(bool ok) override { relay_->WorkerWritten(ok); }
  void OnCancel() override {}  // A read or a write fails, too.
  void OnDone() override { delete this; }

 private:
  ExecTable& table_;
  v1::ExecOutput hello_;
  std::shared_ptr<ExecRelay> relay_;
};

ExecRelay::ClientStream* ExecService::Exec(grpc::CallbackServerContext* context) {
  return new ClientReactor(*this, context);
}

ExecRelay::WorkerStream* ExecService::ServeExec(grpc::CallbackServerContext* /*context*/) {
  return new WorkerReactor(*table_);
}

void ExecService::Open(const std::shared_ptr<ExecRelay>& relay, const v1::ExecStart& start,
                       const Principal& principal) {
  if (const absl::Status status = CheckExecCommand(start.command()); !status.ok()) {
    return relay->End(status);
  }
  ReadJob(api_, start.job(),
          [this, relay, start, principal](const absl::StatusOr<const JobEntry*>& entry,
                                          const ClusterView& view) {
            absl::Status status = entry.status();
            if (status.ok()) status = table_->Admit(view.now);
            if (!status.ok()) return relay->End(status);
            OpenBeside(**entry, relay, start, principal);
          });
}

void ExecService::OpenBeside(const JobEntry& entry, const std::shared_ptr<ExecRelay>& relay,
                             const v1::ExecStart& start, const Principal& principal) {
  const absl::StatusOr<ExecTarget> target = FindExecTarget(entry, start.rank());
  if (!target.ok()) return relay->End(target.status());
  const std::string id = NewSecret();
  absl::Status status = workers_.check(target->node_id);
  if (status.ok()) status = table_->Add(id, target->node_id, relay);
  if (!status.ok()) return relay->End(status);
  relay->OnEnd([table = table_, id] { table->Remove(id); });
  api_.loop.Listen([this, weak = std::weak_ptr(relay)](const ClusterView&, const TickSummary&) {
    const auto open = weak.lock();
    if (open != nullptr && api_.shutdown.raised()) {
      open->End(absl::AbortedError("the controller is shutting down; the command was ended"));
    }
    return open != nullptr && open->CheckLimits();
  });
  api_.loop.Submit(OpenExecSession{target->attempt, target->place, start.command(), principal},
                   [this, relay, id, target = *target, command = start.command()](
                       const RequestOutcome& outcome, const ClusterView& view) {
                     if (!outcome.ok()) return relay->End(outcome.status());
                     Send(target, id, command, *relay, view);
                   });
}

void ExecService::Send(const ExecTarget& target, const std::string& id,
                       const v1::ExecCommand& command, ExecRelay& relay, const ClusterView& view) {
  v1::OpenExec message;
  message.set_id(id);
  message.set_job_id(target.attempt.job_id);
  message.set_attempt(target.attempt.number);
  message.set_rank(target.member);
  *message.mutable_command() = command;
  v1::ExecStarted started;
  started.set_job_id(target.attempt.job_id);
  started.set_attempt(target.attempt.number);
  started.set_rank(target.place);
  started.set_node(NodeName(view.state, target.node_id));
  relay.AwaitWorker(std::move(started));
  const absl::Status status = workers_.open(target.node_id, std::move(message));
  if (!status.ok()) relay.End(status);
}

}  // namespace trainyard::controller
