#include "controller/api/context/start_forecaster.h"

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

// Collects the readers' work, which the test runs later on its own thread.
class CollectingLoop final : public ClusterLoop {
 public:
  void Read(std::function<void(const ClusterView& view)> work) override {
    const std::scoped_lock lock(mutex_);
    work_.push_back(std::move(work));
  }
  void Submit(Request, RequestDone) override { ADD_FAILURE() << "a forecast changes nothing"; }
  void Listen(TickListener) override { ADD_FAILURE() << "a forecast is made only on request"; }

  void RunWork(const ClusterView& view) {
    for (auto& work : std::exchange(work_, {})) work(view);
  }

 private:
  std::mutex mutex_;
  std::deque<std::function<void(const ClusterView& view)>> work_;
};

class StartForecasterTest : public ::testing::Test {
 protected:
  StartForecasterTest() {
    cluster_.AddNode("a", 4);
    cluster_.RunJob(Submit("runs", 100));
  }

  int64_t Submit(const std::string& name, int64_t limit_s) {
    v1::JobSpec spec = TestSpec(name, 1, 4);
    spec.mutable_time_limit()->set_seconds(limit_s);
    return cluster_.Submit(spec);
  }

  ClusterView View() const {
    ClusterView view = cluster_.View();
    return {view.state, view.observations, view.options, view.schedule, view.now, revision_};
  }

  // Asks, waits for the forecast, and returns the number of forecasted starts.
  std::size_t Ask() {
    std::size_t starts = 1000;
    forecaster_.Ask(View(), [&](const ForecastedStarts& found) { starts = found.size(); });
    Finish();
    return starts;
  }

  // Waits for the forecast.
  void Finish() {
    readers_.Join();
    loop_.RunWork(View());
  }

  TestCluster cluster_;
  uint64_t revision_ = 1;
  CollectingLoop loop_;
  ReaderPool readers_{1, 1};
  StartForecaster forecaster_{loop_, readers_};
};

TEST_F(StartForecasterTest, ForecastsOnAReaderThread) {
  Submit("waits", 10);
  EXPECT_EQ(Ask(), 1U);
}

TEST_F(StartForecasterTest, WithoutWaitingJobsThereIsNothingToForecast) { EXPECT_EQ(Ask(), 0U); }

// Work that is posted after Join never runs, so the second answer is the first forecast.
TEST_F(StartForecasterTest, AForecastIsUsedAgain) {
  Submit("waits", 10);
  EXPECT_EQ(Ask(), 1U);
  Submit("later", 10);
  ++revision_;
  cluster_.now += StartForecaster::kReusedMs - 1;
  EXPECT_EQ(Ask(), 1U);
  cluster_.now += 1;
  bool answered = false;
  forecaster_.Ask(View(), [&](const ForecastedStarts&) { answered = true; });
  EXPECT_FALSE(answered);
}

TEST_F(StartForecasterTest, AForecastOfTheSameStateIsUsedForLonger) {
  Submit("waits", 10);
  EXPECT_EQ(Ask(), 1U);
  cluster_.now += StartForecaster::kReusedUnchangedMs - 1;
  EXPECT_EQ(Ask(), 1U);
}

TEST_F(StartForecasterTest, RequestsShareAForecast) {
  Submit("waits", 10);
  int answers = 0;
  for (int i = 0; i < 3; ++i) {
    forecaster_.Ask(View(),
                    [&](const ForecastedStarts& starts) { answers += starts.size() == 1 ? 1 : 0; });
  }
  EXPECT_EQ(answers, 0);
  Finish();
  EXPECT_EQ(answers, 3);
}

TEST_F(StartForecasterTest, TooManyRequestsGetNoEstimates) {
  Submit("waits", 10);
  std::size_t empty = 0;
  for (std::size_t i = 0; i < StartForecaster::kMostWaiting + 1; ++i) {
    forecaster_.Ask(View(), [&](const ForecastedStarts& starts) { empty += starts.empty(); });
  }
  EXPECT_EQ(empty, 1U);
}

}  // namespace
}  // namespace trainyard::controller
