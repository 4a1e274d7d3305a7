#include "tests/tidy/include_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Including(const std::string& path) { return "#include \"" + path + "\"\n"; }

TEST(IncludeRulesTest, IncludeDirection) {
  const std::pair<const char*, const char*> refused[] = {
      {"controller/core/plan.cpp", "controller/store/events/event_log.h"},
      {"controller/store/a.cpp", "controller/rpc/b.h"},
      {"controller/rpc/a.cpp", "controller/controller.h"},
      {"controller/api/a.cpp", "controller/rpc/b.h"},
      {"controller/api/context/a.cpp", "controller/api/jobs/job_view.h"},
      {"controller/api/cluster/a.cpp", "controller/api/records/report.h"},
      {"data/prepare/command/a.cpp", "data/prepare/views/show_data.h"},
      {"data/prepare/splits/a.cpp", "data/pipeline/pipeline.h"},
      {"controller/http/a.cpp", "controller/rpc/b.h"},
      {"controller/controller.cpp", "worker/worker.h"},
      {"controller/planner/a.h", "controller/core/reconcile.h"},
      {"worker/worker.cpp", "controller/core/reconcile.h"},
      {"worker/core/a.cpp", "worker/process/shim.h"},
      {"worker/rpc/a.cpp", "worker/worker.h"},
      {"cli/a.cpp", "controller/core/reconcile.h"},
      {"cli/a.cpp", "data/tokens/token_writer.h"},
      {"cli/data/main.cpp", "data/tokens/token_writer.h"},
      {"data/split/a.cpp", "data/bpe/b.h"},
      {"data/prepare/a.cpp", "cli/data/data_command.h"},
      {"trainer/a.cpp", "data/tokenizer/tokenizer.h"},
      {"trainer/a.cpp", "proto/support/clock.h"},
      {"proto/support/a.cpp", "controller/core/reconcile.h"},
      {"proto/model/a.cpp", "proto/rules/run_rules.h"},
      {"proto/rules/a.cpp", "proto/samples/run_samples.h"},
      {"proto/contract/a.h", "proto/model/model_size.h"},
      {"tests/worker/a.cpp", "controller/core/reconcile.h"},
  };
  for (const auto& [path, include] : refused) {
    EXPECT_THAT(CheckIncludeDirection({{path, Including(include)}}),
                ElementsAre(HasSubstr(include)))
        << path;
  }
  const std::pair<const char*, const char*> allowed[] = {
      {"controller/core/plan.cpp", "proto/support/clock.h"},
      {"controller/core/plan.cpp", "proto/rules/batch_plan.h"},
      {"controller/core/plan.cpp", "trainyard/v1/job.pb.h"},
      {"controller/rpc/a.cpp", "controller/store/events/event_log.h"},
      {"controller/controller.cpp", "controller/rpc/b.h"},
      {"controller/api/records/a.cpp", "controller/api/jobs/named_job.h"},
      {"data/prepare/views/a.cpp", "data/prepare/tokenizers/choose_tokenizer.h"},
      {"cli/a.cpp", "controller/planner/plan.h"},
      {"cli/data/main.cpp", "data/prepare/splits/prepare.h"},
      {"data/tokens/a.cpp", "data/tokenizer/tokenizer.h"},
      {"data/prepare/a.cpp", "data/tokens/token_writer.h"},
      {"data/documents/a.cpp", "proto/text/utf8.h"},
      {"worker/worker.cpp", "worker/process/shim.h"},
      {"trainer/a.cpp", "proto/memory/memory_model.h"},
      {"data/report/a.cpp", "proto/samples/window_order.h"},
      {"tests/simulation/a.cpp", "controller/core/reconcile.h"},
      {"tests/simulation/a.cpp", "worker/core/attempts.h"},
  };
  for (const auto& [path, include] : allowed) {
    EXPECT_THAT(CheckIncludeDirection({{path, Including(include)}}), IsEmpty()) << path;
  }
}

TEST(IncludeRulesTest, Libraries) {
  EXPECT_EQ(CheckLibraries({{"trainer/a.cpp", "#include <google/protobuf/message.h>\n"}}).size(),
            1);
  EXPECT_EQ(CheckLibraries({{"controller/core/a.h", "#include <mutex>\n"}}).size(), 1);
  EXPECT_EQ(CheckLibraries({{"worker/tail/a.cpp", Including("grpcpp/grpcpp.h")}}).size(), 1);
  EXPECT_EQ(CheckLibraries({{"cli/a.cpp", "#include <torch/torch.h>\n"}}).size(), 1);
  EXPECT_EQ(CheckLibraries({{"data/tokens/a.cpp", Including("google/protobuf/message.h")}}).size(),
            1);
  EXPECT_THAT(CheckLibraries({{"worker/rpc/a.cpp", Including("grpcpp/grpcpp.h")}}), IsEmpty());
}

TEST(IncludeRulesTest, PureFolders) {
  for (const char* code : {"auto now = std::chrono::system_clock::now();", "x = time(nullptr);",
                           "std::random_device seed;", "getenv(name);", "int r = rand() % 3;",
                           "std::mutex lock;", "sleep (1);", "std::thread t;"}) {
    EXPECT_EQ(CheckPureFolders({{"controller/core/a.cpp", code}}).size(), 1) << code;
    EXPECT_EQ(CheckPureFolders({{"worker/core/a.h", code}}).size(), 1) << code;
    EXPECT_THAT(CheckPureFolders({{"controller/rpc/a.cpp", code}}), IsEmpty());
  }
  for (const char* code : {"// system_clock is banned\n", "job.start_time(now);", "RunTime(x);",
                           "const char* text = \"getenv(\";", "record.time_ms();", "brand(1);"}) {
    EXPECT_THAT(CheckPureFolders({{"controller/core/a.cpp", code}}), IsEmpty()) << code;
  }
}

}  // namespace
}  // namespace trainyard::tidy
