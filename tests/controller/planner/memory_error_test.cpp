// Compares predicted with measured memory, and checks the tables of recipes/README.md. The memory
// of our own trainer is predicted by proto/memory/memory_model.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "proto/memory/memory_model.h"
#include "proto/model/model_size.h"
#include "tests/controller/planner/measured_memory.h"
#include "tests/controller/planner/measured_runs.h"

namespace trainyard::planner {
namespace {

std::string MemoryRow(const std::string& set, const std::string& name, double measured,
                      double predicted) {
  char figures[100];
  std::snprintf(figures, sizeof(figures), "%.1f | %.1f | %+.1f %%", measured, predicted,
                100 * (predicted / measured - 1));
  return "| " + set + " | " + name + " | " + figures + " |\n";
}

double OwnPrediction(const MeasuredRun& run) {
  return PredictTrainingMemory(run.config).Tensors() / 1e9;
}

std::vector<MeasuredSet> OwnRuns() {
  return {LaterTrainyardRuns(), FourGpuTrainyardRuns(), ExpertTrainyardRuns(), TrainyardH100Runs()};
}

std::string OwnTable() {
  std::string table;
  for (const MeasuredSet& set : OwnRuns()) {
    for (const MeasuredRun& run : set.runs) {
      table += MemoryRow(set.name, run.name, run.gigabytes, OwnPrediction(run));
    }
  }
  return table;
}

std::string OthersTable(bool fitted) {
  std::string table;
  for (const MemoryRun& run : TorchtitanMemory()) {
    if (run.is_fitted != fitted) continue;
    table += MemoryRow("torchtitan, H100", run.name, run.gigabytes, PredictedGigabytes(run));
  }
  return table;
}

// With experts on several ranks, a rank may get more rows than the mean. The prediction includes
// memory for these rows, but in the measured runs each rank got the mean.
double HighestErrorOf(const MeasuredRun& run) {
  if (run.config.layout.ep > 1) return 0.135;
  return HasExperts(run.config.model) ? 0.02 : 0.011;
}

TEST(MemoryErrorTest, OfOurTrainerMeasuredAfterTheFormulas) {
  for (const MeasuredSet& set : OwnRuns()) {
    for (const MeasuredRun& run : set.runs) {
      const double error = OwnPrediction(run) / run.gigabytes - 1;
      EXPECT_GT(error, -0.011) << run.name;
      EXPECT_LT(error, HighestErrorOf(run)) << run.name;
    }
  }
}

TEST(MemoryErrorTest, OfTorchtitan) {
  double mean = 0, largest = 0;
  int rows = 0;
  for (const MemoryRun& run : TorchtitanMemory()) {
    const double error = PredictedGigabytes(run) / run.gigabytes - 1;
    if (run.is_fitted) {
      EXPECT_LT(std::abs(error), 0.01) << run.name << " " << error;
      continue;
    }
    mean += std::abs(error);
    largest = std::max(largest, std::abs(error));
    ++rows;
  }
  std::printf("torchtitan: %d test rows, mean %.1f %%, max %.1f %%\n", rows, 100 * mean / rows,
              100 * largest);
  EXPECT_EQ(rows, 9);
  EXPECT_LT(mean / rows, 0.08);
}

TEST(MemoryErrorTest, TheTablesOfTheReadmeAreThese) {
  std::ifstream file(RECIPES_README);
  const std::string readme((std::istreambuf_iterator<char>(file)), {});
  for (const std::string& table : {OwnTable(), OthersTable(false), OthersTable(true)}) {
    EXPECT_NE(readme.find("|---|---|---|---|---|\n" + table + "\n"), std::string::npos)
        << "recipes/README.md:\n"
        << table;
  }
}

}  // namespace
}  // namespace trainyard::planner
