# What `cmake --install` puts where, and what find_package(trnsci) and pkg-config find there. Nothing holds the prefix:
# the tree may be moved. README.md (Install) has the tree.
#
#   trn_finish_install()     after all targets are made
#
# Components (cmake --install --component): runtime, dev, tools, dropins and, with TRN_MPI, scalapack; the Debian packages
# are these. Only tools and scalapack need MPI.

set(TRN_LIBRARIES core tile comm neuron blas rand fft solver tensor sparse)  # the C++ libraries, in link order
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "libraries, below the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The static C++ libraries and their headers: trn::core, ..., and trn::trnsci for all of them.
function(trn_install_cpp)
  foreach(name ${TRN_LIBRARIES})
    set_target_properties(trn_${name} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS trn_${name} EXPORT trnsciCpp ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
      INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(DIRECTORY ${TRN_ROOT}/${name}/include/trn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  endforeach()
  install(TARGETS trnsci EXPORT trnsciCpp INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY ${TRN_ROOT}/include/trn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  install(EXPORT trnsciCpp NAMESPACE trn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trnsci COMPONENT dev)
endfunction()

# libtrnsci.so with its headers, the toolkit folder and trncc: trn::c, trn::cuda.
function(trn_install_c)
  set(lib ${CMAKE_INSTALL_LIBDIR})
  add_library(trnsci_cuda INTERFACE)
  target_include_directories(trnsci_cuda INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/cuda/include>
    $<INSTALL_INTERFACE:${lib}/trnsci/cuda/include>)
  target_link_libraries(trnsci_cuda INTERFACE trnsci_c)
  add_library(trn::c ALIAS trnsci_c)
  add_library(trn::cuda ALIAS trnsci_cuda)
  set_target_properties(trnsci_c PROPERTIES EXPORT_NAME c)
  set_target_properties(trnsci_cuda PROPERTIES EXPORT_NAME cuda)
  install(TARGETS trnsci_c trnsci_cuda EXPORT trnsciC LIBRARY DESTINATION ${lib} COMPONENT runtime NAMELINK_COMPONENT dev
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT trnsciC NAMESPACE trn:: DESTINATION ${lib}/cmake/trnsci COMPONENT dev)
  install(DIRECTORY ${TRN_ROOT}/capi/include/ ${PROJECT_BINARY_DIR}/capi/generated/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/cuda/include DESTINATION ${lib}/trnsci/cuda COMPONENT dev)
  install(FILES ${PROJECT_BINARY_DIR}/cuda/version.txt DESTINATION ${lib}/trnsci/cuda COMPONENT dev)
  install(PROGRAMS ${TRN_ROOT}/capi/trncc DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dev)
  # Names to link by. All lead to the one library; a program needs libtrnsci.so.0 whichever it was linked by.
  set(links ${PROJECT_BINARY_DIR}/links)
  file(MAKE_DIRECTORY ${links}/cuda)
  foreach(name ${TRN_CUDA_NAMES})
    file(CREATE_LINK ../../../libtrnsci.so.0 ${links}/cuda/lib${name}.so SYMBOLIC)
    install(FILES ${links}/cuda/lib${name}.so DESTINATION ${lib}/trnsci/cuda/lib64 COMPONENT dev)
  endforeach()
  file(CREATE_LINK ../../../libtrnsci.so.0 ${links}/cuda/libtrnsci.so.0 SYMBOLIC)  # a run path made of this folder finds it
  install(FILES ${links}/cuda/libtrnsci.so.0 DESTINATION ${lib}/trnsci/cuda/lib64 COMPONENT dev)
  foreach(name ${TRN_C_NAMES})
    file(CREATE_LINK libtrnsci.so.0 ${links}/lib${name}.so SYMBOLIC)
    install(FILES ${links}/lib${name}.so DESTINATION ${lib} COMPONENT dev)
  endforeach()
  foreach(name trnsci ${TRN_C_NAMES})
    configure_file(${TRN_ROOT}/cmake/trnsci.pc.in ${links}/${name}.pc @ONLY)
    install(FILES ${links}/${name}.pc DESTINATION ${lib}/pkgconfig COMPONENT dev)
  endforeach()
endfunction()

function(trn_finish_install)
  if(NOT TRN_INSTALL)
    return()
  endif()
  trn_install_cpp()
  if(TRN_CAPI)
    trn_install_c()
  endif()
  if(TRN_TOOLS)
    install(TARGETS trnsci_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
    # The worker that calls AWS's compiler, to read and to run by hand; the libraries carry its text.
    install(FILES ${TRN_ROOT}/tools/nki_build.py DESTINATION ${CMAKE_INSTALL_DATADIR}/trnsci COMPONENT tools)
  endif()
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/trnsci)
  configure_package_config_file(${TRN_ROOT}/cmake/trnsciConfig.cmake.in ${PROJECT_BINARY_DIR}/trnsciConfig.cmake
    INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/trnsciConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/trnsciConfig.cmake ${PROJECT_BINARY_DIR}/trnsciConfigVersion.cmake
    DESTINATION ${package} COMPONENT dev)
  trn_install_documents()
  trn_packages()
endfunction()

# Each package has its copyright and its changes; the list of what we are made of is written when CMake configures.
function(trn_install_documents)
  execute_process(COMMAND ${TRN_PYTHON} -B ${TRN_ROOT}/cmake/sbom.py ${PROJECT_BINARY_DIR}/sbom.spdx.json ${PROJECT_VERSION}
    COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${PROJECT_BINARY_DIR}/sbom.spdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/trnsci COMPONENT runtime)
  find_program(TRN_GZIP gzip REQUIRED)
  execute_process(COMMAND ${TRN_GZIP} -9nc ${TRN_ROOT}/cmake/debian/changelog OUTPUT_FILE ${PROJECT_BINARY_DIR}/changelog.gz
    COMMAND_ERROR_IS_FATAL ANY)
  foreach(page trnsci.tools trncc.dev)  # the manual, and the component that has the command
    cmake_path(GET page STEM name)
    cmake_path(GET page EXTENSION component)
    string(SUBSTRING ${component} 1 -1 component)
    execute_process(COMMAND ${TRN_GZIP} -9nc ${TRN_ROOT}/cmake/man/${name}.1 OUTPUT_FILE ${PROJECT_BINARY_DIR}/${name}.1.gz
      COMMAND_ERROR_IS_FATAL ANY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
  endforeach()
  foreach(part ${TRN_PARTS})
    install(FILES ${TRN_ROOT}/cmake/debian/copyright ${PROJECT_BINARY_DIR}/changelog.gz
      DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${TRN_PACKAGE_${part}} COMPONENT ${part})
  endforeach()
endfunction()

set(TRN_PARTS runtime dev tools dropins)
if(TRN_MPI AND TRN_DROPINS)
  list(APPEND TRN_PARTS scalapack)
endif()
set(TRN_PACKAGE_runtime libtrnsci0)
set(TRN_PACKAGE_dev libtrnsci-dev)
set(TRN_PACKAGE_tools trnsci-tools)
set(TRN_PACKAGE_dropins trnsci-dropins)
set(TRN_PACKAGE_scalapack trnsci-scalapack)

# Debian packages: cd build/release && cpack -G DEB. The drop-ins are not alternatives of the system's libraries: a program
# takes them by LD_LIBRARY_PATH.
macro(trn_packages)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME trnsci)
  set(CPACK_PACKAGE_CONTACT "trnsci maintainers <trnsci@users.noreply.example.org>")
  set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_COMPONENTS_ALL ${TRN_PARTS})
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  # Who links with libtrnsci.so.0 depends on this package; the linker's cache is renewed by a trigger.
  file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs "libtrnsci ${PROJECT_VERSION_MAJOR} libtrnsci0 (>= ${PROJECT_VERSION})\n")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/shlibs ${TRN_ROOT}/cmake/debian/triggers)
  set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_DROPINS_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_SCALAPACK_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libtrnsci0 (= ${PROJECT_VERSION}), libfmt-dev, libhwy-dev, libopenblas-openmp-dev, zlib1g-dev, libmetis-dev")
  set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "math libraries for AWS Trainium: C API
