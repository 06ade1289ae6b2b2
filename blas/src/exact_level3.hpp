// The other products of level 3 in Precision Exact: their operands written out, then exact_gemm, on every executor.
#pragma once

#include "exact.hpp"
#include "kernels.hpp"

namespace trn::blas {

// Whether a call goes through these functions: Exact was asked for, or float64 with a target on a device.
[[nodiscard]] bool takes_exact(const Executor& executor, DType dtype, const Precision& precision);

// The operands of the product that each of them makes, measured. alpha and k are not 0.
[[nodiscard]] ExactOperands operands_of(const Executor& executor, const SymmArgs& args);
[[nodiscard]] ExactOperands operands_of(const Executor& executor, const SyrkArgs& args);
[[nodiscard]] ExactOperands operands_of(const Executor& executor, const TrmmArgs& args);
// `operands`: those, where they have been measured already.
Accuracy exact_symm(const char* operation, const Executor& executor, const SymmArgs& args,
                    const ExactOperands* operands, const Bounds& bounds);
Accuracy exact_syrk(const char* operation, const Executor& executor, const SyrkArgs& args,
                    const ExactOperands* operands, const Bounds& bounds);
Accuracy exact_trmm(const char* operation, const Executor& executor, const TrmmArgs& args,
                    const ExactOperands* operands, const Bounds& bounds);
// On the host and on a device, the same bits: exact_trsm.cpp. The bound is the residual that was left, measured.
Accuracy exact_trsm(const char* operation, const Executor& executor, const TrsmArgs& args);

template <class Args>
using ExactFunction = Accuracy (*)(const char*, const Executor&, const Args&, const ExactOperands*, const Bounds&);

template <class Args> void dispatch_product(const KernelTable<Args>& table, const Executor& executor, const Args& args,
                                            ExactFunction<Args> exact, const Bounds& bounds = {}) {
  if (takes_exact(executor, args.dtype, args.precision))
    *args.accuracy = exact(table.operation, executor, args, nullptr, bounds);
  else
    dispatch(table, executor, args);
}

}  // namespace trn::blas
