# One library per folder, named after the folder's path; one test binary per folder of tests.

# With TRAINYARD_UNITY_BUILD, compiles the target's files as one file.
function(trainyard_unity_build name)
  if(TRAINYARD_UNITY_BUILD)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    # GCC treats the folder's sources as headers of the single file that includes them.
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# For main files, which run once: -O1 cuts their compile time by a quarter. Do not use with a
# precompiled header: GCC 13 accepts a header only at the optimisation level of its build.
function(trainyard_compile_fast name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# trainyard_component(NAME [SOURCES ...] [DEPS ...] [PCH_FROM target])
# A folder's static library. DEPS are public. PCH_FROM reuses that target's precompiled header.
function(trainyard_component name)
  cmake_parse_arguments(ARG "" "PCH_FROM" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC trainyard_options ${ARG_DEPS})
  trainyard_unity_build(${name})
  if(ARG_PCH_FROM)
    target_precompile_headers(${name} REUSE_FROM ${ARG_PCH_FROM})
  endif()
endfunction()

# trainyard_program(NAME SOURCE DEPS...)
# A program, installed into bin.
function(trainyard_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE trainyard_options ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# Builds all tests with the label unit or simulation.
add_custom_target(quick_tests)

# trainyard_test_suites(NAME FILTER SECONDS PROPERTIES)
# Lets ctest add a test for each suite of a program. TestSuites.cmake describes the parameters.
function(trainyard_test_suites name filter seconds properties)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake")
  file(GENERATE OUTPUT "${file}" CONTENT "set(test_name ${name})
set(test_program \"$<TARGET_FILE:${name}>\")
set(test_filter \"${filter}\")
set(test_seconds ${seconds})
set(test_properties \"${properties}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/TestSuites.cmake\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()

# trainyard_test(NAME [SOURCES ...] [DEPS ...] [PCH_FROM target] [TIMEOUT seconds] [LABELS ...]
#                [RESOURCE_LOCK name] [ONE_PROCESS pattern])
# Tests with the same RESOURCE_LOCK never run at the same time. ctest starts one process per suite in
# programs with the label unit, else one per test. Tests whose names match ONE_PROCESS share one
# process and server. TIMEOUT limits a test; a suite gets 10 s more per test.
function(trainyard_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;PCH_FROM;RESOURCE_LOCK;ONE_PROCESS" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  trainyard_unity_build(${name})
  target_link_libraries(${name} PRIVATE trainyard_options ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  if(ARG_PCH_FROM)
    target_precompile_headers(${name} REUSE_FROM ${ARG_PCH_FROM})
  endif()
  if(ARG_LABELS MATCHES "unit|simulation")
    add_dependencies(quick_tests ${name})
  endif()
  set(properties LABELS "${ARG_LABELS}")
  if(ARG_RESOURCE_LOCK)
    list(APPEND properties RESOURCE_LOCK ${ARG_RESOURCE_LOCK})
  endif()
  if(TRAINYARD_SANITIZE MATCHES "thread")
    list(APPEND properties ENVIRONMENT "TSAN_OPTIONS=${TRAINYARD_TSAN_OPTIONS}")
  endif()
  set(filter "")
  if(ARG_ONE_PROCESS)
    set(filter "-${ARG_ONE_PROCESS}")
    add_test(NAME ${name}.one_process COMMAND ${name} "--gtest_filter=${ARG_ONE_PROCESS}")
    set_tests_properties(${name}.one_process PROPERTIES ${properties} TIMEOUT 300)
  endif()
  if(ARG_LABELS MATCHES "unit")
    trainyard_test_suites(${name} "${filter}" ${ARG_TIMEOUT} "${properties}")
  else()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      PROPERTIES ${properties} TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()
