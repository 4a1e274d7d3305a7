#include "controller/access/server_credentials.h"

#include <grpc/grpc_security.h>
#include <grpc/slice.h>

#include "absl/strings/string_view.h"

namespace trainyard::controller {
namespace {

constexpr char kNoToken[] =
    "this controller wants its token: set TRAINYARD_TOKEN_FILE to the file, which is `token` in "
    "the "
    "data directory of the controller, readable for its user (for the group trainyard with the "
    "systemd service)";

absl::string_view TextOf(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

// Called by gRPC for each call, before any service is.
void CheckCall(void* state, grpc_auth_context*, const grpc_metadata* metadata, std::size_t count,
               grpc_process_auth_metadata_done_cb done, void* call) {
  const auto& gate = *static_cast<const AccessGate*>(state);
  bool allowed = gate.open();
  for (std::size_t i = 0; i < count && !allowed; ++i) {
    allowed =
        TextOf(metadata[i].key) == "authorization" && gate.TakesHeader(TextOf(metadata[i].value));
  }
  done(call, nullptr, 0, nullptr, 0, allowed ? GRPC_STATUS_OK : GRPC_STATUS_UNAUTHENTICATED,
       allowed ? nullptr : kNoToken);
}

// gRPC's C++ classes let only credentials with TLS check calls; its C interface lets any.
class GateCredentials final : public grpc::ServerCredentials {
 public:
  GateCredentials(const AccessGate& gate, TlsIdentity tls) : gate_(gate), tls_(std::move(tls)) {}

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* credentials = Make();
    if (credentials == nullptr) return 0;
    const grpc_auth_metadata_processor processor = {CheckCall, nullptr,
                                                    const_cast<AccessGate*>(&gate_)};
    grpc_server_credentials_set_auth_metadata_processor(credentials, processor);
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  grpc_server_credentials* Make() const {
    if (tls_.certificate.empty()) return grpc_insecure_server_credentials_create();
    grpc_ssl_pem_key_cert_pair pair = {tls_.key.c_str(), tls_.certificate.c_str()};
    return grpc_ssl_server_credentials_create_ex(nullptr, &pair, 1,
                                                 GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE, nullptr);
  }

  const AccessGate& gate_;
  const TlsIdentity tls_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const AccessGate& gate,
                                                               const TlsIdentity& tls) {
  return std::make_shared<GateCredentials>(gate, tls);
}

}  // namespace trainyard::controller
