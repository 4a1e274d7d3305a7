#include "controller/hooks/hook_post.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "proto/proof/digest.h"
#include "tests/controller/hooks/receiver.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

absl::Status Post(const std::string& url, CallCanceller& canceller,
                  std::chrono::milliseconds timeout = std::chrono::milliseconds(20'000)) {
  HookRule rule{.name = "a", .url = *ParseHookUrl(url), .secret = "key", .timeout = timeout};
  return PostHook(rule, {.kind = "job_failed", .id = "c1-17", .body = R"({"a":1})"}, canceller);
}

TEST(HookPostTest, TheEventIsPostedAndSigned) {
  Receiver receiver([](int) { return 204; });
  CallCanceller canceller;
  EXPECT_TRUE(Post(receiver.Url("/hook?x=1"), canceller).ok());
  const std::string request = receiver.WaitFor(1).at(0);
  EXPECT_THAT(request, testing::StartsWith("POST /hook?x=1 HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("Host: 127.0.0.1:"));
  EXPECT_THAT(request, HasSubstr("X-Trainyard-Event: job_failed\r\n"));
  EXPECT_THAT(request, HasSubstr("X-Trainyard-Id: c1-17\r\n"));
  EXPECT_THAT(request,
              HasSubstr("X-Trainyard-Signature: sha256=" + KeyedHashOf("key", R"({"a":1})")));
  EXPECT_THAT(request, testing::EndsWith("\r\n\r\n{\"a\":1}"));
}

TEST(HookPostTest, EveryOtherAnswerIsAFailure) {
  CallCanceller canceller;
  for (const int status : {301, 404, 500}) {
    Receiver receiver([=](int) { return status; });
    EXPECT_THAT(Post(receiver.Url(), canceller).message(), HasSubstr(std::to_string(status)));
  }
  Receiver closes([](int) { return 0; });
  EXPECT_FALSE(Post(closes.Url(), canceller).ok());
  std::string nobody;
  {
    Receiver gone([](int) { return 200; });
    nobody = gone.Url();
  }
  EXPECT_THAT(Post(nobody, canceller).message(), HasSubstr("refused"));
}

TEST(HookPostTest, AServerThatDoesNotAnswerIsNotWaitedForLong) {
  Receiver silent([](int) { return -1; });
  CallCanceller canceller;
  EXPECT_EQ(Post(silent.Url(), canceller, std::chrono::milliseconds(100)).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(HookPostTest, AStopEndsTheCall) {
  Receiver silent([](int) { return -1; });
  CallCanceller canceller;
  std::thread stopper([&] {
    silent.WaitFor(1);
    canceller.Cancel();
  });
  EXPECT_EQ(Post(silent.Url(), canceller).code(), absl::StatusCode::kCancelled);
  stopper.join();
  EXPECT_EQ(Post(silent.Url(), canceller).code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace trainyard::controller
