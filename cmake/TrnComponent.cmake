# The shape every component has, stated once.
#
#   trn_add_component(blas DEPENDS core tile LINKS ... PRIVATE_LINKS ... TEST_DEPENDS neuron TEST_SUPPORT nki_run.cpp)
#
# makes the static library trn_blas from blas/src/**.cpp, the test program blas_test from blas/test/*.cpp and the
# named files of tests/support (label: blas, or TEST_LABEL), the test program blas_dist_test from blas/test/dist/*.cpp
# (label: dist; tests of several ranks),
# a compile-alone check of every public header, and one line of the dependency graph that check_includes.py enforces.

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH TRN_ROOT)  # this project's folder, also as a part of another one
add_library(trn_flags INTERFACE)
target_compile_options(trn_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-psabi -Wno-missing-field-initializers
  # The same bits on every host: no contraction the source does not spell out.
  -ffp-contract=off -fno-math-errno)
# Processors without SSSE3 get Highway's scalar code from every compiler: GCC 12 takes it for that case, Clang would take
# an emulation of 128-bit vectors that the engines were not written for.
target_compile_definitions(trn_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:HWY_BROKEN_EMU128=1>)
# A sanitizer's report needs lines, not types: -g1 compiles in two thirds of the time of Debug's -g.
if(TRN_SANITIZE STREQUAL "thread")
  target_compile_options(trn_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer -O1 -g1)
  target_link_options(trn_flags INTERFACE -fsanitize=thread)
elseif(TRN_SANITIZE)  # address
  target_compile_options(trn_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g1)
  target_link_options(trn_flags INTERFACE -fsanitize=address,undefined)
endif()

# Sources that call hot code and have none of their own: writers of device programs (their cost is a program's length, once
# a shape), text and report writers, iterations over whole vectors. -O1 compiles them in two thirds of the time.
set(TRN_LIGHT_FOLDERS "/src/(device|iterative|spectra|randomized|nki|report|validation)/")

# Several sources of one target in one translation unit: their headers are read once, and a fresh build takes half the
# processor time. unity_groups.py chooses sources that cannot see each other's names, when CMake configures.
# Off, every file is compiled alone: quicker after a change to one file, and it proves that each includes what it uses.
function(trn_unity target)
  get_target_property(sources ${target} SOURCES)
  set(paths)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    list(APPEND paths ${source})
  endforeach()
  set(light ${paths})
  list(FILTER light INCLUDE REGEX ${TRN_LIGHT_FOLDERS})
  list(FILTER paths EXCLUDE REGEX ${TRN_LIGHT_FOLDERS})
  set(light_option $<$<CONFIG:Release>:-O1>)
  if(NOT TRN_UNITY)
    set_source_files_properties(${light} PROPERTIES COMPILE_OPTIONS ${light_option})
    return()
  endif()
  set_property(TARGET ${target} PROPERTY SOURCES "")
  trn_unity_groups(${target} "" "" "${paths}" ${ARGN})
  trn_unity_groups(${target} light_ ${light_option} "${light}" ${ARGN})
  target_compile_options(${target} PRIVATE "SHELL:-iquote ${TRN_ROOT}")
endfunction()

