#include "tests/cli/fake_server.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/fakes/fake_token.h"
#include "trainyard/v1/access_service.grpc.pb.h"
#include "trainyard/v1/job_service.grpc.pb.h"
#include "trainyard/v1/log_service.grpc.pb.h"
#include "trainyard/v1/metric_service.grpc.pb.h"
#include "trainyard/v1/node_service.grpc.pb.h"
#include "trainyard/v1/queue_service.grpc.pb.h"
#include "trainyard/v1/report_service.grpc.pb.h"

namespace trainyard::cli {
namespace {

using grpc::ServerContext;

template <typename T>
grpc::Status Answer(const FakeAnswers& answers, const T& value, T* response) {
  std::this_thread::sleep_for(answers.delay);
  if (answers.status.ok()) *response = value;
  return answers.status;
}

void WaitForClientToLeave(const ServerContext& context) {
  while (!context.IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

template <typename T>
T TakeFront(std::deque<T>& queue) {
  if (queue.empty()) return T{};
  T front = std::move(queue.front());
  queue.pop_front();
  return front;
}

}  // namespace

class FakeServer::Jobs final : public v1::JobService::Service {
 public:
  Jobs(FakeAnswers& answers, std::mutex& mutex) : answers_(answers), mutex_(mutex) {}

  grpc::Status SubmitJob(ServerContext*, const v1::SubmitJobRequest* request,
                         v1::SubmitJobResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.submit_requests.push_back(*request);
    return Answer(answers_, answers_.submit, response);
  }
  grpc::Status PlanJob(ServerContext*, const v1::PlanJobRequest*,
                       v1::PlanJobResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.plan, response);
  }
  grpc::Status ListJobs(ServerContext*, const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.list_requests.push_back(*request);
    v1::ListJobsResponse page;
    if (!answers_.pages.empty()) page = answers_.pages.front();
    if (answers_.pages.size() > 1) answers_.pages.pop_front();
    return Answer(answers_, page, response);
  }
  grpc::Status GetJob(ServerContext*, const v1::GetJobRequest* request,
                      v1::GetJobResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.get_requests.push_back(*request);
    const auto found = answers_.jobs.find(request->job());
    return Answer(answers_, found == answers_.jobs.end() ? answers_.job : found->second, response);
  }
  grpc::Status StopJob(ServerContext*, const v1::StopJobRequest* request,
                       v1::StopJobResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.stop_requests.push_back(*request);
    const auto error = answers_.stop_errors.find(request->job());
    if (error != answers_.stop_errors.end()) return error->second;
    return Answer(answers_, answers_.stop, response);
  }
  grpc::Status PauseJob(ServerContext*, const v1::PauseJobRequest* request,
                        v1::PauseJobResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.pause_requests.push_back(*request);
    return Answer(answers_, answers_.pause, response);
  }
  grpc::Status ExtendJob(ServerContext*, const v1::ExtendJobRequest* request,
                         v1::ExtendJobResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.extend_requests.push_back(*request);
    const auto error = answers_.stop_errors.find(request->job());
    if (error != answers_.stop_errors.end()) return error->second;
    return Answer(answers_, answers_.extension, response);
  }
  grpc::Status ResumeJob(ServerContext*, const v1::ResumeJobRequest* request,
                         v1::ResumeJobResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.resume_requests.push_back(*request);
    const auto error = answers_.stop_errors.find(request->job());
    if (error != answers_.stop_errors.end()) return error->second;
    return Answer(answers_, answers_.resume, response);
  }
  grpc::Status WriteNote(ServerContext*, const v1::WriteNoteRequest* request,
                         v1::WriteNoteResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.note_requests.push_back(*request);
    return Answer(answers_, answers_.note, response);
  }
  grpc::Status DeleteNote(ServerContext*, const v1::DeleteNoteRequest* request,
                          v1::DeleteNoteResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.note_deletions.push_back(*request);
    *response->mutable_job() = answers_.note.job();
    return answers_.status;
  }
  grpc::Status DeleteJob(ServerContext*, const v1::DeleteJobRequest* request,
                         v1::DeleteJobResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.delete_requests.push_back(*request);
    const auto found = answers_.deletions.find(request->job());
    if (found == answers_.deletions.end()) return {grpc::StatusCode::NOT_FOUND, "there is no job"};
    *response = found->second;
    response->set_deleted(request->confirmed());
    return grpc::Status::OK;
  }
  grpc::Status GetLineage(ServerContext*, const v1::GetLineageRequest* request,
                          v1::GetLineageResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.lineage_requests.push_back(*request);
    return Answer(answers_, answers_.lineage, response);
  }
  grpc::Status GetArray(ServerContext*, const v1::GetArrayRequest* request,
                        v1::GetArrayResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.array_requests.push_back(*request);
    return Answer(answers_, answers_.array, response);
  }
  grpc::Status WhyJob(ServerContext*, const v1::WhyJobRequest*,
                      v1::WhyJobResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.why, response);
  }
  grpc::Status WatchJob(ServerContext* context, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::WatchJobResponse>* writer) override {
    std::unique_lock lock(mutex_);
    answers_.watch_requests.push_back(*request);
    if (!answers_.status.ok()) return answers_.status;
    const FakeAnswers::Watch watch = TakeFront(answers_.watches);
    lock.unlock();
    for (const v1::Job& job : watch.jobs) {
      v1::WatchJobResponse response;
      *response.mutable_job() = job;
      writer->Write(response);
    }
    if (watch.then) watch.then();
    if (watch.stays) WaitForClientToLeave(*context);
    return watch.end;
  }

