#include "controller/access/permissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/http/routes.h"
#include "google/protobuf/descriptor.pb.h"

namespace trainyard::controller {
namespace {

using ::testing::UnorderedElementsAreArray;

// Returns every method of every service in proto/, such as "JobService/StopJob".
std::vector<std::string> AllMethods() {
  std::ifstream file(TRAINYARD_DESCRIPTORS, std::ios::binary);
  google::protobuf::FileDescriptorSet set;
  EXPECT_TRUE(set.ParseFromIstream(&file)) << TRAINYARD_DESCRIPTORS;
  std::vector<std::string> methods;
  for (const auto& proto : set.file()) {
    for (const auto& service : proto.service()) {
      for (const auto& method : service.method()) {
        methods.push_back(absl::StrCat(service.name(), "/", method.name()));
      }
    }
  }
  return methods;
}

TEST(PermissionsTest, EveryMethodHasOneRow) {
  std::vector<std::string> rows;
  for (const Permission& row : Permissions()) {
    if (!row.method.empty()) rows.emplace_back(row.method);
  }
  EXPECT_THAT(rows, UnorderedElementsAreArray(AllMethods()))
      << "add the method to the table in controller/access/permissions.cpp";
}

TEST(PermissionsTest, EveryRouteHasOneRow) {
  std::vector<std::string> rows;
  for (const Permission& row : Permissions()) {
    for (const std::string_view id : row.routes) {
      if (!id.empty()) rows.emplace_back(id);
    }
  }
  std::vector<std::string> routes;
  for (const http::Route& route : http::Routes()) routes.emplace_back(route.id);
  EXPECT_THAT(rows, UnorderedElementsAreArray(routes))
      << "add the route to the table in controller/access/permissions.cpp";
}

TEST(PermissionsTest, AnonymousCallersMayOnlyAskForAProof) {
  for (const std::string& method : AllMethods()) {
    const std::string path = absl::StrCat("/trainyard.v1.", method);
    EXPECT_TRUE(MayCall(Role::kOperator, path)) << path;
    EXPECT_EQ(MayCall(Role::kAnonymous, path), method == "AccessService/Prove") << path;
  }
  for (const http::Route& route : http::Routes()) {
    EXPECT_TRUE(MayUseRoute(Role::kOperator, route.id)) << route.id;
    EXPECT_FALSE(MayUseRoute(Role::kAnonymous, route.id)) << route.id;
  }
}

TEST(PermissionsTest, OperationsWithoutARowAreForOperators) {
  for (const char* path :
       {"", "/trainyard.v1.", "/trainyard.v1.JobService/NoSuchCall", "/grpc.health.v1.Health/Check",
        "AccessService/Prove", "/other.v1.AccessService/Prove"}) {
    EXPECT_TRUE(MayCall(Role::kOperator, path)) << path;
    EXPECT_FALSE(MayCall(Role::kAnonymous, path)) << path;
  }
  for (const char* id : {"", "noSuchRoute"}) {
    EXPECT_TRUE(MayUseRoute(Role::kOperator, id)) << id;
    EXPECT_FALSE(MayUseRoute(Role::kAnonymous, id)) << id;
  }
}

}  // namespace
}  // namespace trainyard::controller
