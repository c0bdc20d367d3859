"""conan create tools/packages/conan: a package of the headers of the checkout that this file lies in.

Boost.MPI, xtensor, MPI and BLAS are the system's: a Boost.MPI has to be compiled against the MPI that programs run on,
which a binary from elsewhere is not."""
import os

from conan import ConanFile
from conan.tools.files import copy


class Partita(ConanFile):
    name = "partita"
    version = "0.2.0"
    license = "BSD-3-Clause"
    description = "Tensors spread over MPI workers: legal at compile time, planned without communicating"
    package_type = "header-library"
    no_copy_source = True

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..", "..")
        copy(self, "include/*", root, self.export_sources_folder)
        copy(self, "LICENSE", root, self.export_sources_folder)

    def package(self):
        copy(self, "*", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        skip = ["OMPI_SKIP_MPICXX=", "MPICH_SKIP_MPICXX="]
        kernels, nn = self.cpp_info.components["kernels"], self.cpp_info.components["nn"]
        kernels.set_property("cmake_target_name", "partita::kernels")
        kernels.defines = skip
        kernels.system_libs = ["boost_mpi", "boost_serialization", "mpi"]
        kernels.bindirs = kernels.libdirs = nn.bindirs = nn.libdirs = []
        nn.set_property("cmake_target_name", "partita::nn")
        nn.requires = ["kernels"]
        nn.system_libs = ["openblas"]
