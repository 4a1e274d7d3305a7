// Tests the users' API with archived jobs. Every answer must equal the answer for a job in the
// state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "controller/store/stores.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/store/temporary_directory.h"
#include "trainyard/v1/report_service.grpc.pb.h"

namespace trainyard::controller {
namespace {

using Kind = v1::ControllerMessage;
using testing::ElementsAre;
using testing::HasSubstr;

LoopOptions ArchivingSoon() {
  LoopOptions options;
  options.core.archive_after_ms = 500;
  options.core.ended_jobs_kept = 0;
  return options;
}

// Job 1 occupies both slots, so all other jobs stay queued until they are stopped.
class ArchivedJobsTest : public testing::Test {
 protected:
  ArchivedJobsTest() {
    worker_.Take(Kind::kWelcome);
    running_.Submit("runs", 2);
  }

  v1::SubmitJobResponse Submit(const std::string& name) {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = CommandSpec(name, 1);
    request.set_request_id("request-" + name);
    return Call<v1::SubmitJobResponse>(&v1::JobService::Stub::SubmitJob, request);
  }

  // Submits jobs with these names, stops all, and waits until all are in the archive.
  void Archive(const std::vector<std::string>& names) {
    int64_t last = 0;
    for (const std::string& name : names) {
      last = Submit(name).job().id();
      running_.clock.Advance(100);
      v1::StopJobRequest stop;
      stop.set_job(name);
      Call<v1::StopJobResponse>(&v1::JobService::Stub::StopJob, stop);
    }
    for (int i = 0; i < 100 && !IsInArchive(last); ++i) {
      running_.clock.Advance(600);
      running_.Tick();
    }
    ASSERT_TRUE(IsInArchive(last));
  }
  bool IsInArchive(int64_t id) {
    const auto found = events_->archive().Find(id);
    return found.ok() && found->has_value();
  }

  template <typename Response, typename Method, typename Request>
  Response Call(Method method, const Request& request,
                grpc::StatusCode expected = grpc::StatusCode::OK) {
    grpc::ClientContext context;
    Response response;
    status_ = ((*running_.jobs).*method)(&context, request, &response);
    EXPECT_EQ(status_.error_code(), expected) << status_.error_message();
    return response;
  }

  std::vector<int64_t> List(v1::ListJobsRequest request) {
    std::vector<int64_t> ids;
    do {
      const auto page = Call<v1::ListJobsResponse>(&v1::JobService::Stub::ListJobs, request);
      for (const v1::Job& job : page.jobs()) ids.push_back(job.id());
      total_ = page.total();
      request.set_cursor(page.next_cursor());
    } while (!request.cursor().empty());
    return ids;
  }

  Stores Opened() {
    Stores stores = *OpenSqliteStores(temporary_.File("data"));
    events_ = stores.events.get();
    return stores;
  }

