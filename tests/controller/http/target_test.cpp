#include "controller/http/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "controller/http/body.h"
#include "controller/http/content.h"
#include "controller/http/guard.h"

namespace trainyard::controller::http {
namespace {

using testing::HasSubstr;

absl::StatusOr<Parameters> Read(std::string_view path, std::string_view query) {
  auto match = MatchRoute("GET", path);
  if (!match.ok()) return match.status();
  if (match->route == nullptr) return absl::NotFoundError("no route");
  const absl::Status status = AddQuery(query, *match->route, match->parameters);
  if (!status.ok()) return status;
  return match->parameters;
}

std::string Refusal(std::string_view path, std::string_view query) {
  const auto read = Read(path, query);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << query;
  return std::string(read.status().message());
}

TEST(TargetTest, ReadsPathAndQueryByTheTable) {
  const auto read = Read("/jobs/llama%2Dtiny/series", "keys=loss,grad_norm&x=tokens&buckets=2000");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->Text("job"), "llama-tiny");
  EXPECT_THAT(read->List("keys"), testing::ElementsAre("loss", "grad_norm"));
  EXPECT_EQ(read->Integer("buckets"), 2000);
}

TEST(TargetTest, WhatMayBeRepeatedKeepsItsCommas) {
  const auto read = Read("/jobs/1/series", "key=a,b&keys=c&key=%22d%22&key=");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->Repeated("key"), testing::ElementsAre("a,b", "\"d\""));
  EXPECT_THAT(read->List("keys"), testing::ElementsAre("c"));
  EXPECT_THAT(read->Repeated("keys"), testing::IsEmpty());
}

TEST(TargetTest, NamesWhatIsWrong) {
  EXPECT_THAT(Refusal("/jobs", "limt=3"), HasSubstr("did you mean `limit`"));
  EXPECT_THAT(Refusal("/jobs", "limit=0"), HasSubstr("between 1 and 1000"));
  EXPECT_THAT(Refusal("/jobs", "limit=many"), HasSubstr("whole number"));
  EXPECT_THAT(Refusal("/jobs", "states=running,odd"), HasSubstr("`odd` is none of queued"));
  EXPECT_THAT(Refusal("/jobs", "user=a&user=b"), HasSubstr("given twice"));
  EXPECT_THAT(Refusal("/jobs", "user=%zz"), HasSubstr("hex digits"));
  EXPECT_THAT(Refusal("/jobs", "user=%ff"), HasSubstr("UTF-8"));
  EXPECT_THAT(Refusal("/jobs/1/series", "smooth=nan"), HasSubstr("smooth"));
  EXPECT_THAT(Refusal("/server", "x=1"), HasSubstr("this path takes no parameters"));
}

TEST(TargetTest, TellsAnotherMethodFromAnotherPath) {
  const auto other = MatchRoute("POST", "/jobs/1");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->route, nullptr);
  EXPECT_THAT(other->other_methods, testing::UnorderedElementsAre("GET", "DELETE"));
  EXPECT_TRUE(MatchRoute("GET", "/nowhere")->other_methods.empty());
  EXPECT_NE(MatchRoute("HEAD", "/jobs")->route, nullptr);
}

TEST(TargetTest, ReadsRanks) {
  EXPECT_THAT(*ParseRanks("0,8-10"), testing::ElementsAre(0, 8, 9, 10));
  EXPECT_THAT(*ParseRanks(""), testing::IsEmpty());
  for (const char* bad : {"a", "3-1", "-1", "1-2-3", "0-99999999", "1,,x"}) {
    EXPECT_FALSE(ParseRanks(bad).ok()) << bad;
  }
}

TEST(TargetTest, RandomBytesNeverCrashTheReaders) {
  std::mt19937 random(20261121);
  const std::string_view alphabet = "%/?&=+,-{}[]\":0aF\\\x00\xff\xc3 \n";
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& c : bytes) {
      c = random() % 3 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
    }
    (void)Read("/jobs", bytes);
    (void)Read("/jobs/" + bytes + "/series", "");
    (void)ParseRanks(bytes);
    (void)ReadSubmitBody(bytes);
    (void)ReadStopBody("{" + bytes);
    (void)AcceptsGzip(bytes);
    (void)MatchesTag(bytes, "W/\"1\"");
    (void)HostName(bytes);
  }
}

