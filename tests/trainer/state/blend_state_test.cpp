#include "trainer/state/blend_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/config/error_of.h"
#include "trainer/state/training_state.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<BlendSpan> kSpans = {{0, {3, 1}, {0, 0}}, {8, {1, 3}, {6, 2}}};

RunConfig ConfigOf(std::vector<std::string> blend, std::vector<std::string> stages = {}) {
  RunConfig config;
  config.train.global_batch = 4;
  config.data.blend = std::move(blend);
  config.data.blend_stages = std::move(stages);
  return config;
}

// Other versions of the program read these keys, so they must not change.
TEST(BlendStateTest, HasTheKeysOfTheFormat) {
  json state;
  AddBlend(kSpans, ConfigOf({"3 /a", "1 /b"}, {"3 a=1 b=3"}).data, state);
  EXPECT_EQ(state, json::parse(R"({"data_shares": [3, 1], "data_spans": [
    {"first": 0, "shares": [3, 1], "taken": [0, 0]},
    {"first": 8, "shares": [1, 3], "taken": [6, 2]}]})"));
  EXPECT_EQ(BlendIn(state), kSpans);
}

TEST(BlendStateTest, ABlendWithoutChangesHasOnlyShares) {
  json state;
  AddBlend({{0, {3, 1}, {0, 0}}}, ConfigOf({"3 /a", "1 /b"}).data, state);
  EXPECT_EQ(state, json::parse(R"({"data_shares": [3, 1]})"));
  EXPECT_THAT(BlendIn(state), ElementsAre(BlendSpan{0, {3, 1}, {0, 0}}));
  EXPECT_THAT(BlendIn(json::object()), IsEmpty());
}

TEST(BlendStateTest, RefusesDamagedSpans) {
  for (const char* spans : {R"([{"first": -1, "shares": [1], "taken": [0]}])",
                            R"([{"first": 0, "shares": [], "taken": []}])",
                            R"([{"first": 0, "shares": [0], "taken": [0]}])",
                            R"([{"first": 0, "shares": [-1, 2], "taken": [0, 0]}])",
                            R"([{"first": 0, "shares": [4194304, 1], "taken": [0, 0]}])",
                            R"([{"first": 0, "shares": [9223372036854775807], "taken": [0]}])",
                            R"([{"first": 0, "shares": [1], "taken": [0, 0]}])",
                            R"([{"first": 0, "shares": [1], "taken": [-1]}])",
                            R"([{"first": 5, "shares": [1], "taken": [0]},
                                {"first": 4, "shares": [1], "taken": [0]}])"}) {
    const json state = {{"data_spans", json::parse(spans)}};
    EXPECT_THAT(ErrorOf([&] { BlendIn(state); }, ExitCode::kBadCheckpoint),
                HasSubstr("damaged record of its data blend"))
        << spans;
  }
  json state = TrainingStateToJson({}, ConfigOf({"1 /a"}));
  for (const char* spans : {"5", "[5]", R"([{"first": 0}])"}) {
    state["data_spans"] = json::parse(spans);
    EXPECT_THAT(ErrorOf([&] { TrainingStateFromJson(state); }, ExitCode::kBadCheckpoint),
                HasSubstr("does not record the progress"))
        << spans;
  }
}

TEST(BlendStateTest, ReportsChangedWeights) {
  const BlendStart start = {5, 20, 20, kSpans};
  EXPECT_EQ(BlendChange(start, ConfigOf({"3 /a", "1 /b"}, {"3 a=1 b=3"})), "");
  EXPECT_EQ(BlendChange(start, ConfigOf({"7 /a", "1 /b"}, {"3 a=1 b=3"})), "")
      << "data.blend of earlier steps";
  EXPECT_EQ(BlendChange(start, ConfigOf({"1 /a", "3 /b"}, {"6 a=1"})), "")
      << "the entry begins with the next step";
  EXPECT_EQ(BlendChange(start, ConfigOf({"3 /a", "1 /b"})),
            "data.blend was [1,3] and is now [3,1]. The new weights apply from step 6, and no "
            "sample repeats before its source is used up.");
  EXPECT_THAT(BlendChange(start, ConfigOf({"1 /a"})), HasSubstr("some samples repeat"));
  EXPECT_EQ(BlendChange({0, 0, 0, {}}, ConfigOf({"1 /a"})), "");
}

}  // namespace
}  // namespace trainyard::trainer
