#include "controller/api/jobs/archived_dependencies.h"

#include "controller/store/archive/memory_job_archive.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using ::testing::Key;
using ::testing::UnorderedElementsAre;

TEST(ArchivedDependenciesTest, EachEntryIsFoundWithItsCondition) {
  v1::ArchivedJob archived;
  v1::Job& job = *archived.mutable_job();
  job.set_id(7);
  job.set_name("run");
  job.set_state(v1::JOB_STATE_FAILED);
  job.set_ended_time_ms(50);
  job.add_checkpoints()->set_step(10);
  job.add_checkpoints()->set_step(20);
  MemoryJobArchive archive;
  archive.Add(archived);
  v1::JobSpec spec;
  for (const char* entry :
       {"run", "7:failure", "run:checkpoint:15", "run:checkpoint:25", "run:done", "other:end"}) {
    spec.add_after(entry);
  }
  const auto found = FindArchivedDependencies(archive, spec);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(*found, UnorderedElementsAre(Key("run"), Key("7:failure"), Key("run:checkpoint:15"),
                                           Key("run:checkpoint:25")));
  EXPECT_EQ(found->at("run").condition(), v1::JOB_CONDITION_SUCCESS);
  EXPECT_EQ(found->at("run").outcome(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(found->at("7:failure").condition(), v1::JOB_CONDITION_FAILURE);
  EXPECT_EQ(found->at("7:failure").job_id(), 7);
  EXPECT_EQ(found->at("run:checkpoint:15").checkpoint_step(), 20);
  EXPECT_FALSE(found->at("run:checkpoint:25").has_checkpoint_step());
}

}  // namespace
}  // namespace trainyard::controller