 private:
  FakeAnswers& answers_;
  std::mutex& mutex_;
};

class FakeServer::Nodes final : public v1::NodeService::Service {
 public:
  Nodes(FakeAnswers& answers, std::mutex& mutex) : answers_(answers), mutex_(mutex) {}
  grpc::Status ListNodes(ServerContext*, const v1::ListNodesRequest*,
                         v1::ListNodesResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.nodes, response);
  }
  grpc::Status CordonNode(ServerContext*, const v1::CordonNodeRequest* request,
                          v1::CordonNodeResponse* response) override {
    answers_.cordon_requests.push_back(*request);
    v1::CordonNodeResponse answer;
    answer.mutable_node()->set_name(request->node());
    answer.mutable_node()->set_cordoned(request->cordoned());
    return Answer(answers_, answer, response);
  }
  grpc::Status RemoveNode(ServerContext*, const v1::RemoveNodeRequest* request,
                          v1::RemoveNodeResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.remove_requests.push_back(*request);
    v1::RemoveNodeResponse answer;
    answer.set_name(request->node());
    return Answer(answers_, answer, response);
  }
  grpc::Status GetTopology(ServerContext*, const v1::GetTopologyRequest*,
                           v1::GetTopologyResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.topology, response);
  }
  grpc::Status SetTopology(ServerContext*, const v1::SetTopologyRequest* request,
                           v1::SetTopologyResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.topology_settings.push_back(*request);
    v1::SetTopologyResponse answer;
    *answer.mutable_topology() = answers_.topology;
    answer.add_warnings("job 17 (tiny) requires one group of the level leaf");
    return Answer(answers_, answer, response);
  }
  grpc::Status ListReservations(ServerContext*, const v1::ListReservationsRequest*,
                                v1::ListReservationsResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.reservations, response);
  }
  grpc::Status CreateReservation(ServerContext*, const v1::CreateReservationRequest* request,
                                 v1::CreateReservationResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.created_reservations.push_back(*request);
    v1::CreateReservationResponse answer;
    *answer.mutable_reservation() = request->reservation();
    answer.add_warnings("job 17 (tiny) runs on gpu01 and may run beyond the start");
    return Answer(answers_, answer, response);
  }
  grpc::Status DeleteReservation(ServerContext*, const v1::DeleteReservationRequest* request,
                                 v1::DeleteReservationResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.deleted_reservations.push_back(*request);
    return Answer(answers_, v1::DeleteReservationResponse(), response);
  }
  grpc::Status CheckNodes(ServerContext*, const v1::CheckNodesRequest*,
                          v1::CheckNodesResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.checks, response);
  }

 private:
  FakeAnswers& answers_;
  std::mutex& mutex_;
};

