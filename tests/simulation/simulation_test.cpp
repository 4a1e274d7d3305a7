// Runs one simulation for each of several consecutive seeds. TRAINYARD_SIMULATION_SEED is the first
// seed, TRAINYARD_SIMULATION_RUNS the number of seeds (see README.md).
#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>
#include <string>

#include "controller/core/ledger/ledger.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "gtest/gtest.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/fakes/environment_number.h"
#include "tests/simulation/simulated_cluster.h"

namespace trainyard::simulation {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kMinute = 60 * kSecond;
// Longer than the time limit of any gang. The longest limit is 30 minutes, for a gang in which a
// rank has exited with 0.
constexpr int64_t kLongestEndMs = 60 * kMinute;

uint64_t FirstSeed() { return test::EnvironmentNumber("TRAINYARD_SIMULATION_SEED", 1); }
uint64_t Runs() { return test::EnvironmentNumber("TRAINYARD_SIMULATION_RUNS", 150); }

struct Tally {
  int succeeded = 0;
  int attempts = 0;
  int hung = 0;
  std::set<int> kinds;
  std::set<v1::LedgerPhase> phases;
};

// Checks that every millisecond of every slot is in exactly one phase.
void ExpectLedgerAddsUp(const v1::Job& job, Tally& tally) {
  const v1::Ledger ledger = controller::LedgerOf(job, job.ended_time_ms());
  int64_t slot_ms = 0, phases_ms = 0, span_slot_ms = 0;
  for (const v1::PhaseTime& time : ledger.phases()) {
    // Excludes standbys, because their time does not count as the gang's.
    if (time.phase() == v1::LEDGER_PHASE_STANDBY) continue;
    slot_ms += std::llround(time.slot_seconds() * 1000);
    phases_ms += std::llround(time.seconds() * 1000);
    tally.phases.insert(time.phase());
  }
  EXPECT_EQ(phases_ms, job.ended_time_ms() - job.submitted_time_ms()) << ledger.DebugString();
  // An attempt with a layout for fewer nodes uses fewer slots.
  for (const v1::LedgerSpan& span : ledger.spans()) {
    EXPECT_LE(span.slots(), WorldSize(job.spec()));
    span_slot_ms += (span.end_ms() - span.begin_ms()) * span.slots();
  }
  EXPECT_EQ(slot_ms, span_slot_ms) << ledger.DebugString();
}

void Count(const SimulatedCluster& cluster, Tally& tally) {
  for (const v1::Job& job : cluster.Jobs()) {
    tally.succeeded += job.state() == v1::JOB_STATE_SUCCEEDED;
    tally.attempts += job.attempts_size();
    ExpectLedgerAddsUp(job, tally);
  }
  for (const v1::Event& event : cluster.log()) {
    tally.kinds.insert(event.kind_case());
    tally.hung += event.attempt_failed().verdict().cause() == v1::VERDICT_CAUSE_STALLED;
  }
}

TEST(SimulationTest, EveryJobEndsOnceFaultsStop) {
  Tally tally;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs(); ++seed) {
    SimulatedCluster cluster(AllFaults(seed));
    cluster.RunFor(kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    Count(cluster, tally);
  }
  // A small number of runs may not contain every case. A larger number must contain jobs that
  // succeed, jobs that restart, and every kind of event except the removal of checkpoints.
  if (Runs() < 150) return;
  EXPECT_GT(tally.succeeded, static_cast<int>(Runs()));
  EXPECT_GT(tally.attempts, 7 * static_cast<int>(Runs()));
  EXPECT_EQ(tally.kinds.size(), 32u);
  EXPECT_GT(tally.hung, static_cast<int>(Runs()) / 10);
  // The phases are queued, paused, init, train, slow, unsaved, recompute, hang, restart and stop.
  // The simulated trainers report no other phase.
  EXPECT_EQ(tally.phases.size(), 10u);
}

// Counts the outcomes of the conditions of jobs that have ended.
struct ConditionTally {
  std::set<v1::JobCondition> met, unmet;
  int started = 0, failed = 0;
};

void CountConditions(const SimulatedCluster& cluster, ConditionTally& tally) {
  for (const v1::Job& job : cluster.Jobs()) {
    const bool failed = job.verdict().cause() == v1::VERDICT_CAUSE_DEPENDENCY_FAILED;
    tally.failed += failed;
    tally.started += !job.after().empty() && !job.attempts().empty();
    for (const v1::Prerequisite& prerequisite : job.after()) {
      if (controller::IsMet(prerequisite)) tally.met.insert(prerequisite.condition());
      if (controller::EndedUnmet(prerequisite)) tally.unmet.insert(prerequisite.condition());
    }
  }
}

// "Dependent jobs wait" checks every placement and every failure in these runs.
TEST(SimulationTest, JobsOfAGraphStartOrFail) {
  ConditionTally tally;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs() / 2; ++seed) {
    SimulatedCluster cluster(DependencyGraphs(seed));
    cluster.RunFor(2 * kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    CountConditions(cluster, tally);
  }
  std::cout << tally.started << " dependent jobs started, " << tally.failed << " failed\n";
  if (Runs() < 150) return;
  EXPECT_EQ(tally.met.size(), 4u);
  // The end of a job is always met.
  EXPECT_EQ(tally.unmet.size(), 3u);
  EXPECT_GT(tally.started, static_cast<int>(Runs()) / 2);
  EXPECT_GT(tally.failed, static_cast<int>(Runs()) / 2);
}

TEST(SimulationTest, GangsKeepToTheirNodesAndKinds) {
  std::set<std::string> devices;
  int restricted = 0, within_leaf = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs() / 3 + 1; ++seed) {
    SimulatedCluster cluster(RestrictedNodes(seed));
    cluster.RunFor(kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    for (const v1::Job& job : cluster.Jobs()) {
      restricted += job.spec().placement().ByteSizeLong() > 0 && job.attempts_size() > 0;
      within_leaf += job.spec().placement().within() == "leaf" &&
                     job.spec().resources().nodes() > 1 && job.attempts_size() > 0;
      for (const v1::Attempt& attempt : job.attempts()) devices.insert(attempt.layout().device());
    }
  }
  if (Runs() < 150) return;
  EXPECT_EQ(devices.size(), 3U) << "both kinds, and attempts without a chosen layout";
  EXPECT_GT(restricted, static_cast<int>(Runs()));
  EXPECT_GT(within_leaf, static_cast<int>(Runs()) / 5);
}

TEST(SimulationTest, ControlPlaneFaultsRestartNothing) {
  int64_t faults = 0;
  int64_t restarts = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs(); ++seed) {
    SimulatedCluster cluster(ControlPlaneFaults(seed));
    cluster.RunFor(kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    faults += cluster.faults_injected();
    // A drained node moves its jobs, which restarts nothing.
    for (const v1::Job& job : cluster.Jobs()) {
      restarts += std::max(0, job.attempts_size() - 1 - job.resumed_starts());
    }
    EXPECT_EQ(restarts, 0) << "seed " << seed;
  }
  EXPECT_GT(faults, 5 * static_cast<int64_t>(Runs()));
  RecordProperty("faults", std::to_string(faults));
  RecordProperty("restarts", std::to_string(restarts));
}

TEST(SimulationTest, ADeterministicFailureIsTriedOnceMore) {
  int64_t failed = 0, second_tries = 0, third_tries = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs() / 3; ++seed) {
    const SimulationOptions options = BuggyPrograms(seed);
    SimulatedCluster cluster(options);
    cluster.RunFor(kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    for (const v1::Job& job : cluster.Jobs()) {
      const bool has_bug = options.world.bugs.contains(job.id());
      if (job.state() == v1::JOB_STATE_STOPPED) continue;
      EXPECT_EQ(job.state(), has_bug ? v1::JOB_STATE_FAILED : v1::JOB_STATE_SUCCEEDED);
      // Two exceptions are possible. The exit of the rank that hit the bug may arrive after the
      // resulting exits of its peers. A checkpoint that is reported late counts as progress when it
      // is published again.
      const auto by_bug = std::ranges::count_if(job.attempts(), [](const v1::Attempt& attempt) {
        return attempt.verdict().exit_code() == kExitCodeOfBug;
      });
      // Before the second try, other faults may have used up the restart budget.
      const bool has_tries = job.restarts() < job.spec().restart().max_restarts();
      EXPECT_GE(by_bug, has_bug && has_tries ? 2 : 0)
          << "seed " << seed << job.verdict().DebugString();
      second_tries += by_bug > 1;
      EXPECT_TRUE(has_bug || by_bug == 0) << "seed " << seed;
      failed += has_bug;
      third_tries += by_bug > 2;
    }
  }
  EXPECT_GT(failed, static_cast<int64_t>(Runs()) / 3);
  EXPECT_GE(second_tries, failed - failed / 10);
  EXPECT_LE(third_tries, failed / 20);
}

TEST(SimulationTest, FaultsOfNodesFailNoJobAndEverySlotComesBack) {
  int64_t node_faults = 0, unhealthy = 0, floods = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs() / 3; ++seed) {
    SimulatedCluster cluster(NodeFaults(seed));
    cluster.RunFor(2 * kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    const std::set<int64_t> flooded = cluster.FloodedJobs();
    floods += static_cast<int64_t>(flooded.size());
    for (const v1::Job& job : cluster.Jobs()) {
      // A rank exceeded a limit. Exits of its peers may arrive before the exit of this rank, so the
      // verdict may blame a peer.
      if (flooded.contains(job.id())) continue;
      EXPECT_EQ(job.restarts(), 0) << "seed " << seed << " " << job.DebugString();
      EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << "seed " << seed << job.DebugString();
    }
    unhealthy += std::ranges::count_if(cluster.log(), &v1::Event::has_node_unhealthy);
    node_faults += std::ranges::count_if(cluster.log(), [](const v1::Event& event) {
      return event.attempt_failed().verdict().cause() == v1::VERDICT_CAUSE_NODE_FAULT;
    });
  }
  EXPECT_GT(node_faults, static_cast<int64_t>(Runs()) / 3);
  EXPECT_GT(unhealthy, static_cast<int64_t>(Runs()) / 3);
  EXPECT_GT(floods, 0);
}

TEST(SimulationTest, ALemonIsQuarantinedAndReleasedAndNoHealthyNodeIs) {
  int64_t quarantines = 0, releases = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs() / 5; ++seed) {
    SimulatedCluster cluster(LemonNode(seed));
    cluster.RunFor(2 * kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    for (const v1::Event& event : cluster.log()) {
      const v1::NodeQuarantine& quarantine = event.node_unhealthy().health().quarantine();
      quarantines += event.has_node_unhealthy() && quarantine.since_ms() == event.time_ms();
      releases += event.has_node_released();
    }
    for (const v1::Job& job : cluster.Jobs()) EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
  }
  EXPECT_GT(quarantines, static_cast<int64_t>(Runs()) / 5);
  EXPECT_GT(releases, static_cast<int64_t>(Runs()) / 10);
}

TEST(SimulationTest, JobsWithSparesGoOnInPlace) {
  int64_t begun = 0, healed = 0, failed = 0, lost_steps = 0, longest_ms = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs(); ++seed) {
    SimulatedCluster cluster(HealingJobs(seed));
    cluster.RunFor(2 * kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    for (const v1::Job& job : cluster.Jobs()) {
      Tally tally;
      ExpectLedgerAddsUp(job, tally);
    }
    for (const v1::Event& event : cluster.log()) {
      begun += event.has_attempt_healing();
      failed += event.has_attempt_failed();
      if (!event.has_attempt_healed()) continue;
      ++healed;
      lost_steps += event.attempt_healed().lost_steps();
      longest_ms = std::max(longest_ms, event.attempt_healed().heal_ms());
    }
  }
  std::cout << begun << " heals begun, " << healed << " came to a step, the longest in "
            << longest_ms << " ms; " << lost_steps << " steps trained again; " << failed
            << " attempts failed\n";
  if (Runs() < 150) return;
  EXPECT_GT(healed, static_cast<int64_t>(Runs()));
  EXPECT_GT(begun, healed) << "some heals are to fail";
  EXPECT_LE(lost_steps, healed);
}

TEST(SimulationTest, AClockThatIsSetHoldsUpNothingAndFalsifiesNoLedger) {
  int64_t jumps = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs() / 6; ++seed) {
    SimulationOptions options = NodeFaults(seed);
    options.faults.clock_step = 0.05;
    options.faults.rank_crash = 0.05;
    SimulatedCluster cluster(options);
    cluster.RunFor(2 * kMinute);
    cluster.StopFaults();
    // The limit is shorter than the clock's jump, so a wait that uses the wall clock exceeds the
    // limit and fails the test.
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    jumps += std::ranges::count_if(cluster.log(), &v1::Event::has_clock_set);
  }
  EXPECT_GT(jumps, static_cast<int64_t>(Runs()) / 2);
}

