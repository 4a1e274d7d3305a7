// Request handlers for one job. Error codes: job_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_JOBS_JOB_HANDLERS_H_
#define TRAINYARD_CONTROLLER_API_JOBS_JOB_HANDLERS_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/queue_service.pb.h"

namespace trainyard::controller {

namespace handlers {

void SubmitJob(const Api& api, const Principal& principal, v1::SubmitJobRequest request,
               Reply<v1::SubmitJobResponse> reply);
void PlanJob(const Api& api, const Principal& principal, v1::PlanJobRequest request,
             Reply<v1::PlanJobResponse> reply);
void GetJob(const Api& api, const Principal& principal, v1::GetJobRequest request,
            Reply<v1::GetJobResponse> reply);
void StopJob(const Api& api, const Principal& principal, v1::StopJobRequest request,
             Reply<v1::StopJobResponse> reply);
void PauseJob(const Api& api, const Principal& principal, v1::PauseJobRequest request,
              Reply<v1::PauseJobResponse> reply);
void ResumeJob(const Api& api, const Principal& principal, v1::ResumeJobRequest request,
               Reply<v1::ResumeJobResponse> reply);
void MoveJob(const Api& api, const Principal& principal, v1::MoveJobRequest request,
             Reply<v1::MoveJobResponse> reply);
void ExtendJob(const Api& api, const Principal& principal, v1::ExtendJobRequest request,
               Reply<v1::ExtendJobResponse> reply);
void WriteNote(const Api& api, const Principal& principal, v1::WriteNoteRequest request,
               Reply<v1::WriteNoteResponse> reply);
void DeleteNote(const Api& api, const Principal& principal, v1::DeleteNoteRequest request,
                Reply<v1::DeleteNoteResponse> reply);
void WhyJob(const Api& api, const Principal& principal, v1::WhyJobRequest request,
            Reply<v1::WhyJobResponse> reply);
void ListRanks(const Api& api, const Principal& principal, v1::ListRanksRequest request,
               Reply<v1::ListRanksResponse> reply);
void ListEvents(const Api& api, const Principal& principal, v1::ListEventsRequest request,
                Reply<v1::ListEventsResponse> reply);

}  // namespace handlers

// Returns the answer to GetJob, but without events and alerts. Call on the loop thread.
v1::GetJobResponse JobNow(const JobEntry& entry, const ClusterView& view);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOBS_JOB_HANDLERS_H_
