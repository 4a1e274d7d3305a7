#include "proto/access/channel.h"

#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel_posix.h"
#include "grpcpp/support/client_interceptor.h"
#include "proto/access/controller_list.h"
#include "proto/access/dial.h"
#include "proto/access/local_socket.h"
#include "proto/access/secret.h"
#include "proto/proof/digest.h"
#include "proto/proof/proof.h"
#include "proto/support/grpc_status.h"
#include "proto/support/status_macros.h"
#include "trainyard/v1/access_service.grpc.pb.h"

namespace trainyard {
namespace {

using grpc::experimental::ClientInterceptorFactoryInterface;
using grpc::experimental::InterceptionHookPoints;
using std::chrono::steady_clock;
using std::chrono::system_clock;

// The value of the `authorization` metadata. Set once, before the channel is returned.
using Header = std::shared_ptr<std::string>;

class AddHeader final : public grpc::experimental::Interceptor {
 public:
  explicit AddHeader(Header header) : header_(std::move(header)) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (!header_->empty() &&
        methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->insert({"authorization", *header_});
    }
    methods->Proceed();
  }

 private:
  const Header header_;
};

class AddHeaderFactory final : public ClientInterceptorFactoryInterface {
 public:
  explicit AddHeaderFactory(Header header) : header_(std::move(header)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new AddHeader(header_);
  }

 private:
  const Header header_;
};

// Returns interceptors that add the header to each call. Call credentials cannot be used, because
// gRPC rejects them on connections without TLS.
std::vector<std::unique_ptr<ClientInterceptorFactoryInterface>> Adding(const Header& header) {
  std::vector<std::unique_ptr<ClientInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(std::make_unique<AddHeaderFactory>(header));
  return interceptors;
}

// Returns a channel over the connected socket. The channel owns and closes the socket.
std::shared_ptr<grpc::Channel> ChannelOn(UniqueFd socket, const Access& access,
                                         const ChannelOptions& options, const Header& header) {
  return grpc::experimental::CreateCustomInsecureChannelWithInterceptorsFromFd(
      access.address(), socket.Release(), options.arguments, Adding(header));
}

std::shared_ptr<grpc::Channel> TlsChannel(const Access& access, const ChannelOptions& options,
                                          const Header& header) {
  grpc::SslCredentialsOptions trust;
  trust.pem_root_certs = access.certificate();
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      access.address(), grpc::SslCredentials(trust), options.arguments, Adding(header));
}

absl::Status OlderController(const Access& access) {
  return absl::FailedPreconditionError(
      absl::StrCat("the controller at ", access.address(), " cannot prove that it knows the token ",
                   "in ", access.token_file(),
                   ", because the controller is from an older release. Nothing was sent to it; "
                   "upgrade the controller first"));
}

absl::Status Unproven(const Access& access) {
  return absl::PermissionDeniedError(absl::StrCat(
      "the program listening at ", access.address(), " does not know the token in ",
      access.token_file(),
      ", so it is not the controller that this token belongs to. Nothing was sent to "
      "it; check that the controller runs at this address, and check the file named by $",
      kTokenFileVariable));
}

// Limits of one request for a proof.
struct ProofRules {
  steady_clock::time_point deadline;
  bool accept_standby = false;
};

// Asks the controller to prove that it knows the token. If the proof is correct, returns the
// controller's challenge. `dialed` is the address that the caller dialed; empty if the proof must
// not depend on the address.
absl::StatusOr<std::string> AskForProof(const std::shared_ptr<grpc::Channel>& channel,
                                        const Access& access, const std::string& dialed,
                                        const ProofRules& rules) {
  grpc::ClientContext context;
  context.set_deadline(system_clock::now() + std::chrono::duration_cast<system_clock::duration>(
                                                 rules.deadline - steady_clock::now()));
  v1::ProveRequest request;
  request.set_nonce(NewSecret());
  request.set_address(dialed);
  v1::ProveResponse response;
  const grpc::Status status =
      v1::AccessService::NewStub(channel)->Prove(&context, request, &response);
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED ||
      status.error_code() == grpc::StatusCode::UNAUTHENTICATED) {
    return OlderController(access);
  }
  if (!status.ok()) return FromGrpc(status);
  const std::string expected = ControllerProof(access.token(), request.nonce(), dialed);
  if (!SameSecret(response.proof(), expected)) return Unproven(access);
  if (response.standby() && !rules.accept_standby) {
    return StandbyError(access.address(), response.leader());
  }
  return response.challenge();
}