TEST(SimulationTest, AnotherBootOfTheControllerCountsItsDowntime) {
  int64_t boots = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs() / 6; ++seed) {
    SimulationOptions options = ControlPlaneFaults(seed);
    options.faults.controller_reboot = 0.03;
    SimulatedCluster cluster(options);
    cluster.RunFor(2 * kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    boots += std::ranges::count_if(cluster.log(), &v1::Event::has_clock_set);
  }
  EXPECT_GT(boots, static_cast<int64_t>(Runs()) / 3);
}

TEST(SimulationTest, DeletionsTakeEndedJobsOnlyAndHarmNoOther) {
  int64_t deleted = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs(); ++seed) {
    SimulationOptions options = AllFaults(seed);
    options.user_delete = 2;
    SimulatedCluster cluster(options);
    cluster.RunFor(kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    deleted += std::ranges::count_if(cluster.log(), &v1::Event::has_job_deleted);
  }
  EXPECT_GT(deleted, static_cast<int64_t>(Runs()));
}

TEST(SimulationTest, DrainsMoveJobsWithoutARestart) {
  int64_t yielded = 0, drained = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs() / 2; ++seed) {
    SimulationOptions options = ControlPlaneFaults(seed);
    options.user_stop = 0;
    options.faults.user_drain = 0.3;
    SimulatedCluster cluster(options);
    cluster.RunFor(kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestEndMs);
    ASSERT_EQ(cluster.failure(), "");
    for (const v1::Job& job : cluster.Jobs()) {
      EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << "seed " << seed << ", job " << job.id();
      EXPECT_EQ(job.restarts(), 0) << "seed " << seed << ", job " << job.id();
    }
    yielded += std::ranges::count_if(cluster.log(), &v1::Event::has_attempt_yielded);
    drained += std::ranges::count_if(cluster.log(), &v1::Event::has_node_drained);
  }
  EXPECT_GT(yielded, static_cast<int64_t>(Runs()) / 8);
  EXPECT_GT(drained, static_cast<int64_t>(Runs()) / 2);
}

