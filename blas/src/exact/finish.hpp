// The last step of an exact product: alpha, beta and C join the integers without error, one rounding, and the bounds.
//
// Block by block: C is read, results and bounds are written. `hold` keeps the results until store(), for a C that is an
// operand as well, and for calls that may still be refused.
#pragma once

#include <optional>
#include <vector>

#include "../exact.hpp"
#include "product.hpp"

namespace trn::blas::exact {

class Finish {
 public:
  Finish(const Executor& executor, const GemmArgs& g, Product& product, const std::optional<MatrixView<double>>& bounds,
         const ExactRegion& region, bool hold);

  void block(Source& source, const Block& block);
  // The same where the product of the block is made already; not for mirrored regions.
  void block(ProductBlock&& product);
  // Writes what was held.
  void store();
  // The largest error over |alpha| ||a_i|| ||b_j|| + |beta c_ij| (see exact_gemm) of all elements so far whose exact
  // value is finite and fits the type.
  [[nodiscard]] double bound() const;

 private:
  struct Element {
    double value[2] = {};
    long double rounding = 0;  // of the modulus
    long double excess = 0;    // where that is infinite: how far the larger part is beyond the type
    bool finite = true;        // the exact value is
  };
  // The blocks that an element is made of: of P, and mirrored of P^T, (j, i) for (i, j).
  struct Parts {
    ProductBlock straight;
    std::optional<ProductBlock> mirror;
  };

  [[nodiscard]] bool wanted(std::int64_t i, std::int64_t j) const { return !region_.lower || j <= i; }
  void finish(Parts& parts);
  std::vector<double> read_c(const Block& block) const;
  Element combine(Sum& sum, const Parts& parts, const double* c, std::int64_t i, std::int64_t j) const;
  // Adds factor * (plane of the product) to the sum.
  void add(Sum& sum, const ProductBlock& p, std::int64_t plane, std::int64_t i, std::int64_t j, double factor) const;
  Element not_finite(const Parts& parts, const double* c, std::int64_t i, std::int64_t j) const;
  [[nodiscard]] long double lost(const Parts& parts, std::int64_t i, std::int64_t j) const;
  [[nodiscard]] long double scale(const double* c, std::int64_t i, std::int64_t j) const;
  // Over the elements of a block, see bound().
  [[nodiscard]] long double largest_error(const Parts& parts, const std::vector<Element>& elements,
                                          const std::vector<double>& old, int threads) const;
  void write_bounds(Parts& parts, const std::vector<Element>& elements);
  void write(const Block& block, const std::vector<Element>& elements);
  void write_results(const Block& block, std::byte* results, std::int64_t pitch) const;

  const Executor& executor_;
  const GemmArgs& g_;
  Product& product_;
  const std::optional<MatrixView<double>>& bounds_;
  ExactRegion region_;
  std::int64_t parts_;  // 2: complex
  Width width_;
  bool quick_;                      // alpha = 1 and beta = 0
  long double alpha_;               // |alpha|, rounded up
  long double least_alpha_, beta_;  // |alpha| and |beta|, rounded down
  long double bound_ = 0;
  std::vector<std::byte> held_;  // m x n results
};

}  // namespace trn::blas::exact
