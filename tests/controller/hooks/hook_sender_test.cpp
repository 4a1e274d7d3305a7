#include "controller/hooks/hook_sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/events/memory_event_log.h"
#include "nlohmann/json.hpp"
#include "tests/controller/hooks/fake_leader_notes.h"
#include "tests/controller/hooks/receiver.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;

class HookSenderTest : public testing::Test {
 protected:
  static HookRule Rule(const std::string& name, const std::string& url) {
    return {.name = name,
            .on = {"job_failed"},
            .url = *ParseHookUrl(url),
            .timeout = std::chrono::milliseconds(20'000)};
  }
  std::unique_ptr<HookSender> Start(std::vector<HookRule> rules,
                                    std::chrono::milliseconds give_up = std::chrono::hours(24)) {
    auto sender =
        std::make_unique<HookSender>(events_, cluster_id_, clock_,
                                     HookOptions{.rules = std::move(rules),
                                                 .positions = Positions(),
                                                 .give_up = give_up,
                                                 .wait_factor = 0.001},
                                     [](int64_t job) { return absl::StrCat("name-", job); });
    EXPECT_TRUE(sender->Start().ok());
    return sender;
  }
  std::unique_ptr<HookPositions> Positions() {
    if (!use_notes_) return std::make_unique<FileHookPositions>(directory_.File(folder_));
    return std::make_unique<NoteHookPositions>(notes_, directory_.File(folder_));
  }
  // Appends two events of the job. The hook handles only the second event, the failure.
  void Fail(int64_t job_id) {
    v1::Event started, ended;
    started.mutable_rank_started()->set_job_id(job_id);
    ended.set_time_ms(clock_.Now());
    ended.mutable_job_ended()->set_job_id(job_id);
    ended.mutable_job_ended()->set_state(v1::JOB_STATE_FAILED);
    ASSERT_TRUE(events_.Append({started, ended}).ok());
  }
  static int64_t JobOf(const std::string& request) {
    return nlohmann::json::parse(request.substr(request.find("\r\n\r\n") + 4))["job_id"];
  }
  static std::vector<int64_t> JobsOf(const std::vector<std::string>& requests) {
    std::vector<int64_t> jobs;
    for (const std::string& request : requests) jobs.push_back(JobOf(request));
    return jobs;
  }
  static bool WaitUntil(const std::function<bool()>& condition) {
    for (int i = 0; i < 6000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
  }
  // Waits until all hooks have settled all events up to number `last`.
  static void WaitUntilSettled(const HookSender& sender, uint64_t last) {
    ASSERT_TRUE(WaitUntil([&] {
      const std::vector<v1::HookStatus> hooks = sender.Report();
      return std::ranges::all_of(hooks,
                                 [last](const auto& hook) { return hook.position() == last; });
    }));
  }
  // Waits until the note of the hook `a` has this text.
  void WaitForNote(const std::string& text) {
    ASSERT_TRUE(WaitUntil([&] { return notes_.Read("hook a").value_or("") == text; })) << text;
  }
  static void WaitForError(const HookSender& sender, const std::string& error) {
    ASSERT_TRUE(WaitUntil([&] { return sender.Report().front().error() == error; })) << error;
  }
  // Starts three hooks, appends an event that triggers none of them, and stops the hooks while
  // writes return `status`. Returns the number of writes during the stop.
  int WritesOfStop(const absl::Status& status) {
    notes_.SetWriteStatus(absl::OkStatus());
    const int first = notes_.writes();
    const std::string nowhere = "http://127.0.0.1:1/";
    const auto sender = Start({Rule("a", nowhere), Rule("b", nowhere), Rule("c", nowhere)});
    EXPECT_TRUE(WaitUntil([&] { return notes_.writes() == first + 3; }));
    v1::Event started;
    started.mutable_rank_started()->set_job_id(1);
    EXPECT_TRUE(events_.Append({started}).ok());
    sender->Wake();
    WaitUntilSettled(*sender, events_.ReadEventsBefore(0, 0, 1)->front().sequence());
    const int before = notes_.writes();
    notes_.SetWriteStatus(status);
    sender->Stop();
    return notes_.writes() - before;
  }

  MemoryEventLog events_;
  SystemClock clock_;
  std::string cluster_id_ = "c1";
  const TemporaryDirectory directory_;
  // The folder of the data directory for files with positions.
  std::string folder_ = "hooks";
  FakeLeaderNotes notes_;
  bool use_notes_ = false;
};

TEST_F(HookSenderTest, AFailedCallIsTriedAgainWithTheSameIdAndOrderIsKept) {
  Receiver receiver([](int number) { return number < 2 ? 500 : 200; });
  Fail(1);
  const auto sender = Start({Rule("a", receiver.Url())});
  Fail(2);
  Fail(3);
  sender->Wake();
  const std::vector<std::string> requests = receiver.WaitFor(4);
  EXPECT_THAT(JobsOf(requests), ElementsAre(2, 2, 2, 3)) << "events before the hook do not come";
  WaitUntilSettled(*sender, 6);
  const v1::HookStatus status = sender->Report().front();
  EXPECT_EQ(status.delivered(), 2);
  EXPECT_EQ(status.failed(), 2);
  EXPECT_EQ(status.error(), "");
  EXPECT_EQ(status.failing_since_ms(), 0);
}

TEST_F(HookSenderTest, ARestartGoesOnWhereTheHookStopped) {
  {
    Receiver receiver([](int) { return 200; });
    const auto sender = Start({Rule("a", receiver.Url())});
    Fail(1);
    sender->Wake();
    receiver.WaitFor(1);
    WaitUntilSettled(*sender, 2);
  }
  Fail(2);
  Receiver receiver([](int) { return 200; });
  {
    const auto sender = Start({Rule("a", receiver.Url())});
    receiver.WaitFor(1);
    WaitUntilSettled(*sender, 4);
  }
  EXPECT_THAT(JobsOf(receiver.WaitFor(1)), ElementsAre(2));
  cluster_id_ = "another";
  const auto sender = Start({Rule("a", receiver.Url())});
  EXPECT_EQ(sender->Report().front().position(), 4u) << "a position of another cluster is none";
}

TEST_F(HookSenderTest, AHookThatStopsInAFailureDeliversTheEventAfterTheRestart) {
  Receiver broken([](int) { return 500; });
  {
    const auto sender = Start({Rule("a", broken.Url())});
    Fail(1);
    sender->Wake();
    broken.WaitFor(2);
  }
  Receiver receiver([](int) { return 200; });
  const auto sender = Start({Rule("a", receiver.Url())});
  EXPECT_THAT(JobsOf(receiver.WaitFor(1)), ElementsAre(1));
}

TEST_F(HookSenderTest, TheNextLeaderContinuesAfterTheLastStoredEvent) {
  use_notes_ = true;
  Receiver receiver([](int) { return 200; });
  auto sender = Start({Rule("a", receiver.Url())});
  Fail(1);
  Fail(2);
  sender->Wake();
  WaitForNote("c1 4");
  // A killed leader writes nothing more.
  notes_.SetWriteStatus(absl::AbortedError("another controller leads"));
  sender = nullptr;
  notes_.SetWriteStatus(absl::OkStatus());
  Fail(3);
  folder_ = "hooks of the next leader";
  sender = Start({Rule("a", receiver.Url())});
  WaitForNote("c1 6");
  EXPECT_THAT(JobsOf(receiver.WaitFor(3)), ElementsAre(1, 2, 3));
}

TEST_F(HookSenderTest, APositionInAFileIsMovedIntoTheNotes) {
  Fail(1);
  Fail(2);
  ASSERT_TRUE(FileHookPositions(directory_.File(folder_)).Write("a", "c1 2").ok());
  use_notes_ = true;
  Receiver receiver([](int) { return 503; });
  const auto sender = Start({Rule("a", receiver.Url())});
  WaitForNote("c1 2");
  EXPECT_EQ(JobOf(receiver.WaitFor(1).front()), 2);
  EXPECT_FALSE(std::filesystem::exists(directory_.File("hooks/a")));
}

TEST_F(HookSenderTest, AFailedWriteOfThePositionDoesNotStopDeliveryAndIsRepeated) {
  use_notes_ = true;
  Receiver receiver([](int) { return 200; });
  const auto sender = Start({Rule("a", receiver.Url())});
  WaitForNote("c1 0");
  notes_.SetWriteStatus(absl::UnavailableError("no answer"));
  Fail(1);
  Fail(2);
  sender->Wake();
  EXPECT_THAT(JobsOf(receiver.WaitFor(2)), ElementsAre(1, 2));
  WaitUntilSettled(*sender, 4);
  WaitForError(*sender, "no answer");
  EXPECT_EQ(*notes_.Read("hook a"), "c1 0");
  notes_.SetWriteStatus(absl::OkStatus());
  sender->Wake();
  WaitForNote("c1 4");
  WaitForError(*sender, "");
}

TEST_F(HookSenderTest, AHookWaitsUntilItsPositionCanBeRead) {
  use_notes_ = true;
  ASSERT_TRUE(notes_.Write("hook a", "c1 0").ok());
  Fail(1);
  notes_.SetReadStatus(absl::UnavailableError("no answer"));
  Receiver receiver([](int) { return 200; });
  Start({Rule("a", receiver.Url())})->Stop();
  const auto sender = Start({Rule("a", receiver.Url())});
  WaitForError(*sender, "no answer");
  notes_.SetReadStatus(absl::OkStatus());
  EXPECT_THAT(JobsOf(receiver.WaitFor(1)), ElementsAre(1)) << "the stop stored no other position";
  WaitUntilSettled(*sender, 2);
}

TEST_F(HookSenderTest, StopStoresPositionsUntilAWriteFails) {
  use_notes_ = true;
  EXPECT_EQ(WritesOfStop(absl::OkStatus()), 3);
  EXPECT_EQ(WritesOfStop(absl::UnavailableError("no answer")), 1);
}

TEST_F(HookSenderTest, AHookThatHangsDelaysNoOther) {
  Receiver silent([](int) { return -1; });
  Receiver receiver([](int) { return 200; });
  const auto sender = Start({Rule("hangs", silent.Url()), Rule("works", receiver.Url())});
  for (int job = 1; job <= 5; ++job) Fail(job);
  sender->Wake();
  EXPECT_THAT(JobsOf(receiver.WaitFor(5)), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(HookSenderTest, AnEventThatFailsForTooLongIsGivenUp) {
  Receiver receiver([](int number) { return number == 0 ? 500 : 200; });
  const auto sender = Start({Rule("a", receiver.Url())}, std::chrono::milliseconds(0));
  Fail(1);
  Fail(2);
  sender->Wake();
  EXPECT_THAT(JobsOf(receiver.WaitFor(2)), ElementsAre(1, 2));
  WaitUntilSettled(*sender, 4);
  EXPECT_EQ(sender->Report().front().dropped(), 1);
  EXPECT_EQ(sender->Report().front().delivered(), 1);
}

TEST_F(HookSenderTest, HealthIsShownWhileACallFails) {
  Receiver receiver([](int) { return 503; });
  const auto sender = Start({Rule("a", receiver.Url())});
  Fail(1);
  sender->Wake();
  receiver.WaitFor(3);
  const v1::HookStatus status = sender->Report().front();
  EXPECT_GE(status.failed(), 1);
  EXPECT_GT(status.failing_since_ms(), 0);
  EXPECT_THAT(status.error(), testing::HasSubstr("503"));
  EXPECT_TRUE(receiver.Url().starts_with(status.target())) << "without its path";
}

}  // namespace
}  // namespace trainyard::controller
