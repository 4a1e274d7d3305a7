// A fake controller in the test's process. The controller returns the answers that a test sets.
#ifndef TRAINYARD_TESTS_CLI_FAKE_SERVER_H_
#define TRAINYARD_TESTS_CLI_FAKE_SERVER_H_

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "tests/cli/fake_code_service.h"
#include "trainyard/v1/access_service.pb.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/log_service.pb.h"
#include "trainyard/v1/metric_service.pb.h"
#include "trainyard/v1/node_service.pb.h"
#include "trainyard/v1/queue_service.pb.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::cli {

// The answers to return and the requests received. Set answers before a call, and read requests
// after it.
struct FakeAnswers {
  // If not OK, the status with which every unary call and every stream ends.
  grpc::Status status;
  // Duration of each unary call.
  std::chrono::milliseconds delay{0};

  v1::SubmitJobResponse submit;
  v1::PlanJobResponse plan;
  // One page per call. The last page is repeated.
  std::deque<v1::ListJobsResponse> pages;
  v1::GetJobResponse job;
  std::map<std::string, v1::GetJobResponse> jobs;  // By requested job. Other jobs get `job`.
  // Statuses by requested job. Jobs without an entry get `stop`.
  std::map<std::string, grpc::Status> stop_errors;
  v1::StopJobResponse stop;
  v1::PauseJobResponse pause;
  v1::ExtendJobResponse extension;
  v1::WriteNoteResponse note;
  v1::GetLineageResponse lineage;
  v1::GetArrayResponse array;
  v1::ResumeJobResponse resume;
  std::map<std::string, v1::DeleteJobResponse> deletions;  // By requested job.
  v1::WhyJobResponse why;
  v1::ListNodesResponse nodes;
  v1::ListQueuesResponse queues;
  std::vector<v1::ListQueuesRequest> queue_lists;
  std::vector<v1::SetQueueRequest> queue_settings;
  std::vector<v1::DeleteQueueRequest> queue_deletions;
  std::vector<v1::MoveJobRequest> moves;
  std::vector<v1::CordonNodeRequest> cordon_requests;
  std::vector<v1::RemoveNodeRequest> remove_requests;
  std::vector<v1::SetTopologyRequest> topology_settings;
  v1::ListReservationsResponse reservations;
  std::vector<v1::CreateReservationRequest> created_reservations;
  std::vector<v1::DeleteReservationRequest> deleted_reservations;
  v1::GetTopologyResponse topology;
  v1::CheckNodesResponse checks;
  v1::CheckStoresResponse store_checks;
  v1::CreateLoginCodeResponse login;
  v1::ListSessionsResponse sessions;
  std::vector<v1::EndSessionsRequest> end_requests;
  v1::GetServerInfoResponse server;
  // Called with each request for a hand-over. Sets the answer, and the leadership in `server`.
  std::function<grpc::Status(const v1::HandOverRequest&, v1::HandOverResponse&)> hand_over;
  v1::ListKeysResponse keys;
  v1::GetSeriesResponse series;
  v1::GetLossReportResponse loss;
  std::vector<v1::GetExpertsRequest> experts_requests;
  v1::GetExpertsResponse experts;
  v1::GetDataReportResponse data_report;
  v1::GetReportResponse report;

  // One stream of WatchJob: the messages to send, then how it ends.
  struct Watch {
    std::vector<v1::Job> jobs;
    grpc::Status end;
    // Keeps the stream open after the messages, until the client disconnects.
    bool stays = false;
    // Called after all messages have been sent.
    std::function<void()> then;
  };
  std::deque<Watch> watches;
  struct Logs {
    std::vector<v1::LogLine> lines;
    grpc::Status end;
    bool stays = false;
    std::function<void()> then;
  };
  std::deque<Logs> logs;

  std::vector<v1::SubmitJobRequest> submit_requests;
  std::vector<v1::ListJobsRequest> list_requests;
  std::vector<v1::GetJobRequest> get_requests;
  std::vector<v1::StopJobRequest> stop_requests;
  std::vector<v1::PauseJobRequest> pause_requests;
  std::vector<v1::ExtendJobRequest> extend_requests;
  std::vector<v1::ResumeJobRequest> resume_requests;
  std::vector<v1::GetLineageRequest> lineage_requests;
  std::vector<v1::GetArrayRequest> array_requests;
  std::vector<v1::WriteNoteRequest> note_requests;
  std::vector<v1::DeleteNoteRequest> note_deletions;
  std::vector<v1::DeleteJobRequest> delete_requests;
  std::vector<v1::WatchJobRequest> watch_requests;
  std::vector<v1::ReadLogsRequest> log_requests;
  std::vector<v1::GetSeriesRequest> series_requests;
  std::vector<v1::GetReportRequest> report_requests;
  std::vector<v1::GetDataReportRequest> data_report_requests;
};

// Serves on a free port of the loopback address until destroyed.
class FakeServer {
 public:
  FakeServer();
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  const std::string& address() const { return address_; }
  FakeCodeService& code() { return *code_; }
  // Call it on the test's thread, between calls. Waits until the previous call's handler has
  // returned.
  FakeAnswers& answers() {
    const std::lock_guard lock(mutex_);
    return answers_;
  }

 private:
  class Jobs;
  class Nodes;
  class Queues;
  class Servers;
  class Logs;
  class Metrics;
  class Reports;
  class Access;

  // Held by a handler while it uses the answers.
  std::mutex mutex_;
  FakeAnswers answers_;
  std::unique_ptr<Jobs> jobs_;
  std::unique_ptr<Nodes> nodes_;
  std::unique_ptr<Queues> queues_;
  std::unique_ptr<Servers> servers_;
  std::unique_ptr<Logs> logs_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Reports> reports_;
  std::unique_ptr<Access> access_;
  std::unique_ptr<FakeCodeService> code_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_TESTS_CLI_FAKE_SERVER_H_
