#include "controller/hooks/hook_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/proof/digest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ErrorOf(const std::string& yaml) {
  const auto rules = ParseHooks(yaml);
  return rules.ok() ? "no error" : std::string(rules.status().message());
}

TEST(HookRulesTest, HooksAreReadFromTheConfiguration) {
  const TemporaryDirectory directory;
  const std::string secret_file = directory.File("secret");
  std::ofstream(secret_file) << "s3cret\n";
  const auto rules = ParseHooks(absl::StrCat(R"(
retention: {logs: 30d}
hooks:
  - name: chat
    on: [job_failed, node_lost]
    url: https://chat.example.com/hooks/1?token=x
    secret_file: )",
                                             secret_file, R"(
    timeout: 3s
  - name: pager
    on: [all]
    command: [/usr/local/bin/page, --team, training]
)"));
  ASSERT_TRUE(rules.ok()) << rules.status();
  ASSERT_EQ(rules->size(), 2u);
  const HookRule& chat = rules->front();
  EXPECT_TRUE(chat.url.tls);
  EXPECT_EQ(chat.url.host, "chat.example.com");
  EXPECT_EQ(chat.url.port, "443");
  EXPECT_EQ(chat.url.target, "/hooks/1?token=x");
  EXPECT_EQ(chat.Target(), "https://chat.example.com:443") << "a token is not shown";
  EXPECT_EQ(chat.secret, "s3cret");
  EXPECT_EQ(chat.timeout.count(), 3000);
  EXPECT_THAT((*rules)[1].command, ElementsAre("/usr/local/bin/page", "--team", "training"));
  EXPECT_TRUE(ParseHooks("").ok());
  EXPECT_TRUE(ParseHooks("hooks:")->empty());
}

TEST(HookRulesTest, WrongConfigurationIsRefusedWithTheNextStep) {
  EXPECT_THAT(ErrorOf("hooks: 3"), HasSubstr("must be a list"));
  EXPECT_THAT(ErrorOf("hooks: [{on: [all]}]"), HasSubstr("`name`"));
  EXPECT_THAT(ErrorOf("hooks: [{name: 'A b', on: [all], url: 'http://h'}]"), HasSubstr("letters"));
  EXPECT_THAT(
      ErrorOf("hooks: [{name: a, on: [sunrise], url: 'http://h'}]"),
      testing::AllOf(HasSubstr("hooks: a: there is no event `sunrise`"), HasSubstr("job_failed")));
  EXPECT_THAT(ErrorOf("hooks: [{name: a, url: 'http://h'}]"),
              HasSubstr("`on` is empty or missing"));
  EXPECT_THAT(ErrorOf("hooks: [{name: a, on: [all]}]"), HasSubstr("either `url`, or `command`"));
  EXPECT_THAT(ErrorOf("hooks: [{name: a, on: [all], command: [page]}]"),
              HasSubstr("absolute path"));
  EXPECT_THAT(ErrorOf("hooks: [{name: a, on: [all], url: 'ftp://h'}]"), HasSubstr("hooks: a: url"));
  EXPECT_THAT(ErrorOf("hooks: [{name: a, on: [all], url: 'http://u:p@h'}]"),
              HasSubstr("secret_file"));
  EXPECT_THAT(ErrorOf("hooks: [{name: a, on: [all], url: 'http://h', uri: x}]"),
              HasSubstr("unknown key `uri`"));
  EXPECT_THAT(ErrorOf("hooks: [{name: a, on: [all], url: 'http://h', timeout: 2h}]"),
              HasSubstr("a duration of at most 60s"));
  EXPECT_THAT(ErrorOf("hooks: [{name: a, on: [all], url: 'http://h', secret_file: /none}]"),
              HasSubstr("/none"));
  EXPECT_THAT(ErrorOf("hooks: [{name: a, on: [all], url: 'http://h'}, "
                      "{name: a, on: [all], url: 'http://h'}]"),
              HasSubstr("two hooks"));
}

