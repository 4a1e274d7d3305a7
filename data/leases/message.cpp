#include "data/leases/message.h"

#include <nlohmann/json.hpp>

namespace trainyard::data {
namespace {

using Json = nlohmann::json;

constexpr int kRequestTypes = static_cast<int>(RequestType::kPing) + 1;
constexpr int kStatusCodeMax = static_cast<int>(absl::StatusCode::kUnauthenticated);
constexpr int kReplyTypes = static_cast<int>(ReplyType::kRefused) + 1;

std::string WithLength(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string message;
  for (size_t i = 0; i < kLengthBytes; ++i) message += static_cast<char>(text.size() >> (8 * i));
  return message + text;
}

absl::Status Damaged() {
  return absl::InvalidArgumentError(
      "received a message that is not of this program; start every process with the same version");
}

// Parses an object whose "type" is below `types`.
absl::StatusOr<Json> Parse(std::string_view text, int types) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Damaged();
  const auto type = json.find("type");
  if (type == json.end() || !type->is_number_unsigned() ||
      type->get<uint64_t>() >= static_cast<uint64_t>(types)) {
    return Damaged();
  }
  return json;
}

}  // namespace

std::string EncodeRequest(const Request& request) {
  return WithLength({{"type", static_cast<unsigned>(request.type)},
                     {"group", request.group},
                     {"rank", request.rank},
                     {"pass", request.pass},
                     {"block", request.lease.block},
                     {"lease", request.lease.number},
                     {"code", request.code},
                     {"text", request.text},
                     {"nonce", request.nonce},
                     {"proof", request.proof}});
}

std::string EncodeReply(const Reply& reply) {
  return WithLength({{"type", static_cast<unsigned>(reply.type)},
                     {"pass", reply.pass},
                     {"name", reply.name},
                     {"plan", reply.plan},
                     {"block", reply.lease.block},
                     {"lease", reply.lease.number},
                     {"text", reply.text},
                     {"nonce", reply.nonce},
                     {"proof", reply.proof}});
}

absl::StatusOr<size_t> DecodeLength(std::string_view bytes, size_t most) {
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  if (length == 0 || length > most) return Damaged();
  return length;
}

std::string ErrorText(absl::string_view message) {
  return std::string(message.substr(0, kErrorBytesMax));
}

absl::StatusOr<Request> DecodeRequest(std::string_view text) {
  const absl::StatusOr<Json> json = Parse(text, kRequestTypes);
  if (!json.ok()) return json.status();
  try {
    Request request;
    request.type = static_cast<RequestType>(json->at("type").get<int>());
    json->at("group").get_to(request.group);
    json->at("rank").get_to(request.rank);
    json->at("pass").get_to(request.pass);
    json->at("block").get_to(request.lease.block);
    json->at("lease").get_to(request.lease.number);
    json->at("code").get_to(request.code);
    const int least = request.type == RequestType::kFail ? 1 : 0;
    if (request.code < least || request.code > kStatusCodeMax) return Damaged();
    json->at("text").get_to(request.text);
    json->at("nonce").get_to(request.nonce);
    json->at("proof").get_to(request.proof);
    return request;
  } catch (const Json::exception&) {
    return Damaged();
  }
}

absl::StatusOr<Reply> DecodeReply(std::string_view text) {
  const absl::StatusOr<Json> json = Parse(text, kReplyTypes);
  if (!json.ok()) return json.status();
  try {
    Reply reply;
    reply.type = static_cast<ReplyType>(json->at("type").get<int>());
    json->at("pass").get_to(reply.pass);
    json->at("name").get_to(reply.name);
    json->at("plan").get_to(reply.plan);
    json->at("block").get_to(reply.lease.block);
    json->at("lease").get_to(reply.lease.number);
    json->at("text").get_to(reply.text);
    json->at("nonce").get_to(reply.nonce);
    json->at("proof").get_to(reply.proof);
    return reply;
  } catch (const Json::exception&) {
    return Damaged();
  }
}

}  // namespace trainyard::data
