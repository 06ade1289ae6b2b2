// What a gemm's entry point knows of accuracy: norms of the operands, the bound of a mode for them, and the cheapest
// mode for a target.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/core/error.hpp>

#include "checks.hpp"
#include "kernels.hpp"

namespace trn::blas {

// Sizes of the rows of op(A) and the columns of op(B): Euclidean norms and largest elements, complex ones by their
// modulus. Rows of zeros have norm 0. `finite` is false when an element is NaN or infinite, wherever it stands.
struct GemmNorms {
  std::vector<double> a, b;  // m, n
  double a_top = 0, b_top = 0;
  bool finite = true;
};

// What the range of a product's numbers depends on: the operands, the factors, and the elements of C that beta reads
// (those that are not zero; none: least > largest).
struct ProductSizes {
  GemmNorms norms;
  double alpha = 1, beta = 0;  // magnitudes
  double c_least = std::numeric_limits<double>::infinity(), c_largest = 0;
  // Takes the magnitude of an element of C in.
  void add_c(double c);
};

// Reads the operands wherever they live; with sizes_of also C, where beta is not 0.
[[nodiscard]] GemmNorms gemm_norms(const Executor& executor, const GemmArgs& g);
[[nodiscard]] ProductSizes sizes_of(const Executor& executor, const GemmArgs& g);

// Tensor Engine (or host) products per multiplication of the formula; Exact chooses its own.
[[nodiscard]] int passes_of(Mode mode);

// Whether operands of a type have a mode on a family.
[[nodiscard]] bool offers(Mode mode, DType in, Family family);

// Refuses the modes that the operands' type does not have: NotImplemented with the list of those it has.
void require_mode(const char* operation, Mode mode, DType in, Family family);

// The bound of a mode for the operands at hand, `bound` being its error barring over- and underflow. It is infinite
// when an operand is not finite, a word overflows, or a sum, a product with alpha or the result may; otherwise what
// underflow can lose is added. gemm_accuracy.cpp derives it. Rank-2k updates are `products` = 2 products, one on top of
// the other.
[[nodiscard]] double bound_in_range(double bound, const GemmArgs& g, Mode mode, const ProductSizes& sizes,
                                    int products = 1);
// What underflow alone can add to a bound; without the overflow that bound_in_range looks for too.
[[nodiscard]] double lost_to_underflow(const GemmArgs& g, Mode mode, const ProductSizes& sizes);
// The same as bound_in_range with gemm_error_bound.
[[nodiscard]] double bound_with_range(Family family, const GemmArgs& g, Mode mode, const ProductSizes& sizes,
                                      int products = 1);

// No mode has a bound as small as the target. Operations that are made of products with shares of a target tell it from
// other mistakes by its type.
class TargetRefused : public InvalidArgument {
 public:
  TargetRefused(const std::string& message, double target) : InvalidArgument(message), target_(target) {}
  [[nodiscard]] double target() const { return target_; }

 private:
  double target_;
};
// Throws it.
[[noreturn]] void refuse_target(const char* operation, DType in, const Executor& executor, double target, double best);

// The cheapest of the modes other than Exact whose bound for these operands is at most `target`; none when there is
// none.
[[nodiscard]] std::optional<Accuracy> cheapest_mode(Family family, const GemmArgs& g, const ProductSizes& sizes,
                                                    double target, int products = 1);
// The same for sizes without C's: read_c() adds them, and is called only where something is left to choose.
template <class ReadC> [[nodiscard]] std::optional<Accuracy> cheapest_mode(Family family, const GemmArgs& g,
                                                                           const ProductSizes& sizes, double target,
                                                                           int products, const ReadC& read_c) {
  const auto chosen = cheapest_mode(family, g, sizes, target, products);
  if (!chosen || sizes.beta == 0) return chosen;
  read_c();
  return cheapest_mode(family, g, sizes, target, products);
}

// out(i, j) = bound_in_range of that element alone times |alpha| ||a_i|| ||b_j|| + |beta c_ij|, rounded up; what
// underflow can lose enters as it is, not relative to the smallest element. `c` are the magnitudes of C before the
// product, m x n row-major, empty when beta is 0. An element that meets a NaN or an infinity has no bound, and on a
// device none has then: there they may spread over a tile.
void write_componentwise(const MatrixView<double>& out, Family family, double bound, const GemmArgs& g,
                         const GemmNorms& norms, const std::vector<double>& c);
// Refuses bounds that are not host memory of C's shape, or that share it with an operand.
using Bounds = std::optional<MatrixView<double>>;
struct NamedExtent {
  const char* name;
  checks::Extent extent;
};
void check_bounds(const char* operation, const Executor& executor, const Bounds& bounds, std::int64_t rows,
                  std::int64_t columns, std::initializer_list<NamedExtent> operands);
[[nodiscard]] std::vector<double> magnitudes_of_c(const Executor& executor, const GemmArgs& g);

}  // namespace trn::blas
