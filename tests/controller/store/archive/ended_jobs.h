// Ended jobs for the tests of the archive.
#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_ARCHIVE_ENDED_JOBS_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_ARCHIVE_ENDED_JOBS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/archive/job_archive.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

inline v1::ArchivedJob Archived(int64_t id, const std::string& name, v1::JobState state) {
  v1::ArchivedJob archived;
  v1::Job& job = *archived.mutable_job();
  job.set_id(id);
  job.set_name(name);
  job.set_user("ada");
  job.set_state(state);
  job.set_ended_time_ms(1000 * id);
  archived.mutable_details()->set_request_id(absl::StrCat("request-", id));
  return archived;
}

inline v1::Event ArchivedEvent(int64_t id) {
  v1::Event event;
  event.mutable_job_archived()->set_job_id(id);
  return event;
}

inline std::vector<int64_t> IdsOf(const ArchivedPage& page) {
  std::vector<int64_t> ids;
  for (const v1::ArchivedJob& one : page.jobs) ids.push_back(one.job().id());
  return ids;
}

inline std::vector<int64_t> JobsWithTimeSince(JobArchive& archive, int64_t since_ms) {
  std::vector<int64_t> ids;
  const absl::Status status = archive.ForEachTime(since_ms, [&](const v1::JobTime& time) {
    EXPECT_EQ(time.ended_time_ms(), 1000 * time.job_id());
    EXPECT_EQ(time.user(), "ada");
    ids.push_back(time.job_id());
  });
  EXPECT_TRUE(status.ok()) << status;
  return ids;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_ARCHIVE_ENDED_JOBS_H_
