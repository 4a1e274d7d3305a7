// The client of the controller. Every call has a deadline, and every error states the remedy.
#ifndef TRAINYARD_CLI_CLIENT_CLIENT_H_
#define TRAINYARD_CLI_CLIENT_CLIENT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/exec_call.h"
#include "cli/process/interrupt.h"
#include "proto/access/connect_error.h"
#include "proto/access/controller_list.h"
#include "proto/access/token_file.h"
#include "trainyard/v1/access_service.pb.h"
#include "trainyard/v1/code_service.pb.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/log_service.pb.h"
#include "trainyard/v1/metric_service.pb.h"
#include "trainyard/v1/node_service.pb.h"
#include "trainyard/v1/queue_service.pb.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::cli {

struct ClientLimits {
  // Time limit for reaching the controller.
  std::chrono::milliseconds connect{3000};
  // Time limit for the answer to one unary call.
  std::chrono::milliseconds call{10000};
  // With several controllers: time limit for reaching each of them, and for the wait until one of
  // them leads.
  std::chrono::milliseconds connect_each{1000};
  std::chrono::milliseconds leader_wait{10000};
  // Time limit for reopening a stream whose connection was lost.
  std::chrono::milliseconds reconnect{60000};
};

// Ways to end a stream early.
struct StreamControl {
  Interrupt* interrupt = nullptr;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  // Called when the connection is lost, before the stream is reopened.
  std::function<void()> on_lost;
};

