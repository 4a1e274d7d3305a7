#include "controller/rpc/job_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/controller/controller_harness.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

using Kind = v1::ControllerMessage;
using testing::ElementsAre;
using testing::HasSubstr;

class JobServiceTest : public testing::Test {
 protected:
  JobServiceTest() { worker_.Take(Kind::kWelcome); }

  grpc::Status Submit(const v1::SubmitJobRequest& request, v1::SubmitJobResponse& response) {
    grpc::ClientContext context;
    return running_.jobs->SubmitJob(&context, request, &response);
  }

  v1::SubmitJobRequest Request(const std::string& name, int slots) {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = CommandSpec(name, slots);
    request.set_user("ada");
    return request;
  }

  grpc::Status List(const v1::ListJobsRequest& request, v1::ListJobsResponse& response) {
    grpc::ClientContext context;
    response.Clear();
    return running_.jobs->ListJobs(&context, request, &response);
  }

  grpc::Status Stop(const std::string& job, v1::Job& stopped) {
    v1::StopJobRequest request;
    request.set_job(job);
    request.set_user("ada");
    v1::StopJobResponse response;
    grpc::ClientContext context;
    const grpc::Status status = running_.jobs->StopJob(&context, request, &response);
    stopped = response.job();
    return status;
  }

  grpc::Status Delete(const std::string& job, bool confirmed, v1::DeleteJobResponse& response) {
    v1::DeleteJobRequest request;
    request.set_job(job);
    request.set_confirmed(confirmed);
    request.set_user("ada");
    grpc::ClientContext context;
    response.Clear();
    return running_.jobs->DeleteJob(&context, request, &response);
  }

  // Watches `job`, which does not exist. Returns the final status.
  grpc::Status Watched(const std::string& job) {
    v1::WatchJobRequest request;
    request.set_job(job);
    grpc::ClientContext context;
    const auto watch = running_.jobs->WatchJob(&context, request);
    v1::WatchJobResponse message;
    EXPECT_FALSE(watch->Read(&message));
    return watch->Finish();
  }

  // Stops job 2, which has never run.
  void StopSecondJob() {
    running_.Submit("first", 2);
    running_.Submit("second", 2);
    v1::Job stopped;
    ASSERT_TRUE(Stop("second", stopped).ok());
  }

  RunningController running_{OpenMemoryStores()};
  FakeWorker worker_{running_.channel, TestHello("a", 2)};
};

std::vector<int64_t> Ids(const v1::ListJobsResponse& response) {
  std::vector<int64_t> ids;
  for (const v1::Job& job : response.jobs()) ids.push_back(job.id());
  return ids;
}

TEST_F(JobServiceTest, ARepeatedSubmitGivesTheFirstOnesJob) {
  v1::SubmitJobRequest request = Request("job", 1);
  request.set_request_id("once");
  v1::SubmitJobResponse first;
  v1::SubmitJobResponse second;
  ASSERT_TRUE(Submit(request, first).ok());
  ASSERT_TRUE(Submit(request, second).ok());
  EXPECT_EQ(first.job().id(), 1);
  EXPECT_EQ(second.job().id(), 1);
  EXPECT_EQ(first.job().user(), "ada");
}