  TemporaryDirectory temporary_;
  EventLog* events_ = nullptr;
  RunningController running_{Opened(), ArchivingSoon()};
  FakeWorker worker_{running_.channel, TestHello("a", 2)};
  grpc::Status status_;
  int64_t total_ = 0;
};

TEST_F(ArchivedJobsTest, IsDescribedExplainedAndWatched) {
  Archive({"gone", "last"});
  for (const char* reference : {"2", "gone"}) {
    v1::GetJobRequest get;
    get.set_job(reference);
    const auto job = Call<v1::GetJobResponse>(&v1::JobService::Stub::GetJob, get);
    EXPECT_EQ(job.job().id(), 2);
    EXPECT_EQ(job.job().state(), v1::JOB_STATE_STOPPED);
    EXPECT_EQ(job.events().rbegin()->kind_case(), v1::Event::kJobArchived);
    EXPECT_GT(job.ledger().phases_size(), 0);
  }
  v1::WhyJobRequest why;
  why.set_job("@last");
  EXPECT_EQ(Call<v1::WhyJobResponse>(&v1::JobService::Stub::WhyJob, why).job().id(), 3);
  v1::ListRanksRequest ranks;
  ranks.set_job("gone");
  EXPECT_EQ(Call<v1::ListRanksResponse>(&v1::JobService::Stub::ListRanks, ranks).job_id(), 2);
  v1::ListEventsRequest events;
  events.set_job("2");
  EXPECT_EQ(Call<v1::ListEventsResponse>(&v1::JobService::Stub::ListEvents, events).events_size(),
            3);
  grpc::ClientContext context;
  v1::WatchJobRequest watch;
  watch.set_job("gone");
  auto stream = running_.jobs->WatchJob(&context, watch);
  v1::WatchJobResponse seen;
  ASSERT_TRUE(stream->Read(&seen));
  EXPECT_EQ(seen.job().id(), 2);
  EXPECT_FALSE(stream->Read(&seen));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ArchivedJobsTest, ItsOutputAndMetricsAreRead) {
  Archive({"gone"});
  grpc::ClientContext log_context;
  v1::ReadLogsRequest logs;
  logs.set_job("gone");
  logs.set_follow(true);
  auto stream = running_.logs->ReadLogs(&log_context, logs);
  v1::ReadLogsResponse lines;
  EXPECT_FALSE(stream->Read(&lines));
  EXPECT_TRUE(stream->Finish().ok());
  grpc::ClientContext page_context;
  v1::ReadLogPageRequest page;
  page.set_job("2");
  v1::ReadLogPageResponse page_response;
  EXPECT_TRUE(running_.logs->ReadLogPage(&page_context, page, &page_response).ok());
  EXPECT_TRUE(page_response.complete());
  grpc::ClientContext keys_context;
  v1::ListKeysRequest keys;
  keys.set_job("gone");
  v1::ListKeysResponse keys_response;
  EXPECT_TRUE(running_.metrics->ListKeys(&keys_context, keys, &keys_response).ok());
  grpc::ClientContext series_context;
  v1::GetSeriesRequest series;
  series.set_job("gone");
  series.add_keys("loss");
  v1::GetSeriesResponse series_response;
  EXPECT_TRUE(running_.metrics->GetSeries(&series_context, series, &series_response).ok());
}

TEST_F(ArchivedJobsTest, ListsGoOnFromTheStateIntoTheArchive) {
  Archive({"a", "b", "c"});
  Submit("d");
  v1::ListJobsRequest request;
  for (const int limit : {1, 2, 100}) {
    request.set_limit(limit);
    EXPECT_THAT(List(request), ElementsAre(5, 4, 3, 2, 1)) << limit;
    EXPECT_EQ(total_, 5);
    for (const v1::JobOrder order : {v1::JOB_ORDER_NAME, v1::JOB_ORDER_ENDED}) {
      v1::ListJobsRequest ordered = request;
      ordered.set_order(order);
      ordered.set_reverse(true);
      const std::vector<int64_t> ids = List(ordered);
      EXPECT_EQ(ids.size(), 5u) << limit;
      if (order != v1::JOB_ORDER_NAME) continue;
      EXPECT_THAT(ids, ElementsAre(1, 5, 4, 3, 2)) << limit;
    }
  }
  request.add_states(v1::JOB_STATE_STOPPED);
  EXPECT_THAT(List(request), ElementsAre(4, 3, 2));
  request.set_name("b");
  EXPECT_THAT(List(request), ElementsAre(3));
  request.Clear();
  request.add_states(v1::JOB_STATE_QUEUED);
  EXPECT_THAT(List(request), ElementsAre(5));
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(running_.server->GetServerInfo(&context, {}, &info).ok());
  EXPECT_EQ(info.cluster().jobs().at("stopped"), 3);
}

TEST_F(ArchivedJobsTest, ARepeatedSubmitGivesItsJobAndItsNameIsFree) {
  Archive({"gone"});
  EXPECT_EQ(Submit("gone").job().id(), 2);
  // After this time, only the archive knows the request id.
  running_.clock.Advance(700'000);
  Archive({"other"});
  Archive({"another"});
  EXPECT_EQ(Submit("gone").job().id(), 2);
  v1::SubmitJobRequest again;
  *again.mutable_spec() = CommandSpec("gone", 1);
  EXPECT_EQ(Call<v1::SubmitJobResponse>(&v1::JobService::Stub::SubmitJob, again).job().id(), 5);
  EXPECT_EQ(running_.Get("gone").id(), 5);
}

TEST_F(ArchivedJobsTest, CannotBeStopped) {
  Archive({"gone"});
  v1::StopJobRequest stop;
  stop.set_job("gone");
  Call<v1::StopJobResponse>(&v1::JobService::Stub::StopJob, stop,
                            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status_.error_message(), HasSubstr("has ended already"));
  stop.set_job("never");
  Call<v1::StopJobResponse>(&v1::JobService::Stub::StopJob, stop, grpc::StatusCode::NOT_FOUND);
}

TEST_F(ArchivedJobsTest, KeepsItsNotesButTakesNoNewOnes) {
  v1::WriteNoteRequest note;
  note.set_job("gone");
  note.set_text("the data was wrong");
  Submit("gone");
  Call<v1::WriteNoteResponse>(&v1::JobService::Stub::WriteNote, note);
  running_.clock.Advance(100);
  v1::StopJobRequest stop;
  stop.set_job("gone");
  Call<v1::StopJobResponse>(&v1::JobService::Stub::StopJob, stop);
  Archive({"other"});
  ASSERT_TRUE(IsInArchive(2));
  ASSERT_EQ(running_.Get("gone").notes_size(), 1);
  EXPECT_EQ(running_.Get("gone").notes(0).text(), "the data was wrong");
  Call<v1::WriteNoteResponse>(&v1::JobService::Stub::WriteNote, note,
                              grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status_.error_message(), HasSubstr("is archived, so its notes"));
  note.set_step(3);
  Call<v1::WriteNoteResponse>(&v1::JobService::Stub::WriteNote, note,
                              grpc::StatusCode::FAILED_PRECONDITION);
  note.set_job("never");
  Call<v1::WriteNoteResponse>(&v1::JobService::Stub::WriteNote, note, grpc::StatusCode::NOT_FOUND);
}

TEST_F(ArchivedJobsTest, HasALineage) {
  Archive({"parent"});
  v1::SubmitJobRequest clone;
  *clone.mutable_spec() = CommandSpec("child", 1);
  clone.set_cloned_from(2);
  EXPECT_EQ(Call<v1::SubmitJobResponse>(&v1::JobService::Stub::SubmitJob, clone).job().id(), 3);
  v1::GetLineageRequest request;
  request.set_job("child");
  const auto child = Call<v1::GetLineageResponse>(&v1::JobService::Stub::GetLineage, request);
  ASSERT_EQ(child.ancestors_size(), 1);
  EXPECT_EQ(child.ancestors(0).name(), "parent");
  EXPECT_EQ(child.ancestors(0).state(), v1::JOB_STATE_STOPPED);
  request.set_job("2");
  const auto parent = Call<v1::GetLineageResponse>(&v1::JobService::Stub::GetLineage, request);
  ASSERT_EQ(parent.descendants_size(), 1);
  EXPECT_EQ(parent.descendants(0).name(), "child");
  request.set_job("never");
  Call<v1::GetLineageResponse>(&v1::JobService::Stub::GetLineage, request,
                               grpc::StatusCode::NOT_FOUND);
  clone.mutable_spec()->set_name("other");
  clone.set_cloned_from(9);
  Call<v1::SubmitJobResponse>(&v1::JobService::Stub::SubmitJob, clone,
                              grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ArchivedJobsTest, IsInTheReportOnceBesideTheJobsOfTheState) {
  Archive({"gone", "also"});
  const auto reports = v1::ReportService::NewStub(running_.channel);
  v1::GetReportRequest request;
  request.set_by(v1::REPORT_BY_JOB);
  v1::GetReportResponse response;
  grpc::ClientContext context;
  const grpc::Status status = reports->GetReport(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  std::vector<int64_t> ids;
  for (const v1::ReportGroup& group : response.groups()) ids.push_back(group.job_id());
  EXPECT_THAT(ids, testing::UnorderedElementsAre(1, 2, 3));
  EXPECT_EQ(response.groups(0).job_id(), 1) << "the job that held the slots";
  EXPECT_EQ(response.total().jobs(), 3);
  EXPECT_GT(response.total().slot_seconds(), 0);
  EXPECT_EQ(response.total().gpu_seconds(), 0) << "all jobs run on CPU slots";
  EXPECT_FALSE(response.total().has_cost());
  grpc::ClientContext again;
  request.set_limit(-1);
  EXPECT_EQ(reports->GetReport(&again, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ArchivedJobsTest, IsDeletedAfterADryRun) {
  Archive({"gone", "stays"});
  v1::DeleteJobRequest request;
  request.set_job("gone");
  request.set_user("ada");
  const auto dry = Call<v1::DeleteJobResponse>(&v1::JobService::Stub::DeleteJob, request);
  EXPECT_EQ(dry.job_id(), 2);
  EXPECT_FALSE(dry.deleted());
  EXPECT_TRUE(IsInArchive(2));
  request.set_confirmed(true);
  EXPECT_TRUE(Call<v1::DeleteJobResponse>(&v1::JobService::Stub::DeleteJob, request).deleted());
  EXPECT_FALSE(IsInArchive(2));
  EXPECT_THAT(List({}), ElementsAre(3, 1));
  request.set_job("2");
  Call<v1::DeleteJobResponse>(&v1::JobService::Stub::DeleteJob, request,
                              grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status_.error_message(), HasSubstr("job 2 (gone) was deleted on"));
  request.set_job("never");
  Call<v1::DeleteJobResponse>(&v1::JobService::Stub::DeleteJob, request,
                              grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status_.error_message(), HasSubstr("there is no job `never`"));
}

}  // namespace
}  // namespace trainyard::controller
