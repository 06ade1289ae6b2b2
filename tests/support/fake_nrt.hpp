// The fake runtime in a test: chooses a flavour and rules, and looks afterwards whether the contract was kept and
// everything given back.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "fake_nrt/control.hpp"
#include "nrt/device.hpp"
#include "nrt/queue.hpp"
#include "silicon_paths.hpp"
#include "support/fake_neff.hpp"

namespace trn::neuron::testing {

// Asynchronous functions of version 3; the same names with their former signature; nothing that may be missing.
inline constexpr std::array<const char*, 3> kFlavours{"new", "old", "bare"};
inline std::string fake_library(const std::string& flavour) {
  return std::string(TRN_FAKE_NRT_FOLDER) + (flavour == "new" ? "" : "/" + flavour) + "/libnrt.so.1";
}

class FakeRuntime {
 public:
  explicit FakeRuntime(const std::string& rules = "", const std::string& flavour = "new") {
    const std::string path = fake_library(flavour);
    nrt::Runtime::close_for_test();
    setenv("TRN_NRT_LIBRARY", path.c_str(), 1);
    unsetenv("NEURON_LOGICAL_NC_CONFIG");
    unsetenv("NEURON_RT_STOCHASTIC_ROUNDING_EN");
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) throw std::runtime_error(dlerror());
    reset(rules);
  }
  // Closes the runtime. Nothing may be left in it but what a lost core keeps.
  ~FakeRuntime() {
    if (!lost) {
      for (const char* what : {"tensors", "sets", "models", "infos"}) EXPECT_EQ(count(what), 0u) << what;
    }
    if (!expects_violations) {
      EXPECT_EQ(violations(), "");
    }
    nrt::Runtime::close_for_test();
    // A lost core leaves a thread behind, on its way into the runtime or inside: its calls are not the next test's.
    while (nrt::blocking_calls() > 0) {
      reset("");
      std::this_thread::yield();
    }
    unsetenv("TRN_NRT_LIBRARY");
  }
  FakeRuntime(const FakeRuntime&) = delete;
  FakeRuntime& operator=(const FakeRuntime&) = delete;

  [[nodiscard]] std::uint64_t count(const char* what) const {
    return call<std::uint64_t(const char*)>("trn_fake_count")(what);
  }
  [[nodiscard]] std::string violations() const { return call<const char*()>("trn_fake_violations")(); }
  [[nodiscard]] double clock() const { return call<double()>("trn_fake_clock")(); }
  void work(double microseconds) const { call<void(double)>("trn_fake_work")(microseconds); }

  // Calls that hang come back.
  void release() const { call<void()>("trn_fake_release")(); }

  bool lost = false, expects_violations = false;

 private:
  void reset(const std::string& rules) const { call<void(const char*)>("trn_fake_reset")(rules.c_str()); }
  template <class F> F* call(const char* name) const { return reinterpret_cast<F*>(dlsym(handle_, name)); }
  void* handle_;
};

inline Executor open_fake(const NeuronOptions& options = {}, const std::string& name = "", bool text = false) {
  return nrt::open_device(options, fake_source(text), name);
}

}  // namespace trn::neuron::testing
