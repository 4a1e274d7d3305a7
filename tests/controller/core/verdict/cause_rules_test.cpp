#include "controller/core/verdict/cause_rules.h"

#include <set>

#include "google/protobuf/generated_enum_reflection.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(CauseRulesTest, EveryCauseHasItsRulesOnce) {
  std::set<int> seen;
  for (const CauseRules& rules : kCauseRules) EXPECT_TRUE(seen.insert(rules.cause).second);
  const google::protobuf::EnumDescriptor& causes =
      *google::protobuf::GetEnumDescriptor<v1::VerdictCause>();
  for (int i = 0; i < causes.value_count(); ++i) {
    const int cause = causes.value(i)->number();
    if (cause == v1::VERDICT_CAUSE_UNSPECIFIED) continue;
    EXPECT_TRUE(seen.contains(cause)) << causes.value(i)->name() << " has no rules";
  }
}

TEST(CauseRulesTest, ACauseOfALaterReleaseForbidsEverything) {
  const CauseRules& rules = RulesOf(static_cast<v1::VerdictCause>(9999));
  EXPECT_FALSE(rules.restartable);
  EXPECT_EQ(rules.heals, Rule::kNo);
  EXPECT_EQ(rules.blames, Rule::kNo);
  EXPECT_EQ(rules.charge, Charge::kAlways);
}

TEST(CauseRulesTest, OnlyRestartableCausesHealAndOnlyAFaultIsBlamed) {
  for (const CauseRules& rules : kCauseRules) {
    EXPECT_TRUE(rules.heals == Rule::kNo || rules.restartable) << rules.cause;
    EXPECT_EQ(rules.blames != Rule::kNo, rules.fault != v1::NODE_FAULT_UNSPECIFIED) << rules.cause;
  }
}

}  // namespace
}  // namespace trainyard::controller
