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

// Job 1 has one layer with two experts, which collapses at step 11. Job 2 has no experts.
class GetExpertsTest : public testing::Test {
 protected:
  static constexpr int kSteps = 60;

  GetExpertsTest() {
    worker_.Take(Kind::kWelcome);
    running_.Submit("mixture");
    running_.Submit("dense");
    const v1::StreamId stream = Stream(1, v1::STREAM_KIND_TELEMETRY);
    v1::TelemetryRecord record;
    v1::ExpertsRecord& experts = *record.mutable_experts();
    experts.set_first_layer(3);
    experts.set_experts(2);
    experts.set_topk(1);
    experts.add_balance(1);
    for (int step = 1; step <= kSteps; ++step) {
      record.set_time_ms(1000 + step);
      experts.set_step(step);
      experts.set_balance(0, step < 11 ? 1 : 2);
      experts.set_load(step < 11 ? std::string("\x80\x80", 2) : std::string("\x00\x90", 2));
      worker_.SendRecord(stream, 10 * (step - 1), 10 * step, record);
    }
    worker_.TakeAcknowledged(stream, 10 * kSteps);
  }

  grpc::Status Get(const std::string& job, int64_t step = 0) {
    v1::GetExpertsRequest request;
    request.set_job(job);
    request.set_step(step);
    grpc::ClientContext context;
    response_.Clear();
    return running_.metrics->GetExperts(&context, request, &response_);
  }

  v1::GetExpertsResponse response_;
  RunningController running_{OpenMemoryStores()};
  FakeWorker worker_{running_.channel, TestHello("a", 2)};
};

TEST_F(GetExpertsTest, ReturnsTheNewestRecordWithFindings) {
  const grpc::Status status = Get("mixture");
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response_.steps_size(), kSteps);
  EXPECT_EQ(response_.steps(0), 1);
  EXPECT_EQ(response_.balance().step(), kSteps);
  EXPECT_EQ(response_.balance().attempt(), 1);
  ASSERT_EQ(response_.balance().layers_size(), 1);
  EXPECT_EQ(response_.balance().layers(0).layer(), 3);
  EXPECT_THAT(response_.balance().layers(0).load(), testing::ElementsAre(0, 2));
  EXPECT_GT(response_.revision(), 0u);
  EXPECT_GT(response_.as_of_ms(), 0);
  ASSERT_EQ(response_.findings_size(), 2);
  EXPECT_EQ(response_.findings(0).what(), "the experts of layer 3 have collapsed");
  EXPECT_THAT(response_.findings(0).why(), testing::EndsWith("this uneven since step 11"));
  EXPECT_NE(response_.findings(0).change(), "");
  EXPECT_EQ(response_.findings(1).what(), "experts of layer 3 get no tokens");
}

TEST_F(GetExpertsTest, ReturnsTheRecordOfTheRequestedStep) {
  ASSERT_TRUE(Get("1", 10).ok());
  EXPECT_EQ(response_.balance().step(), 10);
  EXPECT_THAT(response_.balance().layers(0).load(), testing::ElementsAre(1, 1));
  EXPECT_EQ(response_.findings_size(), 2) << "findings are those of the newest record";
  ASSERT_TRUE(Get("1", kSteps + 5).ok());
  EXPECT_EQ(response_.balance().step(), kSteps);
}

TEST_F(GetExpertsTest, AJobWithoutExpertsHasNoBalance) {
  ASSERT_TRUE(Get("dense").ok());
  EXPECT_TRUE(response_.steps().empty());
  EXPECT_FALSE(response_.has_balance());
  EXPECT_TRUE(response_.findings().empty());
}

