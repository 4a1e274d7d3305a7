#include "proto/layout/layout_parts.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(LayoutPartsTest, PartsFollowEachOtherAndDifferByOneAtMost) {
  for (int64_t total = 1; total < 40; ++total) {
    for (int64_t parts = 1; parts <= total; ++parts) {
      int64_t next = 0;
      for (int64_t index = 0; index < parts; ++index) {
        const IndexRange part = PartOf(total, parts, index);
        EXPECT_EQ(part.first, next);
        EXPECT_GE(part.length, total / parts);
        EXPECT_LE(part.length, PartOf(total, parts, 0).length);
        next = part.end();
      }
      EXPECT_EQ(next, total);
    }
  }
}

// Checks that every attention slot serves only queries that use the key head of this slot.
void ExpectSlotsServeTheirQueries(int64_t queries, int64_t keys, int64_t tp) {
  const int64_t share = queries / keys;
  for (int64_t index = 0; index < tp; ++index) {
    const HeadPlace here = HeadsOf(queries, keys, tp, index);
    const int64_t for_each = here.queries.length / here.key_slots;
    EXPECT_EQ(for_each * here.key_slots, here.queries.length);
    for (int64_t query = 0; query < here.queries.length; ++query) {
      const int64_t key = (here.queries.first + query) / share;
      EXPECT_EQ(here.KeyOfSlot(query / for_each, share) + here.keys.first, key)
          << queries << " query heads, " << keys << " key heads, rank " << index << " of " << tp;
      EXPECT_LT(key, here.keys.end());
    }
  }
}

TEST(LayoutPartsTest, KeyHeadsAreThoseOfTheQueries) {
  for (const int64_t keys : {1, 2, 3, 4, 6, 12}) {
    for (const int64_t tp : {1, 2, 3, 4, 6, 12}) ExpectSlotsServeTheirQueries(12, keys, tp);
  }
}

TEST(LayoutPartsTest, KeyHeadsAreTakenOnceWhereTheyDivide) {
  EXPECT_EQ(HeadsOf(32, 8, 4, 1).key_slots, 2);
  EXPECT_EQ(HeadsOf(32, 8, 4, 1).keys, (IndexRange{2, 2}));
  EXPECT_EQ(HeadsOf(32, 8, 16, 5).keys, (IndexRange{2, 1})) << "two ranks share a key head";
  EXPECT_EQ(HeadsOf(6, 3, 2, 0).key_slots, 3) << "queries 0 and 1 use key 0, query 2 key 1";
}

}  // namespace
}  // namespace trainyard
