#include "controller/core/explain/array_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "controller/core/state/jobs/array_elements.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Elements 0 to 3 run, and their losses are 3, NaN, 1 and 2.
class ArrayTableTest : public testing::Test {
 protected:
  ArrayTableTest() {
    cluster_.AddNode("a", 4);
    v1::JobSpec spec = TestSpec("sweep", 1, 1);
    (*spec.mutable_matrix())["env.SEED"] = "10..13";
    array_ = cluster_.Submit(spec);
    cluster_.Settle();
    const double losses[] = {3, std::nan(""), 1, 2};
    for (const int64_t id : LiveElements(cluster_.state, array_)) {
      v1::Progress& progress = cluster_.observations.progress[id];
      progress.set_step(7);
      progress.set_loss_step(7);
      progress.set_loss(losses[cluster_.Job(id).array_index()]);
    }
  }

  absl::StatusOr<v1::GetArrayResponse> Table(const v1::GetArrayRequest& request = {}) const {
    return ArrayTable(cluster_.View(), cluster_.state.jobs.at(array_), request);
  }

  std::vector<int64_t> IndexesBy(v1::ArrayOrder order, bool reverse = false) const {
    v1::GetArrayRequest request;
    request.set_order(order);
    request.set_reverse(reverse);
    std::vector<int64_t> indexes;
    const auto table = Table(request);
    for (const v1::ArrayRow& row : table->rows()) indexes.push_back(row.index());
    return indexes;
  }

  TestCluster cluster_;
  int64_t array_ = 0;
};

TEST_F(ArrayTableTest, ElementsWithoutALossAreLastInBothOrders) {
  EXPECT_THAT(IndexesBy(v1::ARRAY_ORDER_UNSPECIFIED), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(IndexesBy(v1::ARRAY_ORDER_LOSS), ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(IndexesBy(v1::ARRAY_ORDER_LOSS, true), ElementsAre(0, 3, 2, 1));
  // No element has a validation loss, so the index decides.
  EXPECT_THAT(IndexesBy(v1::ARRAY_ORDER_VALIDATION_LOSS), ElementsAre(0, 1, 2, 3));
}

TEST_F(ArrayTableTest, ARowHasTheSettingsOfItsElement) {
  const auto table = Table();
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->rows(2).step(), 7);
  EXPECT_EQ(table->rows(2).state(), v1::JOB_STATE_STARTING);
  EXPECT_EQ(table->rows(2).settings(0).key(), "env.SEED");
  EXPECT_EQ(table->rows(2).settings(0).value(), "12");
}

TEST_F(ArrayTableTest, APageHasTheRowsFromItsOffset) {
  v1::GetArrayRequest request;
  request.set_offset(2);
  request.set_limit(1);
  EXPECT_EQ(Table(request)->rows_size(), 1);
  EXPECT_EQ(Table(request)->rows(0).index(), 2);
  EXPECT_EQ(Table(request)->total(), 4);
  request.set_offset(9);
  EXPECT_THAT(Table(request)->rows(), IsEmpty());
  request.set_limit(10'001);
  EXPECT_EQ(Table(request).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ArrayTableTest, PagesTogetherHaveEveryRowInOrder) {
  JobEntry& array = cluster_.state.jobs.at(array_);
  for (int64_t index = 4; index < 60; ++index) {
    v1::ArrayElement& element = array.elements.emplace_back();
    element.set_index(index);
    if (index % 7 != 0) element.set_loss(static_cast<double>(index * 37 % 11));
  }
  (*array.job.mutable_spec()->mutable_matrix())["env.SEED"] = "1..60";
  v1::GetArrayRequest request;
  request.set_limit(7);
  request.set_order(v1::ARRAY_ORDER_LOSS);
  std::vector<std::tuple<bool, double, int64_t>> rows;
  for (int offset = 0; offset < 60; offset += 7) {
    request.set_offset(offset);
    const auto table = Table(request);
    for (const v1::ArrayRow& row : table->rows()) {
      const bool has_loss = row.has_loss() && !std::isnan(row.loss());
      rows.emplace_back(!has_loss, has_loss ? row.loss() : 0, row.index());
    }
  }
  EXPECT_EQ(rows.size(), 60u);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
}

TEST_F(ArrayTableTest, AnAnswerHasTheNewestDecisionsOnly) {
  JobEntry& array = cluster_.state.jobs.at(array_);
  array.rungs.resize(kMaxArrayRows + 5);
  array.rungs[5].set_step(5);
  const auto table = Table();
  EXPECT_EQ(table->rungs_size(), kMaxArrayRows);
  EXPECT_EQ(table->rungs(0).step(), 5);
}

TEST_F(ArrayTableTest, EndedElementsStayInTheTable) {
  const int64_t first = *LiveElements(cluster_.state, array_).begin();
  cluster_.StartAll(first);
  cluster_.ExitAll(first, 0);
  cluster_.ClearAll(first);
  cluster_.observations.progress.erase(first);
  const auto table = Table();
  EXPECT_EQ(table->rows(0).state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(table->rows(0).loss(), 3);
  EXPECT_EQ(table->counts().succeeded(), 1);
}

TEST_F(ArrayTableTest, AnElementHasNoTable) {
  const int64_t element = *LiveElements(cluster_.state, array_).begin();
  const auto table = ArrayTable(cluster_.View(), cluster_.state.jobs.at(element), {});
  EXPECT_EQ(table.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(table.status().message(), HasSubstr("element 0 of the array 1"));
}

}  // namespace
}  // namespace trainyard::controller