TEST(HookRulesTest, EventsHaveKinds) {
  v1::Event event;
  event.mutable_job_ended()->set_state(v1::JOB_STATE_FAILED);
  EXPECT_THAT(KindsOf(event), ElementsAre("job_failed"));
  event.mutable_job_ended()->set_state(v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(KindsOf(event), ElementsAre("job_done"));
  event.mutable_job_placed()->set_attempt(1);
  EXPECT_THAT(KindsOf(event), IsEmpty());
  event.mutable_job_placed()->set_attempt(2);
  EXPECT_THAT(KindsOf(event), ElementsAre("job_restarted"));
  event.mutable_alert_raised()->set_code("loss_spike");
  EXPECT_THAT(KindsOf(event), ElementsAre("loss_spike", "alert"));
  event.mutable_node_lost();
  EXPECT_THAT(KindsOf(event), ElementsAre("node_lost"));
  event.set_time_ms(5);
  event.mutable_node_unhealthy()->mutable_health()->mutable_quarantine()->set_since_ms(5);
  EXPECT_THAT(KindsOf(event), ElementsAre("node_quarantined"));
  event.set_time_ms(6);
  EXPECT_THAT(KindsOf(event), ElementsAre("node_unhealthy")) << "the quarantine is not new";
  event.mutable_rank_started();
  EXPECT_THAT(KindsOf(event), IsEmpty());
  HookRule rule{.name = "a", .on = {"alert"}};
  event.mutable_alert_raised()->set_code("loss_spike");
  EXPECT_EQ(KindFor(rule, event), "alert");
  rule.on = {"all"};
  EXPECT_EQ(KindFor(rule, event), "loss_spike");
  rule.on = {"job_failed"};
  EXPECT_EQ(KindFor(rule, event), "");
}

TEST(HookRulesTest, ANoticeSaysWhatHappenedAndIsSigned) {
  v1::EventEntry entry;
  entry.set_sequence(17);
  entry.mutable_event()->set_time_ms(1000);
  v1::JobEnded& ended = *entry.mutable_event()->mutable_job_ended();
  ended.set_job_id(3);
  ended.set_state(v1::JOB_STATE_FAILED);
  ended.mutable_verdict()->set_summary("rank 0 on \xff exited with code 1");
  const HookNotice notice = NoticeOf("job_failed", entry, "c1", "tiny");
  EXPECT_EQ(notice.id, "c1-17-1000");
  const nlohmann::json body = nlohmann::json::parse(notice.body);
  EXPECT_EQ(body["id"], "c1-17-1000");
  EXPECT_EQ(body["kind"], "job_failed");
  EXPECT_EQ(body["job_id"], 3);
  EXPECT_THAT(body["text"].get<std::string>(), HasSubstr("job 3 (tiny) failed: rank 0"));
  EXPECT_EQ(body["event"]["job_ended"]["state"], "failed");
  HookRule rule;
  EXPECT_EQ(SignatureOf(rule, "body"), "");
  rule.secret = "key";
  EXPECT_EQ(SignatureOf(rule, "body"), "sha256=" + KeyedHashOf("key", "body"));
}

TEST(HookRulesTest, ARestartNamesTheStepOrTheCheckpointThatItStartsFrom) {
  v1::EventEntry entry;
  v1::JobPlaced& placed = *entry.mutable_event()->mutable_job_placed();
  placed.set_job_id(3);
  placed.set_attempt(2);
  const auto text = [&] {
    const HookNotice notice = NoticeOf("job_restarted", entry, "c1", "tiny");
    return nlohmann::json::parse(notice.body)["text"].get<std::string>();
  };
  EXPECT_THAT(text(), HasSubstr("attempt 2 was placed and starts from step 0"));
  placed.set_resume_from("/theirs/base");
  EXPECT_THAT(text(), HasSubstr("starts from the checkpoint /theirs/base"));
  placed.set_resume_step(4000);
  EXPECT_THAT(text(), HasSubstr("starts from step 4000"));
}

TEST(HookRulesTest, WaitsDoubleUpToAMinute) {
  EXPECT_EQ(RetryWait(1).count(), 1000);
  EXPECT_EQ(RetryWait(2).count(), 2000);
  EXPECT_EQ(RetryWait(100).count(), 60'000);
}

}  // namespace
}  // namespace trainyard::controller
