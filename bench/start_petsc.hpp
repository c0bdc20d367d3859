// Starts PETSc once for all peers that use it.
#pragma once

#include <petscsys.h>

namespace bench {

inline void start_petsc() {
  PetscBool started = PETSC_FALSE;
  PetscInitialized(&started);
  if (started) return;
  PetscOptionsSetValue(nullptr, "-no_signal_handler", "");
  PetscInitializeNoArguments();
}

}  // namespace bench
