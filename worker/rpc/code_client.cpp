#include "worker/rpc/code_client.h"

#include <grpcpp/grpcpp.h>

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/grpc_status.h"
#include "proto/support/status_macros.h"
#include "trainyard/v1/code_service.grpc.pb.h"
#include "worker/rpc/code_peer.h"
#include "worker/rpc/dial_controller.h"

namespace trainyard::worker {
namespace {

constexpr std::chrono::seconds kCodeDialLimit{10};
constexpr std::chrono::seconds kCodeCallLimit{30};
constexpr std::chrono::seconds kCodeSourceLimit{5};
constexpr std::chrono::milliseconds kCodeRetryPause{500};
// A pack has at most 8 MiB of compressed blobs, and their digests.
constexpr int kMaxCodeMessageBytes = 16 << 20;

bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> CodeClient::Connect() {
  std::string controller;
  {
    const std::lock_guard lock(mutex_);
    if (channel_ != nullptr) return channel_;
    controller = controllers_.current();
  }
  grpc::ChannelArguments arguments = ControllerArguments(options_);
  arguments.SetMaxReceiveMessageSize(kMaxCodeMessageBytes);
  absl::StatusOr<DialedController> dialed =
      DialController(controller, {options_.token_file, kCodeDialLimit, arguments});
  const std::lock_guard lock(mutex_);
  if (!dialed.ok()) {
    // Another thread may have selected the next controller already.
    if (controllers_.current() == controller) controllers_.Advance();
    return dialed.status();
  }
  channel_ = std::move(dialed->opened.channel);
  return channel_;
}

absl::StatusOr<std::string> CodeClient::FetchOnce(const std::vector<std::string>& digests) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, Connect());
  v1::FetchCodeRequest request;
  request.mutable_digests()->Assign(digests.begin(), digests.end());
  v1::FetchCodeResponse response;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCodeCallLimit);
  const absl::Status status =
      FromGrpc(v1::CodeService::NewStub(channel)->FetchCode(&context, request, &response));
  if (status.ok()) return std::move(*response.mutable_pack());
  Drop(channel);
  return status;
}

// A channel over the local socket or plain TCP never reconnects.
void CodeClient::Drop(const std::shared_ptr<grpc::Channel>& channel) {
  const std::lock_guard lock(mutex_);
  if (channel_ == channel) channel_ = nullptr;
}

absl::StatusOr<v1::FindCodeSourceResponse> CodeClient::FindSource(
    const v1::FindCodeSourceRequest& request) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, Connect());
  v1::FindCodeSourceResponse response;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCodeSourceLimit);
  const absl::Status status =
      FromGrpc(v1::CodeService::NewStub(channel)->FindCodeSource(&context, request, &response));
  if (status.ok()) return response;
  Drop(channel);
  return status;
}

absl::StatusOr<std::string> CodeClient::FetchFromPeer(const std::string& address,
                                                      const std::string& snapshot,
                                                      const std::vector<std::string>& digests) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string token, ReadControllerToken(options_));
  return FetchCodeFromPeer(address, token, snapshot, digests);
}

absl::StatusOr<std::string> CodeClient::FetchFromController(
    const std::vector<std::string>& digests) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    absl::StatusOr<std::string> pack = FetchOnce(digests);
    if (pack.ok() || !MayPass(pack.status())) return pack;
    if (std::chrono::steady_clock::now() + kCodeRetryPause >= end) {
      return absl::UnavailableError(
          absl::StrCat("cannot fetch the job's code from the controller: ",
                       std::string(pack.status().message())));
    }
    std::this_thread::sleep_for(kCodeRetryPause);
  }
}

}  // namespace trainyard::worker