TEST_F(JobServiceTest, RefusesWhatCannotBeSubmitted) {
  v1::SubmitJobResponse response;
  EXPECT_EQ(Submit({}, response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Submit(Request("Not A Name", 1), response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  const grpc::Status too_big = Submit(Request("job", 3), response);
  EXPECT_EQ(too_big.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(too_big.error_message(), HasSubstr("2"));
  v1::SubmitJobRequest long_user = Request("job", 1);
  long_user.set_user(std::string(129, 'u'));
  EXPECT_EQ(Submit(long_user, response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ASSERT_TRUE(Submit(Request("job", 1), response).ok());
  EXPECT_EQ(Submit(Request("job", 1), response).error_code(), grpc::StatusCode::ALREADY_EXISTS);
}

TEST_F(JobServiceTest, RefusesACheckpointOfAnotherModel) {
  const TemporaryDirectory checkpoint;
  std::ofstream(checkpoint.path() + "/manifest.json") << R"({"model":"{\"vocab_size\":7}"})";
  v1::SubmitJobRequest request;
  v1::JobSpec& spec = *request.mutable_spec();
  spec.set_name("resumed");
  spec.mutable_resources()->set_nodes(1);
  spec.mutable_resources()->set_slots_per_node(1);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  spec.mutable_model()->set_num_layers(2);
  spec.mutable_model()->set_hidden_size(64);
  spec.mutable_model()->set_ffn_hidden_size(64);
  spec.mutable_model()->set_num_attention_heads(4);
  spec.mutable_model()->set_vocab_size(100);
  spec.mutable_data()->set_path("/data");
  spec.mutable_train()->set_seq_length(32);
  spec.mutable_train()->set_global_batch(4);
  spec.mutable_train()->set_steps(10);
  spec.mutable_train()->set_precision(v1::PRECISION_FP32);
  spec.mutable_checkpoint()->set_resume_from(checkpoint.path());
  v1::SubmitJobResponse response;
  const grpc::Status refused = Submit(request, response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.error_message(),
              HasSubstr("model.vocab_size is 100 in this job and 7 in the checkpoint"));
  spec.mutable_checkpoint()->set_resume_from(checkpoint.path() + "/away");
  const grpc::Status unseen = Submit(request, response);
  EXPECT_TRUE(unseen.ok()) << unseen.error_message();
}

TEST_F(JobServiceTest, ListsNewestFirstInPages) {
  for (const char* name : {"a", "b", "c", "d", "e"}) running_.Submit(name);
  v1::ListJobsRequest request;
  request.set_limit(2);
  v1::ListJobsResponse page;
  ASSERT_TRUE(List(request, page).ok());
  EXPECT_THAT(Ids(page), ElementsAre(5, 4));
  request.set_cursor(page.next_cursor());
  ASSERT_TRUE(List(request, page).ok());
  EXPECT_THAT(Ids(page), ElementsAre(3, 2));
  request.set_cursor(page.next_cursor());
  ASSERT_TRUE(List(request, page).ok());
  EXPECT_THAT(Ids(page), ElementsAre(1));
  EXPECT_EQ(page.next_cursor(), "");
}

TEST_F(JobServiceTest, ListsWhoWaitsAndWhy) {
  for (const char* name : {"a", "b", "c"}) running_.Submit(name);
  v1::ListJobsRequest request;
  request.add_states(v1::JOB_STATE_QUEUED);
  v1::ListJobsResponse page;
  ASSERT_TRUE(List(request, page).ok());
  EXPECT_THAT(Ids(page), ElementsAre(3));
  ASSERT_TRUE(page.pending().contains(3));
  EXPECT_EQ(page.pending().at(3).code(), v1::PENDING_CODE_RESOURCES);
  request.set_user("bob");
  ASSERT_TRUE(List(request, page).ok());
  EXPECT_EQ(page.jobs_size(), 0);
}

TEST_F(JobServiceTest, RefusesABadPage) {
  v1::ListJobsRequest request;
  v1::ListJobsResponse page;
  request.set_cursor("x");
  EXPECT_EQ(List(request, page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.set_cursor("-1");
  EXPECT_EQ(List(request, page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.set_cursor("");
  request.set_limit(1001);
  EXPECT_EQ(List(request, page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(JobServiceTest, GetsAJobWithItsEventsAndNodeNames) {
  running_.Submit("job", 2);
  v1::GetJobRequest request;
  request.set_job("job");
  v1::GetJobResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(running_.jobs->GetJob(&context, request, &response).ok());
  EXPECT_EQ(response.job().id(), 1);
  ASSERT_EQ(response.events_size(), 2);
  EXPECT_TRUE(response.events(0).has_job_submitted());
  EXPECT_TRUE(response.events(1).has_job_placed());
  EXPECT_EQ(response.node_names().at("a"), "name-of-a");
}

TEST_F(JobServiceTest, SaysThatAJobIsNotThere) {
  v1::GetJobRequest request;
  v1::GetJobResponse response;
  for (const auto& [job, code] : std::map<std::string, grpc::StatusCode>{
           {"17", grpc::StatusCode::NOT_FOUND},
           {"nobody", grpc::StatusCode::NOT_FOUND},
           {"@last", grpc::StatusCode::NOT_FOUND},
           {"", grpc::StatusCode::INVALID_ARGUMENT},
           {std::string(300, 'x'), grpc::StatusCode::INVALID_ARGUMENT}}) {
    request.set_job(job);
    grpc::ClientContext context;
    EXPECT_EQ(running_.jobs->GetJob(&context, request, &response).error_code(), code) << job;
  }
}

TEST_F(JobServiceTest, StopsAQueuedJobAtOnceAndOnlyOnce) {
  running_.Submit("first", 2);
  running_.Submit("second", 2);
  v1::Job stopped;
  ASSERT_TRUE(Stop("second", stopped).ok());
  EXPECT_EQ(stopped.id(), 2);
  EXPECT_EQ(stopped.state(), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(Stop("second", stopped).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Stop("third", stopped).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(JobServiceTest, NotesAreWrittenShownAndDeleted) {
  running_.Submit("job", 2);
  v1::WriteNoteRequest write;
  write.set_job("job");
  write.set_text("lr halved");
  write.set_user("ada");
  v1::WriteNoteResponse written;
  grpc::ClientContext first;
  ASSERT_TRUE(running_.jobs->WriteNote(&first, write, &written).ok());
  ASSERT_EQ(written.job().notes_size(), 1);
  EXPECT_EQ(written.job().notes(0).step(), 0) << "the job has reported no step";
  EXPECT_EQ(written.job().notes(0).actor(), "user ada");
  v1::ListJobsResponse listed;
  ASSERT_TRUE(List({}, listed).ok());
  EXPECT_EQ(listed.jobs(0).notes_size(), 0) << "lists leave notes out";
  EXPECT_EQ(listed.jobs(0).notes_written(), 1);

  v1::DeleteNoteRequest deletion;
  deletion.set_job("job");
  deletion.set_note(2);
  deletion.set_user("ada");
  v1::DeleteNoteResponse deleted;
  grpc::ClientContext second;
  const grpc::Status unknown = running_.jobs->DeleteNote(&second, deletion, &deleted);
  EXPECT_EQ(unknown.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(unknown.error_message(), HasSubstr("has no note 2"));
  deletion.set_note(1);
  grpc::ClientContext third;
  ASSERT_TRUE(running_.jobs->DeleteNote(&third, deletion, &deleted).ok());
  EXPECT_EQ(deleted.job().notes_size(), 0);
}

TEST_F(JobServiceTest, ADryRunDeletesNothing) {
  StopSecondJob();
  v1::DeleteJobResponse response;
  ASSERT_TRUE(Delete("2", false, response).ok());
  EXPECT_FALSE(response.deleted());
  EXPECT_EQ(response.job_id(), 2);
  EXPECT_EQ(response.name(), "second");
  ASSERT_EQ(response.data_size(), 4);
  EXPECT_EQ(response.data(0).kind(), "events");
  EXPECT_GT(response.data(0).bytes(), 0);
  EXPECT_EQ(running_.Get("2").state(), v1::JOB_STATE_STOPPED);
}

TEST_F(JobServiceTest, ADeletedJobSaysByNumberWhenAndByWhomItWasDeleted) {
  StopSecondJob();
  v1::DeleteJobResponse response;
  ASSERT_TRUE(Delete("second", true, response).ok());
  EXPECT_TRUE(response.deleted());
  const grpc::Status again = Delete("2", true, response);
  EXPECT_EQ(again.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(again.error_message(),
              HasSubstr("job 2 (second) was deleted on 1970-01-01 00:16 UTC by user ada"));
  EXPECT_THAT(Watched("2").error_message(), HasSubstr("was deleted on"));
  EXPECT_THAT(Watched("second").error_message(), HasSubstr("there is no job"));
  EXPECT_THAT(Watched("3").error_message(), HasSubstr("there is no job"));
}

TEST_F(JobServiceTest, DeletesNoJobThatHasNotEnded) {
  running_.Submit("job", 2);
  v1::DeleteJobResponse response;
  EXPECT_EQ(Delete("job", false, response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Delete("job", true, response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(JobServiceTest, AWatchedJobThatIsDeletedEndsTheWatch) {
  running_.Submit("first", 2);
  running_.Submit("second", 2);
  v1::WatchJobRequest request;
  request.set_job("2");
  grpc::ClientContext context;
  const auto watch = running_.jobs->WatchJob(&context, request);
  v1::WatchJobResponse message;
  ASSERT_TRUE(watch->Read(&message));
  v1::Job stopped;
  ASSERT_TRUE(Stop("2", stopped).ok());
  v1::DeleteJobResponse response;
  ASSERT_TRUE(Delete("2", true, response).ok());
  while (watch->Read(&message)) {
  }
  // The watch may have ended already, because the job has ended.
  const grpc::Status end = watch->Finish();
  if (!end.ok()) {
    EXPECT_EQ(end.error_code(), grpc::StatusCode::NOT_FOUND);
  }
  EXPECT_EQ(running_.Get("1").id(), 1) << "the controller goes on";
}

TEST_F(JobServiceTest, PlansWithoutAJob) {
  v1::PlanJobRequest request;
  *request.mutable_spec() = CommandSpec("job", 2);
  v1::PlanJobResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(running_.jobs->PlanJob(&context, request, &response).ok());
  EXPECT_EQ(response.ranks_size(), 2);
  EXPECT_TRUE(response.starts_now());
  *request.mutable_spec() = CommandSpec("job", 3);
  grpc::ClientContext second;
  EXPECT_EQ(running_.jobs->PlanJob(&second, request, &response).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(JobServiceTest, AnswersWhy) {
  running_.Submit("first", 2);
  running_.Submit("second", 1);
  v1::WhyJobRequest request;
  request.set_job("second");
  v1::WhyJobResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(running_.jobs->WhyJob(&context, request, &response).ok());
  EXPECT_EQ(response.pending().code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_NE(response.answer(), "");
}

}  // namespace
}  // namespace trainyard::controller
