// The table of environment.hpp, read for one of the drop-ins.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>

#include "environment.hpp"

namespace trn::dropin {

Environment read_environment(const char* who) {
  try {
    // One owner that is never destroyed, since programs call BLAS from their own exit handlers; the handle that calls
    // use points at the same backend without a share in it.
    static const auto* owner = new Executor(Executor::host());
    const Executor host(std::shared_ptr<Backend>(std::shared_ptr<Backend>(), &owner->backend()));
    std::string name = trn::environment("TRN_EXECUTOR", "host");
    name = name.substr(0, name.find(','));
    const Executor executor = name == "host" ? host : Executor::open(name);
    const Precision precision = Precision::parse(trn::environment("TRN_PRECISION", "native"));
    const bool sums = precision.has_target() || precision.mode() == Mode::Exact;
    const std::string fallback = trn::environment("TRN_FALLBACK", "host");
    if (fallback != "host" && fallback != "none")
      throw InvalidArgument("TRN_FALLBACK is " + fallback + "; it must be host or none");
    return {host,
            executor,
            executor == host,
            precision,
            sums ? precision : Precision(),
            environment_flag("TRN_REPORT"),
            fallback == "host",
            environment_flag("TRN_LOG"),
            executor == host && precision == Precision()};
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: environment: %s\n", who, e.what());
    std::exit(2);
  }
}

void note_host_call(const Environment& e, const char* who) {
  if (e.on_host || (e.fallback && !e.log)) return;
  std::fprintf(stderr, "%s: %s has no kernel for a call%s\n", who, e.executor.name().c_str(),
               e.fallback ? "; the host serves it" : ", and TRN_FALLBACK is none");
  if (!e.fallback) std::exit(2);
}

}  // namespace trn::dropin
