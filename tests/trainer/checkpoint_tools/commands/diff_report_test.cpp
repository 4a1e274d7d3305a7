#include "trainer/checkpoint_tools/commands/diff_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;
using testing::Not;

const LogicalTensor kFloats = {torch::kFloat32, {2, 3}};

TensorDifference Compared(const std::string& name, int64_t different, double squared_difference) {
  ValueDifference values;
  values.elements = 6;
  values.different = different;
  values.max_abs = std::sqrt(squared_difference);
  values.squared_difference = squared_difference;
  values.squared_a = 4;
  return {name, kFloats, kFloats, values};
}

// A diff with one setting, and one tensor for each kind of difference.
CheckpointDiff Example() {
  CheckpointDiff diff;
  diff.settings = {{"model.num_layers", 2, 3}, {"trainer.skip_samples", "0:8", nullptr}};
  diff.tensors = {Compared("a.equal", 0, 0),
                  Compared("b.near", 2, 4e-8),
                  Compared("c.far", 3, 1),
                  {"d.gone", kFloats, {}, {}},
                  {"e.new", {}, kFloats, {}},
                  {"f.type", kFloats, LogicalTensor{torch::kBFloat16, {2, 3}}, {}},
                  {"g.shape", kFloats, LogicalTensor{torch::kFloat32, {6}}, {}}};
  return diff;
}

const DiffOptions kOptions = {"/c/a", "/c/b", 1e-3, ""};

TEST(DiffReportTest, TheTextListsWhatDiffersAndSumsUp) {
  EXPECT_EQ(
      DiffText(Example(), kOptions, false),
      "A  /c/a\n"
      "B  /c/b\n"
      "\n"
      "SETTING               A      B\n"
      "model.num_layers      2      3\n"
      "trainer.skip_samples  \"0:8\"  -\n"
      "\n"
      "TENSOR   DTYPE       SHAPE         RESULT            DIFFERENT  MAX ABS  REL L2  NAN A / B\n"
      "b.near   F32         [2, 3]        within tolerance  2 of 6     0.0002   0.0001  0 / 0\n"
      "c.far    F32         [2, 3]        differs           3 of 6     1        0.5     0 / 0\n"
      "d.gone   F32         [2, 3]        only in a         -          -        -       -\n"
      "e.new    F32         [2, 3]        only in b         -          -        -       -\n"
      "f.type   F32 / BF16  [2, 3]        dtype             -          -        -       -\n"
      "g.shape  F32         [2, 3] / [6]  shape             -          -        -       -\n"
      "\n"
      "differ: 2 settings, 1 tensor equal bit for bit, 1 within the tolerance, 1 with other "
      "values, 1 of another dtype, 1 of another shape, 1 only in A, 1 only in B\n");
}

TEST(DiffReportTest, EqualTensorsAreListedOnRequest) {
  EXPECT_THAT(DiffText(Example(), kOptions, false), Not(HasSubstr("a.equal")));
  EXPECT_THAT(DiffText(Example(), kOptions, true),
              HasSubstr("a.equal  F32         [2, 3]        equal"));
}

TEST(DiffReportTest, SameCheckpointsNeedNoTable) {
  CheckpointDiff diff;
  diff.tensors = {Compared("a", 0, 0)};
  EXPECT_EQ(DiffText(diff, kOptions, false),
            "A  /c/a\nB  /c/b\n\nsame: 1 tensor equal bit for bit\n");
}

TEST(DiffReportTest, JsonHasEveryKeyOfEveryTensor) {
  const nlohmann::json json = DiffJson(Example(), kOptions);
  EXPECT_EQ(json["same"], false);
  EXPECT_EQ(json["tolerance"], 1e-3);
  EXPECT_EQ(json["settings"][1]["b"], nullptr);
  ASSERT_EQ(json["tensors"].size(), 7u);
  const nlohmann::json near = {{"name", "b.near"},
                               {"result", "within_tolerance"},
                               {"a", {{"dtype", "F32"}, {"shape", {2, 3}}}},
                               {"b", {{"dtype", "F32"}, {"shape", {2, 3}}}},
                               {"values",
                                {{"elements", 6},
                                 {"different", 2},
                                 {"max_abs", std::sqrt(4e-8)},
                                 {"relative_l2", std::sqrt(4e-8) / 2},
                                 {"nan_a", 0},
                                 {"nan_b", 0}}}};
  EXPECT_EQ(json["tensors"][1], near);
  EXPECT_EQ(json["tensors"][3]["b"], nullptr);
  EXPECT_EQ(json["tensors"][3]["values"], nullptr);
  EXPECT_EQ(json["tensors"][6]["result"], "shape");
}

TEST(DiffReportTest, InfiniteNumbersAreNullInJson) {
  CheckpointDiff diff;
  diff.tensors = {Compared("a", 1, std::numeric_limits<double>::infinity())};
  EXPECT_EQ(DiffJson(diff, kOptions)["tensors"][0]["values"]["relative_l2"], nullptr);
  EXPECT_THAT(DiffText(diff, kOptions, false), HasSubstr("inf"));
}

}  // namespace
}  // namespace trainyard::trainer
