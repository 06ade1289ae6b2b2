// Sampled products on devices. The entry point, which has checked shapes, executors and addresses, is the host's too.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/sparse/csr.hpp>

namespace trn::sparse {

struct SddmmArgs {
  float alpha;
  MatrixView<const float> a, b;
  float beta;
  Csr<float> s;
};
namespace device {
Csr<float> sddmm(const Executor& executor, const SddmmArgs& args);
}
inline constexpr KernelTable<SddmmArgs, Csr<float>> kSddmm{"sparse.sddmm", nullptr, device::sddmm};

}  // namespace trn::sparse
