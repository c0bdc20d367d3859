# A Spack recipe: put this folder at packages/partita/ of a repository of yours, `spack repo add` it, and
# `spack dev-build partita@0.2.0` in the checkout.
from spack.package import *


class Partita(MesonPackage):
    """Tensors spread over MPI workers: legal at compile time, planned without communicating, moved by Boost.MPI."""

    homepage = "https://example.org/partita"
    license("BSD-3-Clause")

    version("0.2.0")

    variant("nn", default=True, description="linear layers, which multiply matrices by BLAS")
    variant("core", default=True, description="compile libpartita, the compiled core")
    variant("tools", default=True, description="build partita-explain")

    depends_on("cxx", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("boost@1.74: +mpi +serialization")
    depends_on("xtensor@0.24:")
    depends_on("xtl")
    depends_on("xtensor-blas", when="+nn")
    depends_on("openblas", when="+nn")

    conflicts("%gcc@:11")
    conflicts("%clang@:13")

    def meson_args(self):
        wanted = [f"-D{name}={'enabled' if self.spec.satisfies(f'+{name}') else 'disabled'}" for name in ("core", "tools")]
        return ["-Dtests=disabled", "-Dexamples=disabled", "-Dbenchmarks=disabled", *wanted]
