// Between integrals and energies: B(i, P, a) of the correlated orbitals in a PanelStore, made on an executor in a
// precision.
#pragma once

#include <trn/mp2/df_mp2.hpp>
#include <trn/mp2/panel_store.hpp>

namespace trn::mp2 {

// What the fit is made of; all host memory.
struct FitInput {
  const Basis* orbital = nullptr;
  const Basis* fitting = nullptr;
  Dense occupied, virtuals;  // orbital coefficients in columns
};

struct FitResult {
  std::vector<double> errors;  // ||dB_i||_F at most
  std::vector<double> norms;   // ||B_i||_F
};

// Bytes that a fit needs besides the store, which is in memory or a file.
[[nodiscard]] std::int64_t fit_bytes(const Executor& executor, const FitInput& input, Mode precision,
                                     std::size_t element, bool in_memory);

// How X = C_o^T (P|mn) is kept between the two products; two words in Exact only.
enum class HalfTransform : std::uint8_t { OneWord, TwoWords };

// Stages are appended to `stages`.
template <class T> FitResult fit(const Executor& executor, const FitInput& input, Mode precision,
                                 HalfTransform two_words, PanelStore<T>& store, std::vector<Stage>& stages);

}  // namespace trn::mp2
