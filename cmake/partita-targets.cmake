# What an installed partita, and one that was added as a folder, have in common: given PARTITA_INCLUDE_DIR, the targets
# partita::kernels and, where there is a BLAS, partita::nn; partita::partita is all that there is.
if(NOT TARGET partita::kernels)
  add_library(partita::kernels INTERFACE IMPORTED GLOBAL)
  set_target_properties(partita::kernels PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${PARTITA_INCLUDE_DIR}"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_COMPILE_DEFINITIONS "OMPI_SKIP_MPICXX=;MPICH_SKIP_MPICXX="
    INTERFACE_LINK_LIBRARIES "MPI::MPI_CXX;Boost::mpi;Boost::serialization;xtensor")
  if(xtensor_VERSION AND xtensor_VERSION VERSION_LESS 0.25)
    # clang 19 reads template template arguments as P0522 says, which makes xtensor 0.24's rebind_container ambiguous
    set(_partita_clang_19 "$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,19>\
,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,20>>")
    set_property(TARGET partita::kernels PROPERTY INTERFACE_COMPILE_OPTIONS
      "$<${_partita_clang_19}:-fno-relaxed-template-template-args;-Wno-deprecated-no-relaxed-template-template-args>")
    unset(_partita_clang_19)
  endif()
  add_library(partita::partita INTERFACE IMPORTED GLOBAL)
  set_target_properties(partita::partita PROPERTIES INTERFACE_LINK_LIBRARIES partita::kernels)
endif()
if(BLAS_FOUND AND NOT TARGET partita::nn)
  add_library(partita::nn INTERFACE IMPORTED GLOBAL)
  set_target_properties(partita::nn PROPERTIES INTERFACE_LINK_LIBRARIES "partita::kernels;${BLAS_LIBRARIES}")
  if(PARTITA_ONEDNN)  # convolutions of floats by oneDNN
    find_library(PARTITA_DNNL dnnl REQUIRED)
    set_property(TARGET partita::nn APPEND PROPERTY INTERFACE_LINK_LIBRARIES "${PARTITA_DNNL}")
    set_property(TARGET partita::nn PROPERTY INTERFACE_COMPILE_DEFINITIONS PARTITA_ONEDNN)
  endif()
  set_target_properties(partita::partita PROPERTIES INTERFACE_LINK_LIBRARIES partita::nn)
endif()