class FakeServer::Queues final : public v1::QueueService::Service {
 public:
  Queues(FakeAnswers& answers, std::mutex& mutex) : answers_(answers), mutex_(mutex) {}
  grpc::Status ListQueues(ServerContext*, const v1::ListQueuesRequest* request,
                          v1::ListQueuesResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.queue_lists.push_back(*request);
    return Answer(answers_, answers_.queues, response);
  }
  grpc::Status SetQueue(ServerContext*, const v1::SetQueueRequest* request,
                        v1::SetQueueResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.queue_settings.push_back(*request);
    v1::SetQueueResponse answer;
    *answer.mutable_queue()->mutable_queue() = request->queue();
    return Answer(answers_, answer, response);
  }
  grpc::Status DeleteQueue(ServerContext*, const v1::DeleteQueueRequest* request,
                           v1::DeleteQueueResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.queue_deletions.push_back(*request);
    return Answer(answers_, v1::DeleteQueueResponse(), response);
  }
  grpc::Status MoveJob(ServerContext*, const v1::MoveJobRequest* request,
                       v1::MoveJobResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.moves.push_back(*request);
    v1::MoveJobResponse answer;
    answer.mutable_job()->set_id(17);
    answer.mutable_job()->set_name("job");
    answer.mutable_job()->set_queue(request->queue());
    answer.mutable_job()->set_priority(request->priority());
    return Answer(answers_, answer, response);
  }

 private:
  FakeAnswers& answers_;
  std::mutex& mutex_;
};

class FakeServer::Servers final : public v1::ServerService::Service {
 public:
  Servers(FakeAnswers& answers, std::mutex& mutex) : answers_(answers), mutex_(mutex) {}
  grpc::Status GetServerInfo(ServerContext*, const v1::GetServerInfoRequest*,
                             v1::GetServerInfoResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.server, response);
  }
  grpc::Status CheckStores(ServerContext*, const v1::CheckStoresRequest*,
                           v1::CheckStoresResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.store_checks, response);
  }
  grpc::Status HandOver(ServerContext*, const v1::HandOverRequest* request,
                        v1::HandOverResponse* response) override {
    const std::lock_guard lock(mutex_);
    return answers_.hand_over(*request, *response);
  }

 private:
  FakeAnswers& answers_;
  std::mutex& mutex_;
};

class FakeServer::Logs final : public v1::LogService::Service {
 public:
  Logs(FakeAnswers& answers, std::mutex& mutex) : answers_(answers), mutex_(mutex) {}
  grpc::Status ReadLogs(ServerContext* context, const v1::ReadLogsRequest* request,
                        grpc::ServerWriter<v1::ReadLogsResponse>* writer) override {
    std::unique_lock lock(mutex_);
    answers_.log_requests.push_back(*request);
    if (!answers_.status.ok()) return answers_.status;
    const FakeAnswers::Logs logs = TakeFront(answers_.logs);
    lock.unlock();
    v1::ReadLogsResponse response;
    response.mutable_lines()->Add(logs.lines.begin(), logs.lines.end());
    if (!logs.lines.empty()) writer->Write(response);
    if (logs.then) logs.then();
    if (logs.stays) WaitForClientToLeave(*context);
    return logs.end;
  }

 private:
  FakeAnswers& answers_;
  std::mutex& mutex_;
};

