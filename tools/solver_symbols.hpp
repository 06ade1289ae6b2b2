// cuSOLVER's dense functions (cusolverDn*, CUDA 13) and what trnsolver has for each: the rows of `trnsci coverage
// solver`.
#pragma once

#include <string>
#include <vector>

#include <trn/core/executor.hpp>

namespace trn::tools {

// Calls the counterpart with small operands; throws NotImplemented where it does not run. Type 0 to 3: s, d, c, z.
using SolverProbe = void (*)(const Executor& executor, int type);

struct SymbolRow {
  // Groups "LETTERS:name" separated by blanks: every letter (or pair, separated by commas) in front of the name; "+":
  // also with _bufferSize; "-:" for names without a letter.
  const char* symbols;
  const char* ours;
  SolverProbe probe = nullptr;  // null with an answer in `ours`: not an operation that runs somewhere, or not offered
};
[[nodiscard]] const std::vector<SymbolRow>& solver_symbol_rows();
// The names without "cusolverDn".
[[nodiscard]] std::vector<std::string> expand_symbols(const std::string& symbols);

// In solver_probes.cpp.
namespace probe {
void potrf(const Executor& executor, int type);
void potrs(const Executor& executor, int type);
void potri(const Executor& executor, int type);
void getrf(const Executor& executor, int type);
void getrs(const Executor& executor, int type);
void geqrf(const Executor& executor, int type);
void orgqr(const Executor& executor, int type);
void ormqr(const Executor& executor, int type);
void sytrf(const Executor& executor, int type);
void sytrs(const Executor& executor, int type);
void sytri(const Executor& executor, int type);
void trtri(const Executor& executor, int type);
void laswp(const Executor& executor, int type);
void lauum(const Executor& executor, int type);
void larft(const Executor& executor, int type);
void solve(const Executor& executor, int type);
void lstsq(const Executor& executor, int type);
void gebrd(const Executor& executor, int type);
void orgbr(const Executor& executor, int type);
void sytrd(const Executor& executor, int type);
void orgtr(const Executor& executor, int type);
void ormtr(const Executor& executor, int type);
void eigh(const Executor& executor, int type);
void eigh_range(const Executor& executor, int type);
void eigh_generalized(const Executor& executor, int type);
void svd(const Executor& executor, int type);
void eig(const Executor& executor, int type);
void potrf_batched(const Executor& executor, int type);
void potrs_batched(const Executor& executor, int type);
void eigh_batched(const Executor& executor, int type);
void svd_batched(const Executor& executor, int type);
}  // namespace probe

}  // namespace trn::tools
