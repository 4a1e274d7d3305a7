// Tests `clone`.
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class CloneTest : public CliFixture {
 protected:
  void AddSource() {
    v1::Job& job = *answers().job.mutable_job();
    job.set_id(17);
    job.set_name("first");
    v1::JobSpec& spec = *job.mutable_spec();
    spec.set_name("first");
    spec.add_command("train");
    spec.mutable_resources()->set_nodes(1);
    spec.mutable_resources()->set_slots_per_node(1);
    spec.mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
    spec.mutable_checkpoint()->set_dir("/ckpt/17-first");
    v1::Origin& origin = *job.add_origins();
    origin.set_key("checkpoint.dir");
    origin.set_source("derived");
    answers().submit.mutable_job()->set_id(18);
    answers().submit.mutable_job()->set_name("second");
    answers().submit.mutable_job()->set_state(v1::JOB_STATE_QUEUED);
  }
};

TEST_F(CloneTest, TheNewJobHasTheChangesAndItsOrigin) {
  AddSource();
  const CliResult result =
      Run({"clone", "17", "name=second", "resources.slots_per_node=4", "env.SEED=7"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("resources.slots_per_node"), HasSubstr("env.SEED"),
                                HasSubstr("job 18 second queued, cloned from job 17")))
      << result.err;
  ASSERT_THAT(answers().submit_requests, SizeIs(1));
  const v1::SubmitJobRequest& request = answers().submit_requests[0];
  EXPECT_EQ(request.cloned_from(), 17);
  EXPECT_EQ(request.spec().name(), "second");
  EXPECT_EQ(request.spec().resources().slots_per_node(), 4);
  EXPECT_EQ(request.spec().env().at("SEED"), "7");
  // The controller assigned the directory of the first job. The new job gets its own.
  EXPECT_THAT(request.spec().checkpoint().dir(), IsEmpty());
}

TEST_F(CloneTest, ADryRunShowsTheDifferenceOnly) {
  AddSource();
  const CliResult result = Run({"clone", "17", "stop_grace=90s", "--dry-run", "-o", "csv"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("stop_grace,"), HasSubstr(",90s"),
                                Not(HasSubstr("resources.nodes"))));
  EXPECT_THAT(answers().submit_requests, IsEmpty());
}

TEST_F(CloneTest, BadChangesAreRefusedBeforeTheSubmission) {
  AddSource();
  EXPECT_THAT(Run({"clone", "17", "lr"}).err, HasSubstr("must have the form KEY=VALUE"));
  EXPECT_THAT(Run({"clone", "17", "resources.node=2"}).err, HasSubstr("unknown key"));
  EXPECT_THAT(Run({"clone", "17", "resources.nodes=0"}).err, HasSubstr("must be at least 1"));
  EXPECT_THAT(answers().submit_requests, IsEmpty());
}

}  // namespace
}  // namespace trainyard::cli
