// The matrix that a sparse benchmark runs on: a file, or one of the gallery by name and size.
#pragma once

#include <charconv>
#include <string>

#include <trn/sparse/gallery.hpp>
#include <trn/sparse/harwell_boeing.hpp>
#include <trn/sparse/matrix_market.hpp>
#include <trn/sparse/npz.hpp>
#include <trn/sparse/structure.hpp>

#include "input_file.hpp"

namespace trn::tools {

// By the ending: .mtx, .npz, or Harwell-Boeing (.rb, .rua, .rsa, .hb, ...).
template <Scalar T> sparse::Csr<T> read_sparse(const std::string& path) {
  require_readable("the matrix", path);
  if (path.ends_with(".npz")) return sparse::read_npz<T>(path);
  if (path.ends_with(".mtx")) return sparse::read_matrix_market<T>(path);
  return sparse::read_harwell_boeing<T>(path);
}

// "poisson2d:300", "poisson3d:48", "stencil27:32", "elasticity:120", "rmat:14".
template <Scalar T> sparse::Csr<T> make_sparse(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string size = colon == std::string::npos ? "" : text.substr(colon + 1);
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), n);
  const bool whole = error == std::errc() && end == size.data() + size.size() && !size.starts_with('0');
  require(whole && n >= 1 && n <= 100000, "bench: '{}' is not NAME:SIZE, SIZE a whole number from 1 to 100000", text);
  if (name == "poisson2d") return sparse::poisson<T>(n, n);
  if (name == "poisson3d") return sparse::poisson<T>(n, n, n);
  if (name == "stencil27") return sparse::stencil27<T>(n, n, n);
  if (name == "elasticity") return sparse::elasticity<T>(n, n);
  require(name == "rmat", "bench: '{}' is unknown; use poisson2d, poisson3d, stencil27, elasticity or rmat", name);
  return sparse::rmat<T>(static_cast<int>(n));
}

}  // namespace trn::tools