// Must be used from one thread. Connects at the first call. With several controllers, finds the one
// that leads, and waits if none leads at present.
//
// Errors have the controller's code and message. UNAVAILABLE and DEADLINE_EXCEEDED name the
// address, the cause and the remedy. A stream returns CANCELLED after an interrupt, and ABORTED
// once `control.deadline` has passed. If a message handler returns false, the stream ends with OK.
class Client {
 public:
  // `controllers` must not be empty.
  explicit Client(std::vector<std::string> controllers, ClientLimits limits = {},
                  AccessPlaces places = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The address of the connected controller, or of the one that the next call tries first.
  const std::string& server() const { return controllers_.current(); }
  const std::vector<std::string>& controllers() const { return controllers_.all(); }

  absl::StatusOr<v1::SubmitJobResponse> SubmitJob(const v1::SubmitJobRequest& request);
  absl::StatusOr<v1::PlanJobResponse> PlanJob(const v1::PlanJobRequest& request);
  absl::StatusOr<v1::ListJobsResponse> ListJobs(const v1::ListJobsRequest& request);
  absl::StatusOr<v1::GetJobResponse> GetJob(const v1::GetJobRequest& request);
  absl::StatusOr<v1::StopJobResponse> StopJob(const v1::StopJobRequest& request);
  absl::StatusOr<v1::PauseJobResponse> PauseJob(const v1::PauseJobRequest& request);
  absl::StatusOr<v1::ResumeJobResponse> ResumeJob(const v1::ResumeJobRequest& request);
  absl::StatusOr<v1::ExtendJobResponse> ExtendJob(const v1::ExtendJobRequest& request);
  absl::StatusOr<v1::WriteNoteResponse> WriteNote(const v1::WriteNoteRequest& request);
  absl::StatusOr<v1::DeleteNoteResponse> DeleteNote(const v1::DeleteNoteRequest& request);
  absl::StatusOr<v1::DeleteJobResponse> DeleteJob(const v1::DeleteJobRequest& request);
  absl::StatusOr<v1::GetLineageResponse> GetLineage(const v1::GetLineageRequest& request);
  absl::StatusOr<v1::GetArrayResponse> GetArray(const v1::GetArrayRequest& request);
  absl::StatusOr<v1::WhyJobResponse> WhyJob(const v1::WhyJobRequest& request);
  absl::StatusOr<v1::ListNodesResponse> ListNodes(const v1::ListNodesRequest& request);
  absl::StatusOr<v1::CordonNodeResponse> CordonNode(const v1::CordonNodeRequest& request);
  absl::StatusOr<v1::ReleaseNodeResponse> ReleaseNode(const v1::ReleaseNodeRequest& request);
  absl::StatusOr<v1::RemoveNodeResponse> RemoveNode(const v1::RemoveNodeRequest& request);
  absl::StatusOr<v1::GetTopologyResponse> GetTopology(const v1::GetTopologyRequest& request);
  absl::StatusOr<v1::SetTopologyResponse> SetTopology(const v1::SetTopologyRequest& request);
  absl::StatusOr<v1::ListReservationsResponse> ListReservations(
      const v1::ListReservationsRequest& request);
  absl::StatusOr<v1::CreateReservationResponse> CreateReservation(
      const v1::CreateReservationRequest& request);
  absl::StatusOr<v1::DeleteReservationResponse> DeleteReservation(
      const v1::DeleteReservationRequest& request);
  absl::StatusOr<v1::CheckNodesResponse> CheckNodes(const v1::CheckNodesRequest& request);
  absl::StatusOr<v1::ListQueuesResponse> ListQueues(const v1::ListQueuesRequest& request);
  absl::StatusOr<v1::SetQueueResponse> SetQueue(const v1::SetQueueRequest& request);
  absl::StatusOr<v1::DeleteQueueResponse> DeleteQueue(const v1::DeleteQueueRequest& request);
  absl::StatusOr<v1::MoveJobResponse> MoveJob(const v1::MoveJobRequest& request);
  absl::StatusOr<v1::FindMissingCodeResponse> FindMissingCode(
      const v1::FindMissingCodeRequest& request);
  absl::StatusOr<v1::StoreCodeResponse> StoreCode(const v1::StoreCodeRequest& request);
  absl::StatusOr<v1::FetchCodeResponse> FetchCode(const v1::FetchCodeRequest& request);
  absl::StatusOr<v1::CheckStoresResponse> CheckStores(const v1::CheckStoresRequest& request);
  absl::StatusOr<v1::HandOverResponse> HandOver(const v1::HandOverRequest& request);
  absl::StatusOr<v1::CreateLoginCodeResponse> CreateLoginCode(
      const v1::CreateLoginCodeRequest& request);
  absl::StatusOr<v1::WhoAmIResponse> WhoAmI(const v1::WhoAmIRequest& request);
  absl::StatusOr<v1::ListSessionsResponse> ListSessions(const v1::ListSessionsRequest& request);
  absl::StatusOr<v1::EndSessionsResponse> EndSessions(const v1::EndSessionsRequest& request);
  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo();
  // Asks one controller of the list, which may be a standby, over a connection of its own.
  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfoOf(const std::string& controller) const;
  absl::StatusOr<v1::GetSeriesResponse> GetSeries(const v1::GetSeriesRequest& request);
  absl::StatusOr<v1::GetReportResponse> GetReport(const v1::GetReportRequest& request);
  absl::StatusOr<v1::GetLossReportResponse> GetLossReport(const v1::GetLossReportRequest& request);
  absl::StatusOr<v1::GetExpertsResponse> GetExperts(const v1::GetExpertsRequest& request);
  absl::StatusOr<v1::GetDataReportResponse> GetDataReport(const v1::GetDataReportRequest& request);
  absl::StatusOr<v1::ListKeysResponse> ListKeys(const v1::ListKeysRequest& request);

  // Reopens the stream after a lost connection, if `control.interrupt` is set. The first message of
  // the new stream repeats the job's state.
  absl::Status WatchJob(const v1::WatchJobRequest& request, const StreamControl& control,
                        const std::function<bool(const v1::WatchJobResponse&)>& on_message);
  // With request.follow, reopens the stream after a lost connection, if `control.interrupt` is set.
  // Delivers no line twice.
  absl::Status ReadLogs(const v1::ReadLogsRequest& request, const StreamControl& control,
                        const std::function<bool(const v1::LogLine&)>& on_line);

  // Opens an exec session. The caller sends ExecStart. Errors: as for other calls.
  absl::StatusOr<std::unique_ptr<ExecCall>> OpenExec();
  // Converts the result of a session. UNAVAILABLE: the connection is lost.
  absl::Status ExecStatus(const grpc::Status& status) const;

 private:
  struct Connection;

  // Connects to the leader.
  absl::StatusOr<Connection*> Connect();
  // Connects to the current controller of the list.
  absl::Status ConnectToCurrent();
  template <typename Response, typename Request, typename Method>
  absl::StatusOr<Response> Call(const Request& request, Method method);
  template <typename Response, typename Open>
  absl::Status StreamOnce(const StreamControl& control, const Open& open,
                          const std::function<bool(const Response&)>& on_message, bool& connected);
  // Calls `once`. While `once` ends with a lost connection, calls `once` again, until
  // limits_.reconnect has passed since the loss. `once` sets its argument to true if it connected.
  // If no call has connected yet, the error is returned immediately.
  absl::Status StreamAgain(const StreamControl& control,
                           const std::function<absl::Status(bool&)>& once);
  absl::Status Unreachable(const ConnectError& error) const;

  ControllerList controllers_;
  const ClientLimits limits_;
  const AccessPlaces places_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CLIENT_CLIENT_H_
