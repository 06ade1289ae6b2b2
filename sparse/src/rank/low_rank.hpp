// A block that is dense or U V^H: compression to a tolerance by a random sketch, and products. Column-major.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <trn/sparse/types.hpp>

namespace trn::sparse::rank {

template <Scalar T> struct Block {
  std::int64_t rows = 0, columns = 0;
  bool dense = false;
  std::int64_t rank = 0;     // of a block that is not dense
  std::vector<T> u, v = {};  // rows x rank and columns x rank; dense: u is the block
  double error = 0;          // bound of the Frobenius norm of what is left out, roundings of its own included
  [[nodiscard]] std::int64_t stored() const { return static_cast<std::int64_t>(u.size() + v.size()); }
};

template <Scalar T> [[nodiscard]] double frobenius(std::int64_t count, const T* a);

// The block as it is, without error.
template <Scalar T> [[nodiscard]] Block<T> dense_block(std::int64_t rows, std::int64_t columns, std::vector<T>&& a);
// U V^H with an error of at most `limit`, dense where that does not save numbers. Deterministic.
template <Scalar T> [[nodiscard]] Block<T> compress(std::int64_t rows, std::int64_t columns, std::vector<T>&& a,
                                                    double limit, std::uint64_t seed);
// From some elements only: see cross.cpp. `error` is an estimate, of at most tolerance times the block's norm, which
// goes to `norm`. Nothing where no rank that saves numbers is enough.
template <Scalar T>
[[nodiscard]] std::optional<Block<T>> compress_sampled(std::int64_t rows, std::int64_t columns,
                                                       const std::function<T(std::int64_t, std::int64_t)>& element,
                                                       double tolerance, std::uint64_t seed, double& norm);
// U V^H with the fewest columns that lose at most `limit`: U gets the singular values. Sets `error` to that loss, what
// was lost before, and roundings; returns the norm.
template <Scalar T> double truncate(Block<T>& block, double limit, double before);
// A dense block becomes U I.
template <Scalar T> void write_as_product(Block<T>& block);

// y += alpha op(block) x for n columns; Op::N or Op::C. Leading dimensions ldx, ldy; `work` holds rank * n elements.
template <Scalar T> void multiply(const Block<T>& block, Op op, T alpha, std::int64_t n, const T* x, std::int64_t ldx,
                                  T* y, std::int64_t ldy, T* work);
// c -= a op(b), where op is N or C; c is dense with as many rows as a.
template <Scalar T> void subtract_product(const Block<T>& a, const Block<T>& b, Op op_b, T* c);

}  // namespace trn::sparse::rank