// Returns the error to report when several addresses have failed. PERMISSION_DENIED, which means
// that a wrong program answered, takes precedence over all other errors.
absl::Status Graver(const absl::Status& known, const absl::Status& added) {
  return absl::IsPermissionDenied(known) ? known : added;
}

// Tries each address of the host name until one connection succeeds.
absl::StatusOr<OpenedChannel> OpenPlain(const Access& access, const ChannelOptions& options,
                                        steady_clock::time_point deadline) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> addresses,
                             ResolveAddress(access.address()));
  absl::Status failed;
  for (const std::string& address : addresses) {
    absl::StatusOr<UniqueFd> socket = Dial(address, deadline);
    if (!socket.ok()) {
      failed = Graver(failed, socket.status());
      continue;
    }
    const Header header = std::make_shared<std::string>();
    OpenedChannel opened{ChannelOn(*std::move(socket), access, options, header), ""};
    absl::StatusOr<std::string> challenge =
        AskForProof(opened.channel, access, access.trusts_relays() ? "" : address,
                    {deadline, options.accept_standby});
    if (!challenge.ok()) {
      failed = Graver(failed, challenge.status());
      continue;
    }
    opened.challenge = *std::move(challenge);
    *header = ProofHeader(access.token(), opened.challenge);
    return opened;
  }
  return failed;
}

absl::StatusOr<OpenedChannel> OpenTls(const Access& access, const ChannelOptions& options,
                                      steady_clock::time_point deadline) {
  const Header header = std::make_shared<std::string>();
  OpenedChannel opened{TlsChannel(access, options, header), ""};
  // Requests the proof even if it is optional, because the answer shows that the connection works.
  absl::StatusOr<std::string> challenge =
      AskForProof(opened.channel, access, "", {deadline, options.accept_standby});
  const bool needed = options.always_prove || !absl::IsFailedPrecondition(challenge.status());
  if (!challenge.ok() && needed) return challenge.status();
  opened.challenge = challenge.value_or("");
  *header = absl::StrCat("Bearer ", access.token());
  return opened;
}

absl::StatusOr<OpenedChannel> OpenLocal(UniqueFd socket, const Access& access,
                                        const ChannelOptions& options,
                                        steady_clock::time_point deadline) {
  OpenedChannel opened{
      ChannelOn(std::move(socket), access, options, std::make_shared<std::string>()), ""};
  if (options.always_prove) {
    TRAINYARD_ASSIGN_OR_RETURN(opened.challenge, AskForProof(opened.channel, access, "",
                                                             {deadline, options.accept_standby}));
  }
  return opened;
}

absl::StatusOr<OpenedChannel> OpenWithin(const Access& access, const ChannelOptions& options) {
  const auto deadline = steady_clock::now() + options.limit;
  if (!access.local_socket().empty()) {
    absl::StatusOr<UniqueFd> socket = ConnectLocalSocket(access.local_socket(), access.owners());
    if (socket.ok()) return OpenLocal(*std::move(socket), access, options, deadline);
    if (absl::IsFailedPrecondition(socket.status())) return socket.status();
    // The socket is missing, or this user may not use it. Try TCP, which still works if the token
    // is a copy, or if the address is the local end of an SSH tunnel.
  }
  return access.certificate().empty() ? OpenPlain(access, options, deadline)
                                      : OpenTls(access, options, deadline);
}

}  // namespace

absl::StatusOr<OpenedChannel> OpenChannel(const Access& access, const ChannelOptions& options) {
  absl::StatusOr<OpenedChannel> opened = OpenWithin(access, options);
  if (!absl::IsDeadlineExceeded(opened.status())) return opened;
  return absl::DeadlineExceededError(
      absl::StrCat("no answer within ", options.limit.count(), " ms"));
}

}  // namespace trainyard
