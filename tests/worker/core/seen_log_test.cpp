#include "worker/core/seen_log.h"

#include <gtest/gtest.h>

namespace trainyard::worker {
namespace {

v1::LogMark Mark(uint64_t term, uint64_t sequence) {
  v1::LogMark mark;
  mark.set_term(term);
  mark.set_sequence(sequence);
  return mark;
}

TEST(SeenLogTest, AMarkIsOnDiskBeforeAStartAndLaterForTheRest) {
  SeenLog seen;
  seen.Take(Mark(1, 10));
  EXPECT_TRUE(seen.IsDue());
  v1::ControllerMessage acknowledged;
  *acknowledged.mutable_facts_acknowledged()->mutable_log_mark() = Mark(1, 11);
  EXPECT_FALSE(seen.Take(acknowledged)) << "it may wait";
  EXPECT_EQ(seen.newest().sequence(), 11u);
  v1::ControllerMessage start;
  *start.mutable_start_attempt()->mutable_log_mark() = Mark(1, 12);
  EXPECT_TRUE(seen.Take(start));
  seen.Kept();
  EXPECT_FALSE(seen.IsDue());
  EXPECT_FALSE(seen.Take(start)) << "a repeated start writes nothing";
}

TEST(SeenLogTest, AMarkOfANewTermReplacesAHigherOne) {
  SeenLog seen(Mark(1, 100));
  EXPECT_FALSE(seen.IsDue());
  seen.Take(Mark(2, 50));
  EXPECT_EQ(seen.newest().term(), 2u);
  EXPECT_TRUE(seen.IsDue());
  seen.Take(v1::LogMark());
  EXPECT_EQ(seen.newest().sequence(), 50u) << "an older controller sends none";
}

}  // namespace
}  // namespace trainyard::worker