function(trn_unity_groups target prefix option paths)
  file(GLOB headers ${TRN_ROOT}/*/include ${TRN_ROOT}/apps/*/include)
  execute_process(COMMAND ${TRN_PYTHON} -B ${TRN_ROOT}/cmake/unity_groups.py 12 ${ARGN} ${TRN_ROOT}/tests ${headers} -- ${paths}
    OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${lines}")
  set(groups)
  foreach(line ${lines})
    string(REGEX MATCH "^(.*)\\|(.*)$" _ "${line}")
    set(source ${CMAKE_MATCH_1})
    set(group ${CMAKE_MATCH_2})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(depends ${source} OBJECT_DEPENDS)
    if("${group}" STREQUAL "" OR options OR depends)  # with flags or inputs of its own: alone
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${option})
      set_property(TARGET ${target} APPEND PROPERTY SOURCES ${source})
    else()
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${TRN_ROOT})
      list(APPEND groups ${group})
      string(APPEND text_${group} "#include \"${source}\"\n")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES groups)
  # Written here and not by CMake's UNITY_BUILD, which names sources by absolute path: with paths from the project's root
  # a compiler cache serves every checkout. The two warnings would speak of the helpers of another file.
  foreach(group ${groups})
    set(unit ${PROJECT_BINARY_DIR}/unity/${target}/${prefix}${group}.cpp)
    file(CONFIGURE OUTPUT ${unit} @ONLY CONTENT "#pragma GCC diagnostic ignored \"-Wshadow\"
#ifndef __clang__
#pragma GCC diagnostic ignored \"-Wsubobject-linkage\"
#endif
${text_${group}}")
    set_property(SOURCE ${unit} PROPERTY COMPILE_OPTIONS ${option})
    set_property(TARGET ${target} APPEND PROPERTY SOURCES ${unit})
  endforeach()
endfunction()

set_property(GLOBAL PROPERTY TRN_GRAPH "")

function(trn_add_component name)
  cmake_parse_arguments(ARG "" "TEST_LABEL" "DEPENDS;LINKS;PRIVATE_LINKS;TEST_DEPENDS;TEST_SUPPORT" ${ARGN})
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/src/*.cpp)
  add_library(trn_${name} STATIC ${sources})
  set_target_properties(trn_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # shared libraries are made of them
  trn_unity(trn_${name} ${dir}/src)
  add_library(trn::${name} ALIAS trn_${name})
  target_include_directories(trn_${name} PUBLIC $<BUILD_INTERFACE:${dir}/include> PRIVATE ${dir}/src)
  target_compile_features(trn_${name} PUBLIC cxx_std_20)
  list(TRANSFORM ARG_DEPENDS PREPEND trn_ OUTPUT_VARIABLE depends)
  target_link_libraries(trn_${name} PUBLIC ${depends} ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS} $<BUILD_INTERFACE:trn_flags>)
  list(JOIN ARG_DEPENDS " " depends_line)
  list(JOIN ARG_TEST_DEPENDS " " test_depends_line)
  set_property(GLOBAL APPEND PROPERTY TRN_GRAPH "${name}: ${depends_line} | ${test_depends_line}")

  # Every public header compiles alone. A sanitizer would find nothing there.
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${dir}/include ${dir}/include/*.hpp)
  set(alone)
  foreach(header ${headers})
    string(REPLACE "/" "_" stem ${header})
    set(tu ${PROJECT_BINARY_DIR}/headers/${name}/${stem}.cpp)
    file(CONFIGURE OUTPUT ${tu} CONTENT "#include <${header}>\n")
    list(APPEND alone ${tu})
  endforeach()
  if(alone AND BUILD_TESTING AND NOT TRN_SANITIZE)
    add_library(${name}_headers OBJECT ${alone})
    target_link_libraries(${name}_headers PRIVATE trn_${name} trn_flags)
  endif()

  if(NOT ARG_TEST_LABEL)
    set(ARG_TEST_LABEL ${name})
  endif()
  list(TRANSFORM ARG_TEST_DEPENDS PREPEND trn_ OUTPUT_VARIABLE test_depends)
  file(GLOB tests CONFIGURE_DEPENDS ${dir}/test/*.cpp)
  if(tests AND BUILD_TESTING)
    list(TRANSFORM ARG_TEST_SUPPORT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/tests/support/)
    trn_add_test(${name}_test LABEL ${ARG_TEST_LABEL} SOURCES ${tests} ${ARG_TEST_SUPPORT} LINKS trn_${name} ${test_depends}
      FOLDERS ${dir}/src)
    target_include_directories(${name}_test PRIVATE ${dir}/src)
  endif()
  file(GLOB dist_tests CONFIGURE_DEPENDS ${dir}/test/dist/*.cpp)
  if(dist_tests AND BUILD_TESTING)
    trn_add_test(${name}_dist_test LABEL dist SOURCES ${dist_tests} LINKS trn_${name} ${test_depends} FOLDERS ${dir}/src)
    target_include_directories(${name}_dist_test PRIVATE ${dir}/src)
  endif()
endfunction()

# For programs around the libraries, where nothing is hot: compiled in two thirds of the time.
function(trn_light_optimisation target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# Where tests find this checkout and the interpreter. A header, not a definition on every command line: only the files that
# ask for a path depend on it, and a compiler cache can serve two checkouts.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/test_paths.hpp CONTENT
  "#pragma once\n#define TRN_SOURCE_DIR \"${TRN_ROOT}\"\n#define TRN_PYTHON \"${TRN_PYTHON}\"\n")

# A GoogleTest program whose cases are CTest tests with one label.
function(trn_add_test target)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LINKS;FOLDERS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LINKS} trn_flags GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${TRN_ROOT}/tests ${PROJECT_BINARY_DIR}/generated)
  trn_light_optimisation(${target})
  trn_unity(${target} ${ARG_FOLDERS})
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
  target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${TRN_ROOT}/include>)
endfunction()

function(trn_finish_graph)
  get_property(lines GLOBAL PROPERTY TRN_GRAPH)
  list(JOIN lines "\n" text)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/component_graph.txt CONTENT "${text}\n" @ONLY)
  if(BUILD_TESTING)
    add_test(NAME include_graph
      COMMAND ${TRN_PYTHON} ${TRN_ROOT}/cmake/check_includes.py ${TRN_ROOT} ${PROJECT_BINARY_DIR}/component_graph.txt)
    add_test(NAME include_graph_rejects_a_wrong_arrow
      COMMAND ${TRN_PYTHON} ${TRN_ROOT}/cmake/check_includes.py --self-test)
    add_test(NAME one_seam COMMAND ${TRN_PYTHON} -B ${TRN_ROOT}/cmake/check_seam.py ${TRN_ROOT})
    add_test(NAME one_seam_rejects_a_way_around_it COMMAND ${TRN_PYTHON} -B ${TRN_ROOT}/cmake/check_seam.py --self-test)
    add_test(NAME source_format COMMAND ${TRN_ROOT}/cmake/check_format.sh)
    add_test(NAME unity_groups COMMAND ${TRN_PYTHON} -B ${TRN_ROOT}/cmake/unity_groups.py --self-test)
    set_tests_properties(include_graph include_graph_rejects_a_wrong_arrow one_seam one_seam_rejects_a_way_around_it
      source_format unity_groups PROPERTIES LABELS repository)
  endif()
endfunction()