TEST(SimulationTest, AnOlderEventLogStopsNothingAndReusesNoNumber) {
  int64_t losses = 0, paused = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs() / 2; ++seed) {
    SimulatedCluster cluster(LogGoesBack(seed));
    cluster.RunFor(5 * kSecond + static_cast<int64_t>(seed * 7 % 31) * kSecond);
    cluster.TakeCopy();
    cluster.RunFor(kSecond + static_cast<int64_t>(seed * 11 % 29) * kSecond);
    // Every second run restores the stores, too. In such a run, only the workers know that events
    // were lost.
    cluster.PutCopyBack(/*all=*/seed % 2 == 0);
    cluster.RunFor(2 * kMinute);
    ASSERT_EQ(cluster.failure(), "");
    losses += std::ranges::count_if(cluster.log(), &v1::Event::has_events_lost);
    paused += std::ranges::count_if(cluster.log(), &v1::Event::has_job_paused);
  }
  EXPECT_GT(losses, static_cast<int64_t>(Runs()) / 4);
  EXPECT_GT(paused, 0);
}

TEST(SimulationTest, SameSeedGivesTheSameHistory) {
  std::string histories[2];
  for (std::string& history : histories) {
    SimulatedCluster cluster(AllFaults(FirstSeed()));
    cluster.RunFor(kMinute);
    ASSERT_EQ(cluster.failure(), "");
    history = controller::Bytes(cluster.state());
  }
  EXPECT_FALSE(histories[0].empty());
  EXPECT_EQ(histories[0], histories[1]);
}

}  // namespace
}  // namespace trainyard::simulation
