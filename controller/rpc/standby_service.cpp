#include "controller/rpc/standby_service.h"

#include <grpcpp/grpcpp.h>

#include "absl/strings/str_cat.h"
#include "proto/support/grpc_status.h"
#include "trainyard/v1/access_service.pb.h"

namespace trainyard::controller {
namespace {

constexpr char kProve[] = "/trainyard.v1.AccessService/Prove";
constexpr char kGetServerInfo[] = "/trainyard.v1.ServerService/GetServerInfo";

grpc::Status Serialize(const google::protobuf::MessageLite& message, grpc::ByteBuffer& buffer) {
  const grpc::Slice slice(message.SerializeAsString());
  buffer = grpc::ByteBuffer(&slice, 1);
  return grpc::Status::OK;
}

grpc::Status NotLeading(const v1::Leadership& leadership) {
  return {grpc::StatusCode::UNAVAILABLE,
          leadership.leader().empty()
              ? "this controller is a standby, and no controller leads at present"
              : absl::StrCat("this controller is a standby; the controller at ",
                             leadership.leader(), " leads")};
}

}  // namespace

// One call. Reads at most one message, and answers it.
class StandbyService::Call final : public grpc::ServerGenericBidiReactor {
 public:
  Call(const StandbyService& service, std::string method)
      : service_(service), method_(std::move(method)) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    // A caller that sends nothing gets the same answer as for an empty request.
    if (!ok) request_.Clear();
    const grpc::Status status = service_.Answer(method_, request_, response_);
    if (!status.ok()) return Finish(status);
    StartWriteAndFinish(&response_, grpc::WriteOptions(), status);
  }
  void OnDone() override { delete this; }

 private:
  const StandbyService& service_;
  const std::string method_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

grpc::ServerGenericBidiReactor* StandbyService::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  return new Call(*this, context->method());
}

grpc::Status StandbyService::Answer(const std::string& method, const grpc::ByteBuffer& request,
                                    grpc::ByteBuffer& response) const {
  const v1::GetServerInfoResponse info = describe_();
  if (method == kGetServerInfo) return Serialize(info, response);
  if (method != kProve) return NotLeading(info.leadership());
  grpc::Slice slice;
  v1::ProveRequest parsed;
  const bool is_sound = request.TrySingleSlice(&slice).ok() &&
                        parsed.ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
  if (!is_sound) return {grpc::StatusCode::INVALID_ARGUMENT, "the request is malformed"};
  absl::StatusOr<v1::ProveResponse> proof = prover_.Prove(parsed);
  if (!proof.ok()) return ToGrpc(proof.status());
  proof->set_standby(true);
  proof->set_leader(info.leadership().leader());
  return Serialize(*proof, response);
}

}  // namespace trainyard::controller
