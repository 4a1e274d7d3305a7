# Warnings, sanitizers and ccache: the same for every target of this repository.

add_library(trainyard_options INTERFACE)
target_compile_options(trainyard_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-pthread
  -Wall -Wextra -Werror -Wno-error=deprecated-declarations -Wno-missing-field-initializers>)
# GCC 12 sees overlaps and overruns in inlined std::string code that are not there (GCC bugs 105329
# and 105651); it does so when it optimises.
target_compile_options(trainyard_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
target_include_directories(trainyard_options INTERFACE ${PROJECT_SOURCE_DIR})

# GCC collects its garbage from 128 MiB on; with 1 GiB, which few of our files need, it is a tenth
# faster.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>)

if(TRAINYARD_SANITIZE)
  add_compile_options(-fsanitize=${TRAINYARD_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TRAINYARD_SANITIZE})
  # GCC 12 takes members of std::function for uninitialised when it adds checks (GCC bug 105562).
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-error=maybe-uninitialized>)
  add_compile_definitions(TRAINYARD_SANITIZED)
  if(TRAINYARD_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(TRAINYARD_SANITIZE MATCHES "thread")
    # ThreadSanitizer does not support fences; Asio's queues are ordered by their mutexes too.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
    # protobuf 3.21's map_field.h gives maps two more members under ThreadSanitizer, which the
    # installed library was built without: programs that read a map by reflection crash. The
    # standard library asks by a macro of its own.
    add_compile_options(-U__SANITIZE_THREAD__)
    add_compile_definitions(_GLIBCXX_TSAN=1)
    set(TRAINYARD_TSAN_OPTIONS
      "suppressions=${PROJECT_SOURCE_DIR}/tests/sanitizers/tsan.supp ignore_noninstrumented_modules=1")
  endif()
endif()

# ccache sees the same command from every checkout: paths are made relative to the source tree,
# and precompiled headers are compared by content.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE_PROGRAM})
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()
