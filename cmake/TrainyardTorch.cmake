# LibTorch, found through CMAKE_PREFIX_PATH: Debian's 1.13 (CPU), or 2.8 and newer (CUDA).
find_package(Threads REQUIRED)
find_package(Torch REQUIRED)
find_package(nlohmann_json CONFIG QUIET)
if(NOT nlohmann_json_FOUND)
  find_path(NLOHMANN_JSON_INCLUDE nlohmann/json.hpp REQUIRED)
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
  target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${NLOHMANN_JSON_INCLUDE})
endif()

add_library(trainyard_torch INTERFACE)
target_include_directories(trainyard_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_link_libraries(trainyard_torch INTERFACE ${TORCH_LIBRARIES} Threads::Threads
                      nlohmann_json::nlohmann_json)
separate_arguments(TORCH_FLAGS UNIX_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(trainyard_torch INTERFACE ${TORCH_FLAGS})
if(TRAINYARD_CUDA)
  target_compile_definitions(trainyard_torch INTERFACE TRAINYARD_CUDA USE_C10D_NCCL)
else()
  # The CPU backend closes Gloo's connections itself, because LibTorch has no function for this.
  find_library(GLOO_LIBRARY NAMES gloo REQUIRED)
  target_compile_definitions(trainyard_torch INTERFACE USE_C10D_GLOO)
  target_link_libraries(trainyard_torch INTERFACE ${GLOO_LIBRARY})
endif()

add_library(trainyard_torch_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(trainyard_torch_pch PUBLIC trainyard_options trainyard_torch)
# Not <torch/torch.h>: its modules, optimizers and data sets would double each file's compile time.
target_precompile_headers(trainyard_torch_pch PUBLIC
  <torch/types.h> <torch/autograd.h> <torch/utils.h> <nlohmann/json.hpp>)

# xxhash.h is used inline; no library.
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)
if(NOT XXHASH_INCLUDE STREQUAL "/usr/include")
  include_directories(SYSTEM ${XXHASH_INCLUDE})
endif()

# NCCL from the CUDA wheel (-DNCCL_ROOT=.../site-packages/nvidia/nccl) or from the system.
if(TRAINYARD_CUDA)
  find_path(NCCL_INCLUDE nccl.h HINTS ${NCCL_ROOT}/include REQUIRED)
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${NCCL_ROOT}/lib REQUIRED)
  target_include_directories(trainyard_torch SYSTEM INTERFACE ${NCCL_INCLUDE})
  target_link_libraries(trainyard_torch INTERFACE ${NCCL_LIBRARY})
endif()
