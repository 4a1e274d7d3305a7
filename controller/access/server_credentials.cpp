#include "controller/access/server_credentials.h"

#include <grpc/grpc_security.h>
#include <grpc/slice.h>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "controller/access/caller.h"
#include "controller/access/local_listener.h"
#include "controller/access/permissions.h"

namespace trainyard::controller {
namespace {

constexpr char kNoToken[] =
    "this controller requires its token. Set TRAINYARD_TOKEN_FILE to the path of the file `token` "
    "in the controller's data directory. Only the controller's user can read this file; with the "
    "systemd service, the group trainyard can read it too";
constexpr char kUserProperty[] = "trainyard_uid";
constexpr absl::string_view kUnixPeer = "unix:";

absl::string_view TextOf(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

// Returns the path of the called method, or an empty string if the metadata has no path.
std::string_view PathIn(const grpc_metadata* metadata, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (TextOf(metadata[i].key) != ":path") continue;
    const absl::string_view path = TextOf(metadata[i].value);
    return {path.data(), path.size()};
  }
  return "";
}

// Accepts the call if the role permits it, and otherwise rejects it.
void Admit(Role role, std::string_view path, grpc_process_auth_metadata_done_cb done, void* call) {
  const bool allowed = MayCall(role, path);
  done(call, nullptr, 0, nullptr, 0, allowed ? GRPC_STATUS_OK : GRPC_STATUS_UNAUTHENTICATED,
       allowed ? nullptr : kNoToken);
}

// gRPC calls this function for each call, before any service receives it.
void CheckToken(void* state, grpc_auth_context*, const grpc_metadata* metadata, std::size_t count,
                grpc_process_auth_metadata_done_cb done, void* call) {
  const auto& check = *static_cast<const TokenCheck*>(state);
  bool has_token = check.gate.open();
  for (std::size_t i = 0; i < count && !has_token; ++i) {
    if (TextOf(metadata[i].key) != "authorization") continue;
    const absl::string_view value = TextOf(metadata[i].value);
    has_token = check.gate.TakesHeader(value) || check.prover.TakesHeader(value);
  }
  const Role role = has_token ? Role::kOperator : Role::kAnonymous;
  Admit(role, PathIn(metadata, count), done, call);
}

// Adds the user to the connection's context at the connection's first call. All calls of a
// connection share the context and may run concurrently.
void NameUserOnce(grpc_auth_context* context, int64_t user) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  grpc_auth_property_iterator named =
      grpc_auth_context_find_properties_by_name(context, kUserProperty);
  if (grpc_auth_property_iterator_next(&named) != nullptr) return;
  grpc_auth_context_add_cstring_property(context, kUserProperty, std::to_string(user).c_str());
}

void NameLocalUser(void* state, grpc_auth_context* context, const grpc_metadata* metadata,
                   std::size_t count, grpc_process_auth_metadata_done_cb done, void* call) {
  const int64_t user = *static_cast<const std::atomic<int64_t>*>(state);
  if (user != LocalListener::kNoUser) NameUserOnce(context, user);
  Admit(Role::kOperator, PathIn(metadata, count), done, call);
}

// gRPC's C++ interface can check each call only if the credentials use TLS. gRPC's C interface can
// check calls with any credentials.
class CheckedCredentials : public grpc::ServerCredentials {
 public:
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 protected:
  explicit CheckedCredentials(grpc_auth_metadata_processor check) : check_(check) {}

 private:
  virtual grpc_server_credentials* Make() const = 0;

  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* credentials = Make();
    if (credentials == nullptr) return 0;
    grpc_server_credentials_set_auth_metadata_processor(credentials, check_);
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  const grpc_auth_metadata_processor check_;
};

class TcpCredentials final : public CheckedCredentials {
 public:
  TcpCredentials(const TokenCheck& check, TlsIdentity tls)
      : CheckedCredentials({CheckToken, nullptr, const_cast<TokenCheck*>(&check)}),
        tls_(std::move(tls)) {}

 private:
  grpc_server_credentials* Make() const override {
    if (tls_.certificate.empty()) return grpc_insecure_server_credentials_create();
    grpc_ssl_pem_key_cert_pair pair = {tls_.key.c_str(), tls_.certificate.c_str()};
    return grpc_ssl_server_credentials_create_ex(nullptr, &pair, 1,
                                                 GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE, nullptr);
  }

  const TlsIdentity tls_;
};

class LocalCredentials final : public CheckedCredentials {
 public:
  explicit LocalCredentials(const std::atomic<int64_t>& user)
      : CheckedCredentials({NameLocalUser, nullptr, const_cast<std::atomic<int64_t>*>(&user)}) {}

 private:
  grpc_server_credentials* Make() const override {
    return grpc_insecure_server_credentials_create();
  }
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const TokenCheck& check,
                                                               const TlsIdentity& tls) {
  return std::make_shared<TcpCredentials>(check, tls);
}

std::shared_ptr<grpc::ServerCredentials> MakeLocalCredentials(const std::atomic<int64_t>& user) {
  return std::make_shared<LocalCredentials>(user);
}

std::optional<uid_t> LocalUserOf(const grpc::ServerContextBase& context) {
  if (!absl::StartsWith(context.peer(), kUnixPeer)) return std::nullopt;
  const std::vector<grpc::string_ref> users =
      context.auth_context()->FindPropertyValues(kUserProperty);
  uid_t user = 0;
  const bool is_known =
      users.size() == 1 &&
      absl::SimpleAtoi(absl::string_view(users.front().data(), users.front().size()), &user);
  return is_known ? std::optional(user) : std::nullopt;
}

absl::StatusOr<Principal> PrincipalOf(const grpc::ServerContextBase& context,
                                      const std::string& claimed) {
  return PrincipalOf(LocalUserOf(context), claimed);
}

bool IsFromThisMachine(const grpc::ServerContextBase& context) {
  const std::string peer = context.peer();
  return absl::StartsWith(peer, kUnixPeer) || IsLocal(PeerAddress(peer));
}

}  // namespace trainyard::controller
