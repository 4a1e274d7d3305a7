# Libraries of the controller, the worker and the CLI. All of them are Debian packages.
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(tomlplusplus CONFIG REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(utf8cpp CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(SNAPPY REQUIRED IMPORTED_TARGET snappy)
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(SENTENCEPIECE REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(LIBPQ QUIET IMPORTED_TARGET libpq)
option(TRAINYARD_POSTGRES "Build the stores in PostgreSQL (need libpq)" ${LIBPQ_FOUND})
if(TRAINYARD_POSTGRES AND NOT LIBPQ_FOUND)
  message(FATAL_ERROR "TRAINYARD_POSTGRES needs libpq; install libpq-dev, or set it to OFF")
endif()
find_library(CLD2_LIBRARY cld2 REQUIRED)  # Debian's package has no file for pkg-config.

# In the controller, one thread allocates many small messages and another thread frees them.
# jemalloc halves the CPU time of a submission. Sanitizers have their own allocator.
add_library(trainyard_allocator INTERFACE)
if(NOT TRAINYARD_SANITIZE)
  find_library(JEMALLOC_LIBRARY jemalloc REQUIRED)
  target_link_libraries(trainyard_allocator INTERFACE ${JEMALLOC_LIBRARY})
endif()

# Headers that nearly every file of the daemons includes.
add_library(trainyard_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(trainyard_pch PUBLIC trainyard_options absl::statusor absl::status absl::strings
                      protobuf::libprotobuf nlohmann_json::nlohmann_json)
target_precompile_headers(trainyard_pch PUBLIC
  <algorithm> <chrono> <cstdint> <deque> <functional> <map> <memory> <optional> <set> <string>
  <string_view> <utility> <variant> <vector> <absl/status/status.h> <absl/status/statusor.h>
  <absl/strings/str_cat.h> <google/protobuf/message.h> <google/protobuf/map_field.h>)

# Precompiled headers of the daemons, and gRPC.
add_library(trainyard_grpc_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(trainyard_grpc_pch PUBLIC trainyard_options absl::statusor absl::status
                      absl::strings protobuf::libprotobuf gRPC::grpc++ nlohmann_json::nlohmann_json)
target_precompile_headers(trainyard_grpc_pch PUBLIC
  <algorithm> <chrono> <cstdint> <deque> <functional> <map> <memory> <optional> <set> <string>
  <string_view> <utility> <variant> <vector> <absl/status/status.h> <absl/status/statusor.h>
  <absl/strings/str_cat.h> <google/protobuf/message.h> <google/protobuf/map_field.h>
  <grpcpp/grpcpp.h>)