class FakeServer::Metrics final : public v1::MetricService::Service {
 public:
  Metrics(FakeAnswers& answers, std::mutex& mutex) : answers_(answers), mutex_(mutex) {}
  grpc::Status GetSeries(ServerContext*, const v1::GetSeriesRequest* request,
                         v1::GetSeriesResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.series_requests.push_back(*request);
    return Answer(answers_, answers_.series, response);
  }
  grpc::Status ListKeys(ServerContext*, const v1::ListKeysRequest*,
                        v1::ListKeysResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.keys, response);
  }
  grpc::Status GetLossReport(ServerContext*, const v1::GetLossReportRequest*,
                             v1::GetLossReportResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.loss, response);
  }
  grpc::Status GetExperts(ServerContext*, const v1::GetExpertsRequest* request,
                          v1::GetExpertsResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.experts_requests.push_back(*request);
    return Answer(answers_, answers_.experts, response);
  }
  grpc::Status GetDataReport(ServerContext*, const v1::GetDataReportRequest* request,
                             v1::GetDataReportResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.data_report_requests.push_back(*request);
    return Answer(answers_, answers_.data_report, response);
  }

 private:
  FakeAnswers& answers_;
  std::mutex& mutex_;
};

class FakeServer::Reports final : public v1::ReportService::Service {
 public:
  Reports(FakeAnswers& answers, std::mutex& mutex) : answers_(answers), mutex_(mutex) {}
  grpc::Status GetReport(ServerContext*, const v1::GetReportRequest* request,
                         v1::GetReportResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.report_requests.push_back(*request);
    return Answer(answers_, answers_.report, response);
  }

 private:
  FakeAnswers& answers_;
  std::mutex& mutex_;
};

class FakeServer::Access final : public v1::AccessService::Service {
 public:
  Access(FakeAnswers& answers, std::mutex& mutex) : answers_(answers), mutex_(mutex) {}
  grpc::Status CreateLoginCode(ServerContext*, const v1::CreateLoginCodeRequest*,
                               v1::CreateLoginCodeResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.login, response);
  }
  grpc::Status Prove(ServerContext*, const v1::ProveRequest* request,
                     v1::ProveResponse* response) override {
    *response = ProveFakeToken(*request);
    return grpc::Status::OK;
  }
  grpc::Status WhoAmI(ServerContext*, const v1::WhoAmIRequest* request,
                      v1::WhoAmIResponse* response) override {
    response->set_user(request->user());
    return grpc::Status::OK;
  }
  grpc::Status ListSessions(ServerContext*, const v1::ListSessionsRequest*,
                            v1::ListSessionsResponse* response) override {
    const std::lock_guard lock(mutex_);
    return Answer(answers_, answers_.sessions, response);
  }
  grpc::Status EndSessions(ServerContext*, const v1::EndSessionsRequest* request,
                           v1::EndSessionsResponse* response) override {
    const std::lock_guard lock(mutex_);
    answers_.end_requests.push_back(*request);
    v1::EndSessionsResponse answer;
    answer.set_ended(request->all() ? answers_.sessions.sessions_size() : request->ids_size());
    return Answer(answers_, answer, response);
  }

 private:
  FakeAnswers& answers_;
  std::mutex& mutex_;
};

FakeServer::FakeServer()
    : jobs_(std::make_unique<Jobs>(answers_, mutex_)),
      nodes_(std::make_unique<Nodes>(answers_, mutex_)),
      queues_(std::make_unique<Queues>(answers_, mutex_)),
      servers_(std::make_unique<Servers>(answers_, mutex_)),
      logs_(std::make_unique<Logs>(answers_, mutex_)),
      metrics_(std::make_unique<Metrics>(answers_, mutex_)),
      reports_(std::make_unique<Reports>(answers_, mutex_)),
      access_(std::make_unique<Access>(answers_, mutex_)),
      code_(std::make_unique<FakeCodeService>()) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(jobs_.get());
  builder.RegisterService(nodes_.get());
  builder.RegisterService(queues_.get());
  builder.RegisterService(servers_.get());
  builder.RegisterService(logs_.get());
  builder.RegisterService(metrics_.get());
  builder.RegisterService(reports_.get());
  builder.RegisterService(access_.get());
  builder.RegisterService(code_.get());
  server_ = builder.BuildAndStart();
  address_ = absl::StrCat("127.0.0.1:", port);
}

FakeServer::~FakeServer() { server_->Shutdown(std::chrono::system_clock::now()); }

}  // namespace trainyard::cli