TEST_F(GetExpertsTest, RefusesUnknownJobsAndNegativeSteps) {
  EXPECT_EQ(Get("nobody").error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Get("1", -1).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// Job 1 is a data job that has sent two reports, the second one in two parts. Job 2 has none.
class GetDataReportTest : public testing::Test {
 protected:
  GetDataReportTest() {
    worker_.Take(Kind::kWelcome);
    running_.Submit("prepare");
    running_.Submit("train");
    Send(1, 1, 1, "{\"steps\": []}");
    Send(2, 1, 2, "{\"steps\": ");
    Send(2, 2, 2, "[{}]}");
    worker_.TakeAcknowledged(stream_, sent_);
  }

  void Send(int64_t number, int part, int parts, const std::string& text) {
    v1::TelemetryRecord record;
    record.set_time_ms(1000 * number);
    v1::DataReportRecord& report = *record.mutable_data_report();
    report.set_number(number);
    report.set_part(part);
    report.set_parts(parts);
    report.set_text(text);
    worker_.SendRecord(stream_, sent_, sent_ + 10, record);
    sent_ += 10;
  }

  grpc::Status Get(const std::string& job) {
    v1::GetDataReportRequest request;
    request.set_job(job);
    request.set_without_report(without_report_);
    grpc::ClientContext context;
    response_.Clear();
    return running_.metrics->GetDataReport(&context, request, &response_);
  }

  const v1::StreamId stream_ = Stream(1, v1::STREAM_KIND_TELEMETRY);
  int64_t sent_ = 0;
  bool without_report_ = false;
  v1::GetDataReportResponse response_;
  RunningController running_{OpenMemoryStores()};
  FakeWorker worker_{running_.channel, TestHello("a", 2)};
};

TEST_F(GetDataReportTest, ReturnsTheNewestReport) {
  const grpc::Status status = Get("prepare");
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response_.report(), "{\"steps\": [{}]}");
  EXPECT_EQ(response_.attempt(), 1);
  EXPECT_EQ(response_.time_ms(), 2000);
  EXPECT_GT(response_.revision(), 0u);
  EXPECT_GT(response_.as_of_ms(), 0);
}

TEST_F(GetDataReportTest, NamesTheJobsThatTrainOnTheDataSet) {
  const std::string set = R"("data_sets": [{"path": "/out", "xxh64": "aa", "tokens": 50}])";
  Send(3, 1, 1, "{" + set + "}");
  worker_.TakeAcknowledged(stream_, sent_);
  v1::TelemetryRecord record;
  v1::DataReportRecord& report = *record.mutable_data_report();
  report.set_number(1);
  report.set_part(1);
  report.set_parts(1);
  report.set_text(R"({"format": "trainyard-data-use", )" + set + "}");
  const v1::StreamId reader = Stream(2, v1::STREAM_KIND_TELEMETRY);
  worker_.SendRecord(reader, 0, 10, record);
  worker_.TakeAcknowledged(reader, 10);
  ASSERT_TRUE(Get("prepare").ok());
  ASSERT_EQ(response_.data_sets_size(), 1);
  const v1::ReportedDataSet made = response_.data_sets(0);
  EXPECT_EQ(made.path(), "/out");
  EXPECT_EQ(made.tokens(), 50);
  EXPECT_FALSE(made.is_input());
  ASSERT_EQ(made.jobs_size(), 1);
  EXPECT_EQ(made.jobs(0).job_id(), 2);
  EXPECT_EQ(made.jobs(0).name(), "train");
  without_report_ = true;
  ASSERT_TRUE(Get("train").ok());
  EXPECT_EQ(response_.report(), "");
  ASSERT_EQ(response_.data_sets_size(), 1);
  EXPECT_TRUE(response_.data_sets(0).is_input());
  ASSERT_EQ(response_.data_sets(0).jobs_size(), 1);
  EXPECT_EQ(response_.data_sets(0).jobs(0).name(), "prepare");
}

TEST_F(GetDataReportTest, AJobWithoutAReportHasAnEmptyOne) {
  ASSERT_TRUE(Get("train").ok());
  EXPECT_EQ(response_.report(), "");
  EXPECT_EQ(response_.attempt(), 0);
  EXPECT_EQ(Get("nobody").error_code(), grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace trainyard::controller
