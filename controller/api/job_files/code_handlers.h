// Request handlers for the code of jobs. Error codes: code_service.proto. They run on reader
// threads, because they read and write files.
#ifndef TRAINYARD_CONTROLLER_API_JOB_FILES_CODE_HANDLERS_H_
#define TRAINYARD_CONTROLLER_API_JOB_FILES_CODE_HANDLERS_H_

#include "absl/status/status.h"
#include "controller/api/context/api.h"
#include "trainyard/v1/code_service.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

namespace handlers {

void FindMissingCode(const Api& api, const Principal& principal, v1::FindMissingCodeRequest request,
                     Reply<v1::FindMissingCodeResponse> reply);
void StoreCode(const Api& api, const Principal& principal, v1::StoreCodeRequest request,
               Reply<v1::StoreCodeResponse> reply);
void FetchCode(const Api& api, const Principal& principal, v1::FetchCodeRequest request,
               Reply<v1::FetchCodeResponse> reply);
// Answers on the calling thread.
void FindCodeSource(const Api& api, const Principal& principal, v1::FindCodeSourceRequest request,
                    Reply<v1::FindCodeSourceResponse> reply);

}  // namespace handlers

// Checks that the store has the whole code of a job to submit, and protects the code from removal
// for an hour. INVALID_ARGUMENT: the spec names a directory instead of a snapshot.
// FAILED_PRECONDITION: code is missing. Call on a reader thread.
absl::Status CheckCodeStored(const Api& api, const v1::JobSpec& spec);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOB_FILES_CODE_HANDLERS_H_
