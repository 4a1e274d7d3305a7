// Tests each rule on invented files, which
// contain code to reject and code to accept.
#include "tests/tidy/tidy_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(TidyRulesTest, Removals) {
  for (const char* code : {"fs::remove_all(path, error);", "nftw(path, remove, 16, FTW_PHYS);"}) {
    EXPECT_EQ(CheckRemovals({{"cli/a.cpp", code}}).size(), 1) << code;
    EXPECT_EQ(CheckRemovals({{"trainer/a/b.h", code}}).size(), 1) << code;
    EXPECT_THAT(CheckRemovals({{"tests/a.cpp", code}}), IsEmpty()) << code;
  }
  for (const char* code : {"// no remove_all(path)", "RemoveTree(path);", "remove_all_of(x);"}) {
    EXPECT_THAT(CheckRemovals({{"cli/a.cpp", code}}), IsEmpty()) << code;
  }
}

TEST(TidyRulesTest, AttemptName) {
  EXPECT_THAT(CheckAttemptName({{"worker/a.cpp", "int x;\nint64_t newest_epoch = 0;\n"}}),
              ElementsAre(HasSubstr("worker/a.cpp:2: newest_epoch")));
  for (const char* path : {"proto/trainyard/v1/a.proto", "web/src/a.ts", "a/openapi.json"}) {
    EXPECT_EQ(CheckAttemptName({{path, "// Of the epoch.\n"}}).size(), 1) << path;
  }
  for (const char* code : {"now.time_since_epoch();", "source.samples_per_epoch();",
                           "// an epoch ago", "values.find(\"epoch\");"}) {
    EXPECT_THAT(CheckAttemptName({{"worker/a.cpp", code}}), IsEmpty()) << code;
  }
  EXPECT_THAT(CheckAttemptName({{"trainer/data/a.cpp", "int64_t epoch = 0;"}}), IsEmpty());
}

TEST(TidyRulesTest, ContractNames) {
  const SourceFile contract = {"proto/contract/telemetry_keys.h",
                               "inline constexpr char kStepSeconds[] = \"step_seconds\";\n"
                               "inline constexpr char kPath[] = \"path\";\n"};
  EXPECT_THAT(CheckContractNames({contract, {"worker/a.cpp", "x[\"step_seconds\"];\n"}}),
              ElementsAre(HasSubstr("worker/a.cpp:1")));
  // The rule ignores comments, tests, the keys of checkpoints, and names of one word such as
  // "path", which also have other meanings.
  EXPECT_THAT(CheckContractNames({contract,
                                  {"worker/a.cpp", "// \"step_seconds\"\nx[\"path\"];\n"},
                                  {"trainer/state/a.cpp", "x[\"step_seconds\"];\n"},
                                  {"tests/a.cpp", "x[\"step_seconds\"];\n"}}),
              IsEmpty());
}

TEST(TidyRulesTest, LinesAreCheckedByKind) {
  const std::string wide(101, 'x');
  EXPECT_EQ(CheckLines({{"a.cpp", wide}}).size(), 1);
  EXPECT_THAT(CheckLines({{"a.cpp", std::string(100, 'x')}, {"a.md", wide}}), IsEmpty());
  // Columns, not bytes.
  std::string euros;
  for (int i = 0; i < 100; ++i) euros += "€";
  EXPECT_THAT(CheckLines({{"a.cpp", euros}}), IsEmpty());
  EXPECT_EQ(CheckLines({{"a.yaml", "a:\tb"}}).size(), 1);
  EXPECT_EQ(CheckLines({{"a.md", std::string("// TO") + "DO: later"}}).size(), 1);
}

