#include "worker/exec/exec_stream.h"

#include "proto/support/status_macros.h"
#include "worker/rpc/dial_controller.h"

namespace trainyard::worker {
namespace {

constexpr std::chrono::seconds kExecDialLimit{8};

}  // namespace

absl::Status ExecStream::Open(const v1::ExecLaunch& launch) {
  const DialRules rules = {launch.token_file(), kExecDialLimit, ControllerArguments({})};
  TRAINYARD_ASSIGN_OR_RETURN(DialedController dialed,
                             DialController(launch.controller(), rules));
  channel_ = std::move(dialed.opened.channel);
  stub_ = v1::ExecService::NewStub(channel_);
  call_ = stub_->ServeExec(&context_);
  v1::ExecOutput hello;
  hello.mutable_hello()->set_id(launch.id());
  if (Write(hello)) return absl::OkStatus();
  return absl::UnavailableError("the controller closed the stream of the session");
}

bool ExecStream::Write(const v1::ExecOutput& output) {
  const std::lock_guard lock(write_mutex_);
  return call_->Write(output);
}

}  // namespace trainyard::worker
