// Tests `array`.
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ArrayTest : public CliFixture {
 protected:
  void AddArray() {
    v1::GetArrayResponse& array = answers().array;
    array.set_job_id(17);
    array.set_name("sweep");
    array.set_total(2);
    array.mutable_counts()->set_elements(100);
    array.mutable_counts()->set_created(2);
    array.mutable_counts()->set_failed(1);
    v1::ArrayRow& trains = *array.add_rows();
    trains.set_index(0);
    trains.set_job_id(18);
    trains.set_state(v1::JOB_STATE_RUNNING);
    trains.set_step(40);
    trains.set_loss(2.25);
    AddSetting("1e-4", trains);
    v1::ArrayRow& refused = *array.add_rows();
    refused.set_index(1);
    refused.set_state(v1::JOB_STATE_FAILED);
    refused.set_reason("`train.steps` is missing");
    AddSetting("3e-4", refused);
  }

  static void AddSetting(const std::string& value, v1::ArrayRow& row) {
    v1::ArraySetting& setting = *row.add_settings();
    setting.set_key("optimizer.lr");
    setting.set_value(value);
  }
};

TEST_F(ArrayTest, TheTableHasAColumnForEachSetting) {
  AddArray();
  const CliResult result = Run({"array", "sweep", "--sort", "loss", "--reverse", "--limit", "5"});
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("array 17 sweep: 100 elements, 1 are jobs now, 1 have ended (1 "
                              "failed), 98 have not started"),
                    HasSubstr("optimizer.lr"), HasSubstr("3e-4"), HasSubstr("2.25"),
                    HasSubstr("`train.steps` is missing")));
  const v1::GetArrayRequest& request = answers().array_requests.at(0);
  EXPECT_EQ(request.job(), "sweep");
  EXPECT_EQ(request.order(), v1::ARRAY_ORDER_LOSS);
  EXPECT_TRUE(request.reverse());
  EXPECT_EQ(request.limit(), 5);
}

TEST_F(ArrayTest, ProgramsGetTheRows) {
  AddArray();
  EXPECT_THAT(Run({"array", "17", "-o", "csv"}).out,
              HasSubstr("INDEX,JOB,STATE,STEP,LOSS,VALIDATION,optimizer.lr,REASON\n"
                        "0,18,running,40,2.25,-,1e-4,"));
  EXPECT_THAT(Run({"array", "17", "-o", "json"}).out, HasSubstr("\"validation_loss\": null"));
}

TEST_F(ArrayTest, LongArraysHavePages) {
  AddArray();
  answers().array.set_total(1'000'000);
  const CliResult result = Run({"array", "17", "--offset", "999998"});
  EXPECT_EQ(answers().array_requests.at(0).offset(), 999'998);
  EXPECT_THAT(result.err, HasSubstr("showing 2 of 1000000 elements"));
  EXPECT_EQ(Run({"array", "17", "--offset", "-1"}).exit_code, 2);
  EXPECT_EQ(answers().array_requests.size(), 1u);
}

TEST_F(ArrayTest, ElementsThatTheArchiveDroppedAreNamed) {
  AddArray();
  answers().array.mutable_counts()->set_created(3);
  EXPECT_THAT(Run({"array", "17"}).err,
              HasSubstr("the archive keeps the 2 elements with the lowest losses; `trainyard "
                        "describe sweep.0` shows any other one"));
  answers().array.mutable_counts()->set_created(2);
  EXPECT_THAT(Run({"array", "17"}).err, testing::IsEmpty());
}

TEST_F(ArrayTest, AnUnknownOrderIsRefused) {
  AddArray();
  EXPECT_NE(Run({"array", "17", "--sort", "color"}).exit_code, 0);
  EXPECT_TRUE(answers().array_requests.empty());
}

TEST_F(ArrayTest, TheRestOfALongTableIsAnnounced) {
  AddArray();
  answers().array.set_total(100);
  EXPECT_THAT(Run({"array", "17"}).err, HasSubstr("showing 2 of 100 elements"));
}

}  // namespace
}  // namespace trainyard::cli
