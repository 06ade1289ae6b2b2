// Harwell-Boeing and Rutherford-Boeing files: assembled matrices (not finite elements) that are real, integer, complex
// or patterns; symmetric, Hermitian, skew and unsymmetric. Right-hand sides are not read.
#pragma once

#include <string>
#include <string_view>

#include <trn/sparse/formats.hpp>

namespace trn::sparse {

// Both kinds; which one it is shows in the second line. Symmetric files are expanded to both halves.
template <Scalar T, Index I = std::int32_t> [[nodiscard]] Csr<T, I> read_harwell_boeing(const std::string& path);
template <Scalar T, Index I = std::int32_t>
[[nodiscard]] Csr<T, I> parse_harwell_boeing(std::string_view text, const std::string& name);

// As Rutherford-Boeing, unsymmetric or rectangular; title of up to 72 characters, key of up to 8.
template <Scalar T, Index I> void write_rutherford_boeing(const std::string& path, const Csr<T, I>& a,
                                                          const std::string& title = "", const std::string& key = "");

}  // namespace trn::sparse
