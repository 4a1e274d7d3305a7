#include "proto/parsers/tensorboard_metrics.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/parsers/tf_record.h"
#include "trainyard/v1/tensorboard_event.pb.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string Scalar(int64_t step, const std::string& tag, float value, double wall_time = 100) {
  v1::TensorboardEvent event;
  event.set_wall_time(wall_time);
  event.set_step(step);
  v1::TensorboardValue& scalar = *event.mutable_summary()->add_value();
  scalar.set_tag(tag);
  scalar.set_simple_value(value);
  return TfRecord(event.SerializeAsString());
}

std::string Start() {
  v1::TensorboardEvent event;
  event.set_file_version("brain.Event:2");
  return TfRecord(event.SerializeAsString());
}

TEST(TensorboardMetricsTest, CollectsTheMetricsOfAStep) {
  const std::string complete = Start() + Scalar(10, "train/loss", 2.5F, 1.5) +
                               Scalar(10, "learning-rate", 0.25F) + Scalar(10, "a b", 7);
  const TensorboardSteps read = ReadTensorboardSteps(complete + Scalar(20, "loss", 2), false);
  ASSERT_EQ(read.steps.size(), 1U);
  EXPECT_EQ(read.steps[0].metrics.step(), 10);
  EXPECT_EQ(read.steps[0].time_ms, 1500);
  EXPECT_THAT(read.steps[0].metrics.values(),
              UnorderedElementsAre(Pair("loss", 2.5), Pair("lr", 0.25), Pair("a_b", 7)));
  EXPECT_EQ(read.bytes, complete.size()) << "step 20 may get more metrics";
  EXPECT_EQ(read.damage, "");
}

TEST(TensorboardMetricsTest, EndsTheLastStepOfAnIdleFile) {
  const std::string file = Scalar(1, "loss", 3) + Scalar(2, "loss", 2);
  const std::string half = Scalar(3, "loss", 1).substr(0, 20);
  EXPECT_EQ(ReadTensorboardSteps(file + half, false).steps.size(), 1U);
  const TensorboardSteps read = ReadTensorboardSteps(file + half, true);
  EXPECT_EQ(read.steps.size(), 2U);
  EXPECT_EQ(read.bytes, file.size()) << "the rest of step 3 is not written yet";
}

TEST(TensorboardMetricsTest, KnowsLossesOfEvaluationSetsAndOtherAxes) {
  const std::string file = Scalar(5, "eval/loss", 1) + Scalar(5, "val/code/loss", 2) +
                           Scalar(5, "lm loss", 3) + Scalar(5, "grad-norm", 4) +
                           Scalar(5, "lm loss vs samples", 9);
  const TensorboardSteps read = ReadTensorboardSteps(file, true);
  ASSERT_EQ(read.steps.size(), 1U);
  EXPECT_THAT(read.steps[0].metrics.values(),
              UnorderedElementsAre(Pair("val_loss", 1), Pair("code_loss", 2), Pair("loss", 3),
                                   Pair("grad_norm", 4)));
  EXPECT_THAT(read.steps[0].metrics.evaluation_sets(), ElementsAre("val", "code"));
}

TEST(TensorboardMetricsTest, ReadsTensorsOfOneNumber) {
  v1::TensorboardEvent event;
  event.set_step(4);
  v1::TensorboardValue& content = *event.mutable_summary()->add_value();
  content.set_tag("loss");
  content.mutable_tensor()->set_dtype(1);
  content.mutable_tensor()->set_tensor_content(std::string("\0\0\x20\x40", 4));
  v1::TensorboardValue& listed = *event.mutable_summary()->add_value();
  listed.set_tag("accuracy");
  listed.mutable_tensor()->set_dtype(1);
  listed.mutable_tensor()->add_float_val(0.5F);
  v1::TensorboardValue& text = *event.mutable_summary()->add_value();
  text.set_tag("text");
  text.mutable_tensor()->set_dtype(7);
  const TensorboardSteps read = ReadTensorboardSteps(TfRecord(event.SerializeAsString()), true);
  ASSERT_EQ(read.steps.size(), 1U);
  EXPECT_THAT(read.steps[0].metrics.values(),
              UnorderedElementsAre(Pair("loss", 2.5), Pair("accuracy", 0.5)));
}

TEST(TensorboardMetricsTest, StopsAtDamagedRecords) {
  std::string damaged = Scalar(2, "loss", 2);
  damaged[20] ^= 1;
  const std::string intact = Scalar(1, "loss", 3);
  const TensorboardSteps read =
      ReadTensorboardSteps(intact + damaged + Scalar(3, "loss", 1), false);
  EXPECT_EQ(read.steps.size(), 1U);
  EXPECT_EQ(read.bytes, intact.size());
  EXPECT_EQ(read.damage, "a record is damaged");
  EXPECT_EQ(ReadTensorboardSteps(Scalar(-1, "loss", 1), true).damage, "a record is damaged");
}

TEST(TensorboardMetricsTest, SkipsOtherRecords) {
  const std::string image = TfRecord(std::string(kMaxTfRecordBytes + 1, 'x'));
  const TensorboardSteps read =
      ReadTensorboardSteps(Start() + image + Scalar(1, "loss", 3) + Scalar(2, "loss", 2), false);
  EXPECT_EQ(read.steps.size(), 1U);
  EXPECT_EQ(read.damage, "");
  const TensorboardSteps begun = ReadTensorboardSteps(image.substr(0, 50), false);
  EXPECT_THAT(begun.steps, IsEmpty());
  EXPECT_EQ(begun.bytes, image.size()) << "the next read begins behind the image";
}

TEST(TensorboardMetricsTest, StepsMayFallAfterARestart) {
  const TensorboardSteps read = ReadTensorboardSteps(
      Scalar(3, "loss", 3) + Scalar(4, "loss", 2) + Scalar(3, "loss", 5) + Scalar(4, "loss", 6),
      true);
  ASSERT_EQ(read.steps.size(), 4U);
  EXPECT_EQ(read.steps[2].metrics.step(), 3);
  EXPECT_EQ(read.steps[2].metrics.values().at("loss"), 5);
}

}  // namespace
}  // namespace trainyard