trnblas, trnfft, trnrand, trnsolver, trnsparse and trntensor as C functions,
in one shared library.")
  set(CPACK_COMPONENT_DEV_DESCRIPTION "math libraries for AWS Trainium: headers and C++ libraries
Headers of the C API under its own and under CUDA's names, trncc, the static
C++ libraries, CMake and pkg-config files.")
  set(CPACK_COMPONENT_TOOLS_DESCRIPTION "math libraries for AWS Trainium: the trnsci command
Benchmarks, listings and profiles of device kernels, DF-MP2 energies.")
  set(CPACK_COMPONENT_DROPINS_DESCRIPTION "math libraries for AWS Trainium: BLAS, LAPACK and FFTW by their names
Libraries under the names that programs load. They are not alternatives of the
system's: set LD_LIBRARY_PATH to /usr/lib/trnsci/dropin.")
  set(CPACK_COMPONENT_SCALAPACK_DESCRIPTION "math libraries for AWS Trainium: level 3 of PBLAS before ScaLAPACK
A library for LD_PRELOAD in programs that use ScaLAPACK over OpenMPI:
/usr/lib/trnsci/dropin/libtrn_scalapack_dropin.so.")
  foreach(part ${TRN_PARTS})
    string(TOUPPER ${part} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${TRN_PACKAGE_${part}})
  endforeach()
  include(CPack)
endmacro()
