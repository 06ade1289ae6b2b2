// Intel's MKL as a peer of the benchmark: `pip install mkl` in an environment of its own, and the path of its
// libmkl_rt.so.3 as an argument. It is loaded when the program runs; nothing of it is linked or needed otherwise. The
// functions and numbers are those that its manual documents for C.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

// Of the library; empty: there is no such peer.
inline std::string mkl_path;

struct MklLibrary {
  using Descriptor = void*;
  long (*create)(Descriptor*, int precision, int domain, long dimensions, ...) = nullptr;
  long (*set)(Descriptor, int parameter, ...) = nullptr;
  long (*commit)(Descriptor) = nullptr;
  long (*forward)(Descriptor, void* in, ...) = nullptr;
  long (*backward)(Descriptor, void* in, ...) = nullptr;
  long (*release)(Descriptor*) = nullptr;
  void (*threads)(int) = nullptr;

  // Null without a path; a path that cannot be used ends the program.
  static const MklLibrary* get() {
    static const std::unique_ptr<MklLibrary> library = open();
    return library.get();
  }

 private:
  static std::unique_ptr<MklLibrary> open() {
    if (mkl_path.empty()) return nullptr;
    void* file = dlopen(mkl_path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    auto library = std::make_unique<MklLibrary>();
    const auto find = [&](auto& function, const char* name) {
      function = file ? reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(file, name)) : nullptr;
      if (function) return;
      const char* reason = dlerror();
      std::fprintf(stderr, "mkl=%s: %s\n", mkl_path.c_str(), reason ? reason : name);
      std::exit(1);
    };
    find(library->create, "DftiCreateDescriptor");
    find(library->set, "DftiSetValue");
    find(library->commit, "DftiCommitDescriptor");
    find(library->forward, "DftiComputeForward");
    find(library->backward, "DftiComputeBackward");
    find(library->release, "DftiFreeDescriptor");
    find(library->threads, "MKL_Set_Num_Threads");
    return library;
  }
};

// `lines` dense lines of n points, out of place. real: real on one side; inverse: the other way.
template <class T>
std::function<void()> mkl(std::int64_t n, std::int64_t lines, int threads, bool real, bool inverse, T* in, T* out) {
  const MklLibrary* const library = MklLibrary::get();
  if (!library) return {};
  constexpr int kSingle = 35, kDouble = 36, kComplex = 32, kReal = 33, kTransforms = 7, kStorage = 10, kPlacement = 11,
                kInDistance = 14, kOutDistance = 15, kComplexComplex = 39, kNotInPlace = 44;
  library->threads(threads);
  MklLibrary::Descriptor made = nullptr;
  const long half = static_cast<long>(n / 2 + 1), whole = static_cast<long>(n);
  bool good =
      library->create(&made, sizeof(T) == sizeof(float) ? kSingle : kDouble, real ? kReal : kComplex, 1L, whole) == 0;
  const auto set = [&](int parameter, auto value) { good = good && library->set(made, parameter, value) == 0; };
  set(kPlacement, kNotInPlace);
  set(kTransforms, static_cast<long>(lines));
  set(kInDistance, real && inverse ? half : whole);
  set(kOutDistance, real && !inverse ? half : whole);
  if (real) set(kStorage, kComplexComplex);
  good = good && library->commit(made) == 0;
  if (!good) {
    std::fprintf(stderr, "MKL refuses a line of %ld points\n", whole);
    std::exit(1);
  }
  const std::shared_ptr<void> owner(made, [library](void* p) { library->release(&p); });
  return [=] { static_cast<void>((inverse ? library->backward : library->forward)(owner.get(), in, out)); };
}
