# Warnings, sanitizers and ccache for every target of this repository.

add_library(trainyard_options INTERFACE)
target_compile_options(trainyard_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-pthread
  -Wall -Wextra -Werror -Wno-error=deprecated-declarations -Wno-missing-field-initializers>)
# In optimised builds, GCC 12 reports false overlaps and overruns in inlined std::string code (GCC
# bugs 105329 and 105651).
target_compile_options(trainyard_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
target_include_directories(trainyard_options INTERFACE ${PROJECT_SOURCE_DIR})

# By default, GCC collects garbage once its heap exceeds 128 MiB. A limit of 1 GiB, which few files
# reach, makes GCC 10 % faster.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>)

if(TRAINYARD_SANITIZE)
  add_compile_options(-fsanitize=${TRAINYARD_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TRAINYARD_SANITIZE})
  # With sanitizers, GCC 12 reports members of std::function as uninitialised (GCC bug 105562).
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-error=maybe-uninitialized>)
  add_compile_definitions(TRAINYARD_SANITIZED)
  if(TRAINYARD_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(TRAINYARD_SANITIZE MATCHES "thread")
    # ThreadSanitizer does not support fences. Mutexes order Asio's queues as well.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
    # Under ThreadSanitizer, map_field.h of protobuf 3.21 adds two members to maps. The installed
    # library lacks these members, so programs that read a map by reflection would crash. The
    # standard library uses its own macro.
    add_compile_options(-U__SANITIZE_THREAD__)
    add_compile_definitions(_GLIBCXX_TSAN=1)
    set(TRAINYARD_TSAN_OPTIONS
      "suppressions=${PROJECT_SOURCE_DIR}/tests/sanitizers/tsan.supp ignore_noninstrumented_modules=1")
  endif()
endif()

# Lets all checkouts share ccache's results: paths are made relative to the source tree, and
# precompiled headers are compared by content.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE_PROGRAM})
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()
