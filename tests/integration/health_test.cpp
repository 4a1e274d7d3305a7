// Tests the health of jobs with real processes. Every surface shows the health word of a sick job
// within seconds. A healthy job beside the sick jobs is always shown as "ok".
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/json/enum_text.h"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using std::chrono::steady_clock;
using testing::ElementsAre;

constexpr int kNodes = 3;
constexpr int kSlotsPerNode = 4;

// Maximum time from the first moment at which a word can apply until every surface shows the word.
// 10 s suffice on an idle machine, but other tests run in parallel.
constexpr std::chrono::seconds kSoon{30};
// Times from the fault to this moment. A gang with short steps is stalled after 5 s without a step.
constexpr std::chrono::seconds kStallLimit{5};
constexpr std::chrono::seconds kSaveInterval{3};
constexpr std::chrono::seconds kHealTime{5};
// A fault that begins within a window of 10 s may become visible only in the median of the next
// window.
constexpr std::chrono::seconds kRateWindows{20};
// A run can be slow after three windows, each of about 100 steps of 0.1 s.
constexpr int64_t kStepsBeforeSlow = 310;
// Time of a backoff and of an attempt that outlasts the failed attempts.
constexpr std::chrono::seconds kRestartTime{10};

constexpr char kRetries[] = "restart: {max_restarts: 20, backoff_max: 4s, rules: [retry .]}\n";

// Words by the name of the job.
using Words = std::map<std::string, std::string>;
// Seconds by ledger phase.
using Phases = std::map<std::string, double>;

// A word that a job must have on every surface at the time `until`.
struct ExpectedWord {
  std::string job;
  std::string word;
  steady_clock::time_point until;
};

Words WordsInPs(const MiniCluster& cluster) {
  const std::string output = cluster.Cli({"ps"}).output;
  const std::vector<std::string> lines = absl::StrSplit(output, '\n', absl::SkipEmpty());
  Words words;
  std::vector<std::string> titles;
  for (const std::string& line : lines) {
    const std::vector<std::string> cells = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (titles.empty()) {
      titles = cells;
      continue;
    }
    const auto name = std::ranges::find(titles, "NAME") - titles.begin();
    const auto health = std::ranges::find(titles, "HEALTH") - titles.begin();
    if (std::max(name, health) < std::ssize(cells)) words[cells[name]] = cells[health];
  }
  return words;
}

// Returns the word in the first line "  health: WORD ..." of `why`; "ok" if there is no such line.
std::string WordInWhy(const MiniCluster& cluster, const std::string& job) {
  const CommandResult why = cluster.Cli({"why", job});
  if (why.exit_code != 0) return why.error;
  const std::string label = "  health: ";
  const std::size_t found = why.output.find(label);
  if (found == std::string::npos) return "ok";
  const std::string text = why.output.substr(found + label.size());
  return text.substr(0, text.find_first_of(" :"));
}

std::string LabelOf(const std::string& line, const std::string& name) {
  const std::string label = name + "=\"";
  const std::size_t found = line.find(label);
  if (found == std::string::npos) return "";
  const std::string text = line.substr(found + label.size());
  return text.substr(0, text.find('"'));
}

Words WordsInMetrics(const MiniCluster& cluster) {
  const std::string page = Http("GET", HttpUrl(cluster, "/metrics")).text;
  const std::vector<std::string> lines = absl::StrSplit(page, '\n');
  Words words;
  for (const std::string& line : lines) {
    if (!absl::StartsWith(line, "trainyard_job_health{")) continue;
    words[LabelOf(line, "job_name")] = LabelOf(line, "health");
  }
  return words;
}

Phases SecondsByPhase(const v1::Ledger& ledger) {
  Phases phases;
  for (const v1::PhaseTime& time : ledger.phases()) phases[EnumText(time.phase())] = time.seconds();
  return phases;
}

// Jobs with one fault each, a gang with a spare node, and a healthy job.
class HealthTest : public testing::Test {
 protected:
  HealthTest() : cluster_(0, kSlotsPerNode) {
    cluster_.UseTrainer("healing_trainer.py");
    const std::string tokens = cluster_.MakeTokens();
    for (int node = 0; node < kNodes; ++node) cluster_.StartWorker(node);
    // This job needs a slot on each node, so it is placed first.
    jobs_["spared"] =
        cluster_.Submit(cluster_.WriteJob("spared", TinyJob("spared", tokens, 2, 1'000'000)),
                        {"--set", "restart.spares=1"});
    Start("frozen", "stall", 2, "watchdog: {action: alert, min_stall: 6s}\n");
    Start("throttled", "slow");
    Start("overflow", "diverge");
    Start("diskless", "unsaved");
    Start("steady", "none");
    SwitchOn("crasher");
    Start("crasher", "crash", 1, kRetries);
  }

