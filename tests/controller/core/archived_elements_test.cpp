#include "controller/core/archived_elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "controller/core/archive.h"
#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();

// Adds an element with the next index.
void AddElement(std::optional<double> loss, std::optional<double> validation_loss,
                v1::JobSnapshot& details) {
  v1::ArrayElement& element = *details.add_elements();
  element.set_index(details.elements_size() - 1);
  if (loss.has_value()) element.set_loss(*loss);
  if (validation_loss.has_value()) element.set_validation_loss(*validation_loss);
}

std::vector<int64_t> Kept(int max, v1::JobSnapshot details) {
  KeepBestElements(max, details);
  std::vector<int64_t> indexes;
  for (const v1::ArrayElement& element : details.elements()) indexes.push_back(element.index());
  return indexes;
}

TEST(ArchivedElementsTest, TheLowestLossesAreKeptInTheirOrder) {
  v1::JobSnapshot details;
  AddElement(3, std::nullopt, details);
  AddElement(std::nullopt, std::nullopt, details);
  AddElement(1, 4, details);  // Its validation loss counts.
  AddElement(2, std::nullopt, details);
  AddElement(kNoLoss, std::nullopt, details);
  AddElement(9, 1, details);
  EXPECT_THAT(Kept(1, details), ElementsAre(5));
  EXPECT_THAT(Kept(3, details), ElementsAre(0, 3, 5));
  EXPECT_THAT(Kept(5, details), ElementsAre(0, 1, 2, 3, 5)) << "NaN ranks like no loss";
  EXPECT_THAT(Kept(6, details), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(Kept(0, details), IsEmpty());
}

TEST(ArchivedElementsTest, TheNewestDecisionsAreKept) {
  v1::JobSnapshot details;
  for (int step = 1; step <= 5; ++step) details.add_rungs()->set_step(step);
  KeepBestElements(2, details);
  ASSERT_EQ(details.rungs_size(), 2);
  EXPECT_EQ(details.rungs(0).step(), 4);
}

// The loop commits the record within one tick.
TEST(ArchivedElementsTest, TheRecordOfAMillionElementsIsSmall) {
  JobEntry array;
  array.job.set_id(7);
  for (int64_t index = 0; index < 1'000'000; ++index) {
    v1::ArrayElement& element = array.elements.emplace_back();
    element.set_index(index);
    element.set_job_id(index + 8);
    element.set_step(10'000);
    element.set_state(v1::JOB_STATE_SUCCEEDED);
    element.set_loss(1e6 - static_cast<double>(index));
    element.set_validation_loss(element.loss());
  }
  const v1::ArchivedJob archived = ToArchived(array, {}, /*now=*/1);
  EXPECT_EQ(archived.details().elements_size(), kMaxArchivedElements);
  EXPECT_EQ(archived.details().elements(0).index(), 1'000'000 - kMaxArchivedElements);
  EXPECT_LT(archived.ByteSizeLong(), std::size_t{6} << 20);
}

}  // namespace
}  // namespace trainyard::controller
