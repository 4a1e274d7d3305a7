# Adds one test for each suite of a GoogleTest program. ctest includes this file, so the suites are
# those of the program as built. A process per suite instead of per test saves thousands of process
# starts, most of all where a process loads LibTorch.
#   test_name        name of the program
#   test_program     its path
#   test_filter      part of --gtest_filter after "Suite.*", such as "-*Postgres*"; may be empty
#   test_seconds     time limit of one test
#   test_properties  properties of each suite
if(NOT EXISTS "${test_program}")
  add_test(${test_name}_NOT_BUILT ${test_name}_NOT_BUILT)
  return()
endif()

# Lists the tests only if the program has changed: every run of ctest includes this file.
set(test_list "${test_program}_list.txt")
if(NOT EXISTS "${test_list}" OR "${test_program}" IS_NEWER_THAN "${test_list}")
  execute_process(COMMAND "${test_program}" --gtest_list_tests "--gtest_filter=*${test_filter}"
    OUTPUT_VARIABLE test_lines RESULT_VARIABLE test_result TIMEOUT 60)
  if(NOT test_result EQUAL 0)
    message(FATAL_ERROR "${test_program} --gtest_list_tests failed: ${test_result}\n${test_lines}")
  endif()
  file(WRITE "${test_list}" "${test_lines}")
endif()

# A test's name includes the program, because two programs may have suites of the same name.
# A line is "Suite." or an indented test of that suite. A comment (type or value) may follow.
file(STRINGS "${test_list}" test_lines REGEX "^( *[^ #;]+)")
set(test_suites "")
foreach(test_line IN LISTS test_lines)
  if(test_line MATCHES "^([^ ]+)\\.( |$)")
    set(test_suite "${CMAKE_MATCH_1}")
    list(APPEND test_suites "${test_suite}")
    set(test_count_${test_suite} 0)
  elseif(test_line MATCHES "^  ")
    math(EXPR test_count_${test_suite} "${test_count_${test_suite}} + 1")
  endif()
endforeach()

foreach(test_suite IN LISTS test_suites)
  set(test "${test_name}.${test_suite}")
  add_test("${test}" "${test_program}" "--gtest_filter=${test_suite}.*${test_filter}")
  # The limit of one test, plus 10 s per test for suites of many tests on a busy machine.
  math(EXPR test_limit "${test_seconds} + 10 * ${test_count_${test_suite}}")
  set_tests_properties("${test}" PROPERTIES ${test_properties} TIMEOUT ${test_limit})
endforeach()
