#include "controller/core/submission.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/origins.h"
#include "controller/core/text.h"
#include "proto/support/job_spec_defaults.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kMaxSpecBytes = 1 << 20;

// Origins that a client gave; those of values that are filled in here are not the client's to say.
class SubmittedOrigins {
 public:
  explicit SubmittedOrigins(OriginList given) {
    PackDefaults(given, defaults_);
    for (v1::Origin& origin : given) origins_[origin.key()] = std::move(*origin.mutable_source());
  }

  void SetDefault(SpecFieldNumber number) {
    defaults_.Add(number);
    origins_.erase(*KeyOfSpecField(number));
  }
  Origins& others() { return origins_; }

  void MoveTo(v1::JobSubmitted& submitted) && {
    for (const auto& [key, source] : origins_) {
      v1::Origin& origin = *submitted.add_origins();
      origin.set_key(key);
      origin.set_source(source);
    }
    std::ranges::sort(defaults_);
    const auto end = std::unique(defaults_.begin(), defaults_.end());
    for (auto number = defaults_.begin(); number != end; ++number) {
      if (!origins_.contains(*KeyOfSpecField(*number))) submitted.add_default_fields(*number);
    }
  }

 private:
  Origins origins_;
  DefaultFields defaults_;
};

}  // namespace

absl::Status CheckSpec(const v1::JobSpec& spec, const Origins& origins) {
  if (spec.ByteSizeLong() > kMaxSpecBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the job file is too large: ", spec.ByteSizeLong(), " bytes; at most ",
                     kMaxSpecBytes, " are allowed"));
  }
  const std::vector<std::string> errors = CheckJobSpec(spec, origins);
  if (errors.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(errors, "\n"));
}

absl::StatusOr<SubmitJob> SubmitJob::Check(v1::SubmitJobRequest request) {
  TRAINYARD_RETURN_IF_ERROR(CheckLength("user name", request.user()));
  TRAINYARD_RETURN_IF_ERROR(CheckLength("request id", request.request_id()));
  v1::JobSubmitted submitted;
  submitted.set_user(std::move(*request.mutable_user()));
  submitted.set_request_id(std::move(*request.mutable_request_id()));
  v1::JobSpec& spec = *submitted.mutable_spec();
  spec = std::move(*request.mutable_spec());
  SubmittedOrigins origins(std::move(*request.mutable_origins()));
  for (const SpecFieldNumber number : FillDefaultFields(spec)) origins.SetDefault(number);
  FillDerived(spec, origins.others());
  TRAINYARD_RETURN_IF_ERROR(CheckSpec(spec, origins.others()));
  // Its name holds the job's number, which is known only when the job is.
  if (spec.checkpoint().dir().empty()) origins.others()["checkpoint.dir"] = kDerivedOrigin;
  std::move(origins).MoveTo(submitted);
  return SubmitJob(std::move(submitted));
}

}  // namespace trainyard::controller