  void Start(const std::string& name, const std::string& fault, int ranks = 1,
             const std::string& more = "") {
    const std::string program = absl::StrCat(SOURCE_ROOT, "/tests/fakes/sick_trainer.py");
    jobs_[name] = cluster_.Submit(cluster_.WriteJob(
        name, absl::StrCat("name: ", name, "\nresources: {slots_per_node: ", ranks,
                           ", device: cpu}\ncommand: [/usr/bin/python3, ", program, ", ", fault,
                           ", ", Switch(name), "]\n", more)));
  }

  std::string Switch(const std::string& job) const {
    return absl::StrCat(cluster_.directory(), "/", job, ".switch");
  }
  void SwitchOn(const std::string& job) const { WriteFile(Switch(job), ""); }
  void SwitchOff(const std::string& job) const { std::filesystem::remove(Switch(job)); }

  // Returns the words of all jobs, by surface.
  std::map<std::string, Words> ReadSurfaces() {
    std::map<std::string, Words> surfaces;
    surfaces["ps"] = WordsInPs(cluster_);
    surfaces["metrics"] = WordsInMetrics(cluster_);
    Words& listed = surfaces["ListJobs"];
    for (const v1::Job& job : cluster_.ListedJobs()) {
      listed[job.name()] = EnumText(job.health().word());
    }
    for (const auto& [name, id] : jobs_) {
      surfaces["GetJob"][name] = EnumText(cluster_.Job(id).health().word());
      surfaces["why"][name] = WordInWhy(cluster_, name);
    }
    return surfaces;
  }

  // Returns the surfaces on which the job has another word, such as "ps: ok, why: ok".
  static std::string OtherWords(const ExpectedWord& expected,
                                std::map<std::string, Words>& surfaces) {
    std::vector<std::string> others;
    for (auto& [surface, words] : surfaces) {
      const std::string& word = words[expected.job];
      if (word != expected.word) others.push_back(absl::StrCat(surface, ": ", word));
    }
    return absl::StrJoin(others, ", ");
  }

  // Waits until each job has its word on all surfaces. Fails the test for each job that misses the
  // deadline. Jobs are read together, so that no job delays another.
  void ExpectSoon(std::vector<ExpectedWord> expected) {
    const auto all_shown = [&] {
      const steady_clock::time_point read = steady_clock::now();
      std::map<std::string, Words> surfaces = ReadSurfaces();
      for (auto& [surface, words] : surfaces) steady_words_.insert(words["steady"]);
      std::erase_if(expected, [&](const ExpectedWord& one) {
        const std::string others = OtherWords(one, surfaces);
        if (!others.empty() && read < one.until) return false;
        EXPECT_EQ(others, "") << one.job << " is not " << one.word << " everywhere";
        return true;
      });
      return expected.empty();
    };
    EXPECT_TRUE(Eventually(all_shown, Seconds(120)));
  }

  int Failures(const std::string& job) {
    const v1::Job current = cluster_.Job(jobs_[job]);
    return static_cast<int>(std::ranges::count_if(
        current.attempts(), [](const v1::Attempt& attempt) { return attempt.has_verdict(); }));
  }

  bool HasAlert(const std::string& job, const std::string& code) {
    const v1::GetJobResponse described = cluster_.Described(jobs_[job]);
    return std::ranges::any_of(described.alerts(),
                               [&](const v1::Alert& alert) { return alert.code() == code; });
  }

  Phases PhasesOfJob(const std::string& job) {
    return SecondsByPhase(cluster_.Described(jobs_[job]).ledger());
  }

  Phases PhasesInReport(const std::string& job) {
    const CommandResult report = cluster_.Cli({"report", "--by", "job", "-o", "json"});
    EXPECT_EQ(report.exit_code, 0) << report.error;
    const nlohmann::json document = nlohmann::json::parse(report.output, nullptr, false);
    if (document.is_discarded()) return {};
    Phases phases;
    for (const nlohmann::json& group : document.at("groups")) {
      if (group.at("name") != job) continue;
      for (const nlohmann::json& time : group.at("phases")) {
        phases[time.at("phase").get<std::string>()] = time.at("seconds").get<double>();
      }
    }
    return phases;
  }

