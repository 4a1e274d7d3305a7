#include "controller/api/jobs/named_job.h"

#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "controller/api/jobs/job_view.h"
#include "controller/core/archive.h"
#include "controller/core/event_log/snapshot.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

absl::Status DeletedError(const v1::Event& event) {
  const v1::JobDeleted& deleted = event.job_deleted();
  return absl::NotFoundError(
      absl::StrCat("job ", deleted.job_id(), " (", deleted.name(), ") was deleted on ",
                   absl::FormatTime("%Y-%m-%d %H:%M UTC", absl::FromUnixMillis(event.time_ms()),
                                    absl::UTCTimeZone()),
                   " by ", event.actor()));
}

// Returns `absent`, unless the job with this id was deleted. For a deleted job, returns an error
// that states when and by whom the job was deleted. Call on a reader thread.
absl::Status ExplainAbsent(const Api& api, const std::string& reference,
                           const absl::Status& absent) {
  int64_t job_id = 0;
  if (!absl::SimpleAtoi(reference, &job_id)) return absent;
  const auto deletion = api.events.FindDeletion(job_id);
  return deletion.ok() && deletion->has_value() ? DeletedError(**deletion) : absent;
}

// Reads the job from the archive. `absent` is the error to return if the archive does not have the
// job either. Call on a reader thread.
absl::StatusOr<std::shared_ptr<const JobEntry>> ReadArchived(const Api& api,
                                                             const std::string& reference,
                                                             int64_t newest_job_id,
                                                             const absl::Status& absent) {
  TRAINYARD_ASSIGN_OR_RETURN(auto found,
                             FindArchived(api.events.archive(), reference, newest_job_id));
  if (!found.has_value()) return ExplainAbsent(api, reference, absent);
  return std::make_shared<const JobEntry>(FromArchived(*std::move(found)));
}

}  // namespace

JobArchive::Found FindArchived(JobArchive& archive, const std::string& reference,
                               int64_t newest_job_id) {
  if (reference == "@last") return archive.Find(newest_job_id);
  int64_t id = 0;
  if (absl::SimpleAtoi(reference, &id)) {
    TRAINYARD_ASSIGN_OR_RETURN(auto found, archive.Find(id));
    if (found.has_value()) return found;
  }
  return archive.FindByName(reference);
}

void ReadJob(const Api& api, const std::string& reference, WithJob work) {
  api.loop.Read([&api, reference, work = std::move(work)](const ClusterView& view) {
    const auto entry = FindNamedJob(view, reference);
    if (!absl::IsNotFound(entry.status())) return work(entry, view);
    const bool queued = api.readers.TryPost(
        [&api, reference, work, absent = entry.status(), newest = view.state.newest_job_id] {
          const auto archived = ReadArchived(api, reference, newest, absent);
          api.loop.Read([archived, work](const ClusterView& now) {
            if (!archived.ok()) return work(archived.status(), now);
            work(archived->get(), now);
          });
        });
    if (!queued) work(ReaderPool::Busy(), view);
  });
}

}  // namespace trainyard::controller