TEST(BodyTest, RefusesDeepUnknownAndWrong) {
  EXPECT_THAT(ReadStopBody(std::string(1 << 20, '[')).status().message(), HasSubstr("deep"));
  EXPECT_THAT(ReadStopBody("{\"usr\": \"a\"}").status().message(),
              HasSubstr("did you mean `user`"));
  EXPECT_THAT(ReadStopBody("{\"user\": 3}").status().message(), HasSubstr("must be text"));
  EXPECT_THAT(ReadStopBody("[]").status().message(), HasSubstr("object"));
  EXPECT_THAT(ReadSubmitBody("{\"spec\": {\"nme\": \"a\"}}").status().message(),
              HasSubstr("`name`"));
  EXPECT_THAT(ReadNoteBody("{\"step\": 1.5}").status().message(), HasSubstr("whole number"));
  EXPECT_FALSE(ReadNoteBody("{\"text\": \"a\"}")->has_step());
  EXPECT_THAT(ReadSubmitBody("{\"cloned_from\": \"9\", \"job_file\": \"a\"}").status().message(),
              HasSubstr("cloned_from: must be a whole number"));
  EXPECT_EQ(ReadSubmitBody("{\"cloned_from\": 9, \"job_file\": \"a\"}")->cloned_from(), 9);
  EXPECT_EQ(ReadSubmitBody("{\"job_file\": \"a\"}")->cloned_from(), 0) << "an older client";
  EXPECT_TRUE(ReadStopBody("").ok());
}

TEST(GuardTest, TakesAddressesAndOwnNamesOnly) {
  const std::vector<std::string> own = {"trainhost"};
  for (const char* host :
       {"127.0.0.1:7071", "localhost", "LOCALHOST:1", "[::1]:7071", "10.0.0.4", "trainhost:7071"}) {
    EXPECT_TRUE(IsOwnHost(host, own)) << host;
  }
  for (const char* host : {"evil.example", "", "127.0.0.1.evil.example", "localhost.evil.example",
                           "[::1].evil.example", "1.2.3"}) {
    EXPECT_FALSE(IsOwnHost(host, own)) << host;
  }
}

TEST(GuardTest, OtherPagesMayNotChangeAnything) {
  Request request{.method = "POST", .host = "127.0.0.1:7071"};
  EXPECT_EQ(WhyRefused(request, {}), "");
  request.origin = "http://127.0.0.1:7071";
  EXPECT_EQ(WhyRefused(request, {}), "");
  request.origin = "http://evil.example";
  EXPECT_EQ(WhyRefused(request, {}), "cross_origin");
  request.origin = "null";
  EXPECT_EQ(WhyRefused(request, {}), "cross_origin");
  request.origin = "";
  request.fetch_site = "cross-site";
  EXPECT_EQ(WhyRefused(request, {}), "cross_origin");
  request.method = "GET";
  EXPECT_EQ(WhyRefused(request, {}), "");
}

TEST(ContentTest, TagsLeaveTheTimeOut) {
  EXPECT_EQ(EntityTag("{\"a\":1,\"as_of_ms\":5}"), EntityTag("{\"a\":1,\"as_of_ms\":678}"));
  EXPECT_NE(EntityTag("{\"a\":1,\"as_of_ms\":5}"), EntityTag("{\"a\":2,\"as_of_ms\":5}"));
  EXPECT_TRUE(MatchesTag("\"x\", W/\"y\"", "W/\"y\""));
  EXPECT_FALSE(MatchesTag("\"x\"", "W/\"y\""));
}

TEST(ContentTest, KnowsWhoTakesGzip) {
  EXPECT_TRUE(AcceptsGzip("gzip, deflate, br"));
  EXPECT_TRUE(AcceptsGzip("*;q=0.5"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0, *"));
  EXPECT_FALSE(AcceptsGzip("br"));
  EXPECT_FALSE(AcceptsGzip(""));
}

}  // namespace
}  // namespace trainyard::controller::http
