# CUDA: nvcc for trainer/kernels, and the libraries that the kernels call. Sets TRAINYARD_KERNELS if
# all are found. Without TRAINYARD_CUDA, the kernels are compiled but not linked, so that compile
# errors are found on machines without a GPU. A CUDA LibTorch wheel includes the libraries;
# TRAINYARD_CUDA_LIBRARIES then lists their folders.
include(CheckLanguage)
check_language(CUDA)
set(TRAINYARD_KERNELS OFF)
if(NOT CMAKE_CUDA_COMPILER)
  if(TRAINYARD_CUDA)
    message(FATAL_ERROR "TRAINYARD_CUDA needs nvcc; install the CUDA toolkit or set CUDACXX.")
  endif()
  return()
endif()

enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 20)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
if(CCACHE_PROGRAM AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
find_package(CUDAToolkit REQUIRED)

set(TRAINYARD_CUDA_LIBRARIES "" CACHE STRING "Folders with libcublasLt and libcudnn")
set(TRAINYARD_CUDA_HEADERS "" CACHE STRING "Folders with cublasLt.h and cudnn.h")
find_path(CUBLASLT_INCLUDE cublasLt.h HINTS ${TRAINYARD_CUDA_HEADERS} ${CUDAToolkit_INCLUDE_DIRS})
find_path(CUDNN_INCLUDE cudnn.h HINTS ${TRAINYARD_CUDA_HEADERS} ${CUDAToolkit_INCLUDE_DIRS})
find_library(CUBLASLT_LIBRARY NAMES libcublasLt.so.13 libcublasLt.so.12 cublasLt
             HINTS ${TRAINYARD_CUDA_LIBRARIES} ${CUDAToolkit_LIBRARY_DIR})
find_library(CUDNN_LIBRARY NAMES libcudnn.so.9 cudnn
             HINTS ${TRAINYARD_CUDA_LIBRARIES} ${CUDAToolkit_LIBRARY_DIR})
if(CUBLASLT_INCLUDE AND CUDNN_INCLUDE AND CUBLASLT_LIBRARY AND CUDNN_LIBRARY)
  set(TRAINYARD_KERNELS ON)
elseif(TRAINYARD_CUDA)
  message(FATAL_ERROR "TRAINYARD_CUDA needs cuBLASLt and cuDNN: name their folders with "
                      "-DTRAINYARD_CUDA_HEADERS and -DTRAINYARD_CUDA_LIBRARIES.")
else()
  return()
endif()

add_library(trainyard_cuda_libraries INTERFACE)
target_include_directories(trainyard_cuda_libraries SYSTEM INTERFACE
  ${CUDAToolkit_INCLUDE_DIRS} ${CUBLASLT_INCLUDE} ${CUDNN_INCLUDE})
target_link_libraries(trainyard_cuda_libraries INTERFACE ${CUBLASLT_LIBRARY} ${CUDNN_LIBRARY}
                      CUDA::cudart nlohmann_json::nlohmann_json)
