// Tests, with random sequences, rules that must hold for every order of commands and answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/worker/core/action_text.h"
#include "worker/core/attempts.h"

namespace trainyard::worker {
namespace {

// Generates random commands and process events. Checks the rules after each command or event.
class RandomLife {
 public:
  explicit RandomLife(uint32_t seed) : random_(seed) {}

  void Run(int steps) {
    for (int i = 0; i < steps; ++i) Step();
    Settle();
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % bound); }

  void Step() {
    now_ += Below(2000);
    const int64_t job = 1 + Below(2);
    const int64_t attempt_number = 1 + Below(6);
    switch (Below(7)) {
      case 0:
        Carry(attempts_.Start(StartOf(job, attempt_number, 1 + Below(3)), now_));
        break;
      case 1:
        Carry(attempts_.Stop(StopOf(job, attempt_number, Below(3) * 1000), now_));
        break;
      case 2:
        Carry(attempts_.Forget(ForgetOf(job, attempt_number)));
        break;
      case 3:
        Carry(attempts_.Tick(now_));
        break;
      default:
        MoveOneRank();
        break;
    }
  }

  void MoveOneRank() {
    if (spawning_.empty() && alive_.empty()) return;
    if (!spawning_.empty() && Below(2) == 0) {
      const RankKey key = *spawning_.begin();
      spawning_.erase(spawning_.begin());
      alive_.insert(key);
      Carry(attempts_.RankSpawned(key, 1, now_));
    } else if (!alive_.empty()) {
      End(*std::next(alive_.begin(), Below(static_cast<int>(alive_.size()))));
    }
  }

  void End(RankKey key) {
    Carry(attempts_.RankEnded(ExitOf(key.attempt.job_id, key.attempt.number, key.rank)));
    alive_.erase(key);
    Carry(attempts_.RankGone(key));
  }

  void Carry(const Actions& actions) {
    for (const Action& action : actions) {
      if (const auto* spawn = std::get_if<SpawnRank>(&action)) CheckSpawn(spawn->rank);
      if (const auto* record = std::get_if<RecordFact>(&action)) CheckFact(record->fact);
      if (const auto* signal = std::get_if<SendSignal>(&action)) {
        EXPECT_TRUE(alive_.contains(signal->rank));
      }
      if (const auto* remembered = std::get_if<RememberAttempt>(&action)) {
        const AttemptKey& attempt = remembered->attempt;
        EXPECT_GT(attempt.number, seen_[attempt.job_id]) << "attempts only grow";
        seen_[attempt.job_id] = attempt.number;
      }
    }
  }

  void CheckSpawn(const RankKey& key) {
    EXPECT_TRUE(ever_spawned_.insert(key).second) << "a rank is spawned once";
    EXPECT_EQ(seen_[key.attempt.job_id], key.attempt.number) << "only the newest attempt spawns";
    for (const auto* set : {&spawning_, &alive_}) {
      for (const RankKey& other : *set) {
        if (IsUnkillable(other)) continue;
        EXPECT_TRUE(other.attempt.job_id != key.attempt.job_id || other.attempt == key.attempt)
            << "two attempts of one job must never run together";
      }
    }
    EXPECT_FALSE(cleared_.contains(key.attempt)) << "a cleared attempt never spawns";
    spawning_.insert(key);
  }

  bool IsUnkillable(const RankKey& key) const {
    for (const v1::AttemptReport& report : attempts_.Reports()) {
      if (report.job_id() != key.attempt.job_id || report.attempt() != key.attempt.number) continue;
      for (const v1::RankReport& rank : report.ranks()) {
        if (rank.rank() == key.rank) return !rank.unkillable().empty();
      }
    }
    return false;
  }

  void CheckFact(const v1::Fact& fact) {
    if (!fact.has_attempt_cleared()) return;
    const AttemptKey key = {fact.attempt_cleared().job_id(), fact.attempt_cleared().attempt()};
    for (const auto* set : {&spawning_, &alive_}) {
      for (const RankKey& other : *set) EXPECT_NE(other.attempt, key) << "cleared, yet it runs";
    }
    cleared_.insert(key);
  }

  // Stops everything and expects that all attempts are then cleared.
  void Settle() {
    Carry(attempts_.StopAll(0, now_));
    while (!spawning_.empty() || !alive_.empty()) MoveOneRank();
    EXPECT_FALSE(attempts_.AnyAlive());
    for (const v1::AttemptReport& report : attempts_.Reports()) EXPECT_TRUE(report.cleared());
    EXPECT_TRUE(attempts_.Tick(now_ + 3'600'000).empty());
  }

  std::mt19937 random_;
  Attempts attempts_;
  Timestamp now_ = 0;
  std::set<RankKey> spawning_;
  std::set<RankKey> alive_;
  std::set<RankKey> ever_spawned_;
  std::set<AttemptKey> cleared_;
  std::map<int64_t, int64_t> seen_;
};

TEST(AttemptsRandomTest, RulesHoldForRandomLives) {
  for (uint32_t seed = 1; seed <= 2000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RandomLife(seed).Run(60);
  }
}

}  // namespace
}  // namespace trainyard::worker
