#include "proto/jobspec/matrix/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/jobspec/array_element.h"
#include "proto/jobspec/rules.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string ArrayFile(const std::string& matrix) {
  return std::string(kModelJob) + "matrix: " + matrix + "\n";
}

v1::JobSpec ElementOf(const std::string& file, int64_t index) {
  const auto array = Resolve(file);
  EXPECT_TRUE(array.ok()) << array.status();
  const auto matrix = Matrix::Of(array->spec);
  EXPECT_TRUE(matrix.ok()) << matrix.status();
  const auto element = MakeElement(array->spec, array->origins, *matrix, index);
  EXPECT_TRUE(element.ok()) << element.status();
  return element->spec;
}

TEST(MatrixTest, TheLastKeyChangesFastest) {
  const auto array =
      Resolve(ArrayFile("{train.seed: {from: 1, to: 3}, optimizer.lr: [1e-4, 3e-4]}"));
  ASSERT_TRUE(array.ok()) << array.status();
  const auto matrix = Matrix::Of(array->spec);
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_EQ(matrix->size(), 6);
  EXPECT_THAT(matrix->SettingsOf(0),
              ElementsAre(Pair("optimizer.lr", "1e-4"), Pair("train.seed", "1")));
  EXPECT_THAT(matrix->SettingsOf(2),
              ElementsAre(Pair("optimizer.lr", "1e-4"), Pair("train.seed", "3")));
  EXPECT_THAT(matrix->SettingsOf(5),
              ElementsAre(Pair("optimizer.lr", "3e-4"), Pair("train.seed", "3")));
}

TEST(MatrixTest, AnElementIsAJobWithTheSettingsOfItsIndex) {
  const std::string file = ArrayFile("{optimizer.lr: [1e-4, 3e-4]}") + "max_concurrent: 1\n";
  const v1::JobSpec element = ElementOf(file, 1);
  EXPECT_EQ(element.name(), "tiny.1");
  EXPECT_EQ(element.optimizer().lr(), 3e-4);
  EXPECT_EQ(element.env().at("TRAINYARD_ARRAY_INDEX"), "1");
  EXPECT_FALSE(IsArray(element));
  EXPECT_FALSE(element.has_max_concurrent());
  EXPECT_THAT(CheckJobSpec(element, {}), IsEmpty());
}

// The number of data-parallel ranks follows from the slots, unless it is written.
TEST(MatrixTest, DerivedValuesFollowTheSettingsOfTheElement) {
  const std::string file = ArrayFile("{resources.nodes: [2, 4]}");
  EXPECT_EQ(ElementOf(file, 0).layout().dp(), 2);
  EXPECT_EQ(ElementOf(file, 1).layout().dp(), 4);
}

TEST(MatrixTest, TheMatrixMayNumberTheElementsDifferently) {
  const std::string file =
      std::string(kCommandJob) + "matrix: {env.TRAINYARD_ARRAY_INDEX: {from: 5, to: 9, step: 2}}\n";
  EXPECT_EQ(ElementOf(file, 2).env().at("TRAINYARD_ARRAY_INDEX"), "9");
}

TEST(MatrixTest, SetAcceptsKeysOfTheMatrix) {
  const auto array = Resolve(kModelJob, {"matrix.train.seed=1..100", "matrix.optimizer.lr=[1, 2]"});
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(Matrix::Of(array->spec)->size(), 200);
  const auto again = Resolve(ArrayFile("{train.seed: 1..100}"), {"matrix.train.seed=null"});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(IsArray(again->spec));
}

TEST(MatrixTest, ABillionElementsAreRefusedBeforeAnythingIsBuilt) {
  EXPECT_THAT(Errors(ArrayFile("{train.seed: {from: 1, to: 1000000000}}")),
              ElementsAre(HasSubstr("more than 1000000 elements")));
  EXPECT_THAT(Errors(ArrayFile("{train.seed: {from: 0, to: 999999999999999999}, "
                               "data.seed: {from: 0, to: 999999999999999999}}")),
              ElementsAre(HasSubstr("more than 1000000 elements")));
  EXPECT_THAT(Errors(ArrayFile("{train.seed: {from: 1, to: 1000000}}")), IsEmpty());
}

TEST(MatrixTest, AnArrayWithoutElementsIsRefused) {
  EXPECT_THAT(Errors(ArrayFile("{train.seed: []}")), ElementsAre(HasSubstr("has no values")));
  EXPECT_THAT(Errors(ArrayFile("{train.seed: {from: 2, to: 1}}")),
              ElementsAre(HasSubstr("is a range from 2 to 1, which is empty")));
  EXPECT_THAT(Errors(ArrayFile("{train.seed: {from: 1, to: 2, step: 0}}")),
              ElementsAre(HasSubstr("has the step 0")));
  EXPECT_THAT(Errors(ArrayFile("{train.seed: {from: 1, until: 2}}")),
              ElementsAre(HasSubstr("must be a list of values")));
  EXPECT_THAT(Errors(ArrayFile("{train.seed: [[1]]}")), ElementsAre(HasSubstr("single values")));
}

TEST(MatrixTest, EveryListedValueIsChecked) {
  EXPECT_THAT(
      Errors(ArrayFile("{optimizer.lr: [1e-4, abc], train.seed: [1, 2]}")),
      ElementsAre(HasSubstr("`optimizer.lr` must be a number such as 0.1 or 3e-4, got \"abc\"")));
  EXPECT_THAT(Errors(ArrayFile("{train.steps: [10, -1]}")),
              ElementsAre(HasSubstr("element 1 of the array (train.steps=-1): `train.steps`")));
  EXPECT_THAT(Errors(ArrayFile("{train.sed: [1]}")), ElementsAre(HasSubstr("unknown key")));
  // Both ends of a long range are checked.
  EXPECT_THAT(Errors(ArrayFile("{train.steps: {from: -1, to: 500}}")),
              ElementsAre(HasSubstr("train.steps=-1")));
}

TEST(MatrixTest, SettingsOfTheArrayCannotVary) {
  for (const char* key : {"name", "queue", "priority", "halving.keep", "checkpoint.dir"}) {
    EXPECT_THAT(Errors(ArrayFile(std::string("{") + key + ": [a]}")),
                ElementsAre(HasSubstr("cannot be in `matrix`")))
        << key;
  }
  EXPECT_THAT(Errors(ArrayFile("{train.seed: [1]}") + "checkpoint: {dir: /ckpt}\n"),
              ElementsAre(HasSubstr("would be shared by all elements")));
}

TEST(MatrixTest, SettingsOfArraysNeedAMatrix) {
  EXPECT_THAT(Errors(std::string(kModelJob) + "max_concurrent: 2\n"),
              ElementsAre(HasSubstr("add `matrix`")));
  EXPECT_THAT(Errors(std::string(kModelJob) + "halving: {metric: loss}\n"),
              ElementsAre(HasSubstr("add `matrix`")));
}

TEST(MatrixTest, JobsWithoutAHalvingHaveNoneAfterTheDefaults) {
  EXPECT_FALSE(Resolve(kModelJob)->spec.has_halving());
}

TEST(MatrixTest, TheNameOfTheLastElementMustFit) {
  const std::string name(60, 'a');
  const std::string job = "name: " + name + "\ncommand: [a]\n";
  EXPECT_THAT(Errors(job + "matrix: {env.A: {from: 1, to: 11}}\n"), IsEmpty());
  EXPECT_THAT(Errors(job + "matrix: {env.A: {from: 1, to: 101}}\n"),
              ElementsAre(HasSubstr("`name` is too long for an array")));
}

}  // namespace
}  // namespace trainyard
