#include "worker/rpc/code_peer.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "proto/proof/digest.h"
#include "proto/proof/sealed_code.h"
#include "proto/support/grpc_status.h"
#include "proto/support/status_macros.h"
#include "trainyard/v1/code_service.grpc.pb.h"

namespace trainyard::worker {
namespace {

// Long enough for a pack of 8 MiB at 2 MB/s.
constexpr std::chrono::seconds kPeerLimit{5};
// Enough for the digests of 50,000 blobs, the limit on a snapshot.
constexpr int kMaxRequestBytes = 4 << 20;
// A pack has at most 8 MiB of compressed blobs, and their digests.
constexpr int kMaxAnswerBytes = 16 << 20;
constexpr std::size_t kMaxNonce = 64;

class PeerService final : public v1::CodePeerService::Service {
 public:
  PeerService(ReadCodeToken token, PackCode pack, int max_calls)
      : token_(std::move(token)), pack_(std::move(pack)), max_calls_(max_calls) {}

  grpc::Status FetchSealedCode(grpc::ServerContext* /*context*/,
                               const v1::FetchSealedCodeRequest* request,
                               v1::FetchSealedCodeResponse* response) override {
    if (calls_.fetch_add(1) >= max_calls_) {
      --calls_;
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, "this node serves too many others"};
    }
    const absl::Status status = Serve(*request, *response);
    --calls_;
    return ToGrpc(status);
  }

 private:
  absl::Status Serve(const v1::FetchSealedCodeRequest& request,
                     v1::FetchSealedCodeResponse& response) const {
    TRAINYARD_ASSIGN_OR_RETURN(const std::string token, token_());
    const std::string key = CodeKey(token, request.snapshot());
    const bool is_known = request.nonce().size() <= kMaxNonce &&
                          SameSecret(request.proof(), CodeProof(key, request.nonce()));
    if (!is_known) {
      return absl::PermissionDeniedError("the caller does not know the token of this cluster");
    }
    TRAINYARD_ASSIGN_OR_RETURN(
        const std::string pack,
        pack_(request.snapshot(), {request.digests().begin(), request.digests().end()}));
    std::optional<std::string> sealed = SealCode(key, request.nonce(), pack);
    if (!sealed.has_value()) return absl::InternalError("cannot encrypt the code");
    *response.mutable_sealed() = *std::move(sealed);
    return absl::OkStatus();
  }

  const ReadCodeToken token_;
  const PackCode pack_;
  const int max_calls_;
  std::atomic<int> calls_{0};
};

}  // namespace

struct CodePeerServer::Parts {
  Parts(ReadCodeToken token, PackCode pack, int max_calls)
      : service(std::move(token), std::move(pack), max_calls) {}

  PeerService service;
  std::string address;
  std::unique_ptr<grpc::Server> server;
};

CodePeerServer::CodePeerServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

CodePeerServer::~CodePeerServer() { parts_->server->Shutdown(std::chrono::system_clock::now()); }

const std::string& CodePeerServer::address() const { return parts_->address; }

absl::StatusOr<std::unique_ptr<CodePeerServer>> CodePeerServer::Start(const Options& options,
                                                                      ReadCodeToken token,
                                                                      PackCode pack) {
  const std::optional<HostAndPort> where = SplitAddress(options.listen);
  const bool is_any = where.has_value() && (where->host == "0.0.0.0" || where->host == "::");
  if (!where.has_value() || (!is_any && !IsExactAddress(where->host))) {
    return absl::InvalidArgumentError(absl::StrCat("--code-listen ", options.listen,
                                                   ": expected IP:PORT, such as 10.0.0.7:7073"));
  }
  auto parts = std::make_unique<Parts>(std::move(token), std::move(pack), options.max_calls);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(options.listen, grpc::InsecureServerCredentials(), &port);
  // Otherwise two workers could listen on one port.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kMaxRequestBytes);
  grpc::ResourceQuota quota;
  quota.SetMaxThreads(options.max_calls + 4);
  builder.SetResourceQuota(quota);
  builder.RegisterService(&parts->service);
  parts->server = builder.BuildAndStart();
  if (parts->server == nullptr || port == 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on --code-listen ", options.listen,
                     "; the port is in use or the address is not on this machine"));
  }
  const std::string& host = is_any ? options.host : where->host;
  parts->address = absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                                : absl::StrCat(host, ":", port);
  return std::unique_ptr<CodePeerServer>(new CodePeerServer(std::move(parts)));
}

absl::StatusOr<std::string> FetchCodeFromPeer(const std::string& address, const std::string& token,
                                              const std::string& snapshot,
                                              const std::vector<std::string>& digests) {
  const std::string key = CodeKey(token, snapshot);
  v1::FetchSealedCodeRequest request;
  request.set_snapshot(snapshot);
  request.mutable_digests()->Assign(digests.begin(), digests.end());
  request.set_nonce(CodeNonce());
  request.set_proof(CodeProof(key, request.nonce()));
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  // The request contains no secret, and the answer is useless without the key. The scheme keeps
  // gRPC from reading one out of the address, such as `unix:`.
  const auto channel =
      grpc::CreateCustomChannel("dns:///" + address, grpc::InsecureChannelCredentials(), arguments);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPeerLimit);
  v1::FetchSealedCodeResponse response;
  TRAINYARD_RETURN_IF_ERROR(FromGrpc(
      v1::CodePeerService::NewStub(channel)->FetchSealedCode(&context, request, &response)));
  std::optional<std::string> pack =
      OpenCode(key, request.nonce(), std::move(*response.mutable_sealed()));
  if (!pack.has_value()) {
    return absl::PermissionDeniedError("the answer was not encrypted with this cluster's token");
  }
  return *std::move(pack);
}

}  // namespace trainyard::worker
