#include "controller/rpc/metric_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

using Kind = v1::ControllerMessage;

class MetricServiceTest : public testing::Test {
 protected:
  MetricServiceTest() {
    worker_.Take(Kind::kWelcome);
    running_.Submit("job");
    const v1::StreamId stream = Stream(1, v1::STREAM_KIND_TELEMETRY);
    for (int64_t step = 1; step <= 10; ++step) {
      worker_.SendMetrics(stream, 10 * (step - 1), 10 * step, step, static_cast<double>(step));
    }
    worker_.TakeAcknowledged(stream, 100);
  }

  grpc::Status Get(const v1::GetSeriesRequest& request) {
    grpc::ClientContext context;
    response_.Clear();
    return running_.metrics->GetSeries(&context, request, &response_);
  }

  v1::GetSeriesResponse response_;
  RunningController running_{OpenMemoryStores()};
  FakeWorker worker_{running_.channel, TestHello("a", 1)};
};

TEST_F(MetricServiceTest, GivesPointsAndBuckets) {
  v1::GetSeriesRequest request;
  request.set_job("job");
  request.add_keys("loss");
  request.set_from_step(3);
  request.set_to_step(5);
  ASSERT_TRUE(Get(request).ok());
  ASSERT_EQ(response_.series_size(), 1);
  EXPECT_THAT(response_.series(0).steps(), testing::ElementsAre(3, 4, 5));
  request.set_from_step(0);
  request.set_to_step(0);
  request.set_buckets(1);
  ASSERT_TRUE(Get(request).ok());
  EXPECT_THAT(response_.series(0).min(), testing::ElementsAre(1.0));
  EXPECT_THAT(response_.series(0).max(), testing::ElementsAre(10.0));
  EXPECT_THAT(response_.series(0).counts(), testing::ElementsAre(10));
}

TEST_F(MetricServiceTest, ListsKeys) {
  v1::ListKeysRequest request;
  request.set_job("@last");
  v1::ListKeysResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(running_.metrics->ListKeys(&context, request, &response).ok());
  EXPECT_THAT(response.keys(), testing::ElementsAre("loss"));
}

TEST_F(MetricServiceTest, RefusesBadRequests) {
  const auto code = [this](const std::function<void(v1::GetSeriesRequest&)>& change) {
    v1::GetSeriesRequest request;
    request.set_job("job");
    request.add_keys("loss");
    change(request);
    return Get(request).error_code();
  };
  EXPECT_EQ(code([](auto&) {}), grpc::StatusCode::OK);
  EXPECT_EQ(code([](auto& request) { request.set_job("nobody"); }), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(code([](auto& request) { request.set_buckets(10'001); }),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([](auto& request) { request.set_buckets(-1); }),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([](auto& request) { request.set_from_step(-1); }),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([](auto& request) { request.add_keys(""); }), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([](auto& request) {
              for (int i = 0; i < 64; ++i) request.add_keys("loss");
            }),
            grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace trainyard::controller
