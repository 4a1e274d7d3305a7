#include "cli/commands/jobs/submission/submission.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "absl/strings/escaping.h"
#include "cli/commands/jobs/submission/code_upload.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

std::string MakeRequestId() {
  std::array<unsigned char, 16> bytes{};
  const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  const ssize_t got = read(fd, bytes.data(), bytes.size());
  close(fd);
  if (got != static_cast<ssize_t>(bytes.size())) return "";
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

absl::StatusOr<v1::Job> SubmitResolved(ResolvedSpec resolved, const SubmissionTerms& terms,
                                       Context& context) {
  TRAINYARD_RETURN_IF_ERROR(UploadCode(resolved, context));
  v1::SubmitJobRequest request;
  *request.mutable_spec() = resolved.spec;
  for (const auto& [key, source] : resolved.origins) {
    v1::Origin& origin = *request.add_origins();
    origin.set_key(key);
    origin.set_source(source);
  }
  request.set_user(context.environment.user);
  request.set_request_id(terms.request_id);
  request.set_hold(terms.hold);
  request.set_cloned_from(terms.cloned_from);
  TRAINYARD_ASSIGN_OR_RETURN(v1::SubmitJobResponse response, context.client.SubmitJob(request));
  return std::move(*response.mutable_job());
}

}  // namespace trainyard::cli