  // Checks that a report has the phases of the job's own ledger. The job runs, so the report is
  // compared with ledgers read before and after it.
  void ExpectSameLedgers(const std::string& job) {
    constexpr double kRounding = 0.002;
    Phases before = PhasesOfJob(job);
    Phases reported = PhasesInReport(job);
    const Phases after = PhasesOfJob(job);
    EXPECT_FALSE(after.empty());
    EXPECT_EQ(reported.size(), after.size());
    for (const auto& [phase, later] : after) {
      EXPECT_GE(reported[phase], before[phase] - kRounding) << job << ": " << phase;
      EXPECT_LE(reported[phase], later + kRounding) << job << ": " << phase;
    }
  }

  // Waits until all jobs train, except the crashing job.
  void AwaitSteps() {
    for (const auto& [name, id] : jobs_) {
      if (name == "crasher") continue;
      ASSERT_TRUE(cluster_.WaitForStep(id, 20)) << name << cluster_.DaemonLogs();
    }
    const auto spare_runs = [&] {
      const v1::ListRanksResponse listed = cluster_.Ranks(jobs_["spared"]);
      return std::ranges::any_of(listed.ranks(), [](const v1::RankStatus& rank) {
        return rank.standby() && rank.state() == v1::RANK_STATE_RUNNING;
      });
    };
    ASSERT_TRUE(Eventually(spare_runs)) << cluster_.DaemonLogs();
  }

  void KillARankWithSpare() {
    const pid_t victim = cluster_.RankPid(jobs_["spared"], 1, 1);
    ASSERT_GT(victim, 0);
    ASSERT_EQ(kill(victim, SIGKILL), 0);
  }

  MiniCluster cluster_;
  // Job numbers by name.
  std::map<std::string, int64_t> jobs_;
  // Every word that any surface has shown for the healthy job.
  std::set<std::string> steady_words_;
};

TEST_F(HealthTest, EachSickJobHasItsWordOnEverySurfaceAndTheHealthyOneIsOk) {
  ASSERT_NO_FATAL_FAILURE(AwaitSteps());
  ASSERT_TRUE(Eventually([&] { return Failures("crasher") >= 3; })) << cluster_.DaemonLogs();
  const steady_clock::time_point third_failure = steady_clock::now();
  std::vector<ExpectedWord> well;
  for (const auto& [name, id] : jobs_) {
    if (name != "crasher") well.push_back({name, "ok", third_failure + kSoon});
  }
  ExpectSoon(well);

  for (const char* job : {"frozen", "overflow", "diskless"}) SwitchOn(job);
  ASSERT_NO_FATAL_FAILURE(KillARankWithSpare());
  const steady_clock::time_point broken = steady_clock::now();
  ExpectSoon({{"crasher", "looping", third_failure + kSoon},
              {"overflow", "diverging", broken + kSoon},
              {"diskless", "unsaved", broken + kSaveInterval + kSoon},
              {"spared", "healed", broken + kHealTime + kSoon},
              {"frozen", "stalled", broken + kStallLimit + kSoon}});
  const v1::Job frozen = cluster_.Job(jobs_["frozen"]);
  ASSERT_GT(frozen.health().findings_size(), 0) << frozen.DebugString();
  EXPECT_THAT(frozen.health().findings(0).ranks(), ElementsAre(1)) << "rank 0 waits for it";
  EXPECT_TRUE(Eventually([&] { return HasAlert("overflow", "nan_loss"); }));
  EXPECT_TRUE(Eventually([&] { return HasAlert("diskless", "checkpoint_failed"); }));
  EXPECT_TRUE(Eventually([&] { return HasAlert("frozen", "stalled"); }));
  const double stalled = PhasesOfJob("frozen")["stalled"];
  EXPECT_GE(stalled, 5);

  for (const char* job : {"frozen", "overflow", "diskless", "crasher"}) SwitchOff(job);
  const steady_clock::time_point mended = steady_clock::now();
  ExpectSoon({{"frozen", "ok", mended + kSoon},
              {"overflow", "ok", mended + kSoon},
              {"diskless", "ok", mended + kSaveInterval + kSoon},
              {"crasher", "ok", mended + kRestartTime + kSoon},
              {"spared", "healed", mended + kSoon}});
  EXPECT_GE(PhasesOfJob("frozen")["stalled"], stalled) << "a stall that ended stays in the ledger";
  ExpectSameLedgers("frozen");
  ExpectSameLedgers("steady");

  ASSERT_TRUE(cluster_.WaitForStep(jobs_["throttled"], kStepsBeforeSlow));
  SwitchOn("throttled");
  ExpectSoon({{"throttled", "slow", steady_clock::now() + kRateWindows + kSoon}});
  EXPECT_GE(PhasesOfJob("frozen")["stalled"], stalled);
  EXPECT_THAT(steady_words_, ElementsAre("ok"));
}

}  // namespace
}  // namespace trainyard::test
