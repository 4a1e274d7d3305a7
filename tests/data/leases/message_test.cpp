#include "data/leases/message.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace trainyard::data {
namespace {

std::string Json(const std::string& message) { return message.substr(kLengthBytes); }

TEST(MessageTest, KeepsRequests) {
  Request request;
  request.type = RequestType::kRecord;
  request.group = "job 7";
  request.rank = 3;
  request.pass = UINT64_MAX;
  request.lease = {12, UINT64_MAX - 1};
  request.code = 15;
  request.text = "a \"line\"\n";
  request.nonce = "12";
  request.proof = "34";
  const std::string message = EncodeRequest(request);
  EXPECT_EQ(*DecodeLength(message.substr(0, kLengthBytes), kMessageBytesMax),
            message.size() - kLengthBytes);
  const auto decoded = DecodeRequest(Json(message));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->type, request.type);
  EXPECT_EQ(decoded->group, request.group);
  EXPECT_EQ(decoded->rank, request.rank);
  EXPECT_EQ(decoded->pass, request.pass);
  EXPECT_EQ(decoded->lease.block, request.lease.block);
  EXPECT_EQ(decoded->lease.number, request.lease.number);
  EXPECT_EQ(decoded->code, request.code);
  EXPECT_EQ(decoded->text, request.text);
  EXPECT_EQ(decoded->nonce, request.nonce);
  EXPECT_EQ(decoded->proof, request.proof);
}

TEST(MessageTest, AFailureHasAnErrorCode) {
  Request request;
  for (const int code : {-1, 17}) {
    request.code = code;
    EXPECT_FALSE(DecodeRequest(Json(EncodeRequest(request))).ok()) << code;
  }
  request = {.type = RequestType::kFail, .code = 0};
  EXPECT_FALSE(DecodeRequest(Json(EncodeRequest(request))).ok());
  request.code = 16;
  EXPECT_TRUE(DecodeRequest(Json(EncodeRequest(request))).ok());
}

TEST(MessageTest, KeepsReplies) {
  const Reply reply = {ReplyType::kPass, 9, "dedup:signatures", "0123", {4, 5}, "text", "56", "78"};
  const auto decoded = DecodeReply(Json(EncodeReply(reply)));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->type, reply.type);
  EXPECT_EQ(decoded->pass, reply.pass);
  EXPECT_EQ(decoded->name, reply.name);
  EXPECT_EQ(decoded->plan, reply.plan);
  EXPECT_EQ(decoded->lease.block, reply.lease.block);
  EXPECT_EQ(decoded->lease.number, reply.lease.number);
  EXPECT_EQ(decoded->text, reply.text);
  EXPECT_EQ(decoded->nonce, reply.nonce);
  EXPECT_EQ(decoded->proof, reply.proof);
}

TEST(MessageTest, RefusesOtherLengths) {
  EXPECT_FALSE(DecodeLength(std::string(4, '\0'), kMessageBytesMax).ok());
  EXPECT_FALSE(DecodeLength("\xff\xff\xff\xff", kMessageBytesMax).ok());
  EXPECT_FALSE(DecodeLength("GET ", kMessageBytesMax).ok());
  const std::string largest("\0\0\0\4", 4);
  EXPECT_EQ(*DecodeLength(largest, kMessageBytesMax), kMessageBytesMax);
  EXPECT_FALSE(DecodeLength(largest, kMessageBytesMax - 1).ok());
}

TEST(MessageTest, CutsLongErrors) {
  EXPECT_EQ(ErrorText("short"), "short");
  const std::string error = ErrorText(std::string(100'000, '\n'));
  EXPECT_EQ(error.size(), kErrorBytesMax);
  EXPECT_LT(EncodeReply({.type = ReplyType::kFailed, .text = error}).size(), kSmallMessageBytesMax);
}

TEST(MessageTest, RefusesOtherText) {
  const std::string good = Json(EncodeRequest({}));
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(DecodeRequest(good.substr(0, cut)).ok()) << cut;
  }
  for (const char* text : {"[]", "{}", "{\"type\":-1}", "{\"type\":99}", "{\"type\":\"0\"}",
                           "{\"type\":0,\"group\":5}"}) {
    EXPECT_FALSE(DecodeRequest(text).ok()) << text;
    EXPECT_FALSE(DecodeReply(text).ok()) << text;
  }
}

// Any change of a byte is either refused or gives a message.
TEST(MessageTest, SurvivesChangedBytes) {
  const std::string good = Json(EncodeReply({ReplyType::kBlock, 1, "a", "b", {2, 3}, "c"}));
  int refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = good;
      changed[at] = static_cast<char>(byte);
      refused += DecodeReply(changed).ok() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace trainyard::data