TEST(TidyRulesTest, FieldsAreCommented) {
  const std::string bare = "message A {\n  int32 a = 1;\n}\n";
  EXPECT_THAT(CheckFieldComments({{"a.proto", bare}}), ElementsAre(HasSubstr("a.proto:2:")));
  EXPECT_THAT(CheckFieldComments({{"a.cpp", bare}}), IsEmpty());
  const std::string behind = "message A {\n  int32 a = 1;  // Of it.\n  int32 b = 2;\n}\n";
  EXPECT_THAT(CheckFieldComments({{"a.proto", behind}}), ElementsAre(HasSubstr("a.proto:3:")));
  const std::string good =
      "message A {\n  int32 a = 1;  // Of it.\n  // Of that.\n  repeated B b = 2;\n"
      "  optional int32 c = 3 [(rule) = {doc: \"Of those.\"}];\n  optional int32 d = 4 [(rule) = "
      "{\n"
      "    doc: \"Of these.\"\n  }];\n  ModelSpec model = 5;\n  oneof kind {\n    B e = 6;\n  "
      "}\n}\n";
  EXPECT_THAT(CheckFieldComments({{"a.proto", good}}), IsEmpty());
}

TEST(TidyRulesTest, Names) {
  EXPECT_THAT(CheckNames({{"a/common/b.h", ""}, {"a/common/c.h", ""}}),
              ElementsAre("a/common: the name says nothing"));
  EXPECT_EQ(CheckNames({{"worker/job_manager.cpp", ""}}).size(), 1);
  EXPECT_THAT(CheckNames({{"worker/commonplace.cpp", ""}, {"utility/a.h", ""}}), IsEmpty());
}

TEST(TidyRulesTest, Orphans) {
  const SourceFile cmake = {"worker/tail/CMakeLists.txt", "add(worker_tail SOURCES a.cpp b.cpp)"};
  EXPECT_THAT(CheckOrphans({cmake, {"worker/tail/a.cpp", ""}, {"worker/tail/b.cpp", ""}}),
              IsEmpty());
  EXPECT_EQ(CheckOrphans({cmake, {"worker/tail/ta.cpp", ""}}).size(), 1);
  EXPECT_EQ(CheckOrphans({cmake, {"worker/a.cpp", ""}}).size(), 1);
  const SourceFile above = {"worker/CMakeLists.txt",
                            "add(x ${CMAKE_CURRENT_SOURCE_DIR}/tail/c.cpp)"};
  EXPECT_THAT(CheckOrphans({above, {"worker/tail/c.cpp", ""}}), IsEmpty());
}

TEST(TidyRulesTest, ReadmesAndGuards) {
  EXPECT_THAT(CheckReadmes({{"web/a.ts", ""}, {"cli/b.cpp", ""}, {"cli/README.md", ""}}),
              ElementsAre("web: no README.md"));
  EXPECT_THAT(CheckHeaderGuards({{"cli/a_b.h", "#ifndef TRAINYARD_CLI_A_B_H_\n"}}), IsEmpty());
  EXPECT_EQ(CheckHeaderGuards({{"cli/a_b.h", "#pragma once\n"}}).size(), 1);
}

TEST(TidyRulesTest, DroppedResults) {
  for (const char* code :
       {"void F() { cudaFree(a); }\n", "void F() {\n  G();\n  ncclGroupEnd();\n}\n",
        "void F() {\n  for (auto e : es) cudaEventDestroy(e);\n}\n",
        "void F() {\n  // Why.\n  cublasLtDestroy(h);\n}\n"}) {
    EXPECT_EQ(CheckDroppedResults({{"trainer/kernels/a.cu", code}}).size(), 1u) << code;
  }
  for (const char* code :
       {"void F() { CheckCuda(cudaFree(a), \"cudaFree\"); }\n",
        "void F() { const auto error = cudaFree(a); }\n",
        "void F() { static_cast<void>(cudaFree(a)); }\n", "void F() { cudaGetLastError(); }\n",
        "bool F() { return cudaFree(a) == cudaSuccess; }\n",
        "void F() {\n  CheckNccl(\"a\",\n            ncclGroupEnd());\n}\n"}) {
    EXPECT_THAT(CheckDroppedResults({{"trainer/kernels/a.cu", code}}), IsEmpty()) << code;
  }
}

}  // namespace
}  // namespace trainyard::tidy
