# The shape every component has, stated once.
#
#   trn_add_component(blas DEPENDS core tile LINKS ... TEST_DEPENDS neuron TEST_SUPPORT nki_run.cpp)
#
# makes the static library trn_blas from blas/src/**.cpp, the test program blas_test from blas/test/*.cpp and the
# named files of tests/support (label: blas),
# a compile-alone check of every public header, and one line of the dependency graph that check_includes.py enforces.

add_library(trn_flags INTERFACE)
target_compile_options(trn_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-psabi -Wno-missing-field-initializers
  # The same bits on every host: no contraction the source does not spell out.
  -ffp-contract=off -fno-math-errno)
if(TRN_SANITIZE)
  target_compile_options(trn_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1)
  target_link_options(trn_flags INTERFACE -fsanitize=address,undefined)
endif()

set_property(GLOBAL PROPERTY TRN_GRAPH "")

function(trn_add_component name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINKS;TEST_DEPENDS;TEST_SUPPORT" ${ARGN})
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/src/*.cpp)
  add_library(trn_${name} STATIC ${sources})
  set_target_properties(trn_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # shared libraries are made of them
  add_library(trn::${name} ALIAS trn_${name})
  target_include_directories(trn_${name} PUBLIC ${dir}/include PRIVATE ${dir}/src)
  list(TRANSFORM ARG_DEPENDS PREPEND trn_ OUTPUT_VARIABLE depends)
  target_link_libraries(trn_${name} PUBLIC ${depends} ${ARG_LINKS} PRIVATE trn_flags)
  list(JOIN ARG_DEPENDS " " depends_line)
  list(JOIN ARG_TEST_DEPENDS " " test_depends_line)
  set_property(GLOBAL APPEND PROPERTY TRN_GRAPH "${name}: ${depends_line} | ${test_depends_line}")

  # Every public header compiles alone.
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${dir}/include ${dir}/include/*.hpp)
  set(alone)
  foreach(header ${headers})
    string(REPLACE "/" "_" stem ${header})
    set(tu ${CMAKE_BINARY_DIR}/headers/${name}/${stem}.cpp)
    file(CONFIGURE OUTPUT ${tu} CONTENT "#include <${header}>\n")
    list(APPEND alone ${tu})
  endforeach()
  if(alone)
    add_library(${name}_headers OBJECT ${alone})
    target_link_libraries(${name}_headers PRIVATE trn_${name} trn_flags)
  endif()

  file(GLOB tests CONFIGURE_DEPENDS ${dir}/test/*.cpp)
  if(tests AND BUILD_TESTING)
    list(TRANSFORM ARG_TEST_DEPENDS PREPEND trn_ OUTPUT_VARIABLE test_depends)
    list(TRANSFORM ARG_TEST_SUPPORT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/tests/support/)
    trn_add_test(${name}_test LABEL ${name} SOURCES ${tests} ${ARG_TEST_SUPPORT} LINKS trn_${name} ${test_depends})
    target_include_directories(${name}_test PRIVATE ${dir}/src)
  endif()
endfunction()

# For programs around the libraries, where nothing is hot: compiled in two thirds of the time.
function(trn_light_optimisation target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# Where tests find this checkout and the interpreter. A header, not a definition on every command line: only the files that
# ask for a path depend on it, and a compiler cache can serve two checkouts.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/test_paths.hpp CONTENT
  "#pragma once\n#define TRN_SOURCE_DIR \"${CMAKE_SOURCE_DIR}\"\n#define TRN_PYTHON \"${TRN_PYTHON}\"\n")

# A GoogleTest program whose cases are CTest tests with one label.
function(trn_add_test target)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LINKS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LINKS} trn_flags GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_BINARY_DIR}/generated)
  trn_light_optimisation(${target})
  include(GoogleTest)
  # One thread per test: CTest runs as many tests at a time as there are cores. Tests of threading set their own number.
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 600 ENVIRONMENT "OMP_NUM_THREADS=1;OPENBLAS_NUM_THREADS=1")
endfunction()

# The one library an application links and the one header it includes: <trn/trn.hpp>.
function(trn_add_umbrella name)
  add_library(${name} INTERFACE)
  add_library(trn::${name} ALIAS ${name})
  list(TRANSFORM ARGN PREPEND trn_ OUTPUT_VARIABLE parts)
  target_link_libraries(${name} INTERFACE ${parts})
  target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR}/include)
endfunction()

function(trn_finish_graph)
  get_property(lines GLOBAL PROPERTY TRN_GRAPH)
  list(JOIN lines "\n" text)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/component_graph.txt CONTENT "${text}\n" @ONLY)
  if(BUILD_TESTING)
    add_test(NAME include_graph
      COMMAND ${TRN_PYTHON} ${CMAKE_SOURCE_DIR}/cmake/check_includes.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/component_graph.txt)
    add_test(NAME include_graph_rejects_a_wrong_arrow
      COMMAND ${TRN_PYTHON} ${CMAKE_SOURCE_DIR}/cmake/check_includes.py --self-test)
    add_test(NAME source_format COMMAND ${CMAKE_SOURCE_DIR}/cmake/check_format.sh)
    set_tests_properties(include_graph include_graph_rejects_a_wrong_arrow source_format PROPERTIES LABELS repository)
  endif()
endfunction()
