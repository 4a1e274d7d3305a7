#include "controller/http/openapi.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "controller/http/routes.h"
#include "google/protobuf/descriptor.h"
#include "nlohmann/json.hpp"
#include "proto/json/enum_text.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller::http {
namespace {

std::string ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(OpenApiTest, TheCheckedInFileIsWhatTheTableSays) {
  const auto rendered = RenderOpenApi(ReadFile(TRAINYARD_DESCRIPTORS));
  ASSERT_TRUE(rendered.ok()) << rendered.status();
  EXPECT_TRUE(*rendered == ReadFile(TRAINYARD_OPENAPI))
      << "controller/http/openapi.json is not what routes.cpp and proto/ say: run "
         "`ninja -C build/dev renew_openapi` and commit the file";
}

TEST(OpenApiTest, RefusesBytesThatAreNoDescriptorSet) {
  EXPECT_EQ(RenderOpenApi("nonsense").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RenderOpenApi("").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(OpenApiTest, EveryReferenceLeadsToASchema) {
  const auto document = nlohmann::json::parse(ReadFile(TRAINYARD_OPENAPI));
  int references = 0;
  const std::function<void(const nlohmann::json&)> visit = [&](const nlohmann::json& node) {
    if (node.is_object() && node.contains("$ref") && node["$ref"].is_string()) {
      ++references;
      const std::string pointer = node["$ref"].get<std::string>().substr(1);
      EXPECT_TRUE(document.contains(nlohmann::json::json_pointer(pointer))) << pointer;
    }
    for (const auto& child : node) {
      if (child.is_structured()) visit(child);
    }
  };
  visit(document);
  EXPECT_GT(references, 50);
}

TEST(OpenApiTest, EnumsAreThoseOfTheProto) {
  const auto document = nlohmann::json::parse(ReadFile(TRAINYARD_OPENAPI));
  const auto* file = v1::JobState_descriptor()->file();
  for (int i = 0; i < file->enum_type_count(); ++i) {
    const auto* type = file->enum_type(i);
    std::set<std::string> expected;
    for (int j = 0; j < type->value_count(); ++j) expected.insert(EnumShortName(*type->value(j)));
    EXPECT_EQ(document["components"]["schemas"][type->name()]["enum"].get<std::set<std::string>>(),
              expected)
        << type->name();
  }
}

TEST(RoutesTest, OperationsAndPathsAreUnique) {
  std::set<std::string_view> ids;
  std::set<std::pair<std::string_view, std::string_view>> paths;
  std::set<Operation> operations;
  for (const Route& route : Routes()) {
    EXPECT_TRUE(ids.insert(route.id).second) << route.id;
    EXPECT_TRUE(paths.insert({route.method, route.path}).second) << route.path;
    EXPECT_TRUE(operations.insert(route.operation).second) << route.id;
    EXPECT_FALSE(route.summary.empty()) << route.id;
  }
}

}  // namespace
}  // namespace trainyard::controller::http
